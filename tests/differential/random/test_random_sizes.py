"""Random programs of arrays of unknown size, against the same programs of known sizes.

A program is differentiated and mapped before its sizes are known, and after. It is compiled once.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.differential.random.programs import KNOWN, ROUNDED, random_program
from tests.differential.random.test_random_loops import in_a_loop
from tests.differential.random.test_random_programs import (
    NUMBERS,
    Arrays,
    assert_close,
    drawn_like,
    examples,
    kept,
)

from irax_compiler import lowering, mlir, targets
from irax_compiler.ops import elementwise, shape
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.passes.core import PassError
from irax_compiler.passes.sizes.refine import refined
from irax_compiler.pipeline import run_pipeline
from irax_compiler.sizes import InconclusiveDimensionOperation, SymbolicScope
from irax_runtime.devices import devices

N, M = map(SymbolicScope().variable, "nm")
SIZES = [{"n": 1, "m": 1}, {"n": 2, "m": 3}, {"n": 4, "m": 2}]
"""The values of the variables: a size of n - 1 is 0, 1 and 3."""
REFUSED = (InconclusiveDimensionOperation, UnsupportedOp, PassError, mlir.MLIRError)
PIPELINES = {
    "main.vjp": "vjp{func=main}",
    "main.jvp": "jvp{func=main}",
    "main.batch": "batch{func=main size=2}",
}


def open_program(data: st.DataObject, most: int) -> mlir.Module:
    sizes = data.draw(st.sampled_from([(N - 1, M), (N, M), (N,)]))
    return random_program(data.draw, ROUNDED, NUMBERS, most, (*sizes, *KNOWN))


def random_inputs(data: st.DataObject, function: mlir.Operation) -> Arrays:
    return drawn_like(data, [np.empty(mlir.shape_of(x)) for x in mlir.arguments(function)])


@examples(30)
@given(st.data())
def test_transformed_for_all_sizes(data: st.DataObject):
    try:
        module = open_program(data, most=10)
    except REFUSED:
        return  # a step depends on the size
    name = data.draw(st.sampled_from(list(PIPELINES)))
    copy = mlir.parse_module(str(module))
    with kept(module, "sizes"):
        try:
            run_pipeline(copy, f"{PIPELINES[name]},simplify,prune")
        except InconclusiveDimensionOperation:
            return
        mlir.make_public(mlir.functions(copy)[name])
        for values in SIZES:
            known = refined(module, "main", values)
            run_pipeline(known, PIPELINES[name])
            found = refined(copy, name, values)
            inputs = random_inputs(data, mlir.functions(found)[name])
            with np.errstate(all="ignore"):
                assert_close(Evaluator(found)(name, inputs), Evaluator(known)(name, inputs))


@pytest.mark.slow
@examples(8)
@given(st.data())
def test_compiled_for_all_sizes(data: st.DataObject):
    try:
        module = open_program(data, most=8)
    except REFUSED:
        return
    compare_compiled(data, module, "main")


@pytest.mark.slow
@examples(8)
@given(st.data())
def test_loops_compiled_for_all_sizes(data: st.DataObject):
    try:
        module = open_program(data, most=5)
        name = in_a_loop(module, data.draw(st.sampled_from([3, N - 1, M])))
    except REFUSED:
        return
    if data.draw(st.booleans()):
        try:
            run_pipeline(module, f"vjp{{func={name}}},simplify,prune")
        except REFUSED:
            return
        name += ".vjp"
        mlir.make_public(mlir.functions(module)[name])
    compare_compiled(data, module, name)


def compare_compiled(data: st.DataObject, module: mlir.Module, name: str) -> None:
    """Compares the program for all sizes with the evaluator."""
    device = devices("cpu")[0]
    try:
        lowered = lowering.lower(module, name, device.target)
        artefact = targets.compile(lowered, device.target)
    except (*REFUSED, RuntimeError):
        return  # it is refined for each size
    executable = device.load(artefact, name)
    with kept(module, "sizes-iree"):
        for values in SIZES:
            known = refined(module, name, values)
            inputs = random_inputs(data, mlir.functions(known)[name])
            before = [x.copy() for x in inputs]
            with np.errstate(all="ignore"):
                expected = Evaluator(known)(name, inputs)
            found = executable.run([device.put(x) for x in inputs])
            assert_close([x.numpy() for x in found], expected)
            for x, y in zip(inputs, before, strict=True):
                np.testing.assert_array_equal(x, y)


def test_a_broadcast_that_permutes():
    device = devices("cpu")[0]
    module = mlir.new_module()
    function = mlir.new_function(
        module, "main", [mlir.tensor_type((N, M), np.float64)], public=True
    )
    with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        (x,) = mlir.arguments(function)
        turned = shape.BroadcastInDim((M, N), (1, 0))(elementwise.sine(x))
    mlir.finish_function(function, [turned])
    lowered = lowering.lower(module, "main", device.target)
    executable = device.load(targets.compile(lowered, device.target), "main")
    for sizes in ((1, 1), (2, 3), (4, 1)):
        x = np.random.default_rng(0).uniform(-1, 1, sizes)
        (found,) = executable.run([device.put(x)])
        np.testing.assert_allclose(found.numpy(), np.sin(x).T, rtol=1e-12)
