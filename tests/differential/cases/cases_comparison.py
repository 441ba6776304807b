"""Comparing and choosing, against Python's operators."""

import operator

import ml_dtypes
import numpy as np
from tests.differential.harness import Case, boolean, each, f64, fixed, i32, of

from irax_compiler.ops import clamp, comparison
from irax_compiler.ops.comparison import Compare

EDGES = [-np.inf, -1.0, -0.0, 0.0, 1.0, np.inf, np.nan]
PAIRS = [fixed(np.repeat(EDGES, 7)), fixed(np.tile(EDGES, 7))]
# All but nan are in this order already, and nan is the last.
PLACES = np.repeat(np.arange(7), 7), np.tile(np.arange(7), 7)
OPERATORS = {
    "EQ": operator.eq,
    "NE": operator.ne,
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
}


def with_nan(function):
    """The operator, which NumPy would warn of for nan."""
    return lambda x, y: [function(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]


def clamped(low, x, high):
    return np.vectorize(lambda low, x, high: min(max(low, x), high))(low, x, high)


CASES = [
    *(
        Case(f"compare-{name}", Compare(name, None), PAIRS, with_nan(function))
        for name, function in OPERATORS.items()
    ),
    *(
        Case(
            f"total-order-{name}",
            Compare(name, "TOTALORDER"),
            PAIRS,
            lambda x, y, function=function: function(*PLACES),
        )
        for name, function in OPERATORS.items()
    ),
    Case("compare-i32", comparison.less, [i32(9), i32(9)], each(operator.lt)),
    Case("compare-signed", Compare("GT", "SIGNED"), [i32(9), i32(9)], each(operator.gt)),
    Case(
        "compare-bf16",
        comparison.less_equal,
        [of(ml_dtypes.bfloat16, 9)] * 2,
        each(operator.le),
    ),
    Case("compare-bool", comparison.greater, [boolean(9), boolean(9)], each(operator.gt)),
    Case("compare-complex", comparison.equal, [of("c16", 3), of("c16", 3)], each(operator.eq)),
    Case("select", comparison.select, [boolean(2, 3), f64(2, 3), f64(2, 3)], np.where),
    Case("select-by-scalar", comparison.select, [boolean(), f64(2, 3), f64(2, 3)], np.where),
    Case("select-scalars", comparison.select, [boolean(), f64(), f64()], np.where),
    Case("select-i32", comparison.select, [boolean(5), i32(5), i32(5)], np.where),
    Case(
        "select-bf16",
        comparison.select,
        [boolean(5), of(ml_dtypes.bfloat16, 5), of(ml_dtypes.bfloat16, 5)],
        np.where,
    ),
    Case(
        "clamp",
        clamp.clamp,
        [f64(3, 3, low=-2, high=0), f64(3, 3, low=-3, high=3), f64(3, 3, low=0, high=2)],
        clamped,
    ),
    Case(
        "clamp-to-scalars",
        clamp.clamp,
        [f64(low=-2, high=-1), f64(3, 3, low=-3, high=3), f64(low=1, high=2)],
        clamped,
    ),
    Case(
        "clamp-crossed",
        clamp.clamp,
        [f64(9, low=1, high=2), f64(9, low=-3, high=3), f64(9, low=-2, high=-1)],
        clamped,
    ),
    Case("clamp-i32", clamp.clamp, [i32(high=-3), i32(3, 3), i32(low=3)], clamped),
]
NOT_DIFFERENTIABLE = {"stablehlo.compare"}
