"""The logarithm of the gamma function and its derivative, digamma, by pieces.

Between zeros and poles by polynomials, which sums and products shift, and far from 0 by Stirling's
series. The polynomials are interpolated at Chebyshev points, in 45 digits of mpmath.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of
from irax_compiler.ops import conversion, elementwise
from irax_compiler.ops.formula import Number, function, polynomial, where
from irax_compiler.ops.special import chlo_functions
from irax_compiler.ops.special.zeta import zeta
from irax_compiler.passes.legalize.legalization import legalizes

_LGAMMA = (
    0.42278433509846713,
    0.32246703342411326,
    -0.06735230105319814,
    0.020580808427780335,
    -0.007385551028668096,
    0.002890510331036772,
    -0.0011927539120033873,
    0.0005096695153484373,
    -0.00022315475069647703,
    9.945767440096764e-05,
    -4.492635166770342e-05,
    2.0505584372896933e-05,
    -9.438454884054723e-06,
    4.3847319318293745e-06,
    -2.044935323180052e-06,
    9.199898075671394e-07,
    -4.303234692956732e-07,
    2.7880013392491846e-07,
    -1.341570273460026e-07,
)
"""lgamma(2 + z) / z, for |z| up to 1/2."""

_LGAMMA_SINGLE = (
    0.422784335,
    0.3224670179,
    -0.0673522813,
    0.02058163064,
    -0.007386177637,
    0.00287882691,
    -0.001185837698,
    0.0005703469214,
    -0.0002538618465,
)
"""A shorter polynomial, exact enough for float32."""

_DIGAMMA = (
    0.9510558760318328,
    -0.21181371064073024,
    0.06013562106019684,
    -0.01855061538173984,
    0.005936795278301761,
    -0.001935066664735652,
    0.0006368880303865817,
    -0.00021074841288961643,
    6.995018825112794e-05,
    -2.3258232466707952e-05,
    7.741234508636364e-06,
    -2.578134894751126e-06,
    8.589060721930695e-07,
    -2.8620904099739414e-07,
    9.543298288278275e-08,
    -3.181266980138485e-08,
    1.0527692435026686e-08,
    -3.5032218996509724e-09,
    1.2469984616707403e-09,
    -4.197772636734229e-10,
    8.734528429142953e-11,
    -2.7468150389464952e-11,
    2.918622732168261e-11,
    -1.0015117602062808e-11,
)
"""digamma(x) / (x - root), in 2 x - 3, for x from 1 to 2."""

_DIGAMMA_SINGLE = (
    0.9510558754,
    -0.2118137093,
    0.06013566467,
    -0.01855065301,
    0.005936293768,
    -0.001934770213,
    0.0006389825081,
    -0.0002117419911,
    6.605143475e-05,
    -2.166338894e-05,
    1.096960477e-05,
    -3.761455021e-06,
)
"""A shorter polynomial, exact enough for float32."""

_BERNOULLI = [
    Fraction(*pair)
    for pair in (
        *((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510)),
        *((43867, 798), (-174611, 330)),
    )
]
"""Bernoulli's numbers of even index, from the second on."""
_ROOT = 1.4616321449683622
_ROOT_REST = 9.549995429965697e-17
"""The root of digamma is the sum of both."""
_SLOPE_AT_ROOT = 0.9676722454476212


def _is_single(x: Number) -> bool:
    return x.dtype.itemsize <= 4


def _by_pieces(operation: Operation, formula: Callable[[Number], Number]) -> Sequence[Value] | None:
    (x,) = operation.operands
    dtype = dtype_of(x)
    wide = np.dtype(np.float32) if dtype.itemsize < 4 else dtype
    found = formula(Number(conversion.convert(x, wide)))
    return [conversion.convert(found.value, dtype)]


@legalizes("chlo.lgamma", kind="bug", of="StableHLO")
def lgamma_by_pieces(operation: Operation) -> Sequence[Value] | None:
    """Compute lgamma to the last digits: the expansion of CHLO loses them near its zeros."""
    return _by_pieces(operation, _lgamma)


def _lgamma(x: Number) -> Number:
    negative = x < 0
    # gamma(x) gamma(1 - x) sin(pi x) = pi
    v = where(negative, 1.0 - x, x)
    large = v >= 8.0
    near = where(large, 2.0, v)
    shift = function(elementwise.floor, near - 0.5)
    factor = where(near < 0.5, near * (near + 1.0), where(near < 1.5, near, 1.0))
    for m in range(1, 7):
        rest = near - float(m)
        factor = where(rest >= 1.5, factor * rest, factor)
    log = function(elementwise.log, where(large, v, factor))
    z = near - 1.0 - shift
    series = z * polynomial(z, _LGAMMA_SINGLE if _is_single(x) else _LGAMMA)
    small = where(near < 1.5, series - log, series + log)
    far = where(large, v, 8.0)
    inverse, count = 1.0 / far, 4 if _is_single(x) else 10
    terms = [float(b / (2 * k * (2 * k - 1))) for k, b in enumerate(_BERNOULLI[:count], 1)]
    rest = inverse * polynomial(inverse * inverse, terms) + (np.log(2 * np.pi) - 1) / 2
    result = where(large, (far - 0.5) * (log - 1.0) + rest, small)
    to_integer = _to_integer(x)
    sine = function(elementwise.sine, to_integer * np.pi)
    reflected = function(elementwise.log, np.pi / abs(sine)) - result
    result = where(negative, reflected, result)
    pole = (x <= 0) & to_integer.equals(0)
    return where(pole | abs(x).equals(np.inf), np.inf, result)


