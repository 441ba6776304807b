"""Functions of complex numbers, as formulas of their real and imaginary parts.

IREE's own formulas are wrong for the zeros and infinities of C's Annex G (the logarithm of 0 is
nan) and for numbers whose square overflows (the magnitude of 1e30 in float32 is infinite). They
also do not use the accurate real functions that other legalizations substitute. So these
legalizations are applied first.

Sources: W. Kahan, Branch Cuts for Complex Elementary Functions (1987), for sqrt, tanh and the
inverse functions; R. L. Smith, Algorithm 116 (1962), for division.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of
from irax_compiler.ops import barrier, elementwise, parts
from irax_compiler.ops.core import full_like
from irax_compiler.ops.formula import Number, copy_sign, function, is_negative, where
from irax_compiler.ops.special import chlo_functions
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.legalize.numerics.scalar_formulas import by_scalars

Complex = tuple[Number, Number]
"""A complex number as its real and imaginary parts."""

_LARGE = {np.dtype(np.float32): 80.0, np.dtype(np.float64): 700.0}
"""The numbers above which the square of the exponential overflows, while its product with a sine
may not."""

_LOG_16 = float(np.log(16))

_WITH_SQUARE = {np.dtype(np.float32): 4e18, np.dtype(np.float64): 3e153}
"""The largest numbers whose square is a float."""


def _is_complex(operation: Operation) -> bool:
    return dtype_of(operation.operands[0]).kind == "c"


def _by_parts(
    formula: Callable[..., Sequence[Number]], operands: Sequence[Value], count: int = 2
) -> Sequence[Value]:
    """Compute the `count` results of a formula of complex numbers' parts on arrays, one result
    after the other and behind barriers, because IREE has no vectors of complex numbers.
    """
    given = [part(z) for z in operands for part in (elementwise.real, elementwise.imag)]
    given = barrier.barrier.build(given)

    def of_scalars(which: int, *numbers: Number) -> Number:
        return formula(*zip(numbers[::2], numbers[1::2], strict=True))[which]

    results = [by_scalars(partial(of_scalars, which), *given) for which in range(count)]
    return barrier.barrier.build(results)


def _full(like: Number, fill: float) -> Number:
    """A constant of the shape of a number."""
    return Number(full_like(like.value, fill))


def _is_infinite(x: Number) -> Number:
    return abs(x).equals(np.inf)


def _is_finite(x: Number) -> Number:
    return function(elementwise.is_finite, x)


# ---- what functions are made of ------------------------------------------------------------------


def _sizes(a: Number, b: Number) -> tuple[Number, Number, Number]:
    """Return the larger and the smaller one of |a| and |b|, and the factor by which the larger one
    gives the magnitude of a + bi.
    """
    a, b = abs(a), abs(b)
    swapped = a < b
    large, small = where(swapped, b, a), where(swapped, a, b)
    ratio = where(small.equals(large), 1.0, small / large)  # also where both are zero or infinite
    return large, small, ratio


def _magnitude(z: Complex) -> Number:
    large, _, ratio = _sizes(*z)
    size = large * function(elementwise.sqrt, ratio * ratio + 1)
    return where(_is_infinite(z[0]) | _is_infinite(z[1]), np.inf, size)


def _log_magnitude(z: Complex) -> Number:
    large, small, ratio = _sizes(*z)
    size = function(elementwise.log, large)
    size = size + function(elementwise.log_plus_one, ratio * ratio) * 0.5
    square_minus_one = (large - 1) * (large + 1) + small * small
    near_one = function(elementwise.log_plus_one, square_minus_one) * 0.5
    size = where((large > 0.5) & (large < 2), near_one, size)
    return where(_is_infinite(z[0]) | _is_infinite(z[1]), np.inf, size)


def _angle(z: Complex) -> Number:
    return Number(elementwise.atan2(z[1].value, z[0].value))


def _exponential_in_two(x: Number) -> tuple[Number, Number]:
    """Return two factors of the exponential, which are finite unless it overflows by far."""
    is_large = x > _LARGE[x.dtype]
    factor = function(elementwise.exponential, where(is_large, x * 0.5, x))
    return factor, where(is_large, factor, 1.0)


def _hyperbolic(x: Number) -> tuple[Number, Number, Number]:
    """Return the hyperbolic sine and cosine, without a common factor."""
    size = abs(x)
    is_large = size > _LARGE[x.dtype]
    growing, factor = _exponential_in_two(size)
    less_one = function(elementwise.exponential_minus_one, where(is_large, 0.0, size))
    sine = where(is_large, growing, less_one + less_one / (less_one + 1)) * 0.5
    cosine = where(is_large, growing, growing + 1 / growing) * 0.5
    return copy_sign(sine, x), cosine, factor


def _sine_and_cosine(x: Number) -> tuple[Number, Number]:
    return function(elementwise.sine, x), function(elementwise.cosine, x)


# ---- the functions -------------------------------------------------------------------------------


def _log_plus_one(z: Complex) -> Complex:
    a, b = z
    shifted = (a + 1, b)
    near_zero = function(elementwise.log_plus_one, a * (a + 2) + b * b) * 0.5
    is_near = (abs(a) < 0.5) & (abs(b) < 0.5)
    return where(is_near, near_zero, _log_magnitude(shifted)), _angle(shifted)


def _exponential(z: Complex) -> Complex:
    a, b = z
    sine, cosine = _sine_and_cosine(b)
    growing, factor = _exponential_in_two(a)
    vanishes = a.equals(-np.inf) & ~_is_finite(b)
    real = growing * where(vanishes, 0.0, cosine) * factor
    imaginary = growing * where(vanishes, 0.0, sine) * factor
    real = where(a.equals(np.inf) & ~_is_finite(b), np.inf, real)
    return real, where(b.equals(0), b, imaginary)


def _exponential_minus_one(z: Complex) -> Complex:
    a, b = z
    half = function(elementwise.sine, b * 0.5)
    cosine = function(elementwise.cosine, b)
    real, imaginary = _exponential(z)
    near = function(elementwise.exponential_minus_one, a) * cosine - half * half * 2
    return where(abs(a) < 1, near, real - 1), imaginary


def _sine(z: Complex) -> Complex:
    a, b = z
    sine, cosine = _sine_and_cosine(a)
    sinh, cosh, factor = _hyperbolic(b)
    real = where(a.equals(0), a, sine * cosh * factor)
    imaginary = where(_is_finite(a), cosine * sinh * factor, np.nan)
    return real, where((b.equals(0) | _is_infinite(b)) & ~_is_finite(a), b, imaginary)


def _cosine(z: Complex) -> Complex:
    a, b = z
    sine, cosine = _sine_and_cosine(a)
    sinh, cosh, factor = _hyperbolic(b)
    real = where(_is_infinite(b) & ~_is_finite(a), np.inf, cosine * cosh * factor)
    imaginary = where(a.equals(0), -(a * copy_sign(_full(b, 1.0), b)), -(sine * sinh * factor))
    return real, where(b.equals(0) & ~_is_finite(a), b, imaginary)


def _tangent(z: Complex) -> Complex:
    real, imaginary = _hyperbolic_tangent(_turned(z))
    return imaginary, -real


def _hyperbolic_tangent(z: Complex) -> Complex:
    a, b = z
    is_far = abs(a) > 20
    sine, cosine = _sine_and_cosine(b)
    tangent = function(elementwise.tan, b)
    sinh, _, _ = _hyperbolic(where(is_far, 0.0, a))
    grown = tangent * tangent + 1
    divisor = grown * (sinh * sinh) + 1
    near = grown * function(elementwise.sqrt, sinh * sinh + 1) * sinh / divisor
    fading = sine * cosine * function(elementwise.exponential, abs(a) * -2) * 4
    fading = where(_is_infinite(a) & ~_is_finite(b), copy_sign(_full(b, 0.0), b), fading)
    real = where(is_far, copy_sign(_full(a, 1.0), a), near)
    real = where(_is_finite(a) & ~_is_finite(b), np.nan, real)
    imaginary = where(is_far, fading, tangent / divisor)
    return where(a.equals(0), a, real), where(b.equals(0), b, imaginary)


def _hyperbolic_sine(z: Complex) -> Complex:
    real, imaginary = _sine(_turned(z))
    return imaginary, -real


def _turned(z: Complex) -> Complex:
    """Multiply by i."""
    return -z[1], z[0]


def _square_root(z: Complex) -> Complex:
    a, b = z
    large, _, ratio = _sizes(a, b)
    # An eighth of the sum is a float where the half is not, and a half where the eighth is 0.
    is_large = large > 1
    share, factor = where(is_large, _full(a, 0.125), 0.5), where(is_large, _full(a, 2.0), 1.0)
    size = large * share * function(elementwise.sqrt, ratio * ratio + 1)
    root = function(elementwise.sqrt, abs(a) * share + size) * factor
    root = where(_is_infinite(a), np.inf, root)
    other = where(root.equals(0), abs(b), abs(b) / root * 0.5)
    negative = is_negative(a)
    real, imaginary = where(negative, other, root), where(negative, root, other)
    is_infinite = _is_infinite(b)
    return where(is_infinite, np.inf, real), where(is_infinite, b, copy_sign(imaginary, b))


def _around(z: Complex) -> tuple[Complex, Complex]:
    """Return the square roots of 1 - z and 1 + z."""
    a, b = z
    return _square_root((1 - a, -b)), _square_root((a + 1, b))


def _is_far(z: Complex) -> Number:
    """True where 1 makes no difference to the square of a number, which may overflow."""
    is_large = _sizes(*z)[0] > _WITH_SQUARE[z[0].dtype]
    return is_large | _is_infinite(z[0]) | _is_infinite(z[1])


def _reduced(z: Complex) -> tuple[Complex, Number]:
    """Return a number times a factor, and that: a quarter where the magnitude may overflow."""
    a, b = z
    large, _, _ = _sizes(a, b)
    factor = where(large > float(np.finfo(a.dtype).max) / 8, _full(a, 0.25), 1.0)
    return (a * factor, b * factor), factor


def _inverse_of_sum(z: Complex, pairs: Sequence[tuple[Number, Number]], sign: Number) -> Number:
    """Return asinh(p r + q s) for pairs (p, r) and (q, s), parts of square roots near z, whose
    products may overflow. It is infinite where z is, with a sign.
    """
    is_far = _is_far(z)
    share, rest = where(is_far, _full(z[0], 1 / 16), 1.0), where(is_far, _full(z[0], _LOG_16), 0.0)
    (p, r), (q, s) = pairs
    size = function(chlo_functions.asinh, p * share * r + q * share * s)
    found = size + copy_sign(rest, sign)
    is_infinite = _is_infinite(z[0]) | _is_infinite(z[1])
    return where(is_infinite, copy_sign(_full(found, np.inf), sign), found)


def _arc_cosine(z: Complex) -> Complex:
    a, b = z
    (p, q), (r, s) = _around(z)
    is_far = _is_far(z)
    angle = _angle((where(is_far, a, r), where(is_far, abs(b), p)))
    real = where(a.equals(0), np.pi / 2, angle * where(is_far, _full(a, 1.0), 2.0))
    return real, -_inverse_of_sum(z, [(s, p), (-r, q)], b)


def _arc_sine(z: Complex) -> Complex:
    a, b = z
    (p, q), (r, s) = _around(z)
    real = _angle((where(_is_far(z), abs(b), p * r - q * s), a))
    return where(a.equals(0), a, real), _inverse_of_sum(z, [(p, s), (-q, r)], b)


def _arc_hyperbolic_cosine(z: Complex) -> Complex:
    a, b = z
    (p, q), (r, s) = _square_root((a - 1, b)), _square_root((a + 1, b))
    is_far = _is_far(z)
    real = _inverse_of_sum(z, [(p, r), (q, s)], _full(a, 1.0))
    angle = _angle((where(is_far, a, r), where(is_far, b, q)))
    imaginary = angle * where(is_far, _full(a, 1.0), 2.0)
    return real, where(a.equals(0), copy_sign(_full(b, np.pi / 2), b), imaginary)


def _arc_hyperbolic_tangent(z: Complex) -> Complex:
    a, b = z
    along, across = abs(a), abs(b)
    large, _, ratio = _sizes(a, b)
    is_far = large > _WITH_SQUARE[a.dtype]
    far = along / large / large / (ratio * ratio + 1)
    gap = 1 - along
    near = function(elementwise.log_plus_one, along * 4 / (gap * gap + across * across)) * 0.25
    above_one = function(elementwise.log, across * across + 4) * 0.25
    above_one = above_one - function(elementwise.log, across) * 0.5
    real = where(is_far, far, where(along.equals(1), above_one, near))
    real = where(_is_infinite(a) | _is_infinite(b), 0.0, real)
    turn = _angle((gap * (along + 1) - across * across, b + b)) * 0.5
    turn = where(is_far, copy_sign(_full(b, np.pi / 2), b) + b * 0, turn)
    turn = where(_is_infinite(b), copy_sign(_full(b, np.pi / 2), b), turn)
    pole = along.equals(1) & b.equals(0)
    real = where(a.equals(0), a, copy_sign(real, a))
    return real, where(pole, b, turn)


def _arc_hyperbolic_sine(z: Complex) -> Complex:
    real, imaginary = _arc_sine(_turned(z))
    return imaginary, -real


def _arc_tangent(z: Complex) -> Complex:
    real, imaginary = _arc_hyperbolic_tangent(_turned(z))
    return imaginary, -real


def _sign(z: Complex) -> Complex:
    """Divide the number by its magnitude; along an axis where one part is infinite."""
    (a, b), _ = _reduced(z)
    size = _magnitude((a, b))
    is_zero = a.equals(0) & b.equals(0)
    along = _is_infinite(a) & _is_finite(b)
    across = _is_infinite(b) & _is_finite(a)
    one_a, one_b = copy_sign(_full(a, 1.0), a), copy_sign(_full(b, 1.0), b)
    real = where(along, one_a, where(across, 0.0, where(is_zero, a, a / size)))
    imaginary = where(across, one_b, where(along, 0.0, where(is_zero, b, b / size)))
    return real, imaginary


def _quotient(z: Complex, w: Complex) -> Complex:
    """Return the quotient; infinite / finite is infinite and finite / infinite is zero, as in C."""
    real, imaginary = _finite_quotient(z, w)
    is_nan = ~real.equals(real) & ~imaginary.equals(imaginary)
    fades = _are_finite(z) & (_is_infinite(w[0]) | _is_infinite(w[1]))
    swells = is_nan & _are_finite(w) & (_is_infinite(z[0]) | _is_infinite(z[1]))
    a, b = (where(swells, _direction(part), part) for part in z)
    c, d = (where(fades, _direction(part), part) for part in w)
    size = where(swells, np.inf, _full(real, 0.0))
    is_limit = fades | swells
    return (
        where(is_limit, size * (a * c + b * d), real),
        where(is_limit, size * (b * c - a * d), imaginary),
    )


def _are_finite(z: Complex) -> Number:
    return _is_finite(z[0]) & _is_finite(z[1])


def _direction(x: Number) -> Number:
    """Return 1 for an infinite number, 0 for others, with their signs."""
    return copy_sign(where(_is_infinite(x), 1.0, _full(x, 0.0)), x)


def _finite_quotient(z: Complex, w: Complex) -> Complex:
    ((a, b), given), ((c, d), taken) = _reduced(z), _reduced(w)
    swapped = abs(c) < abs(d)
    p, q = where(swapped, d, c), where(swapped, c, d)
    x, y = where(swapped, b, a), where(swapped, a, b)
    ratio = q / p
    divisor = p + q * ratio
    rest = y - x * ratio
    factor = taken / given
    real = (x + y * ratio) / divisor * factor
    imaginary = where(swapped, -rest, rest) / divisor * factor
    is_zero = c.equals(0) & d.equals(0)
    return where(is_zero, a / abs(c), real), where(is_zero, b / abs(c), imaginary)


# ---- legalizations -------------------------------------------------------------------------------

_FUNCTIONS: dict[str, Callable[..., Complex]] = {
    "stablehlo.log": lambda z: (_log_magnitude(z), _angle(z)),
    "stablehlo.log_plus_one": _log_plus_one,
    "stablehlo.exponential": _exponential,
    "stablehlo.exponential_minus_one": _exponential_minus_one,
    "stablehlo.sine": _sine,
    "stablehlo.cosine": _cosine,
    "stablehlo.tan": _tangent,
    "stablehlo.tanh": _hyperbolic_tangent,
    "stablehlo.sqrt": _square_root,
    "stablehlo.sign": _sign,
    "stablehlo.divide": _quotient,
    "chlo.sinh": _hyperbolic_sine,
    "chlo.cosh": lambda z: _cosine(_turned(z)),
    "chlo.acos": _arc_cosine,
    "chlo.acosh": _arc_hyperbolic_cosine,
    "chlo.asin": _arc_sine,
    "chlo.asinh": _arc_hyperbolic_sine,
    "chlo.atan": _arc_tangent,
    "chlo.atanh": _arc_hyperbolic_tangent,
}


def _function(operation: Operation) -> Sequence[Value] | None:
    if not _is_complex(operation):
        return None
    real, imaginary = _by_parts(_FUNCTIONS[operation.name], operation.operands)
    return [elementwise.complex_(real, imaginary)]


@legalizes(*(n for n in _FUNCTIONS if n.startswith("stablehlo.")), kind="bug", of="IREE")
def complex_function(operation: Operation) -> Sequence[Value] | None:
    """Compute complex functions by accurate formulas: IREE's expansions subtract exponentials, or
    treat -0 as 0 on branch cuts.
    """
    return _function(operation)


@legalizes(*(n for n in _FUNCTIONS if n.startswith("chlo.")), kind="bug", of="StableHLO")
def complex_function_of_chlo(operation: Operation) -> Sequence[Value] | None:
    """Compute CHLO's complex functions by accurate formulas: MLIR's expansions subtract
    exponentials, or treat -0 as 0 on branch cuts.
    """
    return _function(operation)


@legalizes("stablehlo.abs", kind="bug", of="IREE")
def complex_magnitude(operation: Operation) -> Sequence[Value] | None:
    """Compute magnitudes by scaled parts: IREE squares them, and 1e30 squared overflows in
    float32.
    """
    if not _is_complex(operation):
        return None
    return _by_parts(lambda z: [_magnitude(z)], operation.operands, count=1)


@legalizes("stablehlo.rsqrt", kind="bug", of="IREE")
def complex_rsqrt(operation: Operation) -> Sequence[Value] | None:
    """Write rsqrt as a quotient, which other legalizations expand."""
    if not _is_complex(operation):
        return None
    (z,) = operation.operands
    return [elementwise.divide(full_like(z, 1), elementwise.sqrt(z))]


@legalizes("stablehlo.logistic", kind="bug", of="IREE")
def complex_logistic(operation: Operation) -> Sequence[Value] | None:
    """Write the logistic function as a quotient, which other legalizations expand."""
    if not _is_complex(operation):
        return None
    (z,) = operation.operands
    one = full_like(z, 1)
    return [
        elementwise.divide(
            one, elementwise.add(one, elementwise.exponential(elementwise.negate(z)))
        )
    ]


@legalizes("stablehlo.cbrt", kind="missing", of=("IREE", "XLA"))
def complex_cube_root(operation: Operation) -> Sequence[Value] | None:
    """Write the cube root, which IREE and XLA lack, as a power."""
    if not _is_complex(operation):
        return None
    (z,) = operation.operands
    return [elementwise.power(z, full_like(z, 1 / 3))]


@legalizes("stablehlo.power", kind="bug", of="IREE")
def complex_power(operation: Operation) -> Sequence[Value] | None:
    """Write a power as exp(w log z) where z is not 0: IREE's expansion selects complex numbers,
    which its SPIR-V cannot.
    """
    if not _is_complex(operation):
        return None
    z, w = operation.operands
    power = elementwise.exponential(elementwise.multiply(w, elementwise.log(z)))
    (a, b), (x, y), (u, v) = map(_parts, (power, z, w))
    is_zero = x.equals(0) & y.equals(0)
    one = u.equals(0) & v.equals(0)
    zero = where(one | (u > 0), _full(u, 0.0), np.nan)
    at_zero = where(one, 1.0, zero)
    real, imaginary = where(is_zero, at_zero, a), where(is_zero, zero, b)
    return [elementwise.complex_(real.value, imaginary.value)]


@legalizes("stablehlo.clamp", "stablehlo.maximum", "stablehlo.minimum", kind="bug", of="IREE")
def complex_extremum(operation: Operation) -> Sequence[Value] | None:
    """Compare complex numbers by both parts: IREE takes the first of two with equal real parts."""
    if not _is_complex(operation):
        return None
    return [parts.by_parts(operation, {})]


@legalizes("stablehlo.atan2", kind="bug", of="IREE")
def complex_atan2(operation: Operation) -> Sequence[Value] | None:
    """Write the angle of complex numbers as a logarithm, which other legalizations expand."""
    if not _is_complex(operation):
        return None
    y, x = operation.operands
    i, times = full_like(y, 1j), elementwise.multiply
    size = elementwise.sqrt(elementwise.add(times(x, x), times(y, y)))
    direction = elementwise.divide(elementwise.add(x, times(i, y)), size)
    return [times(elementwise.negate(i), elementwise.log(direction))]


def _parts(z: Value) -> Complex:
    return Number(elementwise.real(z)), Number(elementwise.imag(z))
