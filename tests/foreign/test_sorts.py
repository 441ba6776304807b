"""Sorts as torch-mlir writes them, compiled."""

from __future__ import annotations

import numpy as np
import pytest

import irax


@pytest.mark.parametrize("dtype", ["i32", pytest.param("i16", marks=pytest.mark.slow), "i64"])
@pytest.mark.parametrize("how", [pytest.param("LT", marks=pytest.mark.slow), "GT"])
def test_first_of_sorted_with_places(dtype: str, how: str) -> None:
    """IREE takes these for chlo.top_k, whose places are int32."""
    text = f"""func.func @main(%x: tensor<3x5xf32>) -> (tensor<3x2xf32>, tensor<3x2x{dtype}>) {{
      %i = stablehlo.iota dim = 1 : tensor<3x5x{dtype}>
      %r:2 = "stablehlo.sort"(%x, %i) <{{dimension = 1 : i64, is_stable = false}}> ({{
      ^bb0(%0: tensor<f32>, %1: tensor<f32>, %2: tensor<{dtype}>, %3: tensor<{dtype}>):
        %4 = stablehlo.compare {how}, %0, %1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %4 : tensor<i1>
      }}) : (tensor<3x5xf32>, tensor<3x5x{dtype}>) -> (tensor<3x5xf32>, tensor<3x5x{dtype}>)
      %a = stablehlo.slice %r#0 [0:3, 0:2] : (tensor<3x5xf32>) -> tensor<3x2xf32>
      %b = stablehlo.slice %r#1 [0:3, 0:2] : (tensor<3x5x{dtype}>) -> tensor<3x2x{dtype}>
      return %a, %b : tensor<3x2xf32>, tensor<3x2x{dtype}>
    }}"""
    x = np.random.default_rng(0).normal(size=(3, 5)).astype("float32")
    values, places = irax.ir.load(text, device="cpu")(x)
    order = np.argsort(x if how == "LT" else -x, 1)[:, :2]
    np.testing.assert_array_equal(places, order)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, 1))
