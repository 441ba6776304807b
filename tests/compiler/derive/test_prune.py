"""`prune` on random call graphs, and on what it must leave alone; see also tests/golden/prune."""

import random
from collections.abc import Sequence

import numpy as np
import pytest

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Value
from irax_compiler.ops import elementwise, structured
from irax_compiler.ops.core import full
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.passes.core import returned
from irax_compiler.pipeline import run_pipeline

F64 = np.dtype(np.float64)
VECTOR = mlir.tensor_type((3,), F64)
STEPS = [elementwise.add, elementwise.multiply, elementwise.maximum]


def body_of(choose: random.Random, values: list[Value], callees: Sequence[tuple[str, int, int]]):
    """Adds arithmetic and calls to a list of values."""
    for _ in range(choose.randint(1, 5)):
        if callees and choose.random() < 0.6:
            name, num_arguments, num_results = choose.choice(callees)
            operands = [choose.choice(values) for _ in range(num_arguments)]
            call = structured.Call(name, (VECTOR,) * num_results)
            values.extend(call.build(operands))
        elif choose.random() < 0.2:
            values.append(full((3,), choose.randint(-3, 3), F64))
        else:
            values.append(choose.choice(STEPS)(choose.choice(values), choose.choice(values)))


def random_module(seed: int) -> Module:
    """Functions that call those before them; the last two are public."""
    choose = random.Random(seed)
    module = mlir.new_module()
    callees: list[tuple[str, int, int]] = []
    for i in range(6):
        num_arguments = choose.randint(1, 4)
        name, public = f"f{i}", i >= 4
        function = mlir.new_function(module, name, [VECTOR] * num_arguments, public=public)
        values = mlir.arguments(function)
        with InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
            body_of(choose, values, callees)
        results = [choose.choice(values) for _ in range(choose.randint(1, 4))]
        mlir.finish_function(function, results)
        callees.append((name, num_arguments, len(results)))
    module.operation.verify()
    return module


@pytest.mark.parametrize("seed", range(60))
def test_values_stay_and_signatures_shrink(seed: int):
    module = random_module(seed)
    signatures = {n: str(f.attributes["function_type"]) for n, f in mlir.functions(module).items()}
    arrays = {
        name: [np.arange(3.0) - i for i, _ in enumerate(mlir.arguments(function))]
        for name, function in mlir.functions(module).items()
    }
    public = ("f4", "f5")
    before = [Evaluator(module)(name, arrays[name]) for name in public]
    run_pipeline(module, "prune")
    np.testing.assert_equal([Evaluator(module)(name, arrays[name]) for name in public], before)

    functions = mlir.functions(module)
    calls = [call for f in functions.values() for call in mlir.calls(f)]
    for name, function in functions.items():
        here = [call for call in calls if mlir.callee(call) == name]
        if name in public:
            assert str(function.attributes["function_type"]) == signatures[name]
        if name in public or not here:
            continue
        arguments, results = mlir.arguments(function), returned(function)
        assert all(mlir.num_uses(a) for a in arguments)
        assert all(any(mlir.num_uses(c.results[i]) for c in here) for i in range(len(results)))
        assert not any(mlir.is_argument(r) for r in results)
    once = str(module)
    run_pipeline(module, "prune")
    assert str(module) == once


def test_attributes_stay_with_their_arguments_and_results():
    module = mlir.parse_module("""
        func.func private @f(%x: tensor<f32> {my.name = "x"}, %y: tensor<f32> {my.name = "y"})
            -> (tensor<f32> {my.name = "a"}, tensor<f32> {my.name = "b"}) {
          %0 = stablehlo.sine %x : tensor<f32>
          %1 = stablehlo.cosine %y : tensor<f32>
          return %0, %1 : tensor<f32>, tensor<f32>
        }
        func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
          %0:2 = func.call @f(%x, %y) : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
          return %0#1 : tensor<f32>
        }""")
    run_pipeline(module, "prune")
    head = '@f(%arg0: tensor<f32> {my.name = "y"}) -> (tensor<f32> {my.name = "b"})'
    assert head in str(module)


@pytest.mark.parametrize(
    "text",
    [
        # called by nobody: who knows by whom it will be
        """func.func private @f(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
             return %x : tensor<f32>
           }""",
        # a declaration
        """func.func private @f(tensor<f32>) -> tensor<f32>
           func.func @main(%x: tensor<f32>) -> tensor<f32> {
             %0 = func.call @f(%x) : (tensor<f32>) -> tensor<f32>
             return %0 : tensor<f32>
           }""",
        # functions that call themselves
        """func.func private @f(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
             %0 = func.call @f(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
             return %0 : tensor<f32>
           }""",
    ],
    ids=["uncalled", "declaration", "recursion"],
)
def test_untouched(text: str):
    module = mlir.parse_module(text)
    before = str(module)
    run_pipeline(module, "prune,simplify")
    assert str(module) == before
