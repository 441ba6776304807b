"""Wider arithmetic: float64 for narrower floats, and decimal numbers of many digits.

Float64 is NumPy's. Decimal numbers are Python's own, as objects in arrays: NumPy adds and
multiplies them, and the functions that it cannot ask them for are here. They are the same on all
machines, where `longdouble` is not.
"""

from __future__ import annotations

import decimal
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import fields, is_dataclass, replace
from decimal import Decimal
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from irax_compiler.mlir import inexact
from irax_compiler.ops import comparison, conversion, convolution, dot, elementwise, reduce_window
from irax_compiler.ops.computation import Computation
from irax_compiler.ops.core import ArrayType, Op, evaluated
from irax_compiler.ops.indexing import gather_scatter
from irax_compiler.ops.reductions import reduce
from irax_compiler.ops.transformation import Evaluation

Array = np.ndarray[Any, Any]

DIGITS = 100
"""The digits of decimal numbers."""


@lru_cache(maxsize=65536)
def widened(op: Op) -> Op:
    """Return an op that does to float64 what another does to narrower floats."""
    if not is_dataclass(op):
        return op
    found = {f.name: _widened(getattr(op, f.name)) for f in fields(op) if f.init}
    changed = {k: v for k, v in found.items() if v is not getattr(op, k)}
    return replace(op, **changed) if changed else op


def _widened(parameter: Any) -> Any:
    if isinstance(parameter, np.dtype):
        return wide_dtype(parameter) if inexact(parameter) else parameter
    if isinstance(parameter, Computation):
        return Computation(_BITS.sub(_of_bits, _NARROW.sub("f64", parameter.text)))
    return parameter


_NARROW = re.compile(r"\b(bf16|f16|f32)\b")
_BITS = re.compile(r"dense<0x([0-9A-F]{4}|[0-9A-F]{8})> : tensor<f64>")


def _of_bits(match: re.Match[str]) -> str:
    """A constant that has no decimal form: an infinity or nan, of which the sign and kind stay."""
    digits = match[1]
    number = int(digits, 16)
    sign = number >> (4 * len(digits) - 1)
    is_infinite = number & 0x7F in (0, 0x80 - 0x80)
    return f"dense<0x{'F' if sign else '7'}FF{'0' if is_infinite else '8'}{'0' * 12}> : tensor<f64>"


def wide_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return float64, or complex128 for complex numbers."""
    return np.dtype(np.complex128 if dtype.kind == "c" else np.float64)


class Doubles:
    """Float64, beside narrower floats."""

    name = "float64"
    unit = 2.0**-53
    """The largest relative error of its roundings."""

    def __init__(self) -> None:
        self.lacking: set[str] = set()
        """The names of ops that were done in float64 for want of a wider form."""

    def dtype(self, narrow: np.dtype[Any]) -> np.dtype[Any]:
        """Return the dtype of the numbers that stand beside those of a dtype."""
        return wide_dtype(narrow)

    def lifted(self, x: Array) -> Array:
        """Return an array's numbers, which these are exact for."""
        return x.astype(wide_dtype(x.dtype), copy=False)

    def lowered(self, x: Array) -> Array:
        """Return the numbers as float64 or complex128."""
        return x

    def finite(self, x: Array) -> Array:
        """Return which numbers are finite."""
        return np.isfinite(self.lowered(x))

    def difference(self, x: Array, y: Array) -> Array:
        """Return the difference of two of its arrays as float64 or complex128."""
        return self.lowered(x - y)

    def evaluated(self, op: Op, call: Evaluation, operands: Sequence[Array]) -> Sequence[Array]:
        """Return the results of an op in this arithmetic."""
        return evaluated(widened(op), call, operands)

    def prepared(self, op: Op, given: Sequence[ArrayType]) -> Callable[..., Any]:
        """Return an elementwise op as a function of its arrays."""
        quickly = _QUICKLY.get(op)
        if quickly is not None and given[0].dtype.kind != "c" and prod(given[0].shape) >= _MANY:
            return quickly
        return widened(op).prepared(*(ArrayType(x.shape, wide_dtype(x.dtype)) for x in given))

    def context(self) -> AbstractContextManager[Any]:
        """Return the context in which the arithmetic is done."""
        return nullcontext()


_MANY = 1024
"""Elements from which on sines by tangents take less time than NumPy's of float64."""


def _sine(x: Array) -> Array:
    """The sine by the tangent of half the angle, which NumPy computes by vectors. It has the
    digits that this needs, which are relative to the result.
    """
    t = np.tan(0.5 * x)
    square = t * t
    square += 1
    t += t
    t /= square
    return t


def _cosine(x: Array) -> Array:
    """The cosine by the same tangent; near its zeros, where no digits are left, NumPy's own."""
    t = np.tan(0.5 * x)
    t *= t
    found = 1 - t
    t += 1
    found /= t
    few = np.abs(found) < 2.0**-8
    found[few] = np.cos(x[few])
    return found


