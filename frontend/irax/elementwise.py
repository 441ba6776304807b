"""Promotion and broadcasting: how operands of different dtypes and shapes come together.

Outside of traces NumPy broadcasts while it computes; inside one, conversions and broadcasts are
written down as operations of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from irax_compiler.ops import conversion, shape
from irax_compiler.ops.core import Op

from irax import dtypes
from irax.array import Array, ConcreteArray, as_array
from irax.tracing import bind, current_trace


def convert(x: Array, dtype: np.dtype[Any], weak_type: bool = False) -> Array:
    """`x` with another dtype or weak type; `x` itself where it has them already."""
    if x.dtype == dtype:
        return x if x.weak_type == weak_type else x.with_weak_type(weak_type)
    if isinstance(x, ConcreteArray) and (current_trace() is None or not x.ndim):
        with np.errstate(all="ignore"):
            return ConcreteArray(conversion.Convert(dtype).evaluate(x.value), weak_type)
    return bind(conversion.Convert(dtype), x, weak_type=weak_type)


def broadcast_to(x: Array, target: tuple[int, ...]) -> Array:
    """`x` stretched to a shape by NumPy's rules: aligned at the last dimension, 1s repeated.

    Raises:
        ValueError: the shapes do not fit.
    """
    if x.shape == target:
        return x
    if isinstance(x, ConcreteArray) and x.size == 1 and current_trace() is not None:
        return bind(shape.Constant(np.broadcast_to(x.value, target)), weak_type=x.weak_type)
    offset = len(target) - x.ndim
    fits = offset >= 0 and all(n in (1, m) for n, m in zip(x.shape, target[offset:], strict=True))
    if not fits:
        raise ValueError(f"cannot broadcast an array of shape {x.shape} to shape {target}")
    op = shape.BroadcastInDim(target, tuple(range(offset, len(target))))
    return bind(op, x, weak_type=x.weak_type)


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that arrays of these shapes broadcast to together.

    Raises:
        ValueError: they do not fit.
    """
    if len(set(shapes)) == 1:
        return shapes[0]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(map(str, shapes))
        raise ValueError(f"shapes {listed} cannot be broadcast together") from None


def promote_dtypes(*operands: Any, what: str) -> list[Array]:
    """The operands as arrays of their common dtype."""
    arrays = [as_array(x, what) for x in operands]
    dtype, weak = dtypes.lattice_result_type(*arrays)
    return [convert(x, dtype, weak) for x in arrays]


def promote(*operands: Any, what: str) -> list[Array]:
    """The operands as arrays of their common dtype and shape."""
    arrays = promote_dtypes(*operands, what=what)
    target = broadcast_shapes(*(x.shape for x in arrays))
    return [broadcast_to(x, target) for x in arrays]


def apply(op: Op, *operands: Any, what: str, dtype_kind: type | None = None) -> Array:
    """An elementwise op on operands of any dtypes and shapes that go together.

    With `dtype_kind=np.inexact`, integers and booleans become floats first.
    """
    arrays = [as_array(x, what) for x in operands]
    dtype, weak = dtypes.lattice_result_type(*arrays)
    if dtype_kind is np.inexact and not dtypes.issubdtype(dtype, np.inexact):
        dtype = dtypes.default_float()
    if current_trace() is None:
        values = [_elements(x, dtype) for x in arrays]
        broadcast_shapes(*(v.shape for v in values))
        with np.errstate(all="ignore"):
            result = op.evaluate(*values)
        return ConcreteArray(np.asarray(result), weak)
    arrays = [convert(x, dtype, weak) for x in arrays]
    target = broadcast_shapes(*(x.shape for x in arrays))
    return bind(op, *(broadcast_to(x, target) for x in arrays), weak_type=weak)


def _elements(x: Array, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    value = x.concrete("an operation", TypeError)
    return value if value.dtype == dtype else conversion.Convert(dtype).evaluate(value)
