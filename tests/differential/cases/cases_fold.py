"""Reductions with any computation, maps, and scatters of several arrays, against plain loops."""

import numpy as np
from tests.differential.harness import Case, f64, fixed, i32, of

from irax_compiler.mlir import Value
from irax_compiler.ops import bitwise, comparison, elementwise
from irax_compiler.ops.computation import Computation, named
from irax_compiler.ops.elementwise_map import Map
from irax_compiler.ops.indexing.gather_scatter import ScatterBy
from irax_compiler.ops.reductions.variadic_reduce import VariadicReduce
from irax_compiler.ops.reductions.window_shapes import WindowDims

WITH_CALL = """
func.func @main(%x: tensor<2x3xf64>, %start: tensor<f64>) -> tensor<2xf64> {
  %0 = stablehlo.reduce(%x init: %start) across dimensions = [1]
      : (tensor<2x3xf64>, tensor<f64>) -> tensor<2xf64>
  reducer(%a: tensor<f64>, %b: tensor<f64>) {
    %1 = func.call @log_add(%a, %b) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    stablehlo.return %1 : tensor<f64>
  }
  return %0 : tensor<2xf64>
}
func.func private @log_add(%a: tensor<f64>, %b: tensor<f64>) -> tensor<f64> {
  %0 = call @exp(%a) : (tensor<f64>) -> tensor<f64>
  %1 = call @exp(%b) : (tensor<f64>) -> tensor<f64>
  %2 = stablehlo.add %0, %1 : tensor<f64>
  %3 = stablehlo.log %2 : tensor<f64>
  return %3 : tensor<f64>
}
func.func private @exp(%a: tensor<f64>) -> tensor<f64> {
  %0 = stablehlo.exponential %a : tensor<f64>
  return %0 : tensor<f64>
}
"""
F64, F32, I32 = (np.dtype(d) for d in (np.float64, np.float32, np.int32))


def first_largest(x: Value, i: Value, y: Value, j: Value) -> list[Value]:
    """The larger number and its place; of equal ones the first."""
    larger = comparison.greater(x, y)
    first = bitwise.and_(comparison.equal(x, y), comparison.less(i, j))
    mine = bitwise.or_(larger, first)
    return [comparison.select(mine, x, y), comparison.select(mine, i, j)]


ARGMAX = Computation.build([F64, I32, F64, I32], first_largest)


def argmax(x, i, start, place):
    best = np.argmax(x, 1)
    return np.max(x, 1), np.take_along_axis(i, best[:, None], 1)[:, 0]


SUM_AND_PRODUCT = Computation.build(
    [F64] * 4, lambda a, p, x, y: [elementwise.add(a, x), elementwise.multiply(p, y)]
)
LOG_ADD = Computation.build(
    [F64, F64],
    lambda x, y: [
        elementwise.log(elementwise.add(elementwise.exponential(x), elementwise.exponential(y)))
    ],
)
MIXED = Computation.build([F64, F64], lambda x, y: [elementwise.multiply(elementwise.sine(x), y)])
ROWS = WindowDims(window_dims=(1,), collapsed_dims=(0,), index_map=(0,), index_vector_dim=1)


def scattered(x, y, indices, u, v):
    x, y = x.copy(), y.copy()
    for (row,), a, b in zip(indices.astype(int), u, v, strict=True):
        if 0 <= row < len(x):
            x[row], y[row] = x[row] + a, np.maximum(y[row], b)
    return x, y


def scattered_by_sine(x, indices, u):
    x = x.copy()
    for (row,), a in zip(indices.astype(int), u, strict=True):
        if 0 <= row < len(x):
            x[row] = np.sin(x[row]) * a
    return x


ADD_AND_MAXIMUM = Computation.build(
    [F64] * 4, lambda x, y, u, v: [elementwise.add(x, u), elementwise.maximum(y, v)]
)
SINE_TIMES = Computation.build(
    [F64] * 2, lambda x, u: [elementwise.multiply(elementwise.sine(x), u)]
)
SWAPPED = Computation.build(
    [F64] * 4, lambda x, y, u, v: [elementwise.multiply(y, u), elementwise.add(x, v)]
)
SUBTRACT = Computation.build([F64] * 2, lambda x, u: [elementwise.subtract(x, u)])
WIDEN = Computation.build([F64, F64], lambda x, y: [elementwise.add(x, y)])
INDICES = fixed([[2], [0], [2], [9]], np.int32)
PLACES = fixed(np.arange(15).reshape(3, 5), np.int32)


