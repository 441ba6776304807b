"""Costs, counted by hand."""

from __future__ import annotations

import doctest
import math

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler import cost, mlir

CASES = {
    "dot": (
        "(%x: tensor<4x5xf32>, %y: tensor<5x3xf32>) -> tensor<4x3xf32> {"
        "%0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]"
        " : (tensor<4x5xf32>, tensor<5x3xf32>) -> tensor<4x3xf32> return %0 : tensor<4x3xf32> }",
        cost.Cost(2 * 4 * 5 * 3, 0, 4 * (20 + 15 + 12)),
    ),
    "convolution": (
        "(%x: tensor<1x2x8xf32>, %k: tensor<5x2x3xf32>) -> tensor<1x5x6xf32> {"
        "%0 = stablehlo.convolution(%x, %k) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0],"
        " window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
        " : (tensor<1x2x8xf32>, tensor<5x2x3xf32>) -> tensor<1x5x6xf32>"
        " return %0 : tensor<1x5x6xf32> }",
        cost.Cost(2 * 30 * 6, 0, 4 * (16 + 30 + 30)),
    ),
    "reduce": (
        "(%x: tensor<4x5xf64>, %z: tensor<f64>) -> tensor<4xf64> {"
        "%0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1]"
        " : (tensor<4x5xf64>, tensor<f64>) -> tensor<4xf64> return %0 : tensor<4xf64> }",
        cost.Cost(16, 0, 8 * (20 + 1 + 4)),
    ),
    "shapes": (
        "(%x: tensor<6xf32>) -> tensor<3x2xf32> {"
        "%0 = stablehlo.reshape %x : (tensor<6xf32>) -> tensor<2x3xf32>"
        "%1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>"
        " return %1 : tensor<3x2xf32> }",
        cost.Cost(0, 0, 48),
    ),
    "loop": (
        "(%x: tensor<2xf32>) -> tensor<2xf32> {"
        "%n = stablehlo.constant dense<7> : tensor<i32>"
        "%c = stablehlo.constant dense<0> : tensor<i32>"
        "%one = stablehlo.constant dense<1> : tensor<i32>"
        "%r:2 = stablehlo.while(%i = %c, %v = %x) : tensor<i32>, tensor<2xf32>"
        " cond { %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>"
        " stablehlo.return %p : tensor<i1> }"
        " do { %j = stablehlo.add %i, %one : tensor<i32> %w = stablehlo.tanh %v : tensor<2xf32>"
        " stablehlo.return %j, %w : tensor<i32>, tensor<2xf32> }"
        " return %r#1 : tensor<2xf32> }",
        cost.Cost(7 * 2, 7 * 2, 7 * (9 + 12 + 16)),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_cost(name):
    text, expected = CASES[name]
    assert cost.cost_of(mlir.parse_module(f"func.func @main{text}")) == expected


def eliminated(m, n):
    """The operations of Gaussian elimination, step by step."""
    return sum((m - k - 1) + 2 * (m - k - 1) * (n - k - 1) for k in range(min(m, n)))


def reflected(m, n):
    """The operations of a reflection of each column: a vector's norm, products with the columns
    after it, and their update.
    """
    return sum(3 * (m - k) + 4 * (m - k) * (n - k - 1) for k in range(min(m, n)))


N, M, COLUMNS = 60, 90, 7
FACTORIZATIONS = {
    "lu": (lambda a: irax.lax.linalg.lu(a), (M, N), eliminated(M, N)),
    "solve": (
        lambda a: jnp.linalg.solve(a, jnp.ones((N, COLUMNS))),
        (N, N),
        eliminated(N, N) + 2 * N**2 * COLUMNS,
    ),
    "inverse of several": (
        lambda a: jnp.linalg.inv(a),
        (3, N, N),
        3 * (eliminated(N, N) + 2 * N**3),
    ),
    "packed qr": (lambda a: jnp.linalg.qr(a, mode="raw"), (M, N), reflected(M, N)),
    "qr": (lambda a: jnp.linalg.qr(a), (M, N), 2 * reflected(M, N)),
    "cholesky": (lambda a: irax.lax.linalg.cholesky(a, symmetrize_input=False), (N, N), N**3 / 3),
    # The iterations are those of Golub and Van Loan's tables.
    "eigh": (lambda a: jnp.linalg.eigh(a, symmetrize_input=False), (N, N), 9 * N**3),
    "eigvals": (lambda a: jnp.linalg.eigvals(a), (N, N), 10 * N**3),
    "svd": (lambda a: jnp.linalg.svd(a, full_matrices=False), (N, M), 14 * M * N**2 + 8 * N**3),
    "singular values": (
        lambda a: jnp.linalg.svd(a, compute_uv=False),
        (M, N),
        4 * M * N**2 - 4 * N**3 / 3,
    ),
}


@pytest.mark.parametrize("name", FACTORIZATIONS)
def test_factorizations_count_as_those_of_lapack(name):
    function, shape, expected = FACTORIZATIONS[name]
    lowered = irax.jit(function).lower(irax.ShapeDtypeStruct(shape, np.float32))
    found = lowered.cost_analysis()["flops"]
    assert found == pytest.approx(expected, rel=0.08), math.log10(found / expected)


def test_calls_and_branches():
    text = """
    func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.multiply %x, %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func @main(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = "stablehlo.if"(%p) ({
        %1 = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
        %2 = func.call @f(%1) : (tensor<4xf32>) -> tensor<4xf32>
        stablehlo.return %2 : tensor<4xf32>
      }, {
        stablehlo.return %x : tensor<4xf32>
      }) : (tensor<i1>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    """
    expected = cost.Cost(8, 0, 2 * 48)
    assert cost.cost_of(mlir.parse_module(text)) == expected
    assert cost.calls_by_function(mlir.parse_module(text), "main") == {"main": 1, "f": 2}


SHARED = """
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %n = stablehlo.constant dense<3> : tensor<i32>
  %c = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %c, %v = %x) : tensor<i32>, tensor<4xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      %w = func.call @g(%v) : (tensor<4xf32>) -> tensor<4xf32>
      stablehlo.return %j, %w : tensor<i32>, tensor<4xf32>
    }
  return %r#1 : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @f(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = func.call @f(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""


def test_operations_sum_up_to_the_whole():
    module = mlir.parse_module(SHARED)
    calls = cost.calls_by_function(module, "main")
    assert calls == {"main": 1, "f": 2, "g": 7}
    total = cost.Cost()
    for name, times in calls.items():
        for _, count, each in cost.cost_by_operation(module, name):
            total += each.times(times * count)
    assert total == cost.cost_of(module) == cost.Cost(2 * 3 * 2, 7 * 4, 7 * 32 + 2 * 3 * (9 + 12))
    assert [(o.name, n) for o, n, _ in cost.cost_by_operation(module, "f")][3:5] == [
        ("stablehlo.compare", 3),
        ("stablehlo.return", 3),
    ]


def test_no_such_function():
    with pytest.raises(ValueError, match="no function @g; it has @main"):
        cost.cost_of(mlir.parse_module("func.func @main() { return }"), "g")


def test_example():
    assert doctest.testmod(cost).failed == 0


def test_a_maximum_by_comparison_is_one_operation():
    """The cost of relu is that of `stablehlo.maximum`; a comparison for something else counts."""
    text = """
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.compare LE, %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %1 = stablehlo.select %0, %CHOSEN, %x : tensor<4xi1>, tensor<4xf32>
  return %1 : tensor<4xf32>
}"""
    alone = text.replace(", %x : tensor<4xi1>", ", %z : tensor<4xi1>")
    assert cost.cost_of(mlir.parse_module(text.replace("CHOSEN", "y"))).flops == 4
    assert cost.cost_of(mlir.parse_module(alone.replace("CHOSEN", "z"))).flops == 8
