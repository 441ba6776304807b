"""Random programs as the steps of loops, whose rows are stacked, and their reverse mode: IREE
against the evaluator.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.differential.random.test_random_programs import (
    compare_on_device,
    drawn_like,
    examples,
    kept,
    random_case,
)

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Value, dtype_of, shape_of
from irax_compiler.ops import comparison, conversion, elementwise, shape
from irax_compiler.ops.core import full
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.ops.indexing import dynamic_slices
from irax_compiler.ops.loop_builders import while_loop
from irax_compiler.ops.reductions import reduce
from irax_compiler.pipeline import run_pipeline
from irax_runtime.iree.cpu import cpu

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


NARROW = st.sampled_from([np.dtype(x) for x in ("f8", "f4", "f2", "i4", "i1")])
WAYS = ("returned", "added to", "updated", "carried on", "summed")


def stacks_of_constants(data: st.DataObject) -> mlir.Module:
    """A function of a number, with a loop that reads no array and stacks constants, or its counter
    as well. What it stacks is returned and used, in several ways.
    """
    module = mlir.new_module()
    function = mlir.new_function(
        module, "main", [mlir.tensor_type((), np.dtype("f8"))], public=True
    )
    shapes = data.draw(st.lists(st.lists(st.integers(1, 3), max_size=2), min_size=1, max_size=3))
    dtypes = [data.draw(NARROW) for _ in shapes]
    numbers = [data.draw(st.integers(-3, 3)) for _ in shapes]
    steps = data.draw(st.integers(1, 5))
    counts = data.draw(st.booleans())

    def advance(i: Value, *stacks: Value) -> list[Value]:
        rows = [full((1, *s), n, d) for s, n, d in zip(shapes, numbers, dtypes, strict=True)]
        if counts:
            rows[0] = shape.broadcast_scalar(conversion.convert(i, dtypes[0]), (1, *shapes[0]))
        following = [with_row(x, row, i) for x, row in zip(stacks, rows, strict=True)]
        return [elementwise.add(i, full((), 1, I32)), *following]

    with InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        (number,) = mlir.arguments(function)
        start = [full((steps, *s), 0, d) for s, d in zip(shapes, dtypes, strict=True)]
        begin = [full((), 0, I32), *start]
        found = while_loop(lambda i, *_: comparison.less(i, full((), steps, I32)), advance, begin)
        results = []
        for x in found[1:]:
            ways = data.draw(st.lists(st.sampled_from(WAYS), min_size=1, max_size=3))
            results += [_used(x, conversion.convert(number, dtype_of(x)), way) for way in ways]
    mlir.finish_function(function, results)
    module.operation.verify()
    return module


def _used(x: Value, number: Value, way: str) -> Value:
    """Return a stack, or what is made of it with a number, in one of `WAYS`."""
    if way == "returned":
        return x
    if way == "summed":
        zero = full((), 0, dtype_of(x))
        return elementwise.add(
            reduce.Reduce("add", tuple(range(len(shape_of(x)))))(x, zero), number
        )
    if way == "added to":
        return elementwise.add(x, shape.broadcast_scalar(number, shape_of(x)))
    row = shape.broadcast_scalar(number, (1, *shape_of(x)[1:]))
    if way == "updated":
        return with_row(x, row, conversion.convert(number, I32))

    def advance(i: Value, carried: Value) -> list[Value]:
        return [elementwise.add(i, full((), 1, I32)), with_row(carried, row, i)]

    return while_loop(
        lambda i, _: comparison.less(i, full((), 2, I32)), advance, [full((), 0, I32), x]
    )[1]


@examples(6)
@given(st.data())
@pytest.mark.slow
def test_loops_that_stack_constants_agree_with_the_evaluator(data: st.DataObject):
    module = stacks_of_constants(data)
    with kept(module, "constants"):
        compare_on_device(cpu(), module, "main", [np.asarray(data.draw(st.integers(0, 3)), "f8")])