_QUICKLY: dict[Op, Callable[..., Any]] = {elementwise.sine: _sine, elementwise.cosine: _cosine}


class Decimals(Doubles):
    """Decimal numbers, beside floats that are no complex numbers."""

    name = f"decimal numbers of {DIGITS} digits"
    unit = 10.0 ** (1 - DIGITS)

    def dtype(self, narrow: np.dtype[Any]) -> np.dtype[Any]:
        return np.dtype(np.complex128 if narrow.kind == "c" else object)

    def lifted(self, x: Array) -> Array:
        if x.dtype.kind in "cO":
            return x.astype(np.complex128) if x.dtype.kind == "c" else x
        return np.asarray(_decimals(x.astype(np.float64)), object)

    def lowered(self, x: Array) -> Array:
        return np.asarray(x, np.float64) if np.asarray(x).dtype == object else x

    def finite(self, x: Array) -> Array:
        return np.asarray(_are_finite(x), bool) if x.dtype == object else np.isfinite(x)

    def evaluated(self, op: Op, call: Evaluation, operands: Sequence[Array]) -> Sequence[Array]:
        try:
            found = self._evaluated(op, operands)
        except (TypeError, AttributeError, ValueError, ArithmeticError):
            found = None
        if found is None:  # by float64, as near as that is
            if any(x.dtype.kind in "Oc" for x in operands):
                self.lacking.add(op.name)
            doubles = super().evaluated(op, call, [self.lowered(x) for x in operands])
            return [self.lifted(x) if inexact(x.dtype) else x for x in doubles]
        return found

    def _evaluated(self, op: Op, operands: Sequence[Array]) -> Sequence[Array] | None:
        function = _FUNCTIONS.get(op.name)
        if any(x.dtype.kind == "c" for x in operands):
            return None
        if function is not None:
            return [np.asarray(function(*operands), object)]
        if isinstance(op, conversion.Convert) and operands[0].dtype == object:
            if inexact(op.dtype) and op.dtype.kind != "c":
                return operands
            return evaluated(op, _no_calls, [self.lowered(x) for x in operands])
        if isinstance(op, dot.DotGeneral):
            return evaluated(replace(op, dtype=np.dtype(object)), _no_calls, operands)
        if isinstance(op, reduce.Reduce):
            ufunc = reduce.COMBINERS[op.combiner]
            folded = ufunc.reduce(operands[0], op.dimensions, initial=operands[1][()])
            return [np.asarray(folded, object)]
        if isinstance(op, convolution.Convolution):
            return evaluated(replace(op, dtype=np.dtype(object)), _no_calls, operands)
        if isinstance(op, comparison.Compare | reduce_window.ReduceWindow | gather_scatter.Scatter):
            return [np.asarray(x) for x in evaluated(op, _no_calls, operands)]
        return None

    @contextmanager
    def context(self) -> Iterator[None]:
        with decimal.localcontext(prec=DIGITS, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN) as c:
            c.clear_traps()
            yield


def _no_calls(name: str, arguments: Sequence[Array]) -> Sequence[Array]:
    raise TypeError(name)


def _each(function: Callable[..., Any], count: int = 1) -> Callable[..., Any]:
    return np.frompyfunc(function, count, 1)


_decimals = _each(lambda x: Decimal(float(x)))
_are_finite = _each(Decimal.is_finite)
_ONE, _TWO = Decimal(1), Decimal(2)


def _series(first: Decimal, square: Decimal, start: int) -> Decimal:
    """Sum first * (square**k) / ((start + 1) (start + 2) ... (start + 2k))."""
    total, term, n = first, first, start
    while True:
        term = term * square / ((n + 1) * (n + 2))
        n += 2
        if abs(term) <= abs(total).scaleb(-DIGITS - 5) or not term.is_finite():
            return total
        total += term


@lru_cache(maxsize=8)
def _pi(digits: int) -> Decimal:
    """pi by Machin's formula."""

    def arctan_of_inverse(n: int) -> Decimal:
        total = term = Decimal(1) / n
        k = 1
        while abs(term) > Decimal(10) ** -(digits + 5):
            term = -term / (n * n)
            k += 2
            total += term / k
        return total

    return 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))


def _reduced(x: Decimal) -> Decimal:
    with decimal.localcontext(prec=2 * DIGITS + max(0, x.adjusted())):
        turn = 2 * _pi(decimal.getcontext().prec)
        return x - turn * (x / turn).to_integral_value()


def _sin(x: Decimal) -> Decimal:
    if not x.is_finite():
        return Decimal("nan")
    x = _reduced(x)
    return _series(x, -x * x, 1) if x else x


def _cos(x: Decimal) -> Decimal:
    if not x.is_finite():
        return Decimal("nan")
    x = _reduced(x)
    return _series(_ONE, -x * x, 0)


