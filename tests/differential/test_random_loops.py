"""Random programs as the steps of loops, whose rows are stacked, and their reverse mode: IREE
against the evaluator.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.differential.test_random_programs import assert_close, examples, kept, random_case

from irax_compiler import lowering, mlir, targets
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


def in_a_loop(module: mlir.Module, steps: Any = STEPS) -> None:
    """Adds @loop: @main is called in each step, what it returns is stacked, and goes into what it
    gets in the next.
    """
    inner = mlir.functions(module)["main"]
    types = [x.type for x in mlir.arguments(inner)]
    result, *others = mlir.result_types(inner)
    function = mlir.new_function(module, "loop", types, public=True)
    one, end = (lambda: full((), 1, I32)), (lambda: full((), steps, I32))

    def advance(i: Value, stack: Value, *xs: Value) -> list[Value]:
        call = mlir.emit("func.call", list(xs), {"callee": mlir.symbol("main")}, [result, *others])
        y = call.results[0]
        zero = full((), 0, dtype_of(y))
        total = reduce.Reduce("add", tuple(range(len(shape_of(y)))))(y, zero)
        small = elementwise.multiply(elementwise.tanh(total), full((), 0.125, dtype_of(y)))
        row = shape.reshape(y, (1, *shape_of(y)))
        first = full((), 0, I32)
        rows = dynamic_slices.DynamicUpdateSlice()(stack, row, i, *(first for _ in shape_of(y)))
        following = [elementwise.add(x, shape.broadcast_scalar(small, shape_of(x))) for x in xs]
        return [elementwise.add(i, one()), rows, *following]

    with InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        stack = full((steps, *mlir.shape_of_type(result)), 0, mlir.dtype_of_type(result))
        start = [full((), 0, I32), stack, *mlir.arguments(function)]
        results = while_loop(lambda i, *_: comparison.less(i, end()), advance, start)
    mlir.finish_function(function, results[1:])


@examples(8)
@given(st.data())
@pytest.mark.slow
def test_loops_agree_with_the_evaluator(data: st.DataObject):
    module, x = random_case(data, most=6)
    in_a_loop(module)
    with kept(module, "loop"):
        run_pipeline(module, "vjp{func=loop},simplify,prune")
        evaluator = Evaluator(module)
        rng = np.random.default_rng(0)
        u = [rng.uniform(-1, 1, y.shape) for y in evaluator("loop", x)]
        expected = evaluator("loop.vjp", [*x, *u])
        lowered = lowering.lower(module, "loop.vjp", "iree-cpu")
        executable = cpu().load(targets.compile(lowered, "iree-cpu"), "loop.vjp")
        found = executable([cpu().put(a) for a in (*x, *u)])
        assert_close([a.numpy() for a in found], expected)
