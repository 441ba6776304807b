"""Cumulative reductions along an axis: cumsum, cumprod, cummax, cummin, cumlogsumexp."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from irax.core.array import Array
from irax.core.dispatch import bind, shortcut
from irax.core.dtypes.operands import Kinds, check_dtype, kinds_text
from irax.lax.arguments import array_of, canonical_axis, documented
from irax.lax.control_flow.associative import associative_scan
from irax.lax.elementwise import ANY, INEXACT, NUMBER
from irax.lax.elementwise import max as max_
from irax.lax.elementwise import min as min_
from irax.lax.log_sums import log_add_exp_complex
from irax.lax.reductions import neutral
from irax.lax.signatures import Cumulative
from irax.typing import ArrayLike
from irax_compiler.mlir import Value
from irax_compiler.ops import bitwise, comparison, elementwise, numpy_call
from irax_compiler.ops.computation import Computation
from irax_compiler.ops.core import full_like
from irax_compiler.ops.reduce_window import ReduceWindow
from irax_compiler.ops.reductions import cumulative

_BY_NUMPY: dict[Any, str] = {"add": "add.accumulate", "multiply": "multiply.accumulate"}


def _so_far(
    what: str,
    operand: ArrayLike,
    axis: int,
    reverse: bool,
    accepts: Kinds,
    combiner: str | Callable[[np.dtype], Computation],
) -> Array:
    x = array_of(what, operand)
    check_dtype(what, x.dtype, accepts)
    axis = canonical_axis(what, axis, x.ndim)
    if 0 in x.shape:
        return x
    if x.dtype.kind == "c" and combiner in _OF_COMPLEX:  # no window of which they are the extremes
        return associative_scan(_OF_COMPLEX[combiner], x, reverse, axis)

    def formula(x: Array) -> Array:
        return _windowed(x, cumulative.Run(axis, reverse), combiner)

    if reverse or combiner not in _BY_NUMPY:
        return formula(x)
    op = numpy_call.NumpyCall(_BY_NUMPY[combiner], x.shape, x.dtype, axis)
    return shortcut(op, x, formula=formula, weak_type=x.weak_type)


def _windowed(
    x: Array, run: cumulative.Run, combiner: str | Callable[[np.dtype], Computation]
) -> Array:
    window = run.window(x.shape)
    if isinstance(combiner, str):
        op, start = ReduceWindow(combiner, window), neutral(combiner, x.dtype)
    else:
        op, start = ReduceWindow(combiner(x.dtype), window), neutral("maximum", x.dtype)
    (result,) = bind(op, x, start)
    return result.with_weak_type(x.weak_type)


def _function(name: str, combiner: str, accepts: Kinds, doc: str) -> Cumulative:
    def function(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
        return _so_far(f"lax.{name}", operand, axis, reverse, accepts, combiner)

    doc += f"""

Args:
    operand: an array of {kinds_text(accepts)}.
    axis: the axis along which elements are combined.
    reverse: True to combine each element with those that follow it.

Returns:
    An array of the same shape.

Raises:
    TypeError: the array has another dtype.
    ValueError: there is no such axis."""
    return documented(function, name, doc)


cumsum: Cumulative = _function(
    "cumsum", "add", NUMBER, "The sum of the elements so far, along an axis."
)
cumprod: Cumulative = _function("cumprod", "multiply", NUMBER, "The product so far, along an axis.")
cummax: Cumulative = _function(
    "cummax",
    "maximum",
    ANY,
    "The largest element so far, along an axis; complex numbers are in order of their real parts.",
)
cummin: Cumulative = _function(
    "cummin",
    "minimum",
    ANY,
    "The smallest element so far, along an axis; complex numbers are in order of their real parts.",
)


def cumlogsumexp(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Array:
    """log(sum(exp(x))) of the elements so far, along an axis; of those that follow, with `reverse`.

    It overflows only where the result does. Imaginary parts are between -pi and pi.

    Args:
        operand: an array of floats or complex numbers.
        axis: the axis, an int.
        reverse: True to begin at the end.

    Raises:
        TypeError: an operand that is not of floats or complex numbers.
        ValueError: there is no such axis.

    >>> irax.lax.cumlogsumexp(irax.numpy.zeros(2)).round(3)
    Array([0.   , 0.693], dtype=float32)
    """
    return _so_far("lax.cumlogsumexp", operand, axis, reverse, INEXACT, _log_sum_exp)


def _log_sum_exp(dtype: np.dtype) -> Computation:
    def body(x: Value, y: Value) -> list[Value]:
        # One formula on each side of equal numbers, where all derivatives are right. The difference
        # of infinities is nan.
        ahead = comparison.greater_equal(x, y)
        large, small = comparison.select(ahead, x, y), comparison.select(ahead, y, x)
        is_infinite = bitwise.not_(elementwise.is_finite(large))
        is_same = bitwise.and_(comparison.equal(x, y), is_infinite)
        gap = comparison.select(is_same, full_like(x, 0), elementwise.subtract(small, large))
        rest = elementwise.log_plus_one(elementwise.exponential(gap))
        return [elementwise.add(large, rest)]

    return Computation.build([dtype, dtype], body)


_OF_COMPLEX: dict[Any, Callable[[Any, Any], Array]] = {
    "maximum": max_,
    "minimum": min_,
    _log_sum_exp: log_add_exp_complex,
}