def _atan(x: Decimal) -> Decimal:
    """The inverse of the tangent, by halving the angle, and the series."""
    if not x.is_finite():
        return x if x.is_nan() else (_pi(DIGITS) / 2).copy_sign(x)
    halvings = 0
    while abs(x) > Decimal("0.05"):
        x = x / (1 + (1 + x * x).sqrt())
        halvings += 1
    total, term, k = x, x, 1
    while term and abs(term) > abs(total).scaleb(-DIGITS - 5):
        term = -term * x * x
        k += 2
        total += term / k
    return total * 2**halvings


def _atan2(y: Decimal, x: Decimal) -> Decimal:
    if x > 0:
        return _atan(y / x)
    pi = _pi(DIGITS)
    if x < 0:
        return _atan(y / x) + (pi if y >= 0 else -pi)
    return (pi / 2).copy_sign(y) if y else Decimal(0)


def _expm1(x: Decimal) -> Decimal:
    with decimal.localcontext(prec=DIGITS + max(0, -x.adjusted()) if x.is_finite() else DIGITS):
        return x.exp() - 1


def _log1p(x: Decimal) -> Decimal:
    with decimal.localcontext(prec=DIGITS + max(0, -x.adjusted()) if x.is_finite() else DIGITS):
        return (1 + x).ln()


def _tanh(x: Decimal) -> Decimal:
    if abs(x) > 1000:
        return _ONE.copy_sign(x)
    grown = _expm1(2 * x)
    return grown / (grown + 2)


def _sinh(x: Decimal) -> Decimal:
    grown = _expm1(abs(x))
    return ((grown + grown / (grown + 1)) / 2).copy_sign(x)


def _asinh(x: Decimal) -> Decimal:
    size = abs(x)
    return _log1p(size + size * size / (1 + (size * size + 1).sqrt())).copy_sign(x)


_ERF_IS_ONE = 40
"""Beyond, the error function is 1 in float64, and its complement 0."""


def _erf(x: Decimal) -> Decimal:
    """Add up a series of positive terms."""
    if not abs(x) < _ERF_IS_ONE:
        return _ONE.copy_sign(x) if abs(x) >= _ERF_IS_ONE else x
    term = total = x
    digits, k = decimal.getcontext().prec, 1
    while abs(term) > abs(total).scaleb(-digits - 5):
        term = term * 2 * x * x / (2 * k + 1)
        total += term
        k += 1
    return 2 / _pi(digits).sqrt() * (-x * x).exp() * total


def _erfc(x: Decimal) -> Decimal:
    lost = int(x * x / 2) if 0 < x < _ERF_IS_ONE else 0
    with decimal.localcontext(prec=DIGITS + lost):
        return 1 - _erf(x)


def _power(x: Decimal, y: Decimal) -> Decimal:
    if x < 0 and y == y.to_integral_value():
        size = (-x) ** y
        return -size if y % 2 else size
    return x**y


def _cbrt(x: Decimal) -> Decimal:
    return ((abs(x).ln() / 3).exp()).copy_sign(x) if x else x


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    f"stablehlo.{name}": function
    for name, function in {
        "add": np.add,
        "subtract": np.subtract,
        "multiply": np.multiply,
        "divide": _each(lambda x, y: x / y, 2),
        "negate": np.negative,
        "abs": np.abs,
        "maximum": np.maximum,
        "minimum": np.minimum,
        "sqrt": _each(Decimal.sqrt),
        "rsqrt": _each(lambda x: 1 / x.sqrt()),
        "cbrt": _each(_cbrt),
        "exponential": _each(Decimal.exp),
        "exponential_minus_one": _each(_expm1),
        "log": _each(Decimal.ln),
        "log_plus_one": _each(_log1p),
        "logistic": _each(lambda x: 1 / (1 + (-x).exp())),
        "sine": _each(_sin),
        "cosine": _each(_cos),
        "tan": _each(lambda x: _sin(x) / _cos(x)),
        "tanh": _each(_tanh),
        "power": _each(_power, 2),
        "atan2": _each(_atan2, 2),
        "remainder": _each(lambda x, y: x % y, 2),
    }.items()
} | {
    f"chlo.{name}": function
    for name, function in {
        "square": np.square,
        "sinh": _each(_sinh),
        "cosh": _each(lambda x: (x.exp() + (-x).exp()) / 2),
        "asin": _each(lambda x: _atan2(x, ((1 - x) * (1 + x)).sqrt())),
        "acos": _each(lambda x: _atan2(((1 - x) * (1 + x)).sqrt(), x)),
        "atan": _each(_atan),
        "asinh": _each(_asinh),
        "acosh": _each(lambda x: (x + ((x - 1) * (x + 1)).sqrt()).ln()),
        "atanh": _each(lambda x: (_log1p(x) - _log1p(-x)) / 2),
        "erf": _each(_erf),
        "erfc": _each(_erfc),
    }.items()
}
