"""The functions of CHLO, against Python's math or SciPy."""

import math

import ml_dtypes
import numpy as np
import scipy.special
from tests.differential.cases.cases_elementwise import in_all_dtypes
from tests.differential.harness import Case, each, f64, fixed, of

from irax_compiler.ops.special import chlo_functions
from irax_compiler.ops.special.zeta import ZetaSlope, zeta

NUMBERS = [0.0, 1.0, np.inf, -np.inf, np.nan]


def zeta_slope(s: np.ndarray, q: np.ndarray, order: int) -> np.ndarray:
    """Differences of SciPy's zeta in its exponent."""
    step = 0.02
    values = [scipy.special.zeta(s + k * step, q) for k in range(-3, 4)]
    weights = {1: (-1, 9, -45, 0, 45, -9, 1), 2: (2, -27, 270, -490, 270, -27, 2)}[order]
    scale = {1: 60 * step, 2: 180 * step**2}[order]
    return np.asarray(sum(w * v for w, v in zip(weights, values, strict=True)) / scale)


CASES = [
    *in_all_dtypes("sinh", chlo_functions.sinh, math.sinh, (-2, 2)),
    *in_all_dtypes("cosh", chlo_functions.cosh, math.cosh, (-2, 2)),
    *in_all_dtypes("tan", chlo_functions.tan, math.tan, (-1, 1)),
    *in_all_dtypes("asin", chlo_functions.asin, math.asin, (-0.9, 0.9)),
    *in_all_dtypes("acos", chlo_functions.acos, math.acos, (-0.9, 0.9)),
    *in_all_dtypes("atan", chlo_functions.atan, math.atan, (-3, 3)),
    *in_all_dtypes("asinh", chlo_functions.asinh, math.asinh, (-3, 3)),
    *in_all_dtypes("acosh", chlo_functions.acosh, math.acosh, (1.2, 3)),
    *in_all_dtypes("atanh", chlo_functions.atanh, math.atanh, (-0.9, 0.9)),
    *in_all_dtypes("square", chlo_functions.square, lambda x: x * x, (-3, 3)),
    *in_all_dtypes("erf", chlo_functions.erf, math.erf, (-2, 2)),
    *in_all_dtypes("erfc", chlo_functions.erfc, math.erfc, (-2, 2)),
    *in_all_dtypes("erf_inv", chlo_functions.erf_inv, scipy.special.erfinv, (-0.9, 0.9)),
    *in_all_dtypes("lgamma", chlo_functions.lgamma, math.lgamma, (2.5, 9)),
    *in_all_dtypes("digamma", chlo_functions.digamma, scipy.special.digamma, (2, 9)),
    Case("lgamma-negative", chlo_functions.lgamma, [fixed([-0.5, -1.3, -2.7])], each(math.lgamma)),
    Case(
        "polygamma",
        chlo_functions.polygamma,
        [fixed([0.0, 1.0, 2.0, 5.0]), f64(4, low=0.5, high=4)],
        scipy.special.polygamma,
        wrt=[1],
    ),
    Case(
        "polygamma-f32",
        chlo_functions.polygamma,
        [fixed([1, 2], np.float32), of(np.float32, 2, low=0.5, high=4)],
        scipy.special.polygamma,
        wrt=[1],
    ),
    Case(
        "zeta",
        zeta,
        [f64(4, low=1.5, high=4), f64(4, low=0.5, high=4)],
        lambda s, q: sum((q + k) ** -s for k in range(2000)) + (q + 1999.5) ** (1 - s) / (s - 1),
        tolerance=1e-6,
    ),
    Case(
        "zeta-slope",
        ZetaSlope(1),
        [f64(4, low=1.5, high=4), f64(4, low=0.5, high=4)],
        lambda s, q: zeta_slope(s, q, 1),
        tolerance=1e-6,
    ),
    Case(
        "zeta-slope-2",
        ZetaSlope(2),
        [f64(4, low=1.5, high=4), f64(4, low=0.5, high=4)],
        lambda s, q: zeta_slope(s, q, 2),
        tolerance=1e-5,
    ),
    Case(
        "zeta-bf16",
        zeta,
        [fixed([2.0], ml_dtypes.bfloat16)] * 2,
        lambda s, q: s * 0 + math.pi**2 / 6 - 1,
        wrt=[1],
    ),
    Case("is_inf", chlo_functions.is_inf, [fixed(NUMBERS)], each(math.isinf)),
    Case(
        "is_pos_inf",
        chlo_functions.is_pos_inf,
        [fixed(NUMBERS)],
        each(lambda x: math.isinf(x) and x > 0),
    ),
    Case(
        "is_neg_inf",
        chlo_functions.is_neg_inf,
        [fixed(NUMBERS)],
        each(lambda x: math.isinf(x) and x < 0),
    ),
]
NOT_DIFFERENTIABLE = {
    "chlo.is_inf",
    "chlo.is_neg_inf",
    "chlo.is_pos_inf",
}
