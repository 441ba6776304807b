"""Sorting, against NumPy's sorts and Python's."""

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from tests.differential.harness import Case, Operand, f64, fixed, i32, of

from irax_compiler.ops.sorting.sort import Order, Sort
from irax_compiler.ops.sorting.top_k import TopK

INF, NAN = np.inf, np.nan
AWKWARD = [0.0, NAN, -0.0, -INF, 1.0, -NAN, 0.0, INF, -2.0]
DESCENDING = [1, 7, 4, 0, 6, 2, 8, 3, 5]
"""The places of these in the total order, the largest first."""


def by_python(dimension: int, order: Order) -> Any:
    """The reference: Python's sort of the tuples of elements along the dimension."""

    def key(x: Any) -> tuple:
        if isinstance(x, complex | np.complexfloating):
            return (*key(x.real), *key(x.imag))
        return (True, 0) if x != x else (False, x)

    def sort(*operands: np.ndarray) -> tuple[np.ndarray, ...]:
        results = [np.moveaxis(x.copy(), dimension, -1) for x in operands]
        for place in np.ndindex(*results[0].shape[:-1]):
            rows = sorted(
                zip(*(x[place] for x in results), strict=True),
                key=lambda row: [key(x) for x in row[: order.num_keys]],
                reverse=order.direction == "GT",
            )
            for i, x in enumerate(results):
                x[place] = [row[i] for row in rows]
        return tuple(np.moveaxis(x, -1, dimension) for x in results)

    return sort


def case(
    name: str,
    operands: Sequence[Operand],
    dimension: int = 0,
    num_keys: int = 1,
    direction: str = "LT",
    stable: bool = True,
) -> Case:
    order = Order(num_keys, direction)
    return Case(
        name, Sort(dimension, stable, order), operands, by_python(dimension, order), tolerance=0
    )


def ties(*shape: int, dtype: type = np.int32) -> Operand:
    return of(dtype, *shape, low=0, high=2)


def total_order(x: np.ndarray) -> np.ndarray:
    """By the signs and then the sizes of bit patterns."""
    bits = sorted(
        x.astype(np.float32).view(np.int32).tolist(), key=lambda b: (b >= 0, b ^ (b >> 31))
    )
    return np.array(bits, np.int32).view(np.float32)


BY_SQUARE = """
func.func @main(%x: tensor<2x5xf64>, %y: tensor<2x5xf64>)
    -> (tensor<2x5xf64>, tensor<2x5xf64>) {
  %s:2 = "stablehlo.sort"(%x, %y) ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>, %c: tensor<f64>, %d: tensor<f64>):
    %e = stablehlo.multiply %a, %a : tensor<f64>
    %f = stablehlo.multiply %b, %b : tensor<f64>
    %r = stablehlo.compare LT, %e, %f : (tensor<f64>, tensor<f64>) -> tensor<i1>
    stablehlo.return %r : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true}
    : (tensor<2x5xf64>, tensor<2x5xf64>) -> (tensor<2x5xf64>, tensor<2x5xf64>)
  return %s#0, %s#1 : tensor<2x5xf64>, tensor<2x5xf64>
}"""


