"""Loops and branches on the evaluator, against the same in Python."""

import numpy as np
import pytest

from irax_compiler import mlir
from irax_compiler.ops import comparison, elementwise
from irax_compiler.ops.core import full_like
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.ops.loop_builders import while_loop


def run(text: str, *arguments: np.ndarray) -> list[np.ndarray]:
    return Evaluator(mlir.parse_module(text))("main", arguments)


def test_while_uses_values_from_outside() -> None:
    """The smallest y * 2**n that is not below a limit."""
    module = mlir.new_module()
    scalar = mlir.tensor_type((), np.dtype(np.float64))
    function = mlir.new_function(module, "main", [scalar, scalar], public=True)
    start, limit = mlir.arguments(function)
    with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        two = full_like(start, 2)
        results = while_loop(
            lambda y: comparison.less(y, limit), lambda y: [elementwise.multiply(y, two)], [start]
        )
    mlir.finish_function(function, results)
    module.operation.verify()
    (found,) = run(str(module), np.array(3.0), np.array(100.0))
    assert found == 192


CASE = """
func.func @main(%i: tensor<i32>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0:2 = "stablehlo.case"(%i) ({
    stablehlo.return %x, %one : tensor<2xf32>, tensor<f32>
  }, {
    %1 = stablehlo.negate %x : tensor<2xf32>
    %2 = stablehlo.add %one, %one : tensor<f32>
    stablehlo.return %1, %2 : tensor<2xf32>, tensor<f32>
  }) : (tensor<i32>) -> (tensor<2xf32>, tensor<f32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<f32>
}"""


@pytest.mark.parametrize("index, sign", [(0, 1), (1, -1), (2, -1), (-1, -1)])
def test_case(index: int, sign: int) -> None:
    x = np.array([1, 2], np.float32)
    first, second = run(CASE, np.array(index, np.int32), x)
    np.testing.assert_array_equal(first, sign * x)
    assert second == (1 if sign == 1 else 2)


IF = """
func.func @main(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<f32>
  }, {
    %1 = stablehlo.negate %x : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %0 : tensor<f32>
}"""


@pytest.mark.parametrize("condition", [True, False])
def test_if(condition: bool) -> None:
    (found,) = run(IF, np.array(condition), np.array(3, np.float32))
    assert found == (3 if condition else -3)
