"""Double-double arithmetic: a number as the sum of two of float64, the second far smaller.

It has some 31 digits, and is done to whole arrays. Sums and products are the error-free
transformations of Knuth and of Dekker; functions are series and Newton's steps. What is not here is
done by decimal numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from irax_compiler.mlir import inexact
from irax_compiler.ops import comparison, conversion, convolution, dot
from irax_compiler.ops.core import Op, evaluated, no_calls
from irax_compiler.ops.reductions import reduce
from irax_compiler.ops.transformation import Evaluation
from irax_compiler.precision.wide import Decimals, Doubles

Array = np.ndarray[Any, Any]
Pair = tuple[Array, Array]
PAIR = np.dtype([("high", np.float64), ("low", np.float64)])


def pair(x: Any) -> Pair:
    """Return numbers of float64 as pairs."""
    high = np.asarray(x, np.float64)
    return high, np.zeros_like(high)


def add(x: Pair, y: Pair) -> Pair:
    """Return sums."""
    high, error = _sum(x[0], y[0])
    low, rest = _sum(x[1], y[1])
    high, low = _ordered(high, error + low)
    return _ordered(high, low + rest)


def negative(x: Pair) -> Pair:
    """Return the numbers with the other sign."""
    return -x[0], -x[1]


def subtract(x: Pair, y: Pair) -> Pair:
    """Return differences."""
    return add(x, negative(y))


def multiply(x: Pair, y: Pair) -> Pair:
    """Return products."""
    high, low = _product(x[0], y[0])
    return _ordered(high, low + (x[0] * y[1] + x[1] * y[0]))


def divide(x: Pair, y: Pair) -> Pair:
    """Return quotients."""
    first = x[0] / y[0]
    rest = subtract(x, multiply(pair(first), y))
    second = rest[0] / y[0]
    rest = subtract(rest, multiply(pair(second), y))
    found = add(_ordered(first, second), pair(rest[0] / y[0]))
    return _where(np.isfinite(first) & np.isfinite(y[0]), found, pair(first))


def sqrt(x: Pair) -> Pair:
    """Return square roots, by a Newton's step from that in float64."""
    root = np.sqrt(x[0])
    rest = subtract(x, _product(root, root))
    found = _ordered(root, rest[0] / (2 * np.where(root > 0, root, 1)))
    return _where((x[0] > 0) & np.isfinite(x[0]), found, pair(root))


def expm1(x: Pair) -> Pair:
    """Return the exponentials less one: a series for a 512th of the rest of x by log 2, which is
    doubled nine times.
    """
    turns, small = _exponent(x)
    grown = add(multiply(pair(np.ldexp(1.0, turns)), small), pair(np.ldexp(1.0, turns) - 1))
    is_plain = np.abs(x[0]) >= _LARGEST_EXPONENT
    return _or_itself(x, _where(is_plain, pair(np.expm1(x[0])), grown))


def exp(x: Pair) -> Pair:
    """Return exponentials."""
    turns, small = _exponent(x)
    high, low = add(small, pair(1.0))
    found = np.ldexp(high, turns), np.ldexp(low, turns)
    return _where(np.abs(x[0]) < _LARGEST_EXPONENT, found, pair(np.exp(x[0])))


def log(x: Pair) -> Pair:
    """Return logarithms, by a Newton's step from that in float64."""
    first = np.log(x[0])
    step = subtract(multiply(x, exp(pair(-first))), pair(1.0))
    found = add(pair(first), step)
    return _where((x[0] > 0) & np.isfinite(found[0] + x[0]), found, pair(first))


def log1p(x: Pair) -> Pair:
    """Return the logarithms of one more, by a Newton's step from that in float64."""
    first = np.log1p(x[0])
    grown = expm1(pair(first))
    step = divide(subtract(x, grown), add(grown, pair(1.0)))
    found = _where((x[0] > -1) & np.isfinite(x[0]), add(pair(first), step), pair(first))
    return _or_itself(x, found)


