"""The passes loops and rows, which rewrite loops into forms that IREE runs fast."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from irax_compiler import mlir
from irax_compiler.effects import has_effects, remove_dead_operations
from irax_compiler.importing import deferred
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value
from irax_compiler.ops import barrier, parts
from irax_compiler.ops.formulas import HAS_LOOP, definition, has_loop, inlined, is_formula
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.kernels.loops.fusion import WORTHWHILE

if TYPE_CHECKING:
    from irax_compiler.passes.kernels.loops import (
        blocks,
        clusters,
        factors,
        interrupt_checks,
        kernels,
        rows,
    )
else:
    blocks, clusters, factors = deferred(__package__, "blocks", "clusters", "factors")
    kernels, interrupt_checks, rows = deferred(__package__, "kernels", "interrupt_checks", "rows")


@register_pass
class Loops(Pass):
    """Makes single kernels of loops, and of clusters of operations on few elements. Loops remain
    whose steps are too much work for one core, or which a kernel cannot run.
    """

    name: ClassVar[str] = "loops"

    def run(self, module: Module) -> None:
        operations = list(nested(module.operation))
        if len(operations) < WORTHWHILE and not any(
            _is_loop(o) or is_formula(o) for o in operations
        ):
            return
        called = {_name(o) for o in operations if is_formula(o)}
        functions = mlir.functions(module)
        formulas = [f for name, f in functions.items() if name in called]
        others = [f for name, f in functions.items() if name not in called]
        unknown: set[str] = set()
        for function in sorted(formulas, key=lambda f: any(_calls(f))):  # that call none first
            _simplify(function)
            _write_out(call for call in _calls(function) if _name(call) in unknown)
            if any(map(_is_loop, nested(function))) or any(map(has_loop, _calls(function))):
                function.attributes[HAS_LOOP] = mlir.parse_attribute("unit")
            if not all(map(_is_of_scalars, nested(function))):
                unknown.add(mlir.function_name(function))
        for function in others:
            _write_out(call for call in _calls(function) if _name(call) in unknown)
            for block in function.regions[0]:
                _rewrite(block)
        left = {_name(call) for function in others for call in _calls(function)}
        for function in (*(f for f in formulas if mlir.function_name(f) in left), *others):
            _write_out(_calls(function))
        for function in formulas:
            function.erase()
        interrupt_checks.record(module)


def _is_loop(operation: Operation) -> bool:
    return operation.name == "stablehlo.while"


def _name(call: Operation) -> str:
    """Return the name of the formula that a call calls."""
    return mlir.function_name(definition(call))


def _calls(function: Operation) -> Iterator[Operation]:
    return (o for o in nested(function) if is_formula(o))


def _is_of_scalars(operation: Operation) -> bool:
    """Return True for an operation of a formula that can be done for several elements together."""
    return blocks.is_known(operation) and not blocks.is_indexed(operation)


def _simplify(formula: Operation) -> None:
    """Remove from a formula barriers and complex numbers, which only arrays need."""
    known: parts.Parts = {}
    for operation in list(nested(formula)):
        with InsertionPoint(operation), operation.location:
            if operation.name == barrier.barrier.name:
                simpler = list(operation.operands)
            elif parts.has_rule(operation):
                simpler = [parts.by_parts(operation, known)]
            else:
                continue
        for old, new in zip(operation.results, simpler, strict=True):
            old.replace_all_uses_with(new)
    remove_dead_operations(mlir.body(formula))


def _write_out(calls: Iterable[Operation]) -> None:
    """Inline calls of formulas."""
    for call in list(calls):
        with InsertionPoint(call), call.location:
            results = inlined(call)
        mlir.replace(call, results)


def _rewrite(block: Block) -> None:
    """Rewrite outer loops first, since a nested loop may belong into the same kernel."""
    clusters.gather_in_kernels(block)
    for view in list(block.operations):
        operation = view.operation
        if not traits_of(operation).captures:
            continue
        if not _is_loop(operation) or not _replaced(operation, kernels.as_kernel):
            for region in operation.regions:
                for inner in region:
                    _rewrite(inner)


@register_pass
class LowerCountedLoops(Pass):
    """Lets counted loops that stack rows write them in place, and read the matrices that they
    multiply with vectors by rows.
    """

    name: ClassVar[str] = "lower-counted-loops"

    def run(self, module: Module) -> None:
        for function in mlir.functions(module).values():
            for block in function.regions[0]:
                _write_in_place(block)


def _write_in_place(block: Block) -> None:
    for view in list(block.operations):
        operation = view.operation
        if not traits_of(operation).captures:
            continue
        for region in operation.regions:
            for inner in region:
                _write_in_place(inner)
        # What comes before and after a callback that acts IREE runs apart, and then does not find
        # the buffers of rows.
        if _is_loop(operation) and not has_effects(operation):
            factors.transpose_factors(operation)
            _replaced(operation, _parted)


def _replaced(loop: Operation, rewrite: Callable[[Operation], Sequence[Value] | None]) -> bool:
    with InsertionPoint(loop), loop.location:
        results = rewrite(loop)
    if results is None:
        return False
    mlir.replace(loop, results)
    return True


def _parted(loop: Operation) -> Sequence[Value] | None:
    results = rows.with_rows(loop)
    if results is not None:
        _part(loop)
    return results


def _part(loop: Operation) -> None:
    """Put barriers between the operations after a loop and those before it.

    IREE fuses what is after with what is before, and to that end moves the loop up, above what its
    body uses.
    """
    operations = [view.operation for view in loop.block.operations]
    place = operations.index(loop)
    before = {x for operation in operations[:place] for x in operation.results}
    parted: dict[Value, Value] = {}
    for operation in operations[place + 1 :]:
        for i, x in enumerate(operation.operands):
            if x in before and not _is_constant(x):
                if x not in parted:
                    (parted[x],) = barrier.barrier.build([x])
                operation.operands[i] = parted[x]


def _is_constant(x: Value) -> bool:
    source = mlir.definition(x)
    return source is not None and source.name == "stablehlo.constant"
