"""The comparators that sort reads: those it knows as an order of keys, and any others."""

import numpy as np
import pytest
from tests.differential.harness import rebuilt
from tests.differential.kernels.test_clusters import on_iree

from irax_compiler import mlir
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.ops.registry import read
from irax_compiler.ops.sorting.sort import Order, Sort, SortBy
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


# ---- on IREE -------------------------------------------------------------------------------------


def test_more_operands_than_a_kernel_has_arrays() -> None:
    """Equal elements keep their order, in every row of every operand."""
    count, type_ = 40, "tensor<2x9x3xf32>"
    names = [f"%x{i}" for i in range(count)]
    types = ", ".join([type_] * count)
    pairs = ", ".join(f"%a{i}: tensor<f32>, %b{i}: tensor<f32>" for i in range(count))
    module = mlir.parse_module(f"""
func.func public @main({", ".join(f"{x}: {type_}" for x in names)}) -> ({types}) {{
  %s:{count} = "stablehlo.sort"({", ".join(names)}) ({{
  ^bb0({pairs}):
    %a = stablehlo.add %a3, %a7 : tensor<f32>
    %b = stablehlo.add %b3, %b7 : tensor<f32>
    {compare("r", "LT, %a, %b")}
    stablehlo.return %r : tensor<i1>
  }}) {{dimension = 1 : i64, is_stable = true}} : ({types}) -> ({types})
  return {", ".join(f"%s#{i}" for i in range(count))} : {types}
}}""")
    rng = np.random.default_rng(3)
    arrays = [rng.integers(0, 3, (2, 9, 3)).astype(np.float32) for _ in range(count)]
    order = np.argsort(arrays[3] + arrays[7], axis=1, kind="stable")
    for found, x in zip(on_iree(module, arrays), arrays, strict=True):
        np.testing.assert_array_equal(found, np.take_along_axis(x, order, 1))


WITHIN = {
    "round_nearest_even": ("round_nearest_even", "f32", ""),
    "round_nearest_afz": ("round_nearest_afz", "f64", ""),
    "popcnt": ("popcnt", "ui8", ""),
    "leading_zeros": ("count_leading_zeros", "i64", ""),
    "narrow": ("reduce_precision", "f32", ", format = e5m2"),
    "without_mantissa": ("reduce_precision", "f64", ", format = e4m0"),
    "of_bfloat16": ("reduce_precision", "bf16", ", format = e8m3"),
}
"""Operations of which IREE makes none on scalars: their names, dtypes and parameters."""


@pytest.mark.slow
def test_operations_within_scatters_and_sorts() -> None:
    body, results, types, arguments, arrays = [], [], [], [], []
    indices = np.array([[5], [0], [3]], np.int32)
    rng = np.random.default_rng(4)
    for name, (operation, element, parameters) in WITHIN.items():
        scalar, six, three = (f"tensor<{shape}{element}>" for shape in ("", "6x", "3x"))
        arguments += [f"%x_{name}: {six}", f"%u_{name}: {three}"]
        for size in (6, 3):
            wide = rng.integers(0, 100, size) if "i" in element else rng.normal(0, 200, size)
            arrays.append(wide.astype(mlir.DTYPES[element]))
        if "f" in element:
            arrays[-2][:3] = [np.nan, -np.inf, 2.5]
            arrays[-1][:2] = [1e-9, -0.5]
        body.append(f"""
  %scattered_{name} = "stablehlo.scatter"(%x_{name}, %i, %u_{name}) ({{
  ^bb0(%a: {scalar}, %b: {scalar}):
    %c = stablehlo.{operation} %b{parameters} : {scalar}
    stablehlo.return %c : {scalar}
  }}) {{
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true
  }} : ({six}, tensor<3x1xi32>, {three}) -> {six}
  %sorted_{name} = "stablehlo.sort"(%x_{name}) ({{
  ^bb0(%a: {scalar}, %b: {scalar}):
    %c = stablehlo.{operation} %a{parameters} : {scalar}
    %d = stablehlo.{operation} %b{parameters} : {scalar}
    {compare("r", "GT, %c, %d", element)}
    stablehlo.return %r : tensor<i1>
  }}) {{dimension = 0 : i64, is_stable = true}} : ({six}) -> {six}""")
        results += [f"%scattered_{name}", f"%sorted_{name}"]
        types += [six, six]
    listed = ", ".join(types)
    module = mlir.parse_module(f"""
func.func public @main({", ".join(arguments)}, %i: tensor<3x1xi32>) -> ({listed}) {{
  {"".join(body)}
  return {", ".join(results)} : {listed}
}}""")
    arrays.append(indices)
    expected = Evaluator(module)("main", arrays)
    for found, value in zip(on_iree(module, arrays), expected, strict=True):
        np.testing.assert_array_equal(found.astype(np.float64), value.astype(np.float64))