def sine(x: Pair, turned: int = 0) -> Pair:
    """Return sines, or those of some right angles more: series for the rest by a right angle."""
    turns = np.rint(x[0] / _RIGHT_ANGLE[0])
    rest = x
    for part in _RIGHT_ANGLE:
        rest = subtract(rest, _product(turns, part))
    square = multiply(rest, rest)
    of_sine, of_cosine = pair(np.zeros_like(x[0])), pair(np.zeros_like(x[0]))
    for n in range(28, 0, -2):  # Horner's rule
        of_cosine = multiply(square, _over(subtract(pair(1.0), of_cosine), n * (n - 1)))
        of_sine = multiply(square, _over(subtract(pair(1.0), of_sine), (n + 1) * n))
    cosines = subtract(pair(1.0), of_cosine)
    sines = multiply(rest, subtract(pair(1.0), of_sine))
    quarter = (turns + turned) % 4
    found = _where(quarter % 2 == 1, cosines, sines)
    found = _where(quarter >= 2, negative(found), found)
    return found if turned else _or_itself(x, found)


def tanh(x: Pair) -> Pair:
    """Return hyperbolic tangents."""
    size = _where(x[0] < 0, negative(x), x)
    grown = expm1(add(size, size))
    found = divide(grown, add(grown, pair(2.0)))
    found = _where(size[0] < _ONE_IN_TANH, found, pair(np.tanh(size[0])))
    return _or_itself(x, _where(x[0] < 0, negative(found), found))


def logistic(x: Pair) -> Pair:
    """Return one over one and the exponentials of -x."""
    found = divide(pair(1.0), add(pair(1.0), exp(negative(x))))
    return _where(np.isfinite(x[0]), found, pair(1 / (1 + np.exp(-x[0]))))


def power(x: Pair, y: Pair) -> Pair:
    """Return powers: products where all exponents are the same small integer."""
    exponent = y[0].reshape(-1)[0] if y[0].size else 0.0
    if (y[0] == exponent).all() and not y[1].any() and exponent in range(-16, 17):
        found = pair(np.ones_like(x[0]))
        for _ in range(abs(int(exponent))):
            found = multiply(found, x)
        return divide(pair(1.0), found) if exponent < 0 else found
    size = exp(multiply(y, log(_where(x[0] < 0, negative(x), x))))
    plain = np.power(x[0], y[0])
    return _where(
        (x[0] != 0) & np.isfinite(plain), _where(plain < 0, negative(size), size), pair(plain)
    )


def maximum(x: Pair, y: Pair) -> Pair:
    """Return the larger of two; nan where one is."""
    return _where(less(x, y) | np.isnan(y[0]), y, x)


def minimum(x: Pair, y: Pair) -> Pair:
    """Return the smaller of two; nan where one is."""
    return _where(less(y, x) | np.isnan(y[0]), y, x)


def less(x: Pair, y: Pair) -> Array:
    """Return True where a number is less than another."""
    return (x[0] < y[0]) | ((x[0] == y[0]) & (x[1] < y[1]))


def _sum(x: Array, y: Array) -> Pair:
    """Knuth's sum of two numbers, and its error."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def _ordered(high: Array, low: Array) -> Pair:
    """The sum of two numbers, of which the second is smaller, and its error; of what is not finite,
    there is none.
    """
    low = np.where(np.isfinite(low), low, 0.0)
    total = np.where(low == 0, high, high + low)  # which keeps the sign of -0.0
    error = low - (total - high)
    return total, np.where(np.isfinite(error), error, 0.0)


def _product(x: Any, y: Any) -> Pair:
    """Dekker's product of two numbers, and its error."""
    found = np.asarray(x * y)
    (a, b), (c, d) = _halves(x), _halves(y)
    error = ((a * c - found) + a * d + b * c) + b * d
    return found, np.where(np.isfinite(error), error, 0.0)


def _halves(x: Any) -> tuple[Any, Any]:
    """A number as a sum of two of half of its bits."""
    scaled = 134217729.0 * x
    high = scaled - (scaled - x)
    return high, x - high


def _where(chosen: Array, x: Pair, y: Pair) -> Pair:
    return np.where(chosen, x[0], y[0]), np.where(chosen, x[1], y[1])


def _or_itself(x: Pair, found: Pair) -> Pair:
    """Return the result of a function that is x but for x**2 near 0: there, x itself."""
    return _where(np.abs(x[0]) < _TINY, x, found)


def _over(x: Pair, divisor: int) -> Pair:
    return divide(x, pair(float(divisor)))


