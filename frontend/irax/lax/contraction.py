"""Sums of products over shared dimensions."""

from __future__ import annotations

import enum
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from irax import dtypes
from irax.config import config
from irax.core.array import Array
from irax.core.dispatch import bind
from irax.core.dtypes.promotion import convert
from irax.execution.shardings.jit_shardings import takes_out_sharding
from irax.lax.accuracy import DotAlgorithm, DotAlgorithmPreset, algorithm_of
from irax.lax.arguments import array_of
from irax.typing import ArrayLike, DTypeLike
from irax_compiler.ops import dot as ops


class Precision(enum.Enum):
    """The precision of products of floats, on hardware that can trade it for speed."""

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

    @classmethod
    def _missing_(cls, value: object) -> Precision | None:
        return cls.DEFAULT if value is None else _BY_NAME.get(value)

    def __repr__(self) -> str:
        return f"Precision.{self.name}"

    def __str__(self) -> str:
        return self.name


_BY_NAME: dict[Any, Precision | None] = {
    None: None,
    "default": Precision.DEFAULT,
    "fastest": Precision.DEFAULT,
    "bfloat16": Precision.DEFAULT,
    "high": Precision.HIGH,
    "bfloat16_3x": Precision.HIGH,
    "tensorfloat32": Precision.HIGH,
    "highest": Precision.HIGHEST,
    "float32": Precision.HIGHEST,
}

PrecisionLike = Precision | DotAlgorithm | DotAlgorithmPreset | str | tuple[Any, Any] | None
"""A `Precision`, its name, or one for each operand; or an algorithm, or the name of a preset."""

DotDimensionNumbers = tuple[
    tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]
]
"""((lhs contracting, rhs contracting), (lhs batching, rhs batching))."""


def precision_pair(what: str, precision: PrecisionLike) -> tuple[str, str] | None:
    """Return the names of the precisions of both operands, or None if none is asked for."""
    if precision is None:
        return None
    pair = precision if isinstance(precision, tuple | list) else (precision, precision)
    try:
        left, right = (p if isinstance(p, Precision) else _BY_NAME[p] for p in pair)
    except (KeyError, ValueError, TypeError):
        names = ", ".join(repr(name) for name in _BY_NAME)
        raise ValueError(
            f"{what}: precision must be a lax.Precision, one of {names}, or a pair of these, got "
            f"{precision!r}"
        ) from None
    if left is None and right is None:
        return None
    return (left or Precision.DEFAULT).name, (right or Precision.DEFAULT).name


