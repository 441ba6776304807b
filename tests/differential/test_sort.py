"""The comparators that sort reads: those it knows as an order of keys, and any others."""

import numpy as np
import pytest
from tests.differential.harness import rebuilt

from irax_compiler import mlir
from irax_compiler.evaluate import Evaluator
from irax_compiler.ops.core import read
from irax_compiler.ops.sorting.sort import Order, Sort
from irax_compiler.ops.sorting.sort_by import SortBy
from irax_compiler.pipeline import run_pipeline


def sort_text(*comparator: str, length: int = 4) -> str:
    """A module that sorts floats and ints by what the last line of a comparator names %r."""
    lines = "\n    ".join(comparator)
    floats, ints = f"tensor<{length}xf32>", f"tensor<{length}xi32>"
    return f"""
func.func @main(%x: {floats}, %y: {ints}) -> ({floats}, {ints}) {{
  %s:2 = "stablehlo.sort"(%x, %y) ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    {lines}
    stablehlo.return %r : tensor<i1>
  }}) {{dimension = 0 : i64, is_stable = true}} : ({floats}, {ints}) -> ({floats}, {ints})
  return %s#0, %s#1 : {floats}, {ints}
}}"""


def compare(result: str, comparison: str, dtype: str = "f32") -> str:
    return (
        f"%{result} = stablehlo.compare {comparison} : "
        f"(tensor<{dtype}>, tensor<{dtype}>) -> tensor<i1>"
    )


def sorts(module: mlir.Module) -> list[Sort | SortBy]:
    operations = (o.operation for o in mlir.body(mlir.functions(module)["main"]).operations)
    found = [read(o) for o in operations if o.name == "stablehlo.sort"]
    return [op for op in found if isinstance(op, Sort | SortBy)]


@pytest.mark.parametrize(
    "comparison, order",
    [
        ("LT, %a, %b, FLOAT", Order(1, "LT")),
        ("LT, %a, %b", Order(1, "LT")),
        ("GT, %a, %b, FLOAT", Order(1, "GT")),
        ("GT, %b, %a, FLOAT", Order(1, "LT")),
        ("LT, %a, %b, TOTALORDER", Order(1, "LT", total=True)),
    ],
)
def test_a_plain_comparison_is_read(comparison: str, order: Order) -> None:
    assert sorts(mlir.parse_module(sort_text(compare("r", comparison)))) == [Sort(0, True, order)]


TIE = compare("tie", "EQ, %a, %b")
SECOND = compare("second", "LT, %c, %d", "i32")


@pytest.mark.parametrize(
    "both, either", [("%tie, %second", "%first, %both"), ("%second, %tie", "%both, %first")]
)
def test_keys_are_read_in_any_order_of_and_and_or(both: str, either: str) -> None:
    comparator = [
        compare("first", "LT, %a, %b"),
        TIE,
        SECOND,
        f"%both = stablehlo.and {both} : tensor<i1>",
        f"%r = stablehlo.or {either} : tensor<i1>",
    ]
    assert sorts(mlir.parse_module(sort_text(*comparator))) == [Sort(0, True, Order(2, "LT"))]


X = np.array([2, -1, 2, 0.5, -3, 0.5], np.float32)
N = np.array([1, 4, 2, -3, 0, 7], np.int32)


@pytest.mark.parametrize(
    "comparator, expected",
    [
        ([compare("r", "LT, %a, %a")], range(6)),
        (["%r = stablehlo.constant dense<false> : tensor<i1>"], range(6)),
        ([compare("r", "LT, %c, %d", "i32")], np.argsort(N)),
        (
            [
                "%e = stablehlo.abs %a : tensor<f32>",
                "%f = stablehlo.abs %b : tensor<f32>",
                compare("r", "LT, %e, %f"),
            ],
            np.argsort(np.abs(X), stable=True),
        ),
        (
            [
                compare("first", "GT, %a, %b"),
                TIE,
                SECOND,
                "%both = stablehlo.and %tie, %second : tensor<i1>",
                "%r = stablehlo.or %first, %both : tensor<i1>",
            ],
            np.lexsort([N, -X]),
        ),
    ],
    ids=["itself", "constant", "second-operand-first", "computed", "mixed-directions"],
)
def test_other_comparators(comparator: list[str], expected: np.ndarray) -> None:
    module = mlir.parse_module(sort_text(*comparator, length=6))
    (found,) = sorts(module)
    assert isinstance(found, SortBy)
    order = np.asarray(expected)
    rebuilt(module, "main", "again")
    for name in ("main", "again"):
        results = Evaluator(module)(name, [X, N])
        np.testing.assert_array_equal(results[0], X[order])
        np.testing.assert_array_equal(results[1], N[order])


@pytest.mark.parametrize("num_keys", [1, 2])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "uint8", "bool", "complex64"])
def test_sorts_that_jax_exports_are_read(dtype: str, num_keys: int) -> None:
    jax = pytest.importorskip("jax", reason="JAX, the oracle, is not installed")
    keys = jax.numpy.asarray([2, 0, 1, 0, 2]).astype(dtype)
    values = np.array([3, 4, 5, -1, 2], np.float32)

    def sort(x, y):
        return jax.lax.sort((x, y), num_keys=num_keys)

    module = mlir.parse_module(jax.jit(sort).lower(keys, values).as_text())
    expected = Sort(0, True, Order(num_keys, "LT"))
    assert sorts(module) == [expected]
    run_pipeline(module, "canonicalize,cse")  # which moves constants out of the comparator
    assert sorts(module) == [expected]
    found = Evaluator(module)("main", [np.asarray(keys), values])
    for a, b in zip(found, sort(keys, values), strict=True):
        np.testing.assert_array_equal(a, b)
