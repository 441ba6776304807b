"""Comparisons of floats in their total order: by their bits, in kernels of all kinds."""

import ml_dtypes
import numpy as np
import pytest

import irax

NAMES = {np.float16: "f16", ml_dtypes.bfloat16: "bf16", np.float32: "f32", np.float64: "f64"}
DIRECTIONS = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}
COUNT = 1024
LOOP = """
func.func @main(%x: tensor<{n}x{t}>, %y: tensor<{n}x{t}>) -> tensor<{n}xi32> {{
  %none = stablehlo.constant dense<0> : tensor<{n}xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %s = %none) : tensor<i32>, tensor<{n}xi32>
    cond {{
      %1 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }} do {{
      %1 = stablehlo.compare {d}, %x, %y, TOTALORDER
          : (tensor<{n}x{t}>, tensor<{n}x{t}>) -> tensor<{n}xi1>
      %2 = stablehlo.convert %1 : (tensor<{n}xi1>) -> tensor<{n}xi32>
      %3 = stablehlo.add %s, %2 : tensor<{n}xi32>
      %4 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %4, %3 : tensor<i32>, tensor<{n}xi32>
    }}
  return %0#1 : tensor<{n}xi32>
}}
"""
SPREAD = """
func.func @main(%x: tensor<{n}x{t}>, %y: tensor<{n}x{t}>) -> tensor<{n}x{n}xi32> {{
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<{n}x{t}>) -> tensor<{n}x{n}x{t}>
  %1 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<{n}x{t}>) -> tensor<{n}x{n}x{t}>
  %2 = stablehlo.compare {d}, %0, %1, TOTALORDER
      : (tensor<{n}x{n}x{t}>, tensor<{n}x{n}x{t}>) -> tensor<{n}x{n}xi1>
  %3 = stablehlo.convert %2 : (tensor<{n}x{n}xi1>) -> tensor<{n}x{n}xi32>
  return %3 : tensor<{n}x{n}xi32>
}}
"""


def drawn(dtype):
    """Pairs of numbers with both signs of zero, infinity and nan."""
    rng = np.random.default_rng(0)
    numbers = np.array([0.0, 1.0, 2.0, np.inf, np.nan], dtype)
    signs = np.array([-1.0, 1.0], dtype)
    x, y = (np.copysign(rng.choice(numbers, COUNT), rng.choice(signs, COUNT)) for _ in "xy")
    return x.astype(dtype), y.astype(dtype)


def key(x):
    """The bits, of negative numbers inverted but the sign."""
    bits = x.view(f"i{x.itemsize}")
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("dtype", NAMES, ids=NAMES.get)
@pytest.mark.parametrize("program", [LOOP, SPREAD], ids=["loop", "spread"])
def test_zeros_and_nans_have_an_order(program, dtype, direction):
    x, y = drawn(dtype)
    text = program.format(n=COUNT, t=NAMES[dtype], d=direction)
    if program is LOOP:
        expected = 3 * DIRECTIONS[direction](key(x), key(y))
    else:
        expected = DIRECTIONS[direction](key(x)[:, None], key(y)[None])
    with irax.enable_x64():
        for device in ("reference", "cpu"):
            np.testing.assert_array_equal(irax.ir.load(text, device=device)(x, y), expected)
