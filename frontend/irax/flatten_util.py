"""Pytrees of arrays as vectors."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from irax import dtypes, tree_util
from irax.array import Array, as_array


def ravel_pytree(pytree: Any) -> tuple[Array, Callable[[Any], Any]]:
    """A pytree of arrays as one vector, and the function that turns such a vector back.

    Args:
        pytree: a pytree of arrays.

    Returns:
        `(vector, unravel)`: the elements of all leaves, one leaf after the other, of the dtype that
        they promote to; and the function from a vector of that size to the pytree, whose leaves
        have their shapes and dtypes again.

    Raises:
        TypeError: a leaf is not an array. By `unravel`: not a vector of that size.

    >>> vector, unravel = ravel_pytree({"a": jnp.ones((1, 2)), "b": 3.0})
    >>> vector
    Array([1., 1., 3.], dtype=float32)
    >>> unravel(2 * vector)["b"]
    Array(6., dtype=float32)
    """
    import irax.numpy as jnp

    leaves, tree = tree_util.tree_flatten(pytree)
    arrays = [as_array(x, "ravel_pytree") for x in leaves]
    dtype = dtypes.result_type(*arrays) if arrays else np.dtype(np.float32)
    ends = list(itertools.accumulate((x.size for x in arrays), initial=0))

    def unravel(vector: Any) -> Any:
        v = as_array(vector, "unravel")
        if v.shape != (ends[-1],):
            raise TypeError(f"unravel: expected a vector of {ends[-1]} elements, got {v.aval}")
        parts = [
            jnp.reshape(v[start:end], x.shape)
            for x, start, end in zip(arrays, ends[:-1], ends[1:], strict=True)
        ]
        found = [
            (jnp.real(part) if x.dtype.kind != "c" else part).astype(x.dtype)
            for x, part in zip(arrays, parts, strict=True)
        ]
        return tree_util.tree_unflatten(tree, found)

    if not arrays:
        return jnp.zeros(0, dtype), unravel
    return jnp.concatenate([jnp.ravel(x).astype(dtype) for x in arrays]), unravel
