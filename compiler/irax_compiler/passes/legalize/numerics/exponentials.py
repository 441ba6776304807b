"""Legalizations of functions that are made of exponentials.

IREE calls a function of C's for each element of float64, and takes a logarithm for expm1 of
float32. The formulas here are arithmetic, which becomes vectors: the argument is reduced to
r = x - k log(2), exp(r) - 1 is a polynomial, and the result scaled by 2**k, which is put together
from bits (W. J. Cody and W. Waite, Software Manual for the Elementary Functions, 1980). They err by
less than 2 units in the last place, tanh by less than 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log, log2

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of
from irax_compiler.ops import elementwise
from irax_compiler.ops.formula import Number, function, polynomial, where
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.legalize.numerics.scalar_formulas import by_scalars

MAGIC = 1.5 * 2.0**52
"""Added to a small number, leaves the nearest integer in the low bits."""
LOG2_HIGH = float.fromhex("0x1.62e42feep-1")
"""The logarithm of 2 without its last bits, so that products with exponents are exact."""
LOG2_LOW = float.fromhex("0x1.a39ef35793c76p-33")


@dataclass(frozen=True)
class _Format:
    """A floating-point format, as the formulas need to know it."""

    dtype: np.dtype
    magic: float
    log2: tuple[float, float]
    series: tuple[float, ...]
    """(exp(r) - 1 - r) / r**2 for r up to log(2) / 2, by a minimax fit of relative error."""

    @property
    def integers(self) -> np.dtype:
        return np.dtype(f"i{self.dtype.itemsize}")


_DOUBLE = _Format(
    np.dtype(np.float64),
    MAGIC,
    (LOG2_HIGH, LOG2_LOW),
    (
        0.5,
        0.16666666666666677,
        0.04166666666666651,
        0.008333333333321683,
        0.001388888888896244,
        0.00019841269885992538,
        2.480158717243862e-05,
        2.755724434446701e-06,
        2.75574026973232e-07,
        2.510899018226271e-08,
        2.0875322618365476e-09,
    ),
)
_SINGLE = _Format(
    np.dtype(np.float32),
    1.5 * 2.0**23,
    (float.fromhex("0x1.62e4p-1"), float.fromhex("0x1.7f7d1cp-20")),
    (
        0.5000000044189656,
        0.16666666370295094,
        0.041666360793286034,
        0.00833338938939663,
        0.0013940637536070794,
        0.00019845879732238568,
    ),
)
_FORMATS = {one.dtype: one for one in (_SINGLE, _DOUBLE)}
_TINY = 2.0**-60
"""Numbers up to this are their own expm1 and tanh."""


@legalizes(elementwise.exponential.name, kind="slow", of="IREE")
def exponential_of_doubles(operation: Operation) -> Sequence[Value] | None:
    """Compute exp of float64 by arithmetic, which becomes vectors: IREE calls a function for each
    element.
    """
    return _of_doubles(_exponential, operation)


@legalizes(elementwise.exponential_minus_one.name, kind="slow", of="IREE")
def exponential_minus_one_by_vectors(operation: Operation) -> Sequence[Value] | None:
    """Compute expm1 by arithmetic, which becomes vectors: IREE takes an exponential and a logarithm
    for float32, and calls functions for each element of float64.
    """
    (x,) = operation.operands
    return [by_scalars(_exponential_minus_one, x)] if dtype_of(x) in _FORMATS else None


@legalizes(elementwise.tanh.name, kind="slow", of="IREE")
def tanh_of_doubles(operation: Operation) -> Sequence[Value] | None:
    """Compute tanh of float64 by arithmetic, which becomes vectors: IREE calls a function for each
    element.
    """
    return _of_doubles(_tanh, operation)


@legalizes(elementwise.logistic.name, kind="slow", of="IREE")
def logistic_of_doubles(operation: Operation) -> Sequence[Value] | None:
    """Compute the logistic function of float64 by arithmetic, which becomes vectors: IREE calls a
    function for each element.
    """
    return _of_doubles(_logistic, operation)


@legalizes(elementwise.exponential.name, kind="bug", of="IREE")
def exponential_of_singles(operation: Operation) -> Sequence[Value] | None:
    """Compute exp of float32 by arithmetic: for SPIR-V, IREE asks for the driver's exponential, and
    drivers take a power of two of x / log(2), which is rounded. That costs 29 units in the last
    place.
    """
    return _of_singles(_exponential, operation)


@legalizes(
    elementwise.exponential_minus_one.name,
    kind="bug",
    of="IREE",
    reproduction="exponential_of_singles",
)
def exponential_minus_one_of_singles(operation: Operation) -> Sequence[Value] | None:
    """Compute expm1 of float32 in the same way."""
    return _of_singles(_exponential_minus_one, operation)


@legalizes(elementwise.logistic.name, kind="bug", of="IREE", reproduction="exponential_of_singles")
def logistic_of_singles(operation: Operation) -> Sequence[Value] | None:
    """Compute the logistic function of float32 in the same way."""
    return _of_singles(_logistic, operation)


@legalizes(elementwise.tanh.name, kind="bug", of="IREE")
def tanh_of_singles(operation: Operation) -> Sequence[Value] | None:
    """Compute tanh of float32 in the same way: for SPIR-V, IREE has 0.9999998 at infinity."""
    return _of_singles(_tanh, operation)


@legalizes("chlo.sinh", kind="bug", of="StableHLO")
def hyperbolic_sine(operation: Operation) -> Sequence[Value] | None:
    """Compute sinh from the exponential, or that of half of large numbers: the expansion of CHLO
    halves it by a smaller exponent, which is rounded. That costs 24 units of float32, 490 of
    float64.
    """
    (x,) = operation.operands
    return [_sinh(Number(x)).value] if dtype_of(x) in _FORMATS else None


@legalizes("chlo.cosh", kind="bug", of="StableHLO")
def hyperbolic_cosine(operation: Operation) -> Sequence[Value] | None:
    """Compute cosh in the same way."""
    (x,) = operation.operands
    return [_cosh(Number(x)).value] if dtype_of(x) in _FORMATS else None


def _of_doubles(formula: Callable[[Number], Number], operation: Operation) -> list[Value] | None:
    (x,) = operation.operands
    return [by_scalars(formula, x)] if dtype_of(x) == np.float64 else None


def _of_singles(formula: Callable[[Number], Number], operation: Operation) -> list[Value] | None:
    (x,) = operation.operands
    return [formula(Number(x)).value] if dtype_of(x) == np.float32 else None


def _exponential(x: Number) -> Number:
    info = np.finfo(x.dtype)
    low, high = (info.minexp - info.nmant - 2) * log(2), info.maxexp * log(2)
    less, exponent = _reduced(x, low, high + 0.1)
    return scaled(1 + less, exponent)


def power_of_two(x: Number) -> Number:
    """Return 2**x."""
    kind = _FORMATS[x.dtype]
    info = np.finfo(kind.dtype)
    bounded = _between(x, info.minexp - info.nmant - 2.0, info.maxexp)
    whole, exponent = _nearest(bounded)
    return scaled(1 + _less((bounded - whole) * log(2)), exponent)


def _exponential_minus_one(x: Number) -> Number:
    """Return 2 (2**(k - 1) (exp(r) - 1) + (2**(k - 1) - 1/2)): 2**k may overflow."""
    largest = np.finfo(x.dtype).maxexp * log(2)
    less, exponent = _reduced(x, -40.0, largest + 0.1)
    half = _two_to(exponent - 1, x.dtype)
    result = (half * less + (half - 0.5)) * 2
    return where(abs(x) > _TINY, result, x)


def _tanh(x: Number) -> Number:
    """Return t / (t + 2) for t = exp(2 |x|) - 1, with the sign of x."""
    size = abs(x)
    less, exponent = _reduced(size * 2, 0.0, 40.0)
    scale = _two_to(exponent, x.dtype)
    t = scale * less + (scale - 1)
    integers = _FORMATS[x.dtype].integers
    sign = x.bits(integers) & int(np.iinfo(integers).min)
    result = ((t / (t + 2)).bits(integers) | sign).bits(x.dtype)
    return where(size > _TINY, result, x)


def _logistic(x: Number) -> Number:
    """Return 1 / (1 + exp(-x)), and exp(x) / (1 + exp(x)) of negative numbers."""
    power = _exponential(-abs(x))
    return where(x < 0, power, 1.0) / (1 + power)


def _halves(size: Number) -> tuple[Number, Number]:
    """Return half of exp(x) and half of exp(-x) of a number that is not negative; of a large one,
    whose exponential may overflow, the second is 0.
    """
    is_large = size > float(np.floor(np.finfo(size.dtype).maxexp * log(2)) - 1)
    power = function(elementwise.exponential, where(is_large, size * 0.5, size))
    half = power * 0.5
    return where(is_large, half * power, half), where(is_large, 0.0, 0.5 / power)


def _sinh(x: Number) -> Number:
    size = abs(x)
    up, down = _halves(size)
    is_small = size < 1
    less = function(elementwise.exponential_minus_one, where(is_small, size, 0.0))
    result = where(is_small, (less + less / (less + 1)) * 0.5, up - down)
    return where(x.equals(0), x, where(x < 0, -result, result))


def _cosh(x: Number) -> Number:
    up, down = _halves(abs(x))
    return up + down


def _reduced(x: Number, low: float, high: float) -> tuple[Number, Number]:
    """Return exp(r) - 1 and the integer k, with r = x - k log(2) of the smallest size, for x
    clamped to bounds.
    """
    kind = _FORMATS[x.dtype]
    bounded = _between(x, low, high)
    whole, exponent = _nearest(bounded * log2(np.e))
    rest = (bounded - whole * kind.log2[0]) - whole * kind.log2[1]
    return _less(rest), exponent


def _between(x: Number, low: float, high: float) -> Number:
    return where(x < low, low, where(x > high, high, x))


def _less(rest: Number) -> Number:
    """Return exp(r) - 1 of numbers up to log(2) / 2."""
    return rest + rest * rest * polynomial(rest, _FORMATS[rest.dtype].series)


def _nearest(x: Number) -> tuple[Number, Number]:
    """Return the nearest integer to a small number, as a float and as an integer: it is in the low
    bits of the sum with the format's magic.
    """
    kind = _FORMATS[x.dtype]
    shifted = x + kind.magic
    exponent = shifted.bits(kind.integers) - int(kind.dtype.type(kind.magic).view(kind.integers))
    # Drivers leave out an addition that is undone. Integers of 64 bits are slow to convert.
    return (shifted - kind.magic if kind is _DOUBLE else exponent.to(kind.dtype)), exponent


def scaled(x: Number, exponent: Number) -> Number:
    """Return x 2**k in two steps: 2**k alone over- and underflows where the result does not."""
    half = ((exponent + 4096) >> 1) - 2048
    return x * _two_to(half, x.dtype) * _two_to(exponent - half, x.dtype)


def _two_to(exponent: Number, dtype: np.dtype) -> Number:
    info = np.finfo(dtype)
    return ((exponent + (info.maxexp - 1)) << info.nmant).bits(dtype)
