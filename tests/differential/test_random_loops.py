"""Random programs as the steps of loops, whose rows are stacked, and their reverse mode: IREE
against the evaluator.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.differential.test_random_programs import (
    compare_on_device,
    drawn_like,
    examples,
    kept,
    random_case,
)

from irax_compiler import mlir
from irax_compiler.evaluate import Evaluator
from irax_compiler.mlir import InsertionPoint, Value, dtype_of, shape_of
from irax_compiler.ops import comparison, elementwise, shape
from irax_compiler.ops.control_flow.building import while_loop
from irax_compiler.ops.core import full
from irax_compiler.ops.indexing import dynamic_slices
from irax_compiler.ops.reductions import reduce
from irax_compiler.pipeline import run_pipeline
from irax_runtime.iree import cpu

STEPS = 3
I32 = np.dtype(np.int32)


def in_a_loop(
    module: mlir.Module, steps: Any = STEPS, body: str = "main", updated: bool = False
) -> str:
    """Adds a function in which another is called in each step of a loop, and returns its name. What
    the function returns is stacked, and goes into what it gets in the next step: into all of it, or
    into a row of its first argument.
    """
    inner = mlir.functions(module)[body]
    types = [x.type for x in mlir.arguments(inner)]
    results = mlir.result_types(inner)
    name = f"{body}.loop"
    function = mlir.new_function(module, name, types, public=True)
    one, end = (lambda: full((), 1, I32)), (lambda: full((), steps, I32))

    def advance(i: Value, *carried: Value) -> list[Value]:
        stacks, xs = carried[: len(results)], carried[len(results) :]
        call = mlir.emit("func.call", list(xs), {"callee": mlir.symbol(body)}, results)
        y = call.results[0]
        zero = full((), 0, dtype_of(y))
        total = reduce.Reduce("add", tuple(range(len(shape_of(y)))))(y, zero)
        small = elementwise.multiply(elementwise.tanh(total), full((), 0.125, dtype_of(y)))
        stacks = [
            with_row(stack, shape.reshape(y, (1, *shape_of(y))), i)
            for stack, y in zip(stacks, call.results, strict=True)
        ]
        following = [elementwise.add(x, shape.broadcast_scalar(small, shape_of(x))) for x in xs]
        if updated:
            row = shape.broadcast_scalar(small, (1, *shape_of(xs[0])[1:]))
            following[0] = with_row(xs[0], row, i)
        return [elementwise.add(i, one()), *stacks, *following]

    with InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        stacks = [full((steps, *mlir.shape_of_type(t)), 0, mlir.dtype_of_type(t)) for t in results]
        start = [full((), 0, I32), *stacks, *mlir.arguments(function)]
        found = while_loop(lambda i, *_: comparison.less(i, end()), advance, start)
    mlir.finish_function(function, found[1:])
    return name


def with_row(x: Value, row: Value, i: Value) -> Value:
    first = full((), 0, I32)
    return dynamic_slices.DynamicUpdateSlice()(x, row, i, *(first for _ in shape_of(x)[1:]))


def compare_loop(data: st.DataObject, large: bool) -> None:
    module, x = random_case(data, most=6, large=large)
    name = in_a_loop(module, updated=data.draw(st.booleans()))
    if data.draw(st.booleans()):
        name = in_a_loop(module, 2, name, updated=data.draw(st.booleans()))
    with kept(module, "loop"):
        u = []
        if data.draw(st.booleans()):
            run_pipeline(module, f"vjp{{func={name}}},simplify,prune")
            u = drawn_like(data, Evaluator(module)(name, x))
            name += ".vjp"
        compare_on_device(cpu(), module, name, [*x, *u])


@examples(8)
@given(st.data())
@pytest.mark.slow
def test_loops_agree_with_the_evaluator(data: st.DataObject):
    compare_loop(data, large=False)


@examples(3)
@given(st.data())
@pytest.mark.slow
def test_loops_over_large_arrays_agree_with_the_evaluator(data: st.DataObject):
    compare_loop(data, large=True)
