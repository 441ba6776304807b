"""Random permutations, and random choices of elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import dtypes, lax
from irax.core.array import Array, as_array
from irax.core.dtypes.operands import inexact_dtype
from irax.core.dtypes.promotion import convert
from irax.core.key_arrays import KeyArray
from irax.execution.shardings.jit_shardings import takes_out_sharding
from irax.lax.arguments import canonical_axis
from irax.random.arguments import shape_of
from irax.random.basic import randint, uniform
from irax.random.continuous import gumbel
from irax.random.keys import Key, draw_bits, one_key, split_key
from irax.typing import ArrayLike, Shape


@takes_out_sharding("permutation")
def permutation(
    key: Key,
    x: int | ArrayLike,
    axis: int = 0,
    independent: bool = False,
    *,
    out_sharding: Any = None,
) -> Array:
    """Permute the integers below x, or the slices of an array x along an axis, randomly.

    Args:
        key: a key.
        x: an integer or an array.
        axis: the axis that is permuted.
        independent: True if each vector along the axis gets an order of its own.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: x is a scalar, but not an integer.

    >>> sorted(irax.random.permutation(irax.random.key(0), 3).tolist())
    [0, 1, 2]
    """
    key = one_key(key, "permutation")
    array = as_array(x, "permutation: x")
    along = canonical_axis("permutation", axis, max(array.ndim, 1))
    if not array.ndim:
        if not dtypes.issubdtype(array.dtype, np.integer):
            raise TypeError(f"permutation: x must be an integer or an array, got {array.aval}")
        return _shuffle(key, jnp.arange(int(array)), 0)
    if independent or array.ndim == 1:
        return _shuffle(key, array, along)
    order = _shuffle(key, jnp.arange(array.shape[along]), 0)
    return jnp.take(array, order, along)


def _shuffle(key: KeyArray, x: Array, axis: int) -> Array:
    """Sort by random keys, often enough that ties among them do not matter."""
    rounds = math.ceil(3 * math.log(max(1, x.size)) / math.log(np.iinfo(np.uint32).max))
    for _ in range(rounds):
        key, now = split_key(key)
        order = jnp.argsort(draw_bits(now, 32, x.shape), axis=axis, stable=True)
        x = jnp.take_along_axis(x, order, axis)
    return x


def choice(
    key: Key,
    a: int | ArrayLike,
    shape: Shape = (),
    replace: bool = True,
    p: ArrayLike | None = None,
    axis: int = 0,
    mode: str | None = None,
) -> Array:
    """Choose random elements of an array along an axis, or of the integers below `a`.

    Args:
        key: a key.
        a: an array, or an integer.
        shape: of the draws; it takes the place of the axis in the shape of the result.
        replace: True if an element may be drawn again.
        p: probabilities, a vector, with sum 1; by default all are equal.
        axis: the axis of `a` to draw along.
        mode: of `gumbel`, for draws without replacement with probabilities.

    Raises:
        ValueError: there are too few elements, or probabilities of another shape.

    >>> irax.random.choice(irax.random.key(0), 5, (2, 3)).shape
    (2, 3)
    """
    if not isinstance(shape, Sequence):
        raise TypeError(f"choice: shape must be a sequence of ints, got {shape!r}")
    sizes = shape_of("choice", shape)
    array = as_array(a, "choice: a")
    if not array.ndim and not dtypes.issubdtype(array.dtype, np.integer):
        raise TypeError(f"choice: a must be an integer or an array, got {array.aval}")
    pool = array if array.ndim else jnp.arange(int(array))
    along = canonical_axis("choice", axis, pool.ndim) if array.ndim else 0
    there, count = pool.shape[along], math.prod(sizes)
    if count and not there:
        raise ValueError("choice: a must have elements, or be positive, unless none are drawn")
    if not replace and count > there:
        raise ValueError(f"choice: cannot take {count} of {there} elements without replacement")
    if not count:
        chosen = jnp.zeros(sizes, np.int32)
    elif p is not None:
        chosen = _by_probability(key, p, there, sizes, replace, mode)
    elif replace:
        chosen = randint(key, sizes, 0, there)
    else:
        shuffled = lax.slice_in_dim(permutation(key, pool, along), 0, count, axis=along)
        result = (*pool.shape[:along], *sizes, *pool.shape[along + 1 :])
        return jnp.reshape(shuffled, result)
    return jnp.take(pool, chosen, along)


def _by_probability(
    key: Key, p: ArrayLike, there: int, shape: tuple[int, ...], replace: bool, mode: str | None
) -> Array:
    """Draw indices below `there` with given probabilities."""
    p = as_array(p, "choice: p")
    p = convert(p, inexact_dtype(p.dtype))
    if p.shape != (there,):
        raise ValueError(
            f"choice: p must be a vector with a probability for each of {there} elements, got "
            f"shape {p.shape}"
        )
    if replace:
        total = jnp.cumsum(p)
        return jnp.searchsorted(total, total[-1] * (1 - uniform(key, shape, p.dtype)))
    noise = gumbel(key, (there,), p.dtype, mode)
    return jnp.reshape(lax.top_k(noise + jnp.log(p), math.prod(shape))[1], shape)


@takes_out_sharding("categorical")
def categorical(
    key: Key,
    logits: ArrayLike,
    axis: int = -1,
    shape: Shape | None = None,
    replace: bool = True,
    mode: str | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Draw indices along an axis with probabilities softmax(logits), by the Gumbel-max trick.

    Args:
        key: a key.
        logits: unnormalized log probabilities.
        axis: the axis of the categories.
        shape: the shape of the result. With replacement, that of `logits` without the axis
            broadcasts to its last dimensions; without, these are that.
        replace: True if the draws for one set of logits may be equal.
        mode: of `gumbel`.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        ValueError: shapes that do not fit, or too few categories.

    >>> irax.random.categorical(irax.random.key(0), irax.numpy.zeros((2, 3))).shape
    (2,)
    """
    logits = as_array(logits, "categorical: logits")
    if not logits.ndim:
        raise ValueError("categorical: logits must have an axis of categories, got a scalar")
    along = canonical_axis("categorical", axis, logits.ndim)
    batch = (*logits.shape[:along], *logits.shape[along + 1 :])
    sizes = shape_of("categorical", batch if shape is None else shape, jnp.zeros(batch, bool))
    draws = sizes[: len(sizes) - len(batch)]
    if replace:
        lanes = list(sizes[len(draws) :])
        lanes.insert(along, logits.shape[along])
        noise = gumbel(key, (*draws, *lanes), logits.dtype, mode)
        return jnp.argmax(noise + logits, axis=len(draws) + along)
    count = math.prod(draws)
    if count > logits.shape[along]:
        raise ValueError(
            f"categorical: cannot take {count} of {logits.shape[along]} categories without "
            "replacement"
        )
    if sizes[len(draws) :] != batch:
        raise ValueError(
            f"categorical: without replacement shape {sizes} must end in {batch}, the shape of "
            "logits without the axis"
        )
    noisy = logits + gumbel(key, logits.shape, logits.dtype, mode)
    found = lax.top_k(jnp.moveaxis(noisy, along, -1), count)[1]
    return jnp.reshape(jnp.moveaxis(found, -1, 0), sizes)
