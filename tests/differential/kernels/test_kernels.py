"""Loops over few elements, which become one kernel: all elementwise operations, at hard points, and
all structures, on IREE against the evaluator.
"""

import itertools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.differential.harness import CASES, Case, epsilon
from tests.differential.test_conversions import same
from tests.differential.test_edges import OF_ONE, OF_TWO, agree
from tests.sampling import ALL_FORMS

from irax_compiler import mlir
from irax_compiler.mlir import inexact
from irax_compiler.ops import barrier, bitwise, comparison, elementwise
from irax_compiler.ops.conversion import Convert
from irax_compiler.ops.core import full
from irax_compiler.ops.elementwise import Elementwise
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.ops.loop_builders import while_loop
from irax_compiler.pipeline import run_pipeline, text_of
from irax_compiler.targets.cpu import CPU
from irax_runtime.iree.cpu import cpu

I32 = np.dtype(np.int32)
OF_INTEGERS = [
    *(elementwise.abs, elementwise.add, elementwise.subtract, elementwise.multiply),
    *(elementwise.negate, elementwise.sign, elementwise.divide, elementwise.remainder),
    *(elementwise.maximum, elementwise.minimum, bitwise.and_, bitwise.or_, bitwise.xor),
    *(bitwise.not_, bitwise.shift_left, bitwise.shift_right_arithmetic),
    *(bitwise.shift_right_logical, bitwise.popcnt, bitwise.count_leading_zeros),
]
OF_BOOLEANS = [bitwise.and_, bitwise.or_, bitwise.xor, bitwise.not_]
Function = Callable[..., mlir.Value]
UNARY = {*OF_ONE, bitwise.not_, bitwise.popcnt, bitwise.count_leading_zeros}
DTYPES = [
    np.dtype(d)
    for d in (
        *(np.bool_, np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64),
        *(np.float16, ml_dtypes.bfloat16, np.float32, np.float64),
    )
]


def points(dtype: np.dtype) -> np.ndarray:
    if dtype == np.bool_:
        return np.array([False, True])
    if not inexact(dtype):
        info = np.iinfo(dtype)
        return np.array([0, 1, 2, 5, 9, info.max - 1, info.max, info.min, info.min + 1], dtype)
    values = [0, -0.0, 1, -1.5, 0.25, 3, -100, np.inf, -np.inf, np.nan, 1e4]
    return np.array(values).astype(dtype)


def operations(dtype: np.dtype) -> list[Elementwise]:
    if dtype == np.bool_:
        return OF_BOOLEANS
    if not inexact(dtype):
        is_signed = dtype.kind == "i"
        return [
            op
            for op in OF_INTEGERS
            if is_signed or op not in (elementwise.abs, elementwise.sign, elementwise.negate)
        ]
    by_name = {op.name: op for op in [*OF_ONE, *OF_TWO]}
    return [op for name, op in by_name.items() if name.startswith("stablehlo.")]


def in_a_loop(module: mlir.Module, name: str, arrays, body) -> None:
    """A function whose loop takes one step, `body`, from zeros. Behind a barrier it stays there."""
    types = [mlir.tensor_type(x.shape, x.dtype) for x in arrays]
    function = mlir.new_function(module, name, [*types, mlir.tensor_type((), I32)], public=True)
    with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        *operands, steps = mlir.arguments(function)
        one = full((), 1, I32)
        zeros = [full(mlir.shape_of(y), 0, mlir.dtype_of(y)) for y in body(*operands)]
        _, *results = while_loop(
            lambda i, *ys: comparison.less(i, steps),
            lambda i, *ys: [elementwise.add(i, one), *body(*barrier.barrier.build(operands))],
            [full((), 0, I32), *zeros],
        )
    mlir.finish_function(function, results)


def compiled(module: mlir.Module, most: int = 0) -> bytes:
    """The program, of whose loops at most so many are not kernels."""
    ready = mlir.clone_module(module)
    run_pipeline(ready, text_of(CPU.passes))
    assert str(ready).count("stablehlo.while") <= most
    return CPU.compile_text(mlir.bytecode(ready))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.slow
