"""Forms of TensorFlow's modules: custom calls that return tuples, and functions of mhlo."""

from __future__ import annotations

import math

import numpy as np
import pytest

import irax
from irax_compiler.forms.reading import read_module

X = np.random.default_rng(0).normal(size=(5, 3)).astype("f")

QR = """
func.func @main(%0: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %1 = stablehlo.custom_call @Qr(%0) {backend_config = "", xla_shape = "(f32[5,3]{1,0}, f32[3]{0})"}
      : (tensor<5x3xf32>) -> tuple<tensor<5x3xf32>, tensor<3xf32>>
  %2 = stablehlo.get_tuple_element %1[0]
      : (tuple<tensor<5x3xf32>, tensor<3xf32>>) -> tensor<5x3xf32>
  %3 = stablehlo.get_tuple_element %1[1]
      : (tuple<tensor<5x3xf32>, tensor<3xf32>>) -> tensor<3xf32>
  %4 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%2, %3)
      : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5x3xf32>
  return %4 : tensor<5x3xf32>
}
"""


@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_custom_calls_that_return_tuples(device: str) -> None:
    found = irax.ir.load(QR, device=device)(X)
    np.testing.assert_allclose(np.abs(found), np.abs(np.linalg.qr(X)[0]), rtol=1e-4, atol=1e-5)


MHLO = """
func.func @main(%arg0: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %0 = mhlo.copy %arg0 : tensor<5x3xf32> loc("copy")
  %1:2 = "stablehlo.optimization_barrier"(%0, %0)
      : (tensor<5x3xf32>, tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>)
  %2 = mhlo.erf %1#1 : tensor<5x3xf32>
  return %2 : tensor<5x3xf32>
}
"""


def test_functions_of_mhlo() -> None:
    run = irax.ir.load(MHLO, device="reference")
    np.testing.assert_allclose(run(X), np.vectorize(math.erf)(X), rtol=1e-5, atol=1e-6)
    slope = irax.grad(lambda x: run(x).sum())(X)
    np.testing.assert_allclose(slope, 2 / math.sqrt(math.pi) * np.exp(-(X**2)), rtol=1e-5)


def test_other_operations_of_mhlo_are_refused_by_name() -> None:
    text = MHLO.replace("mhlo.erf %1#1 :", "mhlo.topk(%1#1, k = 3) :")
    with pytest.raises(ValueError, match=r"^mhlo\.topk is not supported; expected .* \(loc\("):
        read_module(text)
    with pytest.raises(NotImplementedError, match=r"mhlo\.bitcast at .* is not supported"):
        irax.ir.load(MHLO.replace("mhlo.copy", "mhlo.bitcast"), device="reference")(X)


def test_custom_calls_that_return_tuples_in_branches() -> None:
    lines = QR.strip().splitlines()
    branch = "\n".join(lines[1:-2])
    text = f"""
func.func @main(%0: tensor<5x3xf32>, %p: tensor<i1>) -> tensor<5x3xf32> {{
  %r = "stablehlo.if"(%p) ({{
{branch}
    stablehlo.return %4 : tensor<5x3xf32>
  }}, {{
    stablehlo.return %0 : tensor<5x3xf32>
  }}) : (tensor<i1>) -> tensor<5x3xf32>
  return %r : tensor<5x3xf32>
}}
"""
    run = irax.ir.load(text, device="reference")
    np.testing.assert_allclose(np.abs(run(X, True)), np.abs(np.linalg.qr(X)[0]), rtol=1e-4)
    np.testing.assert_array_equal(run(X, False), X)


def test_booleans_of_which_eight_are_in_a_byte() -> None:
    chosen = np.random.default_rng(1).random((5, 3)) > 0.5
    packed = np.packbits(chosen, bitorder="little").tobytes().hex().upper()
    text = f"""
func.func @main(%0: tensor<5x3xf32>) -> tensor<5x3xf32> {{
  %1 = stablehlo.constant dense<"0x{packed}"> : tensor<5x3xi1>
  %2 = stablehlo.constant dense<"0x{chosen.tobytes().hex().upper()}"> : tensor<5x3xi1>
  %3 = stablehlo.and %1, %2 : tensor<5x3xi1>
  %4 = stablehlo.convert %3 : (tensor<5x3xi1>) -> tensor<5x3xf32>
  return %4 : tensor<5x3xf32>
}}
"""
    np.testing.assert_array_equal(irax.ir.load(text, device="reference")(X), chosen)
