"""The patterns of `simplify`: golden files show what they do, and here their values are compared.

A function of tests/golden/simplify is named after the pattern it shows, up to a dot that tells
several of them apart; those of untouched.mlir and constants.mlir show no pattern of their name.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from irax_compiler import mlir
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.ops.registry import read
from irax_compiler.passes.optimize.simplify import PATTERNS, simplify
from irax_compiler.passes.optimize.simplify.constants import of_splats
from irax_compiler.passes.rewriting import Pattern
from irax_compiler.pipeline import run_pipeline

FOLDER = Path(__file__).parents[2] / "golden" / "simplify"
FUNCTIONS = [
    (path.name, name)
    for path in sorted(FOLDER.glob("*.mlir"))
    for name, function in mlir.functions(mlir.parse_module(path.read_text("utf-8"))).items()
    if mlir.is_public(function)
]
WITHOUT_PATTERN = {"untouched.mlir", "constants.mlir", "carries.mlir"}
ZERO_OF_EITHER_SIGN = {
    "neutral_operand.zero",
    "add_of_negate.sum",
    "sum_of_negate",
    "outer_product",
    "reduce_of_one",
    "sum_of_broadcast",
    "sum_of_broadcast.partly",
    "sum_of_parts",
    "sum_with_update_of_zeros",
}
FLOATS = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 2.5, -3.0, 1e-30, 7.0, 0.5]


def single(file: str, name: str) -> mlir.Module:
    """A module with one function of a file, and the private ones, which it may call."""
    module = mlir.parse_module((FOLDER / file).read_text("utf-8"))
    for other, function in mlir.functions(module).items():
        if other != name and mlir.is_public(function):
            function.erase()
    return module


def inputs(module: mlir.Module, name: str) -> Iterator[np.ndarray]:
    """Arrays with all kinds of values, in another order for each argument."""
    for i, argument in enumerate(mlir.arguments(mlir.functions(module)[name])):
        dtype, shape = mlir.dtype_of(argument), mlir.shape_of(argument)
        values: Any = FLOATS
        if dtype.kind in "iu":
            info = np.iinfo(dtype)
            values = [0, 1, info.max, info.min, 7, 2]
        elif dtype == np.bool_:
            values = [True, False, False]
        yield np.resize(np.roll(np.array(values, dtype), 5 * i), shape)


def assert_same(before: np.ndarray, after: np.ndarray, zero_signs: bool = True) -> None:
    assert before.dtype == after.dtype
    assert before.shape == after.shape
    if mlir.inexact(before.dtype):
        wide = np.complex128 if before.dtype.kind == "c" else np.float64
        before, after = before.astype(wide), after.astype(wide)
    np.testing.assert_array_equal(before, after)
    if zero_signs and before.dtype.kind == "f":
        numbers = ~np.isnan(before)
        np.testing.assert_array_equal(np.signbit(before)[numbers], np.signbit(after)[numbers])


@pytest.fixture
def applied(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of the patterns that were applied in the test."""
    names: set[str] = set()

    def watched(pattern: Pattern) -> Pattern:
        def build(*arguments: Any) -> Any:
            found = pattern.build(*arguments)
            if found is not None:
                names.add(pattern.name)
            return found

        return replace(pattern, build=build)

    monkeypatch.setattr(simplify, "PATTERNS", tuple(map(watched, PATTERNS)))
    return names


@pytest.mark.parametrize("file, name", FUNCTIONS, ids=[name for _, name in FUNCTIONS])
def test_values_stay(file: str, name: str, applied: set[str]):
    module = single(file, name)
    arrays = list(inputs(module, name))
    before = Evaluator(module)(name, arrays)
    run_pipeline(module, "simplify")
    assert file in WITHOUT_PATTERN or name.split(".")[0] in applied
    after = Evaluator(module)(name, arrays)
    for b, a in zip(before, after, strict=True):
        assert_same(b, a, zero_signs=name not in ZERO_OF_EITHER_SIGN)


def test_every_pattern_is_shown():
    patterns = {pattern.name for pattern in PATTERNS} - {
        "fold",
        "unneeded_carries",
        "equal_carries",
        "empty_carries",
        "decided_comparison",
    }
    shown = {name.split(".")[0] for file, name in FUNCTIONS if file not in WITHOUT_PATTERN}
    assert patterns == shown


@pytest.mark.parametrize("file", sorted({file for file, _ in FUNCTIONS}))
def test_nothing_is_left_to_do(file: str):
    module = mlir.parse_module((FOLDER / file).read_text("utf-8"))
    run_pipeline(module, "simplify")
    once = str(module)
    run_pipeline(module, "simplify")
    assert str(module) == once


def test_a_loop_may_count_by_a_call():
    """A function of which nothing is known here returns what is counted."""
    text = """
    func.func @main(%n: tensor<i32>) -> tensor<i32> {
      %four = stablehlo.constant dense<4> : tensor<i32>
      %0 = stablehlo.while(%i = %n) : tensor<i32>
      cond {
        %1 = stablehlo.compare LT, %i, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      } do {
        %1 = func.call @next(%i) : (tensor<i32>) -> tensor<i32>
        stablehlo.return %1 : tensor<i32>
      }
      return %0 : tensor<i32>
    }
    func.func private @next(%i: tensor<i32>) -> tensor<i32> {
      %three = stablehlo.constant dense<3> : tensor<i32>
      %0 = stablehlo.add %i, %three : tensor<i32>
      return %0 : tensor<i32>
    }"""
    module = mlir.parse_module(text)
    run_pipeline(module, "simplify")
    assert Evaluator(module)("main", [np.int32(0)])[0] == 6


def test_a_long_chain_takes_linear_time_and_no_recursion():
    steps = "\n".join(f"%{i + 1} = stablehlo.negate %{i} : tensor<f32>" for i in range(5000))
    text = f"""func.func @main(%x: tensor<f32>) -> tensor<f32> {{
        %0 = stablehlo.sine %x : tensor<f32>
        {steps}
        return %5000 : tensor<f32>
    }}"""
    module = mlir.parse_module(text)
    run_pipeline(module, "simplify")
    (sine, _) = mlir.body(mlir.functions(module)["main"]).operations
    assert sine.operation.name == "stablehlo.sine"


def test_broadcasts_of_unknown_size_are_as_simple_as_can_be():
    module = mlir.parse_module(
        """
        func.func @main(%x: tensor<?xf32, #irax.sizes<"n">>) -> tensor<?xf32, #irax.sizes<"n">> {
          %0 = stablehlo.constant dense<1.0> : tensor<f32>
          %1 = "irax.broadcast_in_dim"(%0) {broadcast_dimensions = array<i64>}
            : (tensor<f32>) -> tensor<?xf32, #irax.sizes<"n">>
          return %1 : tensor<?xf32, #irax.sizes<"n">>
        }
        """
    )
    _, broadcast, _ = (x.operation for x in mlir.body(mlir.functions(module)["main"]).operations)
    with mlir.InsertionPoint(broadcast), broadcast.location:
        assert of_splats(read(broadcast), broadcast) is None