def _to_integer(x: Number) -> Number:
    """The difference to the nearest integer."""
    return x - function(elementwise.round_nearest_even, x)


@legalizes("chlo.digamma", kind="bug", of="StableHLO")
def digamma_by_pieces(operation: Operation) -> Sequence[Value] | None:
    """Compute digamma to the last digits, and nan at its pole 0 as at all others: the expansion of
    CHLO loses them near its root, and has -inf there.
    """
    return _by_pieces(operation, _digamma)


def _digamma(x: Number) -> Number:
    single, negative = _is_single(x), x < 0
    v = where(negative, 1.0 - x, x)
    start = 6 if single else 10
    large = v >= float(start)
    near = where(large, 1.5, v)
    below = near < 1
    top, bottom = where(below, near * 0.0 - 1.0, 0.0), where(below, near, 1.0)
    for m in range(1, start - 1):
        rest = near - float(m)
        more = rest >= 1
        top, bottom = where(more, top * rest + bottom, top), where(more, bottom * rest, bottom)
    place = near - function(elementwise.floor, near) + 1.0
    root = float(np.float32(_ROOT)) if single else _ROOT
    # Not (x - root) less its rounding error: compilers subtract the two at once.
    at_root = -(_ROOT - root + _ROOT_REST) * _SLOPE_AT_ROOT
    series = polynomial(place * 2.0 - 3.0, _DIGAMMA_SINGLE if single else _DIGAMMA)
    series = (place - root) * series + at_root
    far = where(large, v, float(start))
    inverse, count = 1.0 / far, 5 if single else 9
    terms = [0.0, *(float(-b / (2 * k)) for k, b in enumerate(_BERNOULLI[:count], 1))]
    rest = polynomial(inverse * inverse, terms) - inverse * 0.5
    result = where(large, function(elementwise.log, far) + rest, series + top / bottom)
    to_integer = _to_integer(x)
    pole = (x <= 0) & to_integer.equals(0)
    tangent = function(chlo_functions.tan, where(pole, 0.25, to_integer) * np.pi)
    result = where(negative, result - np.pi / tangent, result)
    return where(pole | x.equals(-np.inf), np.nan, result)


_LARGE = 1e4
"""The argument from which on zeta and polygamma are their asymptotic series."""


@legalizes("chlo.zeta", kind="bug", of="StableHLO")
def zeta_of_large_argument(operation: Operation) -> Sequence[Value] | None:
    """Compute zeta(s, q) of large q by its series: in the expansion of CHLO q**-s vanishes, though
    q**(1 - s) does not. Where that is infinite, it has infinity less infinity.
    """
    s, q = map(Number, operation.operands)
    if dtype_of(operation.operands[0]).itemsize < 4:
        return [where(q.equals(q), Number(zeta(s.value, q.value)), q).value]
    large = q > _LARGE
    far = _zeta_far(where(large, s, 2.0), where(large, q, _LARGE))
    near = Number(zeta(s.value, where(large, 1.0, q).value))
    first = Number(elementwise.power(q.value, (-s).value))
    near = where(first.equals(np.inf) & ~near.equals(near), np.inf, near)
    return [where(q.equals(q), where(large, far, near), q).value]


def _zeta_far(s: Number, q: Number) -> Number:
    inverse = 1.0 / q
    square = inverse * inverse
    rest = square * s * (1 / 12 - square * (s + 1.0) * (s + 2.0) * (1 / 720))
    series = 1.0 / (s - 1.0) + inverse * 0.5 + rest
    return Number(elementwise.power(q.value, (1.0 - s).value)) * series


@legalizes("chlo.polygamma", kind="bug", of="StableHLO")
def polygamma_of_large_argument(operation: Operation) -> Sequence[Value] | None:
    """Compute polygamma(n, x) of large x by the series of zeta: the expansion of CHLO is that of
    zeta.
    """
    if dtype_of(operation.operands[0]).itemsize < 4:
        return None
    n, x = map(Number, operation.operands)
    large = (x > _LARGE) & (n >= 1)
    order, place = where(large, n, 1.0), where(large, x, _LARGE)
    half = order * 0.5
    sign = where(half.equals(function(elementwise.floor, half)), x * 0.0 - 1.0, 1.0)
    size = function(elementwise.exponential, function(chlo_functions.lgamma, order + 1.0))
    far = sign * size * _zeta_far(order + 1.0, place)
    near = Number(chlo_functions.polygamma(n.value, where(large, 1.0, x).value))
    return [where(large, far, near).value]
