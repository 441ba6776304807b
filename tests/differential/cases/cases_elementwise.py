"""Arithmetic and the functions of one operand, against Python's math."""

import cmath
import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
from tests.differential.harness import Case, each, f64, fixed, i32, of

from irax_compiler.ops import elementwise
from irax_compiler.ops.core import Op

DTYPES = [np.float64, np.float32, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2]


def in_all_dtypes(
    name: str, op: Op, function: Callable[..., Any], *ranges: tuple[float, float], **options: Any
) -> list[Case]:
    """A case in each float dtype, with values from a range for each operand."""
    return [
        Case(
            f"{name}-{np.dtype(dtype).name}",
            op,
            [of(dtype, 2, 3, low=low, high=high) for low, high in ranges],
            each(function),
            **options,
        )
        for dtype in DTYPES
    ]


def truncated_division(x: int, y: int) -> int:
    return int(math.copysign(1, x) * math.copysign(1, y)) * (abs(x) // abs(y))


def half_away_from_zero(x: float) -> float:
    return math.copysign(math.floor(abs(x) + 0.5), x)


WIDE = (-3.0, 3.0)
POSITIVE = (0.2, 3.0)

CASES = [
    *in_all_dtypes("add", elementwise.add, lambda x, y: x + y, WIDE, WIDE),
    *in_all_dtypes("subtract", elementwise.subtract, lambda x, y: x - y, WIDE, WIDE),
    *in_all_dtypes("multiply", elementwise.multiply, lambda x, y: x * y, WIDE, WIDE),
    *in_all_dtypes("divide", elementwise.divide, lambda x, y: x / y, WIDE, POSITIVE),
    *in_all_dtypes("remainder", elementwise.remainder, math.fmod, (-9, 9), POSITIVE),
    *in_all_dtypes("maximum", elementwise.maximum, max, WIDE, WIDE),
    *in_all_dtypes("minimum", elementwise.minimum, min, WIDE, WIDE),
    *in_all_dtypes("power", elementwise.power, math.pow, POSITIVE, WIDE),
    *in_all_dtypes("atan2", elementwise.atan2, math.atan2, WIDE, WIDE),
    *in_all_dtypes("negate", elementwise.negate, lambda x: -x, WIDE),
    *in_all_dtypes("abs", elementwise.abs, abs, WIDE),
    *in_all_dtypes("sign", elementwise.sign, lambda x: (x > 0) - (x < 0), WIDE),
    *in_all_dtypes("floor", elementwise.floor, math.floor, WIDE),
    *in_all_dtypes("ceil", elementwise.ceil, math.ceil, WIDE),
    *in_all_dtypes("round_nearest_even", elementwise.round_nearest_even, round, WIDE),
    *in_all_dtypes("round_nearest_afz", elementwise.round_nearest_afz, half_away_from_zero, WIDE),
    *in_all_dtypes("exponential", elementwise.exponential, math.exp, WIDE),
    *in_all_dtypes(
        "exponential_minus_one", elementwise.exponential_minus_one, math.expm1, (-0.1, 0.1)
    ),
    *in_all_dtypes("log", elementwise.log, math.log, POSITIVE),
    *in_all_dtypes("log_plus_one", elementwise.log_plus_one, math.log1p, (-0.1, 0.1)),
    *in_all_dtypes("sqrt", elementwise.sqrt, math.sqrt, POSITIVE),
    *in_all_dtypes("rsqrt", elementwise.rsqrt, lambda x: 1 / math.sqrt(x), POSITIVE),
    *in_all_dtypes("cbrt", elementwise.cbrt, lambda x: math.copysign(abs(x) ** (1 / 3), x), WIDE),
    *in_all_dtypes("logistic", elementwise.logistic, lambda x: 1 / (1 + math.exp(-x)), WIDE),
    *in_all_dtypes("sine", elementwise.sine, math.sin, WIDE),
    *in_all_dtypes("cosine", elementwise.cosine, math.cos, WIDE),
    *in_all_dtypes("tan", elementwise.tan, math.tan, (-1, 1)),
    *in_all_dtypes("tanh", elementwise.tanh, math.tanh, WIDE),
    Case("is_finite", elementwise.is_finite, [fixed([1.0, np.inf, np.nan])], each(math.isfinite)),
    Case("scalar", elementwise.multiply, [f64(), f64()], each(lambda x, y: x * y)),
    Case("empty", elementwise.multiply, [f64(0, 2), f64(0, 2)], each(lambda x, y: x * y)),
    Case(
        "negative-base",
        elementwise.power,
        [fixed([-2.0, -1.5, 2.0]), fixed([3.0, -2.0, 0.0])],
        each(math.pow),
        differentiable=False,
    ),
    # Integers wrap around.
    Case(
        "add-i8", elementwise.add, [of("i1", 9, low=-128, high=127)] * 2, each(lambda x, y: x + y)
    ),
    Case(
        "subtract-u8",
        elementwise.subtract,
        [of("u1", 9, high=255, low=0)] * 2,
        each(lambda x, y: x - y),
    ),
    Case(
        "multiply-i32",
        elementwise.multiply,
        [i32(9, low=-(2**31), high=2**31 - 1)] * 2,
        each(lambda x, y: x * y),
    ),
    Case(
        "multiply-int4",
        elementwise.multiply,
        [of(ml_dtypes.int4, 9, low=-8, high=7)] * 2,
        each(lambda x, y: x * y),
    ),
    Case("add-bool", elementwise.add, [of(np.bool_, 9)] * 2, each(lambda x, y: x or y)),
    Case("multiply-bool", elementwise.multiply, [of(np.bool_, 9)] * 2, each(lambda x, y: x and y)),
    Case(
        "divide-i32",
        elementwise.divide,
        [i32(9, low=-99, high=99), i32(9, low=-9, high=-1)],
        each(truncated_division),
    ),
    Case(
        "divide-u64",
        elementwise.divide,
        [of("u8", 9, low=0, high=2**63), of("u8", 9, low=1, high=9)],
        each(lambda x, y: x // y),
    ),
    Case(
        "remainder-i32",
        elementwise.remainder,
        [i32(9, low=-99, high=99), i32(9, low=1, high=9)],
        each(lambda x, y: int(math.fmod(x, y))),
    ),
    Case(
        "power-i32",
        elementwise.power,
        [i32(9, low=-9, high=9), i32(9, low=0, high=20)],
        each(lambda x, y: x**y),
    ),
    Case("maximum-i32", elementwise.maximum, [i32(9), i32(9)], each(max)),
    Case("abs-i32", elementwise.abs, [i32(9)], each(abs)),
    Case("sign-i32", elementwise.sign, [i32(9)], each(lambda x: (x > 0) - (x < 0))),
    Case("negate-i32", elementwise.negate, [i32(9)], each(lambda x: -x)),
    # What is there for complex numbers so far.
    Case("multiply-complex", elementwise.multiply, [of("c16", 2, 3)] * 2, each(lambda x, y: x * y)),
    Case("exponential-complex", elementwise.exponential, [of("c16", 2, 3)], each(cmath.exp)),
    Case("abs-complex", elementwise.abs, [of("c16", 2, 3)], each(abs), differentiable=False),
]
NOT_DIFFERENTIABLE = {"stablehlo.is_finite"}
