"""Records that transformations return, and errors of rules that fail."""

from typing import Any

import numpy as np
import pytest

from irax_compiler import api, mlir
from irax_compiler.ops.elementwise import Elementwise

F64 = mlir.tensor_type((4,), np.dtype(np.float64))

SINE_TIMES = """
func.func @main(%x: tensor<4xf64>, %y: tensor<4xf64>) -> tensor<4xf64> {
  %0 = stablehlo.sine %x : tensor<4xf64>
  %1 = stablehlo.multiply %0, %y : tensor<4xf64>
  return %1 : tensor<4xf64>
}"""
SUM = """
func.func @main(%x: tensor<4xf64>, %y: tensor<4xf64>) -> tensor<4xf64> {
  %0 = stablehlo.add %x, %y : tensor<4xf64>
  return %0 : tensor<4xf64>
}"""

CALL_OF_MORE = """
func.func private @inner(%x: tensor<4xf64>, %y: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
  %0 = stablehlo.sine %x : tensor<4xf64>
  %1 = stablehlo.multiply %x, %y : tensor<4xf64>
  return %0, %1 : tensor<4xf64>, tensor<4xf64>
}
func.func @main(%x: tensor<4xf64>, %y: tensor<4xf64>) -> tensor<4xf64> {
  %0:2 = call @inner(%x, %y) : (tensor<4xf64>, tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>)
  %1 = stablehlo.multiply %0#0, %0#1 : tensor<4xf64>
  return %1 : tensor<4xf64>
}"""

X, Y, T = np.arange(4.0), np.arange(4.0) + 1, np.full(4, 0.5)


def test_a_jvp_says_what_it_made():
    module = api.parse(SINE_TIMES)
    derived = api.jvp(module, wrt=[0])
    assert (derived.active, derived.results) == ((True, False), (True,))
    _, tangent = api.evaluate(module, derived.name, [X, Y, T])
    np.testing.assert_allclose(tangent, np.cos(X) * Y * T)


def test_residuals_that_are_arguments_are_known_by_number():
    module = api.parse(SINE_TIMES)
    linearized = api.linearize(module)
    assert linearized.residuals == (F64, 1, F64)
    _, *residuals = api.evaluate(module, linearized.name, [X, Y])
    np.testing.assert_array_equal(residuals[1], Y)
    (tangent,) = api.evaluate(module, linearized.linear, [*residuals, T, T])
    np.testing.assert_allclose(tangent, np.cos(X) * Y * T + np.sin(X) * T)


def test_the_two_passes_of_reverse_mode():
    module = api.parse(SINE_TIMES)
    passes = api.reverse(module, wrt=[1])
    assert passes.linearized.active == (False, True)
    _, *residuals = api.evaluate(module, passes.forward, [X, Y])
    (found,) = api.evaluate(module, passes.backward, [*residuals, T])
    np.testing.assert_allclose(found, np.sin(X) * T)


def test_a_batch_says_where_lanes_are():
    module = api.parse(SINE_TIMES)
    derived = api.batch(module, size=3, in_axes=[1, None], out_axes=[0])
    assert (derived.axes, derived.results) == ((1, None), (0,))
    lanes = np.stack([X, Y, T], axis=1)
    (found,) = api.evaluate(module, derived.name, [lanes, Y])
    np.testing.assert_allclose(found, np.sin(lanes).T * Y)


def test_a_call_may_compute_what_its_caller_multiplies_by():
    module = api.parse(CALL_OF_MORE)
    before = set(mlir.functions(module))
    derived = api.transpose(module, wrt=[1])
    (found,) = api.evaluate(module, derived.name, [X, T])
    np.testing.assert_allclose(found, np.sin(X) * X * T)
    parts = {"inner.known", "inner.moving", "inner.moving.transpose"}
    assert set(mlir.functions(module)) == {*before, *parts, derived.name}


def test_a_mistake_in_a_rule_is_not_taken_for_something_else(monkeypatch: pytest.MonkeyPatch):
    def mistaken(*_: Any) -> None:
        raise TypeError("a mistake")

    monkeypatch.setattr(Elementwise, "transpose", mistaken)
    with pytest.raises(TypeError, match="a mistake") as caught:
        api.transpose(api.parse(SUM))
    assert "stablehlo.add at loc(" in "".join(caught.value.__notes__)


@pytest.mark.parametrize(
    "wrt, problem", [([0], "sine is not linear in operand 0"), ([1], None), ([0, 1], "not linear")]
)
def test_only_what_is_linear_is_transposed(wrt: list[int], problem: str | None):
    module = api.parse(SINE_TIMES)
    if problem is None:
        api.transpose(module, wrt=wrt)
        return
    with pytest.raises(api.UnsupportedOp, match=problem):
        api.transpose(module, wrt=wrt)
