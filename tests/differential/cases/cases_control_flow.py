"""Loops and branches, against the same in Python."""

import numpy as np
from tests.differential.harness import Case, f64, fixed, of

from irax_compiler import mlir
from irax_compiler.ops.control_flow.scan import Scan
from irax_compiler.ops.core import full

COUNTED = """
func.func @main(%w: tensor<3x3xf64>, %x: tensor<3xf64>) -> (tensor<i32>, tensor<3xf64>) {
  %zero = stablehlo.constant dense<START> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %h = %x) : tensor<i32>, tensor<3xf64>
  cond {
    %n = stablehlo.constant dense<LIMIT> : tensor<i32>
    %p = stablehlo.compare TEST, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %step = stablehlo.constant dense<STEP> : tensor<i32>
    %j = stablehlo.add %i, %step : tensor<i32>
    %f = stablehlo.convert %i : (tensor<i32>) -> tensor<f64>
    %g = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f64>) -> tensor<3xf64>
    %0 = stablehlo.dot_general %w, %h, contracting_dims = [1] x [0]
        : (tensor<3x3xf64>, tensor<3xf64>) -> tensor<3xf64>
    %1 = stablehlo.add %0, %g : tensor<3xf64>
    %2 = stablehlo.sine %1 : tensor<3xf64>
    stablehlo.return %j, %2 : tensor<i32>, tensor<3xf64>
  }
  return %r#0, %r#1 : tensor<i32>, tensor<3xf64>
}"""


def counted(name: str, start: int, test: str, limit: int, step: int) -> Case:
    text = COUNTED.replace("START", str(start)).replace("LIMIT", str(limit))
    text = text.replace("TEST", test).replace("STEP", str(step))

    def reference(w, x):
        i = start
        while i < limit + (test == "LE"):
            i, x = i + step, np.sin(w @ x + i)
        return i, x

    return Case(name, text, [f64(3, 3), f64(3)], reference)


UNTIL_LARGE = """
func.func @main(%x: tensor<f64>, %y: tensor<f64>) -> (tensor<f64>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %z = %x, %unread = %y)
      : tensor<i32>, tensor<f64>, tensor<f64>
  cond {
    %ten = stablehlo.constant dense<10.0> : tensor<f64>
    %p = stablehlo.compare LT, %z, %ten : (tensor<f64>, tensor<f64>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %0 = stablehlo.multiply %z, %y : tensor<f64>
    stablehlo.return %j, %0, %z : tensor<i32>, tensor<f64>, tensor<f64>
  }
  %s = stablehlo.add %r#1, %r#2 : tensor<f64>
  return %s, %r#0 : tensor<f64>, tensor<i32>
}"""


def until_large(x: np.ndarray, y: np.ndarray) -> tuple[float, int]:
    z, last, i = float(x), float(y), 0
    while z < 10:
        i, last, z = i + 1, z, z * float(y)
    return z + last, i


STEP = """
func.func private @step(%w: tensor<3x3xf64>, %n: tensor<i32>, %h: tensor<3xf64>,
    %x: tensor<3xf64>) -> (tensor<i32>, tensor<3xf64>, tensor<3xf64>, tensor<i32>) {
  %0 = stablehlo.dot_general %w, %h, contracting_dims = [1] x [0]
      : (tensor<3x3xf64>, tensor<3xf64>) -> tensor<3xf64>
  %1 = stablehlo.add %0, %x : tensor<3xf64>
  %2 = stablehlo.tanh %1 : tensor<3xf64>
  %3 = stablehlo.multiply %h, %x : tensor<3xf64>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %m = stablehlo.add %n, %one : tensor<i32>
  return %m, %2, %3, %n : tensor<i32>, tensor<3xf64>, tensor<3xf64>, tensor<i32>
}"""


def scan_text(length: int, reverse: bool) -> str:
    """A module that scans by @step, counting from 0."""
    module = mlir.parse_module(STEP)
    shapes = [(3, 3), (3,), (length, 3)]
    types = [mlir.tensor_type(s, np.dtype(np.float64)) for s in shapes]
    function = mlir.new_function(module, "main", types, public=True)
    w, h, xs = mlir.arguments(function)
    with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        zero = full((), 0, np.dtype(np.int32))
        results = Scan("step", length, reverse, 1, 2).build([w, zero, h, xs])
    mlir.finish_function(function, results)
    return str(module)


def scan(name: str, length: int, reverse: bool = False) -> Case:
    def reference(w, h, xs):
        order = range(length - 1, -1, -1) if reverse else range(length)
        ys, numbers = np.zeros((length, 3)), np.zeros(length, np.int32)
        for n, i in enumerate(order):
            ys[i], numbers[i] = h * xs[i], n
            h = np.tanh(w @ h + xs[i])
        return length, h, ys, numbers

    return Case(name, scan_text(length, reverse), [f64(3, 3), f64(3), f64(length, 3)], reference)


CASE = """
func.func @main(%i: tensor<i32>, %x: tensor<3xf64>, %y: tensor<3xf64>)
    -> (tensor<3xf64>, tensor<3xf64>) {
  %0:2 = "stablehlo.case"(%i) ({
    %1 = stablehlo.sine %x : tensor<3xf64>
    stablehlo.return %1, %y : tensor<3xf64>, tensor<3xf64>
  }, {
    %1 = stablehlo.multiply %x, %y : tensor<3xf64>
    %2 = stablehlo.exponential %y : tensor<3xf64>
    stablehlo.return %1, %2 : tensor<3xf64>, tensor<3xf64>
  }, {
    %1 = stablehlo.constant dense<2.0> : tensor<3xf64>
    stablehlo.return %1, %1 : tensor<3xf64>, tensor<3xf64>
  }) : (tensor<i32>) -> (tensor<3xf64>, tensor<3xf64>)
  return %0#0, %0#1 : tensor<3xf64>, tensor<3xf64>
}"""


def case(i: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    two = np.full(3, 2.0)
    return [(np.sin(x), y), (x * y, np.exp(y)), (two, two)][int(i) if 0 <= i < 3 else 2]


IF = """
func.func @main(%p: tensor<i1>, %x: tensor<3xf64>) -> tensor<3xf64> {
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.multiply %x, %x : tensor<3xf64>
    stablehlo.return %1 : tensor<3xf64>
  }, {
    stablehlo.return %x : tensor<3xf64>
  }) : (tensor<i1>) -> tensor<3xf64>
  return %0 : tensor<3xf64>
}"""

INDEX = [fixed(i, np.int32) for i in (0, 1, 2, -5, 7)]

CASES = [
    counted("while-counted", 0, "LT", 4, 1),
    counted("while-counted-by-threes", 1, "LT", 9, 3),
    counted("while-counted-to-the-last", 0, "LE", 4, 2),
    counted("while-no-steps", 5, "LT", 4, 1),
    Case(
        "while-until-large",
        UNTIL_LARGE,
        [f64(low=0.5, high=1.5), f64(low=1.5, high=3)],
        until_large,
        differentiable=False,  # backwards; forwards see test_loops.py
    ),
    scan("scan", 4),
    scan("scan-reverse", 4, reverse=True),
    scan("scan-one-step", 1),
    scan("scan-no-steps", 0),
    *(Case(f"case-{i}", CASE, [x, f64(3), f64(3)], case) for i, x in enumerate(INDEX)),
    Case("case-any", CASE, [of(np.int32, low=-1, high=3), f64(3), f64(3)], case),
    Case("if-true", IF, [fixed(True), f64(3)], lambda p, x: x * x),
    Case("if-any", IF, [of(np.bool_), f64(3)], lambda p, x: x * x if p else x),
]
