"""Composites that irax has no rules for, against the formula of their decomposition."""

import numpy as np
from tests.differential.harness import Case, f64

COMPOSITE = """
func.func private @scaled_sine(%x: tensor<2xf64>, %y: tensor<2xf64>) -> tensor<2xf64> {
  %0 = stablehlo.sine %x : tensor<2xf64>
  %1 = stablehlo.multiply %0, %y : tensor<2xf64>
  return %1 : tensor<2xf64>
}
func.func @main(%x: tensor<2xf64>, %y: tensor<2xf64>) -> tensor<2xf64> {
  %0 = stablehlo.composite "other.scaled_sine" %x, %y {
    composite_attributes = {scale = 2 : i64}, decomposition = @scaled_sine, version = 1 : i32
  } : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
  return %0 : tensor<2xf64>
}"""

CASES = [Case("composite", COMPOSITE, [f64(2), f64(2)], lambda x, y: np.sin(x) * y)]
