"""What the functions of irax.lax.linalg share: checks of their arguments, and parts of matrices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irax.core.array import Array, as_array
from irax.core.promotion import broadcast_to
from irax.core.tracing import bind
from irax.lax.arguments import array_of
from irax.typing import ArrayLike
from irax_compiler.ops import shape
from irax_compiler.ops.core import Op

_KINDS = ("float32", "float64", "complex64", "complex128")


def matrices(what: str, x: ArrayLike, square: bool = False) -> Array:
    """The array, if its last two dimensions are matrices that LAPACK would take.

    Raises:
        TypeError: another dtype.
        ValueError: no matrices, or not square ones.
    """
    array = array_of(f"lax.linalg.{what}", x)
    if array.dtype.name not in _KINDS:
        raise TypeError(
            f"lax.linalg.{what}: expected an array of {', '.join(_KINDS)}, got {array.dtype}; "
            "convert with .astype(...)"
        )
    if array.ndim < 2 or (square and array.shape[-1] != array.shape[-2]):
        kind = "square matrices" if square else "matrices"
        raise ValueError(
            f"lax.linalg.{what}: expected {kind} in the last two dimensions, got shape "
            f"{array.shape}"
        )
    return array


def factors(op: Op, x: Array) -> list[Array]:
    """The op's results; those of empty matrices are constants."""
    if not x.size:
        empty = np.zeros(x.shape, x.dtype)
        return [as_array(part) for part in op.evaluate_through(lambda *_: (), [empty])]
    return list(bind(op, x))


def transposed(x: Array) -> Array:
    """The last two dimensions exchanged."""
    order = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    return bind(shape.Transpose(order), x)


def adjoint(x: Array) -> Array:
    """The conjugate of the transpose."""
    import irax.numpy as jnp

    return jnp.conj(transposed(x))


def symmetrized(x: Array) -> Array:
    """The mean of matrices and their adjoints."""
    return (x + adjoint(x)) / 2


def one_batch(arrays: Sequence[Array], ranks: Sequence[int]) -> list[Array]:
    """The arrays, the dimensions before their last few (`ranks`) broadcast to one shape."""
    shapes = [x.shape[: x.ndim - rank] for x, rank in zip(arrays, ranks, strict=True)]
    batch = np.broadcast_shapes(*shapes)
    return [
        broadcast_to(x, (*batch, *x.shape[x.ndim - rank :]))
        for x, rank in zip(arrays, ranks, strict=True)
    ]
