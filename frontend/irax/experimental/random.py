"""A generator of random numbers whose state changes as it draws, as NumPy's does.

rng = stateful_rng(0)
rng.normal(size=3), rng.normal(size=3)  # other numbers
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import random, tree_util
from irax.core.array import Array
from irax.core.refs.refs import Ref
from irax.core.tracebacks import api_boundary
from irax.ref import new_ref

Size = int | Sequence[int] | None


@tree_util.register_pytree_node_class
class StatefulPRNG:
    """A generator of random numbers: keys follow from one key and a counter, which is a Ref.

    `stateful_rng` makes one. It is a pytree, and an argument of functions that are transformed, but
    no result.
    """

    def __init__(self, base_key: Array, counter: Ref) -> None:
        self._base_key = base_key
        self._counter = counter

    def __repr__(self) -> str:
        return f"StatefulPRNG(_base_key={self._base_key!r}, _counter={self._counter!r})"

    def tree_flatten(self) -> tuple[tuple[Any, Any], None]:
        """Return the key and the counter."""
        return (self._base_key, self._counter), None

    @classmethod
    def tree_unflatten(cls, _: None, children: Any) -> StatefulPRNG:
        """Return the generator of a key and a counter."""
        return cls(*children)

    def key(self, shape: int | Sequence[int] = ()) -> Array:
        """Return a new key, or an array of keys, and change the state.

        Args:
            shape: the shape of the array.
        """
        key = random.fold_in(self._base_key, self._counter[...])
        self._counter[...] = self._counter[...] + 1
        sizes = _sizes(shape)
        return random.split(key, sizes) if sizes else key

    def random(self, size: Size = None, dtype: Any = float) -> Array:
        """Return floats from 0 to 1, without 1.

        Args:
            size: the shape of the result.
            dtype: its dtype.
        """
        return random.uniform(self.key(), _sizes(size), dtype)

    def uniform(
        self, low: Any = 0, high: Any = 1, size: Size = None, *, dtype: Any = float
    ) -> Array:
        """Return floats between two bounds.

        Args:
            low: the least value, a number or an array.
            high: the largest value, which is not drawn.
            size: the shape of the result; by default that of the bounds.
            dtype: the dtype of the result.
        """
        shape = _shape(size, low, high)
        return random.uniform(self.key(), shape, dtype, low, high)

    def normal(
        self, loc: Any = 0, scale: Any = 1, size: Size = None, *, dtype: Any = float
    ) -> Array:
        """Return floats of normal distributions.

        Args:
            loc: the mean, a number or an array.
            scale: the standard deviation.
            size: the shape of the result; by default that of the two.
            dtype: the dtype of the result.
        """
        shape = _shape(size, loc, scale)
        drawn = random.normal(self.key(), shape, dtype)
        return jnp.asarray(loc, drawn.dtype) + jnp.asarray(scale, drawn.dtype) * drawn

    def integers(self, low: Any, high: Any = None, size: Size = None, *, dtype: Any = int) -> Array:
        """Return integers from `low` to `high`, without it; with one bound, from 0.

        Args:
            low: the least value, or the bound.
            high: the bound.
            size: the shape of the result; by default that of the bounds.
            dtype: the dtype of the result.
        """
        first, bound = (0, low) if high is None else (low, high)
        shape = _shape(size, first, bound)
        return random.randint(self.key(), shape, first, bound, dtype)

    def spawn(self, n_children: int) -> list[StatefulPRNG]:
        """Return generators of their own.

        Args:
            n_children: the number of generators.
        """
        return [StatefulPRNG(key, new_ref(jnp.int32(0))) for key in self.key(n_children)]

    def split(self, num: int | Sequence[int]) -> StatefulPRNG:
        """Return generators of their own in one, of arrays of keys and counters, for `vmap`.

        Args:
            num: the shape of the arrays.
        """
        keys = self.key(num)
        return StatefulPRNG(keys, new_ref(jnp.zeros(keys.shape, jnp.int32)))


@api_boundary
def stateful_rng(seed: Any = None, *, impl: Any = None) -> StatefulPRNG:
    """Return a generator of random numbers whose state changes as it draws.

    Args:
        seed: an integer; None for one that is drawn, outside of traces.
        impl: the name of a generator of keys.

    >>> rng = irax.experimental.random.stateful_rng(0)
    >>> rng.integers(10, size=3).shape
    (3,)
    """
    if seed is None:
        seed = int(np.random.default_rng().integers(0, 2**31 - 1))
    return StatefulPRNG(random.key(seed, impl=impl), new_ref(jnp.int32(0)))


def _sizes(size: Size) -> tuple[int, ...]:
    if size is None:
        return ()
    return tuple(map(operator.index, size if isinstance(size, Sequence) else (size,)))


def _shape(size: Size, *bounds: Any) -> tuple[int, ...]:
    return np.broadcast_shapes(*map(np.shape, bounds)) if size is None else _sizes(size)
