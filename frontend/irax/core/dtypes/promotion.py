"""Promotion and broadcasting: operations on operands of different dtypes and shapes.

NumPy broadcasts while it computes; in a trace, conversions and broadcasts are operations of their
own. So how it is done is up to the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from irax import dtypes
from irax.core.array import Array
from irax.core.dispatch import current, shortcut
from irax.core.dtypes.operands import Kinds, as_arrays, common_shape, with_weak_type
from irax.core.dtypes.python_ints import check_ints
from irax_compiler.ops.core import Op
from irax_compiler.ops.numpy_call import NumpyCall


def convert(x: Array, dtype: np.dtype[Any], weak_type: bool = False) -> Array:
    """`x` with another dtype or weak type; `x` itself where it has them already."""
    if x.dtype == dtype:
        return with_weak_type(x, weak_type)
    return current((x,)).convert(x, dtype, weak_type)


def broadcast_to(x: Array, target: tuple[int, ...]) -> Array:
    """`x` stretched to a shape by NumPy's rules: aligned at the last dimension, 1s repeated.

    Raises:
        ValueError: the shapes do not fit.
    """
    return x if x.shape == target else current((x,)).broadcast_to(x, target)


def promote_dtypes(*operands: Any, what: str) -> list[Array]:
    """The operands as arrays of their common dtype."""
    arrays = as_arrays(operands, what)
    dtype, weak = dtypes.lattice_result_type(*arrays)
    check_ints(operands, dtype, what)
    return [convert(x, dtype, weak) for x in arrays]


def promote(*operands: Any, what: str) -> list[Array]:
    """The operands as arrays of their common dtype and shape."""
    given = as_arrays(operands, what)
    arrays = promote_dtypes(*given, what=what)
    check_ints(operands, arrays[0].dtype, what)
    target = common_shape(given, what)
    return [broadcast_to(x, target) for x in arrays]


def apply(
    op: Op,
    *operands: Any,
    what: str,
    dtype_kind: type | None = None,
    accepts: Kinds | None = None,
) -> Array:
    """An elementwise op on operands of any dtypes and shapes that go together.

    With `dtype_kind=np.inexact`, integers and booleans become floats first. `what` is the
    function's name in errors. Raises TypeError for dtypes that are none of `accepts`.
    """
    return current(operands).elementwise(op, operands, what, dtype_kind, accepts)


def select(condition: Array, on_true: Any, on_false: Any, what: str) -> Array:
    """`on_true` where a boolean condition holds, else `on_false`: promoted, and all broadcast."""
    operands = (condition, on_true, on_false)
    return current(operands).select(condition, on_true, on_false, what)


def elementwise_shortcut(name: str, *operands: Array, formula: Callable[..., Array]) -> Array:
    """Return the `shortcut` by an elementwise function of NumPy's, of arrays of one dtype, which
    the result has too. The formula is computed in float32 where floats are narrower, as NumPy does.
    """
    shape = common_shape(operands, name)
    first = operands[0]
    op = NumpyCall(name, shape, first.dtype)
    if is_narrow(first.dtype):
        formula = partial(in_float32, formula)
    return shortcut(op, *operands, formula=formula, weak_type=first.weak_type)


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """Return True for floats of fewer than 32 bits."""
    return dtypes.issubdtype(dtype, np.floating) and dtype.itemsize < 4


def in_float32(formula: Callable[..., Array], *operands: Array) -> Array:
    """Return what a formula of several steps gives, rounded once to the operands' narrow dtype."""
    wide = [convert(x, np.dtype(np.float32), x.weak_type) for x in operands]
    return convert(formula(*wide), operands[0].dtype, operands[0].weak_type)