def by_square(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.argsort(x * x, axis=1)
    return np.take_along_axis(x, order, 1), np.take_along_axis(y, order, 1)


def extreme(direction: str, k: int, dimension: int = -1) -> Any:
    """The reference: the first of what Python's sort gives of elements and their places."""

    def reference(x: np.ndarray) -> tuple[np.ndarray, ...]:
        x = x.astype(np.int64) if x.dtype == np.bool_ else x
        places = np.indices(x.shape)[dimension]
        ordered = by_python(dimension, Order(1, direction))(x, places)
        return tuple(np.take(y, range(k), dimension) for y in ordered)

    return reference


def in_total_order(*places: int) -> Any:
    """The reference: elements at known places."""
    return lambda x: (x[list(places)], np.array(places))


MHLO_TOP_K = """
func.func @main(%x: tensor<2x5xf64>) -> (tensor<2x3xf64>, tensor<2x3xi32>) {{
  %r:2 = stablehlo.custom_call @mhlo.topk(%x) {{
    mhlo.attributes = {{k = 3 : i64, largest = {largest}}}, mhlo.version = 1 : i64
  }} : (tensor<2x5xf64>) -> (tensor<2x3xf64>, tensor<2x3xi32>)
  return %r#0, %r#1 : tensor<2x3xf64>, tensor<2x3xi32>
}}"""
APPROXIMATE = """
func.func private @before(%a: tensor<f64>, %b: tensor<f64>, %i: tensor<i32>, %j: tensor<i32>)
    -> tensor<i1> {{
  %0 = stablehlo.compare {direction}, %a, %b : (tensor<f64>, tensor<f64>) -> tensor<i1>
  stablehlo.return %0 : tensor<i1>
}}
func.func @main(%x: tensor<5x2xf64>) -> (tensor<3x2xf64>, tensor<3x2xi32>) {{
  %i = stablehlo.iota dim = 0 : tensor<5x2xi32>
  %c = stablehlo.constant dense<-1> : tensor<i32>
  %z = stablehlo.constant dense<0.0> : tensor<f64>
  %r:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %z, %c) {{
    backend_config = "", called_computations = [@before], mhlo.backend_config = {{
      aggregate_to_topk = true, is_fallback = true, recall_target = 0.95 : f32,
      reduction_dim = 0 : i64, reduction_input_size_override = -1 : i64, top_k = 3 : i64
    }}
  }} : (tensor<5x2xf64>, tensor<5x2xi32>, tensor<f64>, tensor<i32>)
    -> (tensor<3x2xf64>, tensor<3x2xi32>)
  return %r#0, %r#1 : tensor<3x2xf64>, tensor<3x2xi32>
}}"""

CASES = [
    Case("top-k", TopK(3), [f64(2, 5)], extreme("GT", 3), tolerance=0),
    Case("top-k-awkward", TopK(7), [fixed(AWKWARD, "f4")], in_total_order(*DESCENDING[:7])),
    Case("top-k-ties", TopK(4), [ties(3, 9)], extreme("GT", 4)),
    Case("top-k-u8", TopK(4), [of(np.uint8, 9, low=0, high=255)], extreme("GT", 4)),
    Case("top-k-bf16", TopK(9), [fixed(AWKWARD, ml_dtypes.bfloat16)], in_total_order(*DESCENDING)),
    Case("top-k-bool", TopK(2), [of(np.bool_, 2, 4)], extreme("GT", 2)),
    Case("top-k-long", TopK(5), [f64(2, 300)], extreme("GT", 5), tolerance=0),
    Case("top-k-long-ties", TopK(200), [ties(2, 600)], extreme("GT", 200)),
    Case("top-k-longer", TopK(9), [f64(5000)], extreme("GT", 9), differentiable=False),
    Case("top-k-none", TopK(0), [f64(2, 3)], extreme("GT", 0)),
    Case("mhlo-topk", MHLO_TOP_K.format(largest="true"), [f64(2, 5)], extreme("GT", 3)),
    Case("mhlo-topk-smallest", MHLO_TOP_K.format(largest="false"), [f64(2, 5)], extreme("LT", 3)),
    Case("approx-max", APPROXIMATE.format(direction="GT"), [f64(5, 2)], extreme("GT", 3, 0)),
    Case("approx-min", APPROXIMATE.format(direction="LT"), [f64(5, 2)], extreme("LT", 3, 0)),
    case("sort", [f64(7)]),
    case("sort-descending", [f64(7)], direction="GT"),
    case("sort-rows", [f64(3, 4)], dimension=1),
    case("sort-columns", [f64(3, 4)], dimension=0, stable=False),
    case("sort-middle", [f64(2, 5, 3)], dimension=1),
    case("sort-with-values", [f64(4, 2), f64(4, 2), i32(4, 2)]),
    case("sort-stable", [ties(3, 9), i32(3, 9)], dimension=1),
    case("sort-stable-descending", [ties(3, 9), i32(3, 9)], dimension=1, direction="GT"),
    case("sort-two-keys", [ties(9), f64(9), f64(9)], num_keys=2),
    case("sort-three-keys", [ties(9), ties(9, dtype=np.uint8), f64(9)], num_keys=3),
    case("sort-two-keys-descending", [ties(9), f64(9), f64(9)], num_keys=2, direction="GT"),
    case("sort-awkward", [fixed(AWKWARD, np.float32), i32(9)]),
    case("sort-awkward-descending", [fixed(AWKWARD, np.float32), i32(9)], direction="GT"),
    case("sort-awkward-keys", [fixed(AWKWARD, np.float32), i32(9)], num_keys=2),
    case("sort-bf16", [fixed(AWKWARD, ml_dtypes.bfloat16), i32(9)]),
    case("sort-f16", [fixed(AWKWARD, np.float16), i32(9)], direction="GT"),
    case("sort-f8", [fixed([1, NAN, -0.5, 0.25], ml_dtypes.float8_e4m3fn), i32(4)]),
    case("sort-u8", [of(np.uint8, 9, low=0, high=255)]),
    case("sort-bool", [of(np.bool_, 9), i32(9)]),
    case("sort-complex", [fixed([1 + 2j, 1 + 1j, NAN, -1 + 0j, NAN * 1j, 1 + 1j], np.complex64)]),
    case("sort-none", [f64(0)]),
    case("sort-one", [i32(1, 3)]),
    Case("sort-by-square", BY_SQUARE, [f64(2, 5), f64(2, 5)], by_square),
    Case(
        "sort-total-order",
        Sort(0, True, Order(1, "LT", total=True)),
        [fixed(AWKWARD, np.float32)],
        total_order,
        tolerance=0,
    ),
]