@takes_out_sharding("lax.dot_general", sums=True)
def dot_general(
    lhs: ArrayLike,
    rhs: ArrayLike,
    dimension_numbers: DotDimensionNumbers,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Products of elements, summed over the contracting dimensions, for each index of the batching.

    Args:
        lhs: an array.
        rhs: an array. Where its dtype is another, both are converted to the preferred one, or to
            the wider of the two if that is wider: complex before float before integer, a larger
            exponent before more digits.
        dimension_numbers: ((lhs contracting, rhs contracting), (lhs batching, rhs batching)).
        precision: of the products on hardware that can trade it for speed.
        preferred_element_type: the dtype of the sums, and so of the result.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Returns:
        The batching dimensions, then the remaining ones of `lhs`, then those of `rhs`.

    Raises:
        TypeError: dimensions of different sizes, or integers narrower than the operands preferred.

    >>> x = irax.numpy.ones((2, 3))
    >>> irax.lax.dot_general(x, x, (((1,), (1,)), ((0,), (0,))))
    Array([3., 3.], dtype=float32)
    """
    what = "lax.dot_general"
    x, y = array_of(what, lhs), array_of(what, rhs)
    wider = max(x.dtype, y.dtype, key=_width)
    if x.dtype != y.dtype and preferred_element_type is not None:
        preferred = dtypes.requested_dtype(preferred_element_type, what)
        wider = max(wider, preferred, key=_width)
    x, y = convert(x, wider, x.weak_type), convert(y, wider, y.weak_type)
    (x_contract, y_contract), (x_batch, y_batch) = (
        tuple(tuple(map(operator.index, side)) for side in pair) for pair in dimension_numbers
    )
    for left, right, kind in ((x_contract, y_contract, "contract"), (x_batch, y_batch, "batch")):
        if not all(0 <= d < x.ndim for d in left) or not all(0 <= d < y.ndim for d in right):
            raise TypeError(
                f"{what}: shapes {x.shape} and {y.shape} have no {kind}ing dimensions {left} and "
                f"{right}"
            )
        sizes = [x.shape[d] for d in left], [y.shape[d] for d in right]
        if sizes[0] != sizes[1]:
            raise TypeError(
                f"{what}: shapes {x.shape} and {y.shape} do not fit: the {kind}ing dimensions "
                f"{left} and {right} must have the same sizes, got {sizes[0]} and {sizes[1]}"
            )
    weak = x.weak_type and y.weak_type and preferred_element_type is None
    dtype = x.dtype
    if preferred_element_type is not None:
        dtype = dtypes.requested_dtype(preferred_element_type, what)
        is_narrower = wider.kind in "iu" and _width(dtype)[3] < _width(wider)[3]
        if is_narrower or (wider.kind == "c" and 2 * dtype.itemsize < wider.itemsize):
            raise TypeError(
                f"{what}: preferred_element_type={dtype} is narrower than the operands, {wider}"
            )
    if x.dtype == np.bool and dtype == np.bool:  # whether any product is True
        x, y = convert(x, np.dtype(np.int32)), convert(y, np.dtype(np.int32))
        return convert(dot_general(x, y, dimension_numbers), dtype)
    if dtype.kind in "iu" and dtypes.issubdtype(wider, np.inexact):
        return convert(dot_general(x, y, dimension_numbers, precision), dtype)
    dims = ops.DotDimensions(x_batch, y_batch, x_contract, y_contract)
    precision = config.default_matmul_precision if precision is None else precision
    algorithm = algorithm_of(precision, x.dtype, y.dtype)
    if algorithm is not None or precision is DotAlgorithmPreset.DEFAULT:
        precision = None
    op = ops.DotGeneral(dims, dtype, precision_pair(what, precision), algorithm)
    return bind(op, x, y, weak_type=weak)


def _width(dtype: np.dtype[Any]) -> tuple[bool, int, int, int, bool]:
    """Return the order of a dtype among those of operands: kind, exponent, digits, bits, sign."""
    is_complex = dtypes.issubdtype(dtype, np.complexfloating)
    if dtypes.issubdtype(dtype, np.inexact):
        limits = dtypes.finfo(dtype)
        return is_complex, int(limits.maxexp), int(limits.nmant), int(limits.bits), True
    if dtype == np.bool:
        return False, -1, -1, 1, True
    signed = not dtypes.issubdtype(dtype, np.unsignedinteger)
    return False, -1, -1, int(dtypes.iinfo(dtype).bits), signed


@takes_out_sharding("lax.dot", sums=True)
def dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    *,
    dimension_numbers: DotDimensionNumbers | None = None,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Return the product of two vectors or matrices: the last dimension of lhs with the first of
    rhs.

    With `dimension_numbers` it is `dot_general`.

    Args:
        lhs: a vector or a matrix; an array of any rank, with `dimension_numbers`.
        rhs: another one.
        dimension_numbers: the dimensions to sum over, and those of batches, as `dot_general` takes
            them.
        precision: how exactly the hardware is to multiply.
        preferred_element_type: the dtype of the sums, and so of the result.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: sizes that do not fit.
        ValueError: other ranks, or matrices that do not fit.

    >>> irax.lax.dot(irax.numpy.ones((2, 3)), irax.numpy.ones(3))
    Array([3., 3.], dtype=float32)
    """
    what = "lax.dot"
    if dimension_numbers is not None:
        return dot_general(lhs, rhs, dimension_numbers, precision, preferred_element_type)
    x, y = array_of(what, lhs), array_of(what, rhs)
    if not (1 <= x.ndim <= 2 and 1 <= y.ndim <= 2 and x.shape[-1] == y.shape[0]):
        raise ValueError(
            f"{what}: shapes {x.shape} and {y.shape} do not fit: expected vectors or matrices, and "
            "the last dimension of the first as long as the first of the second"
        )
    numbers = (((x.ndim - 1,), (0,)), ((), ()))
    return dot_general(x, y, numbers, precision, preferred_element_type)


def batch_matmul(lhs: ArrayLike, rhs: ArrayLike, precision: PrecisionLike = None) -> Array:
    """Return the products of matrices, in the last two dimensions, for each leading index.

    Args:
        lhs: matrices [..., m, k].
        rhs: matrices [..., k, n] of the same dtype and the same leading dimensions.
        precision: how exactly the hardware is to multiply.

    Returns:
        Matrices [..., m, n].

    Raises:
        TypeError: not arrays of one dtype, or shapes that do not fit.
        ValueError: there is no such precision.

    >>> irax.lax.batch_matmul(jnp.ones((5, 2, 3)), jnp.ones((5, 3, 4))).shape
    (5, 2, 4)
    """
    what = "lax.batch_matmul"
    x, y = array_of(what, lhs), array_of(what, rhs)
    if x.ndim < 2 or x.ndim != y.ndim or x.shape[:-2] != y.shape[:-2]:
        kind = ValueError if x.ndim != y.ndim else TypeError
        raise kind(
            f"{what}: shapes {x.shape} and {y.shape} do not fit: expected the same leading "
            "dimensions, and two more in each"
        )
    batch = tuple(range(x.ndim - 2))
    return dot_general(x, y, (((x.ndim - 1,), (x.ndim - 2,)), (batch, batch)), precision)