def _exponent(x: Pair) -> tuple[Array, Pair]:
    """The multiple of log 2 in a number, and the exponential of the rest, less one."""
    turns = np.rint(np.clip(np.nan_to_num(x[0]), -1100, 1100) / _LOG_2[0])
    rest = x
    for part in _LOG_2:
        rest = subtract(rest, _product(turns, part))
    rest = rest[0] / 512, rest[1] / 512
    total = pair(np.zeros_like(x[0]))
    for n in range(10, 1, -1):
        total = _over(multiply(rest, add(pair(1.0), total)), n)
    total = multiply(rest, add(pair(1.0), total))
    for _ in range(9):
        total = add(add(total, total), multiply(total, total))
    return turns.astype(np.int32), total


def _parts(text: str) -> tuple[float, ...]:
    """A number as a sum of three of float64."""
    rest, parts = Decimal(text), []
    for _ in range(3):
        parts.append(float(rest))
        rest -= Decimal(parts[-1])
    return tuple(parts)


_LOG_2 = _parts("0.693147180559945309417232121458176568075500134360255254120680009")
_RIGHT_ANGLE = _parts("1.57079632679489661923132169163975144209858469968755291048747230")
_LARGEST_EXPONENT = 700.0
_TINY = 1e-60
_ONE_IN_TANH = 40.0
_LARGEST_ANGLE = 1e6
"""Larger ones have fewer digits of their rest by a right angle."""


class Pairs(Doubles):
    """Double-double numbers, beside floats of large arrays."""

    name = "double-double numbers"
    unit = 2.0**-100

    def __init__(self) -> None:
        super().__init__()
        self._decimals = Decimals()
        self._decimals.lacking = self.lacking

    def dtype(self, narrow: np.dtype[Any]) -> np.dtype[Any]:
        return PAIR

    def lifted(self, x: Array) -> Array:
        return x if x.dtype == PAIR else _packed(pair(x))

    def lowered(self, x: Array) -> Array:
        return x["high"] if x.dtype == PAIR else x

    def difference(self, x: Array, y: Array) -> Array:
        return subtract(_unpacked(x), _unpacked(y))[0]

    def evaluated(self, op: Op, call: Evaluation, operands: Sequence[Array]) -> Sequence[Array]:
        if all(x.dtype == PAIR for x in operands):
            found = _evaluated(op, [_unpacked(x) for x in operands])
            if found is not None:
                return [_packed(found) if isinstance(found, tuple) else np.asarray(found)]
        given = [_to_decimal(x) if x.dtype == PAIR else x for x in operands]
        found = self._decimals.evaluated(op, call, given)
        return [self._paired(x) if x.dtype == object or inexact(x.dtype) else x for x in found]

    def _paired(self, x: Array) -> Array:
        """The pairs nearest to decimal numbers."""
        if x.dtype != object:
            return self.lifted(x)
        high = np.asarray(x, np.float64)
        there = np.isfinite(high)
        rest: Any = x - _exactly(np.where(there, high, 0.0))
        return _packed((high, np.where(there, np.asarray(rest, np.float64), 0.0)))

    def context(self) -> AbstractContextManager[Any]:
        return self._decimals.context()


_exactly = np.frompyfunc(Decimal, 1, 1)
_to_decimals = np.frompyfunc(lambda high, low: Decimal(high) + Decimal(low), 2, 1)


def _to_decimal(x: Array) -> Array:
    return np.asarray(_to_decimals(x["high"], x["low"]), object)


def _packed(x: Pair) -> Array:
    high, low = np.broadcast_arrays(*x)
    found = np.empty(high.shape, PAIR)
    found["high"], found["low"] = high, low
    return found


def _unpacked(x: Array) -> Pair:
    return np.ascontiguousarray(x["high"]).reshape(x.shape), np.ascontiguousarray(x["low"]).reshape(
        x.shape
    )


def _evaluated(op: Op, operands: Sequence[Pair]) -> Pair | Array | None:
    """The result of an op; None if it is not known here."""
    if op.name in ("stablehlo.sine", "stablehlo.cosine"):
        (x,) = operands
        if not (np.abs(x[0]) < _LARGEST_ANGLE).all():
            return None
        return sine(x, int(op.name == "stablehlo.cosine"))
    function = _FUNCTIONS.get(op.name)
    if function is not None:
        return function(*operands)
    if isinstance(op, conversion.Convert):
        return operands[0] if inexact(op.dtype) and op.dtype.kind != "c" else None
    if isinstance(op, comparison.Compare):
        return _compared(op.comparison_direction, *operands)
    if isinstance(op, reduce.Reduce) and op.combiner in _COMBINERS:
        return _reduced(_COMBINERS[op.combiner], op.dimensions, *operands)
    if isinstance(op, dot.DotGeneral | convolution.Convolution):
        return _product_of_arrays(replace(op, dtype=np.dtype(np.float64)), *operands)
    return None


