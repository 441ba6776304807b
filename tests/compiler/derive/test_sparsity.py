"""Sparsity patterns: no element of a derivative is missing, and few are there that are zero."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
import pytest
from tests.differential.harness import CASES, Case
from tests.differential.random.random_functions import IRAX
from tests.differential.random.random_steps import RESIDUALS
from tests.differential.random.trials import batches, functions
from tests.sampling import ALL_FORMS

import irax
from irax_compiler import api, mlir
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.ops.links import Pairs
from irax_compiler.ops.registry import read
from irax_compiler.passes.derive import sparsity
from irax_compiler.passes.derive.bounds import Bounds, bounds_of_result
from irax_compiler.passes.derive.patterns import Rows, followed, joined, stacked
from irax_compiler.passes.derive.patterns import seed as seed_of
from irax_compiler.passes.derive.sparsity import pattern_of

EVERY = 1 if ALL_FORMS else 5
DIFFERENTIABLE = [c for c in CASES if c.has_derivative][::EVERY]


def jacobian(module: mlir.Module, func: str, arrays: Sequence[np.ndarray]) -> np.ndarray:
    """The Jacobian of a function with respect to all its floats, a column at a time."""
    linearized = api.linearize(module, func)
    evaluator = Evaluator(module)
    results = mlir.result_types(mlir.functions(module)[func])
    found = evaluator(linearized.forward, arrays)
    residuals = found[len(results) :]
    active = [x for x, flag in zip(arrays, linearized.active, strict=True) if flag]
    columns = []
    for i, x in enumerate(active):
        for place in range(x.size):
            tangents = [np.zeros(y.shape, y.dtype) for y in active]
            tangents[i].reshape(-1)[place] = 1
            moved = iter(evaluator(linearized.linear, [*residuals, *tangents]))
            parts = [
                np.ravel(next(moved)) if flag else np.zeros(prod(mlir.shape_of_type(t)))
                for t, flag in zip(results, linearized.results, strict=True)
            ]
            columns.append(np.concatenate([*parts, np.zeros(0)]))
    size = sum(prod(mlir.shape_of_type(t)) for t in results)
    return np.stack(columns, 1) if columns else np.zeros((size, 0))


def nonzero(module: mlir.Module, func: str, arrays: Sequence[np.ndarray]) -> np.ndarray:
    """True for the elements of the Jacobian other than zero; nan is a zero times infinity."""
    return np.nan_to_num(jacobian(module, func, arrays), nan=0.0) != 0


@pytest.mark.parametrize("case", DIFFERENTIABLE, ids=lambda c: c.name)
def test_no_element_is_missing(case: Case) -> None:
    arrays = [np.asarray(x) for x in case.arrays(case.rng())]
    try:
        there = nonzero(case.module(), "main", arrays)
    except UnsupportedOp:
        with pytest.raises(UnsupportedOp):
            pattern_of(case.module())
        return
    for known in [(), arrays]:
        pattern = pattern_of(case.module(), known=known).toarray()
        assert pattern.shape == there.shape
        assert not (there & ~pattern).any()


@batches(10, few=20)
def test_no_element_of_random_functions_is_missing(numbers: Sequence[int]) -> None:
    for f in functions(RESIDUALS, 57, numbers):
        arrays = f.arguments()
        with irax.enable_x64():
            ir = irax.make_ir(lambda *xs, f=f: f(IRAX, *xs))(*arrays)
        given = len(mlir.arguments(mlir.functions(ir.module)[ir.func]))
        if given > len(arrays):
            continue  # it has large constants, which are arguments
        there = nonzero(mlir.clone_module(ir.module), ir.func, arrays)
        for known in [(), arrays]:
            pattern = pattern_of(mlir.clone_module(ir.module), ir.func, None, known).toarray()
            assert not (there & ~pattern).any(), f


def pattern(body: str, x: str = "4xf32", result: str = "4xf32", known: bool = False) -> str:
    """The pattern of the derivative of a function, as rows of digits."""
    text = f"func.func @main(%x: tensor<{x}>) -> tensor<{result}> {{\n{body}\n}}"
    module = api.parse(text)
    (type_,) = (a.type for a in mlir.arguments(mlir.functions(module)["main"]))
    arrays = [np.arange(1, 1 + prod(mlir.shape_of_type(type_)), dtype=np.float32)]
    found = pattern_of(module, known=[a.reshape(type_.shape) for a in arrays] if known else ())
    return " ".join("".join(map(str, row)) for row in found.toarray().astype(int))


LOOP = """
  %i = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%k = %i, %c = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %n = stablehlo.constant dense<2> : tensor<i32>
    %p = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %k, %one : tensor<i32>
    %a = stablehlo.dynamic_slice %c, %k, sizes = [1] : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>
    %d = stablehlo.dynamic_update_slice %c, %a, %next : (tensor<4xf32>, tensor<1xf32>, tensor<i32>)
      -> tensor<4xf32>
    stablehlo.return %next, %d : tensor<i32>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>"""


def test_products_with_known_zeros_have_no_elements() -> None:
    text = """
      %k = stablehlo.constant dense<[1.0, 0.0, 2.0, 0.0]> : tensor<4xf32>
      %y = stablehlo.multiply %x, %k : tensor<4xf32>
      return %y : tensor<4xf32>"""
    assert pattern(text) == "1000 0000 0010 0000"
    text = """
      %m = stablehlo.constant dense<[[1.0, 0.0, 0.0, 3.0], [0.0, 0.0, 2.0, 0.0]]> : tensor<2x4xf32>
      %y = stablehlo.dot_general %m, %x, contracting_dims = [1] x [0]
        : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2xf32>
      return %y : tensor<2xf32>"""
    assert pattern(text, result="2xf32") == "1001 0010"


def test_loops_are_followed_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pattern(LOOP) == "1000 1000 1000 0001"
    # All steps together: an element may come from any place.
    monkeypatch.setattr(sparsity, "MOST_STEPS", 0)
    assert pattern(LOOP) == "1111 1111 1111 1111"


def test_at_a_point_branches_are_those_of_that_point() -> None:
    text = """
      %y = stablehlo.reverse %x, dims = [0] : tensor<4xf32>
      %m = stablehlo.maximum %x, %y : tensor<4xf32>
      return %m : tensor<4xf32>"""
    assert pattern(text) == "1001 0110 0110 1001"
    assert pattern(text, known=True) == "0001 0010 0010 0001"


@pytest.mark.parametrize("seed", range(20))
def test_shared_rows_are_those_of_the_elements(seed: int) -> None:
    """Elements that are picked, spread, summed and joined, beside products of dense matrices."""
    rng = np.random.default_rng(seed)
    found: list[Rows] = [seed_of(0, (4, 3)), seed_of(1, (4, 3))]
    dense = [np.eye(7, dtype=int)[:4], np.eye(7, dtype=int)[4:]]
    for _ in range(8):
        i = int(rng.integers(len(found)))
        size, num_results = found[i].size, int(rng.integers(1, 6))
        count = int(rng.integers(0, 2 * num_results))
        results = rng.integers(0, num_results, count)
        if rng.random() < 0.6:  # each is one element, or none
            results = np.unique(results)
        operands = rng.integers(0, size, results.size)
        matrix = np.zeros((num_results, size), int)
        matrix[results, operands] = 1
        found.append(followed(found[i], [Pairs(results, operands, num_results)]))
        dense.append(matrix @ dense[i])
        alike = [j for j, x in enumerate(found) if x.size == num_results]
        chosen = rng.choice(alike, 2)
        together = joined([found[j] for j in chosen])
        assert together is not None
        found.append(together)
        dense.append(np.add(*(dense[j] for j in chosen)))
    found.append(stacked(found, 7))
    dense.append(np.concatenate(dense))
    for x, expected in zip(found, dense, strict=True):
        np.testing.assert_array_equal(x.matrix.toarray(), expected > 0)
        assert (x.size, x.width, x.nnz) == (len(expected), 7, np.count_nonzero(expected))


def test_what_shares_rows_has_them_once() -> None:
    """Features of a place depend on the same elements, however many there are."""
    pattern = seed_of(0, [100])
    wide = Pairs(np.arange(6400), np.arange(6400) // 64, 6400)
    found = followed(pattern, [wide])
    assert (found.nnz, found.different.nnz) == (6400, 100)
    turned = found.picked(np.arange(6400)[::-1])
    assert turned.different is found.different


ARROW = """
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.slice %x [0:1] : (tensor<6xf32>) -> tensor<1xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<1xf32>) -> tensor<5xf32>
  %2 = stablehlo.slice %x [1:6] : (tensor<6xf32>) -> tensor<5xf32>
  %3 = stablehlo.multiply %1, %2 : tensor<5xf32>
  %s = stablehlo.multiply %x, %x : tensor<6xf32>
  %4 = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
  %5 = stablehlo.reshape %4 : (tensor<f32>) -> tensor<1xf32>
  %n = stablehlo.constant dense<7> : tensor<i32>
  return %3, %n, %5 : tensor<5xf32>, tensor<i32>, tensor<1xf32>"""

UNKNOWN_LENGTH = """
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.while(%c = %x) : tensor<6xf32>
  cond {
    %s = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
    %most = stablehlo.constant dense<100.0> : tensor<f32>
    %p = stablehlo.compare LT, %s, %most : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %two = stablehlo.constant dense<2.0> : tensor<6xf32>
    %next = stablehlo.multiply %c, %two : tensor<6xf32>
    stablehlo.return %next : tensor<6xf32>
  }
  %n = stablehlo.constant dense<7> : tensor<i32>
  %r = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
  %v = stablehlo.reshape %r : (tensor<f32>) -> tensor<1xf32>
  %w = stablehlo.slice %y [0:0] : (tensor<6xf32>) -> tensor<0xf32>
  return %w, %n, %v : tensor<0xf32>, tensor<i32>, tensor<1xf32>"""


@pytest.mark.parametrize("body, size, calls", [(ARROW, 5, "jvp vjp"), (UNKNOWN_LENGTH, 0, "jvp")])
def test_the_pass_jacobian_takes_the_directions_that_there_are(
    body: str, size: int, calls: str
) -> None:
    """Rows and columns both; columns where a loop of unknown length has no reverse mode."""
    results = f"(tensor<{size}xf32>, tensor<i32>, tensor<1xf32>)"
    module = api.parse(f"func.func @main(%x: tensor<6xf32>) -> {results} {{{body}\n}}")
    name = api.derive_jacobian(module, "main").name
    x = np.array([1, 2, 3, 4, 5, 6], np.float32)
    elements, rows, columns = Evaluator(module)(name, [x])
    expected = np.zeros((size + 2, 6))
    if size:
        expected[np.arange(5), 0], expected[np.arange(5), np.arange(1, 6)] = x[1:], x[0]
        expected[-1] = 2 * x
    else:
        expected[-1] = 8  # the sum of all is 21, 42, 84, 168
    found = np.zeros_like(expected)
    found[rows, columns] = elements
    np.testing.assert_array_equal(found, expected)
    text = str(mlir.functions(module)[name])
    assert [c for c in ("jvp", "vjp") if f"@main.{c}" in text] == calls.split()


@pytest.mark.parametrize("dtype", ["i32", "i8", "ui8", "i64"])
@pytest.mark.parametrize(
    "op", ["add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or"]
)
def test_results_are_within_their_bounds(op: str, dtype: str) -> None:
    """All pairs of numbers within the bounds of operands give such results."""
    text = f"""func.func @main(%x: tensor<{dtype}>, %y: tensor<{dtype}>) -> tensor<{dtype}> {{
      %z = stablehlo.{op} %x, %y : tensor<{dtype}>
      return %z : tensor<{dtype}>
    }}"""
    evaluator = Evaluator(api.parse(text))
    operation = next(iter(mlir.body(mlir.functions(evaluator.module)["main"]).operations)).operation
    kind = mlir.dtype_of(operation.results[0])
    rng = np.random.default_rng(0)
    for _ in range(20):
        low = rng.integers(0 if kind.kind == "u" else -9, 120, 2)
        high = np.minimum(low + rng.integers(0, 6, 2), 127)
        operands = [Bounds(np.array(a), np.array(b)) for a, b in zip(low, high, strict=True)]
        found = bounds_of_result(read(operation), operands, (), kind)
        for x, y in np.ndindex(*(high - low + 1)):
            pair = [np.asarray(a + i, kind) for a, i in zip(low, (x, y), strict=True)]
            (z,) = evaluator("main", pair)
            assert found is None or found.low <= int(z) <= found.high


def test_features_of_a_convolution_are_linked_together_or_by_its_zeros() -> None:
    """Two groups, strides, a dilated and reversed kernel: as the derivative's elements are."""
    text = """func.func @main(%x: tensor<2x7x4xf32>, %k: tensor<3x2x6xf32>) -> tensor<2x4x6xf32> {
      %y = stablehlo.convolution(%x, %k)
        dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
        window = {stride = [2], pad = [[1, 3]], rhs_dilate = [2], reverse = [true]}
        {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
        : (tensor<2x7x4xf32>, tensor<3x2x6xf32>) -> tensor<2x4x6xf32>
      return %y : tensor<2x4x6xf32>
    }"""
    rng = np.random.default_rng(0)
    x, kernel = (rng.uniform(1, 2, n).astype(np.float32) for n in ((2, 7, 4), (3, 2, 6)))
    for mask in (None, np.ones(kernel.shape), rng.random(kernel.shape) < 0.5):
        known = None if mask is None else (kernel * mask).astype(np.float32)
        found = pattern_of(api.parse(text), wrt=[0], known=[None, known]).toarray()
        module = api.parse(text)
        arrays = [x, kernel if known is None else known]
        expected = jacobian(module, "main", arrays)[:, : x.size] != 0
        np.testing.assert_array_equal(found, expected)
