"""Blocks as straight lines of Python: the same results as step by step, and what is left out."""

import contextvars

import numpy as np
import pytest

from irax_compiler import mlir
from irax_compiler.ops.evaluation.evaluator import Evaluator, Program
from irax_compiler.ops.evaluation.straight import calls_nothing, line
from irax_compiler.ops.numpy_call import NumpyCall
from irax_compiler.quiet import quietly

X = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)


def program(text: str, name: str = "main") -> tuple[Program, Evaluator]:
    module = mlir.parse_module(text)
    evaluator = Evaluator(module)
    return Program.of(mlir.body(mlir.functions(module)[name])), evaluator


SUM_OF_SQUARES = """
func.func @main(%x: tensor<3x4xf32>, %s: tensor<f32>) -> (tensor<3xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %four = stablehlo.multiply %two, %two : tensor<f32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
  %fours = stablehlo.broadcast_in_dim %four, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
  %y = stablehlo.multiply %x, %b : tensor<3x4xf32>
  %z = stablehlo.add %y, %fours : tensor<3x4xf32>
  %r = stablehlo.reduce(%z init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
  %t = stablehlo.add %s, %four : tensor<f32>
  return %r, %t : tensor<3xf32>, tensor<f32>
}
"""


def test_constants_are_computed_beforehand_and_scalars_not_stretched():
    found, evaluator = program(SUM_OF_SQUARES)
    run = line(found)
    names = run.__code__.co_names
    assert sum(name.startswith("f") for name in names) == 4  # multiply, add, reduce, add
    total, scalar = run(evaluator, X, np.float32(3))
    np.testing.assert_allclose(total, (3 * X + 4).sum(1), rtol=1e-6)
    assert isinstance(scalar, np.ndarray)
    assert scalar.dtype == np.float32
    assert scalar == 7
    assert calls_nothing(found)


def test_from_the_third_run_on():
    found, evaluator = program(SUM_OF_SQUARES)
    runs = [found.run([X, np.float32(n)], evaluator) for n in range(5)]
    assert found.line is not None
    for n, (total, scalar) in enumerate(runs):
        np.testing.assert_allclose(total, (n * X + 4).sum(1), rtol=1e-6)
        assert scalar == n + 4


def test_a_scalar_that_is_all_there_is_keeps_its_shape():
    text = """
    func.func @main(%s: tensor<f32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
      %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
      %y = stablehlo.add %b, %b : tensor<2x2xf32>
      %d = stablehlo.dot_general %b, %y, contracting_dims = [1] x [0]
          : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
      return %y, %d : tensor<2x2xf32>, tensor<2x2xf32>
    }
    """
    found, evaluator = program(text)
    y, d = line(found)(evaluator, np.float32(3))
    assert y.tolist() == [[6, 6], [6, 6]]
    assert d.tolist() == [[36, 36], [36, 36]]


def test_functions_are_called_through_the_module():
    text = """
    func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
      %y = func.call @twice(%x) : (tensor<3xf32>) -> tensor<3xf32>
      return %y : tensor<3xf32>
    }
    func.func private @twice(%x: tensor<3xf32>) -> tensor<3xf32> {
      %y = stablehlo.add %x, %x : tensor<3xf32>
      return %y : tensor<3xf32>
    }
    """
    found, evaluator = program(text)
    assert not calls_nothing(found)
    for _ in range(5):
        (y,) = line(found)(evaluator, np.arange(3, dtype=np.float32))
        assert y.tolist() == [0, 2, 4]


def test_large_results_are_not_kept():
    text = """
    func.func @main() -> tensor<100000xi32> {
      %i = stablehlo.iota dim = 0 : tensor<100000xi32>
      return %i : tensor<100000xi32>
    }
    """
    found, evaluator = program(text)
    run = line(found)
    (first,), (second,) = run(evaluator), run(evaluator)
    assert first is not second
    np.testing.assert_array_equal(first, np.arange(100000))


@pytest.mark.parametrize(
    ("op", "operands", "expected"),
    [
        (NumpyCall("hypot", (3, 4), X.dtype), [X, X], np.hypot(X, X)),
        (NumpyCall("argmax", (3,), np.dtype("i4"), 1), [X], X.argmax(1)),
        (NumpyCall("add.accumulate", (3, 4), X.dtype, 0), [X], np.cumsum(X, 0)),
        (NumpyCall("searchsorted", (2,), np.dtype("i4"), "right"), [X[0], X[0, :2]], None),
        (
            NumpyCall("floor_divide", (3, 4), np.dtype("f2"), None),
            [X.astype("f2"), np.full((3, 4), 2, "f2")],
            np.floor(X.astype("f2") / 2),
        ),
    ],
)
def test_functions_of_numpy(op, operands, expected):
    if expected is None:
        expected = np.searchsorted(*operands, "right")
    types = [mlir.tensor_type(x.shape, x.dtype) for x in operands]
    module = mlir.new_module()
    function = mlir.new_function(module, "main", types)
    with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        results = op.build(mlir.arguments(function))
    mlir.finish_function(function, results)
    for _ in range(4):
        (found,) = Evaluator(mlir.parse_module(str(module)))("main", operands)
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        assert found.dtype == op.dtype
        assert found.shape == op.shape


def test_quietly_says_nothing_and_leaves_nothing_behind():
    variable = contextvars.ContextVar("variable", default=0)

    def function(x):
        variable.set(1)
        return np.log(x)

    with np.errstate(all="raise"):
        assert quietly(function, np.float32(0)) == -np.inf
        assert quietly(quietly, function, np.float32(0)) == -np.inf
        with pytest.raises(FloatingPointError):
            function(np.float32(0))
