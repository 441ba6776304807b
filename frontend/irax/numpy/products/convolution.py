"""Convolution and correlation of vectors."""

from __future__ import annotations

from irax import lax
from irax.core.array import Array
from irax.core.dtypes.operands import inexact_dtype
from irax.core.dtypes.promotion import convert, promote_dtypes
from irax.lax.contraction import PrecisionLike
from irax.numpy.elementwise.complex_parts import conjugate
from irax.numpy.shapes.manipulation import flip
from irax.typing import ArrayLike, DTypeLike


def convolve(
    a: ArrayLike,
    v: ArrayLike,
    mode: str = "full",
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Return the convolution of two vectors: the coefficients of the product of two polynomials.

    Integers become floats first, without `preferred_element_type`.

    Args:
        a: a vector.
        v: a vector.
        mode: "full", all sums of the N + M - 1 that have a term; "valid", those that have all
            terms, `max(N, M) - min(N, M) + 1`; or "same", the `max(N, M)` in the middle.
        precision: of the products: see `irax.lax.Precision`.
        preferred_element_type: the dtype of the sums.

    Raises:
        ValueError: not vectors, empty ones, or another mode.

    >>> irax.numpy.convolve(irax.numpy.array([1.0, 2.0]), irax.numpy.array([1.0, 10.0, 100.0]))
    Array([  1.,  12., 120., 200.], dtype=float32)
    """
    x, y = _vectors("convolve", a, v, preferred_element_type)
    if x.size < y.size:
        x, y = y, x
    return _slide("convolve", x, flip(y), mode, precision, preferred_element_type)


def correlate(
    a: ArrayLike,
    v: ArrayLike,
    mode: str = "valid",
    *,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Return the cross-correlation of two vectors: of `a` with the conjugate of `v` shifted along
    it.

    Integers become floats first, without `preferred_element_type`.

    Args:
        a: a vector.
        v: a vector.
        mode: as in `convolve`.
        precision: of the products: see `irax.lax.Precision`.
        preferred_element_type: the dtype of the sums.

    Raises:
        ValueError: not vectors, empty ones, or another mode.

    >>> irax.numpy.correlate(irax.numpy.arange(5.0), irax.numpy.array([1.0, 0.0, -1.0]))
    Array([-2., -2., -2.], dtype=float32)
    """
    x, y = _vectors("correlate", a, v, preferred_element_type)
    if x.size < y.size:  # the shorter one moves, in the other direction
        moved = _slide("correlate", conjugate(y), x, mode, precision, preferred_element_type)
        return flip(moved)
    return _slide("correlate", x, conjugate(y), mode, precision, preferred_element_type)


def _vectors(
    name: str, a: ArrayLike, v: ArrayLike, preferred: DTypeLike | None
) -> tuple[Array, Array]:
    x, y = promote_dtypes(a, v, what=name)
    if x.ndim != 1 or y.ndim != 1 or not x.size or not y.size:
        raise ValueError(
            f"{name}: expected two vectors that are not empty, got shapes {x.shape} and {y.shape}"
        )
    dtype = inexact_dtype(x.dtype) if preferred is None else x.dtype
    return convert(x, dtype, x.weak_type), convert(y, dtype, y.weak_type)


def _slide(
    name: str, x: Array, y: Array, mode: str, precision: PrecisionLike, dtype: DTypeLike | None
) -> Array:
    """Return the inner product of y, the shorter vector, with each window of x."""
    rest = y.size - 1
    paddings = {"full": (rest, rest), "same": (y.size // 2, rest - y.size // 2), "valid": (0, 0)}
    if mode not in paddings:
        raise ValueError(f"{name}: mode must be 'full', 'same' or 'valid', got {mode!r}")
    result = lax.conv_general_dilated(
        x.reshape(1, 1, x.size),
        y.reshape(1, 1, y.size),
        (1,),
        [paddings[mode]],
        precision=precision,
        preferred_element_type=dtype,
    )
    return result.reshape(result.size)
