"""Calls, against the formula of what they call."""

import numpy as np
from tests.differential.harness import Case, f64, i32

TYPES = "(tensor<2xf64>, tensor<f64>, tensor<i32>) -> (tensor<2xf64>, tensor<i32>, tensor<f64>)"
CALL = f"""
func.func private @inner(%x: tensor<2xf64>, %y: tensor<f64>, %n: tensor<i32>)
    -> (tensor<2xf64>, tensor<i32>, tensor<f64>) {{
  %0 = stablehlo.sine %x : tensor<2xf64>
  %1 = stablehlo.broadcast_in_dim %y, dims = [] : (tensor<f64>) -> tensor<2xf64>
  %2 = stablehlo.multiply %0, %1 : tensor<2xf64>
  return %2, %n, %y : tensor<2xf64>, tensor<i32>, tensor<f64>
}}
func.func @main(%x: tensor<2xf64>, %y: tensor<f64>, %n: tensor<i32>)
    -> (tensor<2xf64>, tensor<i32>, tensor<f64>) {{
  %0:3 = func.call @inner(%x, %y, %n) : {TYPES}
  return %0#0, %0#1, %0#2 : tensor<2xf64>, tensor<i32>, tensor<f64>
}}"""
LINEAR = """
func.func private @inner(%x: tensor<2xf64>, %y: tensor<2xf64>) -> tensor<2xf64> {
  %0 = stablehlo.multiply %x, %y : tensor<2xf64>
  return %0 : tensor<2xf64>
}
func.func @main(%x: tensor<2xf64>, %y: tensor<2xf64>) -> tensor<2xf64> {
  %0 = func.call @inner(%x, %y) : (tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
  return %0 : tensor<2xf64>
}"""

CASES = [
    Case("call", CALL, [f64(2), f64(), i32()], lambda x, y, n: (np.sin(x) * y, n, y)),
    Case("linear-call", LINEAR, [f64(2), f64(2)], lambda x, y: x * y),
]
