"""Special functions that are series, fractions and loops of kernels, against SciPy."""

import ml_dtypes
import numpy as np
import scipy.special
from tests.differential.harness import Case, f64, fixed, of

from irax_compiler.ops.special import bells, gelu, hypergeometric, integrals, normal
from irax_compiler.ops.special.series import ByFormula

INF, NAN = np.inf, np.nan
SIGNED = [-30.0, -6.0, -1.7, -0.9, -0.01, 0.01, 0.4, 1.2, 1.7, 3.9, 4.1, 19.0, 41.0]
POSITIVE = [0.01, 0.4, 0.7, 1.2, 1.7, 2.3, 9.0, 60.0]
PARAMETERS = [0.5, 1.5, 2.2, 0.7, 1.1, 3.0]


def smooth(
    name: str,
    op: ByFormula,
    places: list[float],
    edges: list[float],
    reference=None,
) -> list[Case]:
    """An op of one operand: where it is smooth, and in float32 where it has limits too."""
    reference = reference or getattr(scipy.special, name)
    everywhere = fixed([*places, *edges], "f4")
    return [
        Case(name, op, [fixed(places, "f8")], reference, 1e-12),
        Case(f"{name}-f32", op, [everywhere], reference, 1e-5, differentiable=False),
    ]


CASES = [
    *smooth("erfcx", normal.Erfcx(), SIGNED[2:], [0, INF, NAN]),
    *smooth("bell", bells.Bell(), SIGNED[:8], [0, 9.5, INF, NAN], lambda x: np.exp(-x * x / 2)),
    *smooth("gaussian", bells.Gaussian(), SIGNED[:8], [0, 5.5, INF, NAN], lambda x: np.exp(-x * x)),
    *smooth(
        "gelu_share",
        gelu.GeluShare(),
        SIGNED,
        [0, -9.5, 30, INF, NAN],
        lambda x: scipy.special.expit(-np.sqrt(8 / np.pi) * np.abs(x + 0.044715 * x**3)),
    ),
    *smooth("ndtr", normal.Ndtr(), SIGNED[:8], [0, -0.5, INF, -INF, NAN]),
    *smooth("dawsn", normal.Dawsn(), SIGNED, [0, INF, -INF, NAN]),
    *smooth("log_ndtr", normal.LogNdtr(), SIGNED[:8], [0, INF, -INF, NAN]),
    *smooth(
        "ndtri", normal.Ndtri(), [0.02, 0.04, 0.1, 0.4, 0.6, 0.9, 0.97, 0.98], [0, 1, 1e-10, 2, NAN]
    ),
    *smooth("expi", integrals.Expi(), SIGNED, [0, INF, NAN]),
    *smooth(
        "exponential_over",
        integrals.ExponentialOver(),
        SIGNED,
        [-INF, NAN],
        lambda x: np.exp(x) / x,
    ),
    Case(
        "expi-end-of-series-f32",
        integrals.Expi(),
        [fixed([19.5, 19.7, 19.9], "f4")],
        scipy.special.expi,
        1e-5,
        differentiable=False,
    ),
    *smooth("spence", integrals.Spence(), POSITIVE, [0, 1, -1, NAN]),
    *smooth(
        "sine-integral",
        integrals.SineIntegral(),
        SIGNED,
        [0, INF, -INF, NAN],
        lambda x: scipy.special.sici(x)[0],
    ),
    *smooth(
        "cosine-integral",
        integrals.CosineIntegral(),
        POSITIVE,
        [0, INF, -INF, NAN],
        lambda x: scipy.special.sici(x)[1],
    ),
    *smooth(
        "fresnel-sine",
        integrals.FresnelSine(),
        SIGNED[1:10],
        [0, INF, -INF, NAN],
        lambda x: scipy.special.fresnel(x)[0],
    ),
    *smooth(
        "fresnel-cosine",
        integrals.FresnelCosine(),
        SIGNED[1:10],
        [0, INF, -INF, NAN],
        lambda x: scipy.special.fresnel(x)[1],
    ),
    Case(
        "dawsn-bf16",
        normal.Dawsn(),
        [of(ml_dtypes.bfloat16, 9, low=-3, high=3)],
        scipy.special.dawsn,
        1e-2,
    ),
    Case(
        "expn",
        integrals.Expn(),
        [fixed([0, 1, 2, 5, 0, 1, 3, 1], "f8"), fixed(POSITIVE, "f8")],
        scipy.special.expn,
        1e-12,
        wrt=[1],
    ),
    Case(
        "expn-edges",
        integrals.Expn(),
        [fixed([0, 1, 3, -1, 2, 1, NAN, 2], "f8"), fixed([0, 0, 0, 1, -1, INF, 1, NAN], "f8")],
        lambda n, x: [INF, INF, 0.5, NAN, NAN, 0, NAN, NAN],
        differentiable=False,
    ),
    Case("owens-t", normal.OwensT(), [f64(2, 3), f64(2, 3, low=-3, high=3)], scipy.special.owens_t),
    Case(
        "owens-t-f32",
        normal.OwensT(),
        [fixed([0.5, 0, -1, 2, 1], "f4"), fixed([INF, 1, 3, -0.5, 0], "f4")],
        scipy.special.owens_t,
        1e-5,
    ),
    Case("wofz", normal.Wofz(), [of("c16", 2, 3, low=-3, high=3)], scipy.special.wofz, 1e-12),
    Case("wofz-c64", normal.Wofz(), [of("c8", 9, low=-2, high=2)], scipy.special.wofz, 1e-5),
    Case(
        "hyp1f1",
        hypergeometric.Hyp1f1(),
        [fixed(PARAMETERS), fixed(PARAMETERS[::-1]), fixed([0.3, -0.7, 2.0, -9.0, 0.01, 12.0])],
        scipy.special.hyp1f1,
        1e-11,
        wrt=[2],
    ),
    Case(
        "hyp1f1-f32",
        hypergeometric.Hyp1f1(),
        [of("f4", 9, low=0.5, high=2), of("f4", 9, low=1, high=3), of("f4", 9)],
        scipy.special.hyp1f1,
        1e-5,
    ),
    Case(
        "hyp2f1",
        hypergeometric.Hyp2f1(),
        [
            fixed(PARAMETERS),
            fixed(PARAMETERS[::-1]),
            fixed([3.1, 4.2, 1.7, 2.4, 5.5, 6.2]),
            fixed([0.3, -0.7, 0.8, -9.0, 0.01, -0.2]),
        ],
        scipy.special.hyp2f1,
        1e-11,
        wrt=[3],
    ),
    Case(
        "hyp2f1-edges",
        hypergeometric.Hyp2f1(),
        [
            fixed([1, 0.5, 1, 1, 0, 1, 0, 0, 0], "f8"),
            fixed([0.5, 1, 1, 1, 1, 0, 1, 2, 1], "f8"),
            fixed([3, 1, 2, 2, 1, 1, -1, 1, 1], "f8"),
            fixed([1, 1, 2, 0, 1, 1, 1, 2, -3], "f8"),
        ],
        scipy.special.hyp2f1,
        1e-12,
        differentiable=False,
    ),
]
