"""Every op with symbolic dimensions: what is refined for some sizes is what was built for them.

A size of a case's operands becomes a variable, in the op's parameters too. Where that is a form of
the op, the results, derivatives and batches of both are compared.
"""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest
from tests.differential.harness import CASES, Arrays, Case, assert_near, directions
from tests.sampling import sample

from irax_compiler import mlir
from irax_compiler.evaluate import Evaluator
from irax_compiler.ops.core import Op, UnsupportedOp
from irax_compiler.ops.elementwise import Elementwise
from irax_compiler.passes.core import PassError
from irax_compiler.passes.refine import refined
from irax_compiler.pipeline import run_pipeline
from irax_compiler.sizes import InconclusiveDimensionOperation, SymbolicScope

N = SymbolicScope(["n >= 2"]).variable("n")
SIZED = {"shape", "slice_sizes", "limit_indices", "sizes", "fft_length", "length"}
"""The parameters of ops that are sizes."""


def opened(value: Any, size: int, name: str = "") -> Any:
    """A parameter with the variable in the place of a size."""
    if name in SIZED and isinstance(value, tuple):
        return tuple(N if n == size else n for n in value)
    if name in SIZED and value == size:
        return N
    if is_dataclass(value) and not isinstance(value, type | Elementwise):
        found = {f.name: opened(getattr(value, f.name), size, f.name) for f in fields(value)}
        changed = {key: new for key, new in found.items() if new is not getattr(value, key)}
        return replace(value, **changed) if changed else value
    return value


def symbolic(case: Case, size: int) -> mlir.Module:
    """The module of a case with the variable in the place of a size."""
    assert isinstance(case.subject, Op)
    module = mlir.new_module()
    shapes = [tuple(N if n == size else n for n in o.shape) for o in case.operands]
    types = [mlir.tensor_type(s, o.dtype) for s, o in zip(shapes, case.operands, strict=True)]
    function = mlir.new_function(module, "main", types, public=True)
    block = mlir.body(function)
    with mlir.InsertionPoint(block), mlir.UNKNOWN:
        results = opened(case.subject, size).build(list(block.arguments))
    mlir.finish_function(function, results)
    module.operation.verify()
    return module


def _selected() -> list[tuple[Case, int]]:
    """The cases with a size, from 2 on, that can be a variable: for others the op itself depends
    on the number, or the case has parameters that are no sizes and fit this one alone.
    """
    found = []
    for case in CASES:
        if not isinstance(case.subject, Op):
            continue
        for size in sorted({n for o in case.operands for n in o.shape if n > 1}):
            try:
                symbolic(case, size)
            except (InconclusiveDimensionOperation, UnsupportedOp, mlir.MLIRError):
                continue
            found.append((case, size))
    return found


SELECTED = _selected()
BY_SIZE = {
    "stablehlo.reduce": "products and computations are folded by halves",
    "stablehlo.reduce_window": "windows are unrolled",
    "stablehlo.select_and_scatter": "windows are unrolled",
    "irax.lu": "wide and tall matrices have other derivatives",
    "irax.qr": "wide and tall matrices have other derivatives",
    "irax.qr_order": "its derivative is that of a loop of which the steps must be known",
    "irax.householder_product": "its derivative is that of a loop of which the steps must be known",
    "irax.householder_qr": "its derivative is that of a loop of which the steps must be known",
    "irax.hessenberg": "its derivative is that of a loop of which the steps must be known",
}
"""The ops of which the form of derivatives or batches depends on a size, and why."""

cases = pytest.mark.parametrize(
    ("case", "size"), sample(SELECTED, 20), ids=lambda x: str(getattr(x, "name", x))
)


def compared(case: Case, size: int, pipeline: str = "", name: str = "main") -> None:
    """A function that a pipeline makes of the symbolic module does, once it is refined, what that
    of the module with this size does.
    """
    known, named = case.module(), symbolic(case, size)
    for module in (known, named):
        run_pipeline(module, pipeline)
        mlir.make_public(mlir.functions(module)[name])
    named = mlir.parse_module(mlir.text_of(named.operation))
    values = refined(named, name, {"n": size})
    types = [x.type for x in mlir.arguments(mlir.functions(known)[name])]
    assert types == [x.type for x in mlir.arguments(mlir.functions(values)[name])]
    arrays = _drawn(case, types)
    results = zip(*(Evaluator(m)(name, arrays) for m in (values, known)), strict=True)
    for result, expected in results:
        assert result.dtype == expected.dtype
        assert_near(result, expected, 1e-10)


def _drawn(case: Case, types: Sequence[Any]) -> Arrays:
    """The operands of a case, in lanes where types have them, and random arrays for the rest."""
    rng, arrays = case.rng(), []
    for i, type_ in enumerate(types):
        shape, dtype = mlir.shape_of_type(type_), mlir.dtype_of_type(type_)
        if i < len(case.operands) and case.operands[i].shape == shape:
            arrays.append(case.operands[i].drawn(rng))
        elif i < len(case.operands):
            arrays.append(case.operands[i].lanes(rng, shape[0], 0))
        else:
            arrays += directions(rng, [np.zeros(shape, dtype)])
    return arrays


@cases
def test_results(case: Case, size: int) -> None:
    compared(case, size)


def compared_if_possible(case: Case, size: int, pipeline: str, name: str) -> None:
    """`compared`, unless the form of the function depends on the size."""
    try:
        compared(case, size, pipeline, name)
    except (InconclusiveDimensionOperation, UnsupportedOp, PassError):
        if case.subject.name not in BY_SIZE:  # pyright: ignore[reportAttributeAccessIssue]
            raise


@cases
def test_derivatives(case: Case, size: int) -> None:
    if case.has_derivative:
        wrt = ",".join(map(str, case.active))
        compared_if_possible(case, size, f"jvp{{func=main wrt={wrt}}}", "main.jvp")
        compared_if_possible(case, size, f"vjp{{func=main wrt={wrt}}}", "main.vjp")


@cases
def test_batches(case: Case, size: int) -> None:
    compared_if_possible(case, size, "batch{func=main}", "main.batch")
