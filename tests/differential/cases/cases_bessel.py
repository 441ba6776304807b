"""Bessel functions and neighbours, against the integral of I_n, and the bits of floats."""

import ml_dtypes
import numpy as np
from tests.differential.harness import Case, f64, fixed, of

from irax_compiler.ops.special.bessel import BesselI0e, bessel_i1e
from irax_compiler.ops.special.chlo_functions import next_after

ANGLES = (np.arange(4000) + 0.5) / 4000 * np.pi


def scaled_bessel(order: int):
    """exp(-|x|) I_n(x): the mean over the angles of exp(x cos t - |x|) cos(n t)."""

    def reference(x):
        waves = np.exp(x[..., None] * np.cos(ANGLES) - np.abs(x)[..., None])
        return np.mean(waves * np.cos(order * ANGLES), -1)

    return reference


NEAR = [0.0, -0.0, 1.0, -1.0, np.inf, 5e-324, 2.5]
TOWARDS = [1.0, -1.0, 2.0, -2.0, 0.0, -1.0, 2.5]

CASES = [
    Case("i0e", BesselI0e(), [f64(9, low=-20, high=20)], scaled_bessel(0), tolerance=1e-13),
    Case("i0e-f32", BesselI0e(), [of("f4", 9, low=-20, high=20)], scaled_bessel(0), 1e-6),
    Case("i0e-bf16", BesselI0e(), [of(ml_dtypes.bfloat16, 9)], scaled_bessel(0), 1e-2),
    Case("i1e", bessel_i1e, [f64(9, low=-20, high=20)], scaled_bessel(1), tolerance=1e-13),
    Case("i1e-f32", bessel_i1e, [of("f4", 9, low=-20, high=20)], scaled_bessel(1), 1e-6),
    Case(
        "next-after",
        next_after,
        [fixed(NEAR, "f8"), fixed(TOWARDS, "f8")],
        lambda x, y: [5e-324, -5e-324, 1 + 2**-52, -1 - 2**-52, 1.7976931348623157e308, 0, 2.5],
        tolerance=0,
        differentiable=False,  # they are too near each other for differences
    ),
    Case(  # of a square: alone, it is linear but for rounding
        "next-after-square",
        """
        func.func @main(%x: tensor<5xf64>, %y: tensor<5xf64>) -> tensor<5xf64> {
          %0 = stablehlo.multiply %x, %x : tensor<5xf64>
          %1 = chlo.next_after %0, %y : tensor<5xf64>, tensor<5xf64> -> tensor<5xf64>
          return %1 : tensor<5xf64>
        }""",
        [f64(5), f64(5)],
        lambda x, y: np.nextafter(x * x, y),
        tolerance=0,
    ),
    Case(
        "next-after-f32",
        next_after,
        [fixed([1, -1], "f4"), fixed([2, -2], "f4")],
        lambda x, y: [1 + 2**-23, -1 - 2**-23],
        tolerance=0,
    ),
]