def apply(name: str, count: int, **options) -> Case:
    return Case(
        name,
        VariadicReduce(LOG_ADD, (1,)),
        [f64(3, count), fixed(-np.inf)],
        lambda x, init: np.log(np.sum(np.exp(x), 1)),
        wrt=[0],
        **options,
    )


CASES = [
    Case(
        "with-call",
        WITH_CALL,
        [f64(2, 3), fixed(-np.inf)],
        lambda x, init: np.log(np.sum(np.exp(x), 1)),
        wrt=[0],
    ),
    Case(
        "argmax",
        VariadicReduce(ARGMAX, (1,)),
        [f64(3, 5), PLACES, fixed(-np.inf), fixed(-1, np.int32)],
        argmax,
        wrt=[0],
    ),
    Case(
        "sum-and-product",
        VariadicReduce(SUM_AND_PRODUCT, (0, 2)),
        [f64(2, 3, 4), f64(2, 3, 4), f64(), f64()],
        lambda x, y, a, p: (a + x.sum((0, 2)), p * y.prod((0, 2))),
    ),
    Case(
        "fold-nothing",
        VariadicReduce(SUM_AND_PRODUCT, (1,)),
        [f64(2, 0), f64(2, 0), f64(), f64()],
        lambda x, y, a, p: (np.full(2, a), np.full(2, p)),
    ),
    apply("log-add", 6),
    apply("log-add-odd", 7),
    apply("log-add-one", 1, differentiable=False),
    Case(
        "sum-in-another-dtype",
        VariadicReduce(WIDEN, (0,)),
        [of(np.float32, 7), fixed(0.5)],
        lambda x, init: init + x.sum(0),
        wrt=[0],
    ),
    Case("map", Map(MIXED, (0, 1)), [f64(2, 3), f64(2, 3)], lambda x, y: np.sin(x) * y),
    Case("map-add", Map(named("add", I32), (0,)), [i32(4), i32(4)], lambda x, y: x + y),
    Case(
        "scatter-of-two",
        ScatterBy(ADD_AND_MAXIMUM, ROWS, False, False),
        [f64(4, 2), f64(4, 2), INDICES, f64(4, 2), f64(4, 2)],
        scattered,
    ),
    Case(
        "scatter-by-sine",
        ScatterBy(SINE_TIMES, ROWS, False, False),
        [f64(4, 2), fixed([[2], [0], [1], [9]], np.int32), f64(4, 2)],
        scattered_by_sine,
        differentiable=False,
    ),
    Case(
        "scatter-by-sine-unique",
        ScatterBy(SINE_TIMES, ROWS, False, True),
        [f64(4, 2), fixed([[2], [0], [1], [9]], np.int32), f64(4, 2)],
        scattered_by_sine,
    ),
    Case(
        "scatter-by-sine-once",
        ScatterBy(SINE_TIMES, ROWS, False, False),
        [f64(4, 2), fixed([[2]], np.int32), f64(1, 2)],
        lambda x, i, u: np.where(np.arange(4)[:, None] == 2, np.sin(x) * u, x),
    ),
    Case(
        "scatter-swapped",
        ScatterBy(SWAPPED, ROWS, False, True),
        [f64(4, 2), f64(4, 2), fixed([[2], [9]], np.int32), f64(2, 2), f64(2, 2)],
        lambda x, y, i, u, v: (
            np.where(np.arange(4)[:, None] == 2, y * u[0], x),
            np.where(np.arange(4)[:, None] == 2, x + v[0], y),
        ),
    ),
    Case(
        "scatter-subtract",
        ScatterBy(SUBTRACT, ROWS, False, False),
        [f64(4, 2), INDICES, f64(4, 2)],
        lambda x, i, u: x - np.eye(10)[i[:, 0]].T[:4] @ u,
    ),
]
