"""jax._src.numpy.util: promotion of the operands of functions of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from irax import dtypes
from irax.core.array import Array
from irax.core.dtypes import operands, promotion


def check_arraylike(fun_name: str, *args: Any) -> None:
    """Check that operands are arrays or numbers.

    Raises:
        TypeError: one is not.
    """
    operands.as_arrays(args, fun_name)


def promote_dtypes(*args: Any) -> list[Array]:
    """Return arrays of one dtype."""
    return promotion.promote_dtypes(*args, what="promote_dtypes")


def promote_dtypes_numeric(*args: Any) -> list[Array]:
    """Return arrays of one dtype, which is of numbers: booleans become integers."""
    arrays = promote_dtypes(*args)
    are_booleans = bool(arrays) and arrays[0].dtype.kind == "b"
    return _converted(arrays, dtypes.canonicalize_dtype(int)) if are_booleans else arrays


def promote_dtypes_inexact(*args: Any) -> list[Array]:
    """Return arrays of one dtype, of floats or complex numbers."""
    arrays = promote_dtypes(*args)
    return _converted(arrays, operands.inexact_dtype(arrays[0].dtype)) if arrays else arrays


def promote_dtypes_complex(*args: Any) -> list[Array]:
    """Return arrays of one complex dtype."""
    arrays = promote_dtypes_inexact(*args)
    return _converted(arrays, dtypes.result_type(*arrays, "complex64")) if arrays else arrays


def promote_shapes(fun_name: str, *args: Any) -> list[Array]:
    """Return arrays of one rank: sizes of 1 come first."""
    arrays = operands.as_arrays(args, fun_name)
    rank = max((x.ndim for x in arrays), default=0)
    return [x.reshape((1,) * (rank - x.ndim) + x.shape) for x in arrays]


def promote_args(fun_name: str, *args: Any) -> list[Array]:
    """Return arrays of one dtype and rank."""
    check_arraylike(fun_name, *args)
    return promote_shapes(fun_name, *promote_dtypes(*args))


def promote_args_inexact(fun_name: str, *args: Any) -> list[Array]:
    """Return arrays of one rank and dtype, of floats or complex numbers."""
    check_arraylike(fun_name, *args)
    return promote_shapes(fun_name, *promote_dtypes_inexact(*args))


def _converted(arrays: list[Array], dtype: np.dtype[Any]) -> list[Array]:
    return [x if x.dtype == dtype else promotion.convert(x, dtype) for x in arrays]
