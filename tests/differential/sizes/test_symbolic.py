"""Every op with symbolic dimensions: what is refined for some sizes is what was built for them.

A size of a case's operands becomes a variable, in the op's parameters too. The results, derivatives
and batches are compared with those of the op of known sizes: 0 and 1, the case's own and the next.
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from math import inf
from typing import Any

import numpy as np
import pytest
from tests.differential.harness import CASES, Arrays, Case, assert_near, directions
from tests.sampling import sample

from irax_compiler import mlir
from irax_compiler.ops.core import Op, UnsupportedOp
from irax_compiler.ops.elementwise import Elementwise
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.ops.reductions.windows import Window
from irax_compiler.passes.core import PassError
from irax_compiler.passes.sizes.refine import refined
from irax_compiler.pipeline import run_pipeline
from irax_compiler.sizes import InconclusiveDimensionOperation, SymbolicScope

SIZED = {"shape", "slice_sizes", "limit_indices", "sizes", "fft_length", "length"}
"""The parameters of ops that are sizes."""
REFUSED = (InconclusiveDimensionOperation, UnsupportedOp, mlir.MLIRError, PassError)

BY_SIZE = {
    "irax.eigh": "rotations go through pairs of columns, whose order is a constant",
    "irax.svd": "as irax.eigh",
}
"""The ops that depend on a size whatever its bounds are, and why."""


def forms(size: int) -> list[tuple[Any, int, float]]:
    """Variables that stand for a size, with the least and the most that each can be. The first that
    an op takes is tested.
    """
    stated = [((), 1, inf), (("n >= 2",), 2, inf)]
    stated += [((f"n >= {size}",), size, inf), ((f"n <= {size}",), 1, size)]
    named = [(SymbolicScope(text).variable("n"), least, most) for text, least, most in stated]
    return [(named[0][0] - 1, 0, inf), *named]


def opened(value: Any, size: int, n: Any, name: str = "") -> Any:
    """A parameter with another number, or the variable, in the place of a size."""
    if name in SIZED and isinstance(value, tuple):
        return tuple(n if m == size else m for m in value)
    if name in SIZED and value == size:
        return n
    if isinstance(value, Window):
        return opened_window(value, size, n)
    if is_dataclass(value) and not isinstance(value, type | Elementwise):
        found = {f.name: opened(getattr(value, f.name), size, n, f.name) for f in fields(value)}
        changed = {key: new for key, new in found.items() if new is not getattr(value, key)}
        return replace(value, **changed) if changed else value
    return value


def opened_window(window: Window, size: int, n: Any) -> Window:
    """The windows, with another number in place of a size where each holds all elements so far."""
    sizes: list[Any] = list(window.sizes)
    padding: list[Any] = list(window.padding)
    for d, pair in enumerate(padding):
        if sizes[d] == size and pair in ((0, size - 1), (size - 1, 0)):
            sizes[d], padding[d] = n, tuple(n - 1 if m else 0 for m in pair)
    return replace(window, sizes=tuple(sizes), padding=tuple(padding))


def built(case: Case, size: int, n: Any) -> mlir.Module:
    """The module of a case with another number, or the variable, in the place of a size."""
    assert isinstance(case.subject, Op)
    module = mlir.new_module()
    shapes = [tuple(n if m == size else m for m in o.shape) for o in case.operands]
    types = [mlir.tensor_type(s, o.dtype) for s, o in zip(shapes, case.operands, strict=True)]
    function = mlir.new_function(module, "main", types, public=True)
    block = mlir.body(function)
    with mlir.InsertionPoint(block), mlir.UNKNOWN:
        results = opened(case.subject, size, n).build(list(block.arguments))
    mlir.finish_function(function, results)
    module.operation.verify()
    return module


def pipelines(case: Case) -> Iterator[tuple[str, str]]:
    """The forms of a case: the pipelines that make them, and the functions."""
    yield "", "main"
    yield "batch{func=main}", "main.batch"
    if case.has_derivative:
        wrt = ",".join(map(str, case.active))
        for mode in ("jvp", "vjp"):
            yield f"{mode}{{func=main wrt={wrt}}}", f"main.{mode}"


def derived(case: Case, size: int, n: Any, pipeline: str, name: str) -> mlir.Module:
    module = built(case, size, n)
    run_pipeline(module, pipeline)
    mlir.make_public(mlir.functions(module)[name])
    return module


def symbolic(
    case: Case, size: int, pipeline: str, name: str
) -> tuple[mlir.Module, int, float] | None:
    """A form of a case for all sizes, as it is read from its text, and the least and the most;
    None if what it is depends on the size.
    """
    for n, least, most in forms(size):
        try:
            module = derived(case, size, n, pipeline, name)
        except REFUSED:
            continue
        return mlir.parse_module(mlir.text_of(module.operation)), least, most
    return None


def compared(case: Case, size: int, pipeline: str, name: str) -> None:
    """Compares a form of a case for all sizes with that of known sizes."""
    found = symbolic(case, size, pipeline, name)
    if found is None:
        assert case.subject.name in BY_SIZE  # pyright: ignore[reportAttributeAccessIssue]
        return
    module, least, most = found
    for m in dict.fromkeys((0, 1, size, size + 1)):
        try:
            known = derived(case, size, m, pipeline, name)
        except REFUSED:
            assert m != size
            continue  # there is no such op
        if not least <= m <= most:
            continue
        values = refined(module, name, {"n": m + (least == 0)})
        types = [x.type for x in mlir.arguments(mlir.functions(known)[name])]
        assert types == [x.type for x in mlir.arguments(mlir.functions(values)[name])]
        arrays = drawn(case, types)
        with np.errstate(all="ignore"):
            try:
                expected = Evaluator(known)(name, arrays)
            except (ValueError, UnsupportedOp):
                assert m != size
                continue  # the evaluator refuses it
            results = Evaluator(values)(name, arrays)
        for x, y in zip(results, expected, strict=True):
            assert (x.dtype, x.shape) == (y.dtype, y.shape)
            assert_near(x, y, 1e-10)


def drawn(case: Case, types: Sequence[Any]) -> Arrays:
    """The operands of a case, cut or repeated to what types have, in lanes where they have them,
    and random arrays for the rest.
    """
    rng, arrays = case.rng(), []
    for i, type_ in enumerate(types):
        shape, dtype = mlir.shape_of_type(type_), mlir.dtype_of_type(type_)
        if i >= len(case.operands):
            arrays += directions(rng, [np.zeros(shape, dtype)])
            continue
        operand = case.operands[i]
        has_lanes = len(shape) > len(operand.shape)
        x = operand.lanes(rng, max(shape[0], 1), 0) if has_lanes else operand.drawn(rng)
        for d, n in enumerate(shape):
            x = np.take(x, np.arange(n) % x.shape[d], d)
        arrays.append(x)
    return arrays


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "case",
    sample([case for case in CASES if isinstance(case.subject, Op)], 20),
    ids=lambda case: f"{case.family}-{case.name}",
)
def test_all_sizes(case: Case) -> None:
    for size in sorted({n for o in case.operands for n in o.shape if n > 1}):
        for pipeline, name in pipelines(case):
            compared(case, size, pipeline, name)