def _compared(direction: str, x: Pair, y: Pair) -> Array:
    equal = (x[0] == y[0]) & (x[1] == y[1])
    match direction:
        case "EQ":
            return equal
        case "NE":
            return ~equal
        case "LT":
            return less(x, y)
        case "LE":
            return less(x, y) | equal
        case "GT":
            return less(y, x)
    return less(y, x) | equal


def _reduced(
    combine: Callable[[Pair, Pair], Pair], dimensions: Sequence[int], x: Pair, start: Pair
) -> Pair:
    """All numbers along some dimensions, combined in pairs."""
    kept = [d for d in range(x[0].ndim) if d not in dimensions]
    shape = tuple(x[0].shape[d] for d in kept)
    high, low = (p.transpose([*kept, *dimensions]).reshape(*shape, -1) for p in x)
    while high.shape[-1] > 1:
        count = high.shape[-1]
        half = count // 2
        paired = combine(
            (high[..., :half], low[..., :half]),
            (high[..., half : 2 * half], low[..., half : 2 * half]),
        )
        high, low = (
            np.concatenate([p, rest[..., 2 * half :]], -1)
            for p, rest in zip(paired, (high, low), strict=True)
        )
    if not high.shape[-1]:
        return np.broadcast_to(start[0], shape), np.broadcast_to(start[1], shape)
    return combine((high[..., 0], low[..., 0]), start)


_SLICES = 6
"""The slices that numbers are cut into, for products of matrices."""


def _product_of_arrays(op: Op, x: Pair, y: Pair) -> Pair | None:
    """The product of matrices or a convolution: numbers are cut into slices of so few bits that
    sums of their products in float64 have no errors (K. Ozaki and others, Error-free
    transformations of matrix multiplication, 2012).
    """
    if not (np.isfinite(x[0]).all() and np.isfinite(y[0]).all()):
        return None
    (plain,) = evaluated(op, no_calls, [x[0], y[0]])
    terms = max(1.0, np.sqrt(x[0].size * y[0].size / max(1, plain.size)))
    bits = int((53 - np.ceil(np.log2(terms)) - 1) // 2)
    total = pair(np.zeros(plain.shape))
    slices = _sliced(x, bits), _sliced(y, bits)
    for number in range(_SLICES):
        for i in range(number + 1):
            a, b = slices[0][i], slices[1][number - i]
            if a.any() and b.any():
                total = add(total, pair(evaluated(op, no_calls, [a, b])[0]))
    return total


def _sliced(x: Pair, bits: int) -> list[Array]:
    """Numbers as sums of such of a few bits, of one scale each."""
    found = []
    largest = float(np.abs(x[0]).max(initial=0.0))
    exponent = int(np.frexp(largest)[1])
    for number in range(1, _SLICES + 1):
        unit = float(np.ldexp(1.0, exponent - number * bits))
        part = np.rint(x[0] / unit) * unit if unit else np.zeros_like(x[0])
        found.append(part)
        x = add(x, pair(-part))
    return found


_COMBINERS: dict[str, Callable[[Pair, Pair], Pair]] = {
    "add": add,
    "multiply": multiply,
    "maximum": maximum,
    "minimum": minimum,
}
_FUNCTIONS: dict[str, Callable[..., Pair]] = {
    "stablehlo.add": add,
    "stablehlo.subtract": subtract,
    "stablehlo.multiply": multiply,
    "stablehlo.divide": divide,
    "stablehlo.negate": negative,
    "stablehlo.abs": lambda x: _where(np.signbit(x[0]), negative(x), x),
    "stablehlo.maximum": maximum,
    "stablehlo.minimum": minimum,
    "stablehlo.sqrt": sqrt,
    "stablehlo.rsqrt": lambda x: divide(pair(1.0), sqrt(x)),
    "stablehlo.exponential": exp,
    "stablehlo.exponential_minus_one": expm1,
    "stablehlo.log": log,
    "stablehlo.log_plus_one": log1p,
    "stablehlo.logistic": logistic,
    "stablehlo.tanh": tanh,
    "stablehlo.power": power,
    "chlo.square": lambda x: multiply(x, x),
}
