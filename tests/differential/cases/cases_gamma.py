"""The incomplete gamma and beta functions, against their power series in Python's floats."""

import math

import ml_dtypes
from tests.differential.harness import Case, each, f64, fixed, of

from irax_compiler.ops.special.beta import Betainc
from irax_compiler.ops.special.gamma import Igamma, Igammac, IgammaGradA, RandomGammaGrad

NOT_DIFFERENTIABLE = {"irax.igamma_grad_a", "irax.random_gamma_grad"}


def lower(a: float, x: float) -> float:
    """The sum of the probabilities of a + n events where x are expected."""
    logs = ((a + n) * math.log(x) - x - math.lgamma(a + n + 1) for n in range(400))
    return math.fsum(math.exp(v) for v in logs)


def slope_in_a(a: float, x: float) -> float:
    h = 1e-4 * a
    steps = ((8, h), (-8, -h), (-1, 2 * h), (1, -2 * h))
    return sum(w * lower(a + d, x) for w, d in steps) / (12 * h)


def density(a: float, x: float) -> float:
    return math.exp((a - 1) * math.log(x) - x - math.lgamma(a))


def beta(a: float, b: float, x: float) -> float:
    term = total = 1.0
    for n in range(2000):
        term *= (a + b + n) / (a + 1 + n) * x
        total += term
    logs = math.lgamma(a + b) - math.lgamma(a + 1) - math.lgamma(b)
    return total * math.exp(logs + a * math.log(x) + b * math.log1p(-x))


PARAMETERS = fixed([0.1, 0.5, 1.0, 2.5, 9.0, 9.0, 15.0, 40.0, 90.0, 90.0])
PLACES = fixed([0.5, 0.05, 1.0, 6.0, 3.0, 14.0, 15.5, 30.0, 90.0, 110.0])
SHAPES = [[0.5, 2.0, 3.0, 30.0, 90.0, 0.2], [0.5, 3.0, 0.25, 20.0, 1.5, 60.0]]
FRACTIONS = [0.2, 0.6, 0.9, 0.55, 0.97, 0.01]
INF, NAN = math.inf, math.nan
EDGES = [[1, 1, 0, 2, INF, -1, NAN, 0], [0, INF, 1, -1, 1, 1, 1, 0]]

CASES = [
    Case("igamma", Igamma(), [PARAMETERS, PLACES], each(lower), 1e-12, wrt=[1]),
    Case(
        "igammac",
        Igammac(),
        [PARAMETERS, PLACES],
        lambda a, x: 1 - each(lower)(a, x),
        1e-12,
        wrt=[1],
    ),
    Case("igamma-matrix", Igamma(), [f64(2, 3, low=1, high=5)] * 2, each(lower), 1e-12, wrt=[1]),
    Case(
        "igamma-f32",
        Igamma(),
        [of("f4", 9, low=1, high=20), of("f4", 9, low=1, high=20)],
        each(lower),
        1e-5,
        differentiable=False,
    ),
    Case(
        "igammac-bf16",
        Igammac(),
        [of(ml_dtypes.bfloat16, 9, low=1, high=5)] * 2,
        lambda a, x: 1 - each(lower)(a, x),
        1e-2,
        differentiable=False,
    ),
    Case(
        "igamma-edges",
        Igamma(),
        [fixed(row, "f8") for row in EDGES],
        lambda a, x: [0, 1, 1, NAN, 0, NAN, NAN, NAN],
        differentiable=False,
    ),
    Case(
        "igamma-grad-a",
        IgammaGradA(),
        [PARAMETERS, PLACES],
        each(slope_in_a),
        1e-9,
        differentiable=False,
    ),
    Case(
        "random-gamma-grad",
        RandomGammaGrad(),
        [PARAMETERS, PLACES],
        each(lambda a, x: -slope_in_a(a, x) / density(a, x)),
        1e-7,
        differentiable=False,
    ),
    Case(
        "betainc",
        Betainc(),
        [*map(fixed, SHAPES), fixed(FRACTIONS)],
        each(beta),
        1e-11,
        wrt=[2],
    ),
    Case(
        "betainc-f32",
        Betainc(),
        [fixed(v, "f4") for v in (*SHAPES, FRACTIONS)],
        each(beta),
        1e-5,
        differentiable=False,
    ),
    Case(
        "betainc-edges",
        Betainc(),
        [
            fixed([2, 2, 0, 2, 0, INF, INF, 2, -1, 2], "f8"),
            fixed([3, 3, 2, 0, 0, 2, INF, INF, 2, 2], "f8"),
            fixed([0, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1.5], "f8"),
        ],
        lambda a, b, x: [0, 1, 1, 0, NAN, 0, NAN, 1, NAN, NAN],
        differentiable=False,
    ),
]
