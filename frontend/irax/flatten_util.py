"""Pytrees of arrays as vectors."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax import dtypes, tree_util
from irax.core.array import Array, as_array
from irax.core.avals import ShapedArray
from irax.core.tracebacks import api_boundary


def ravel_pytree(pytree: Any) -> tuple[Array, Callable[[Any], Any]]:
    """Concatenate the leaves of a pytree of arrays into one vector; return also the inverse
    function.

    Args:
        pytree: a pytree of arrays.

    Returns:
        `(vector, unravel)`: the elements of all leaves, one leaf after the other, of the dtype that
        they promote to; and the function from a vector of that size to the pytree, whose leaves
        have their shapes and dtypes again. Where all leaves are of one dtype, `unravel` takes
        vectors of any dtype, which the leaves then have.

    Raises:
        TypeError: a leaf is not an array. By `unravel`: not a vector of that size or dtype.

    >>> vector, unravel = ravel_pytree({"a": jnp.ones((1, 2)), "b": 3.0})
    >>> vector
    Array([1., 1., 3.], dtype=float32)
    >>> unravel(2 * vector)["b"]
    Array(6., dtype=float32)
    """
    import irax.numpy as jnp

    leaves, tree = tree_util.tree_flatten(pytree)
    arrays = [as_array(x, "ravel_pytree") for x in leaves]
    if not arrays:
        return jnp.zeros(0, np.float32), _Unravel(tree, (), None)
    dtype = dtypes.result_type(*arrays)
    avals = tuple(ShapedArray(x.shape, x.dtype) for x in arrays)
    unravel = _Unravel(tree, avals, None if {x.dtype for x in arrays} == {dtype} else dtype)
    return jnp.concatenate([jnp.ravel(x).astype(dtype) for x in arrays]), unravel


@dataclass(frozen=True)
class _Unravel:
    """The inverse of `ravel_pytree`: turns vectors back into pytrees. Equal for pytrees of the same
    types: a jitted function that takes it as a static argument is compiled once for them.
    """

    tree: tree_util.PyTreeDef
    avals: tuple[ShapedArray, ...]
    dtype: np.dtype[Any] | None
    """The dtype of the vector; None if all leaves have one dtype: then vectors may have any."""

    @api_boundary
    def __call__(self, vector: Any) -> Any:
        import irax.numpy as jnp

        v = as_array(vector, "unravel")
        ends = list(itertools.accumulate((a.size for a in self.avals), initial=0))
        if v.shape != (ends[-1],):
            raise TypeError(f"unravel: expected a vector of {ends[-1]} elements, got {v.aval}")
        if self.dtype is not None and v.dtype != self.dtype:
            raise TypeError(f"unravel: expected a vector of dtype {self.dtype}, got {v.aval}")
        parts = [
            jnp.reshape(v[start:end], a.shape)
            for a, start, end in zip(self.avals, ends[:-1], ends[1:], strict=True)
        ]
        if self.dtype is not None:
            parts = [
                (jnp.real(part) if a.dtype.kind != "c" else part).astype(a.dtype)
                for a, part in zip(self.avals, parts, strict=True)
            ]
        return tree_util.tree_unflatten(self.tree, parts)