def test_elementwise_operations(dtype: np.dtype) -> None:
    """In two loops, since each takes IREE a tenth of a second: all of one operand, all of two."""
    x = points(dtype)
    pairs = np.array(list(itertools.product(x, x)), dtype)
    of_one: dict[str, Function] = {}
    of_two: dict[str, Function] = {}
    for op in operations(dtype):
        group = of_one if op in UNARY else of_two
        group[op.name] = lambda *operands, op=op: op.build(operands)[0]
    for direction in ("EQ", "NE", "LT", "LE", "GT", "GE"):
        of_two[direction] = comparison.Compare(direction, None)
    for target in DTYPES:
        if target != dtype and not (inexact(dtype) and target.kind in "iu"):
            of_one[target.name] = Convert(target)
    given = {"one": (of_one, [x]), "two": (of_two, [np.ascontiguousarray(c) for c in pairs.T])}
    module = mlir.new_module()
    for name, (functions, arrays) in given.items():
        in_a_loop(module, name, arrays, lambda *x, fs=functions: [f(*x) for f in fs.values()])
    artefact, evaluator, wrong = compiled(module), Evaluator(module), []
    once = np.array(1, I32)
    for name, (functions, arrays) in given.items():
        results = evaluator(name, [*arrays, once])
        buffers = cpu().load(artefact, name)([cpu().put(a) for a in (*arrays, once)])
        for function, buffer, expected in zip(functions, buffers, results, strict=True):
            found = buffer.numpy()
            right = agree(found, expected) if inexact(expected.dtype) else same(found, expected)
            for i in np.flatnonzero(~right):
                at = ", ".join(str(a[i]) for a in arrays)
                wrong.append(f"{function}({at}): {found[i]}; expected {expected[i]}")
    assert not wrong, "\n".join(wrong)


OF_VECTORS = {
    f"stablehlo.{name}"
    for name in (
        *("broadcast_in_dim", "clamp", "concatenate", "dot_general", "dynamic_slice"),
        *("dynamic_update_slice", "gather", "iota", "is_finite", "map", "pad", "reduce"),
        *("reshape", "reverse", "scatter", "select", "slice", "transpose"),
    )
}


def few(case: Case) -> bool:
    """Return True for a case of few elements of dtypes that kernels have."""
    if isinstance(case.subject, str) or case.subject.name not in OF_VECTORS:
        return False
    kinds = [(o.shape, o.dtype) for o in case.operands]
    kinds += [(tuple(t.shape), mlir.dtype_of_type(t)) for t in case.result_types]
    return all(0 < np.prod(shape) <= 64 and dtype in DTYPES for shape, dtype in kinds)


FEW = [case for case in CASES if few(case)][:: 1 if ALL_FORMS else 3]
"""By default a third of them."""


@pytest.mark.parametrize("part", range(4))
@pytest.mark.slow
def test_operations_on_vectors(part: int) -> None:
    cases = FEW[part::4]
    module, given = mlir.new_module(), {}
    for case in cases:
        given[case.name] = case.arrays(case.rng())
        op: Any = case.subject
        in_a_loop(module, case.name, given[case.name], lambda *x, op=op: op.build(x))
    # Products in another dtype, and scatters by computations of one's own, are not.
    artefact, once = compiled(module, 3), np.array(1, I32)
    for case in cases:
        arrays = [cpu().put(np.asarray(x)) for x in (*given[case.name], once)]
        buffers = cpu().load(artefact, case.name)(arrays)
        for buffer, expected in zip(buffers, case.run(given[case.name]), strict=True):
            tolerance = 100 * epsilon(expected.dtype) if inexact(expected.dtype) else 0
            found, wanted = (np.asarray(x).astype(np.float64) for x in (buffer.numpy(), expected))
            np.testing.assert_allclose(found, wanted, tolerance, tolerance, err_msg=case.name)
