"""Donated arguments: those that their caller gives up, so that a program may overwrite them.

Before the passes, `donate` marks the arguments whose memory a result can take. A pass that writes
kernels may then tie a result to such an argument: the kernel finds the argument's elements in the
memory of the result. IREE copies the argument where others still read it. After the passes,
`donation` tells the runtime which arguments are written to, and which results and arguments are the
only users of their memory, so that they may be donated themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Module, Operation, Value
from irax_compiler.ops.core import Memory
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.annotate import add_reflection
from irax_compiler.passes.core import Pass, nested, register_pass, returned
from irax_compiler.passes.donated import CONSUMED, donated, is_donated
from irax_compiler.passes.on_demand import MANY_ARRAYS
from irax_compiler.passes.rewriting import without_reshapes

_TIED = "tied_operands"
"""The attribute of a dispatch that has the number of an operand for each result, or -1."""


def donate(function: Operation, given_up: Iterable[int]) -> None:
    """Mark the donated arguments that have the type of a result, one for each result. Functions
    that will be divided into parts get no marks.
    """
    arguments, free = mlir.arguments(function), mlir.result_types(function)
    if len(arguments) + len(free) > MANY_ARRAYS:
        return
    taken = []
    for i in sorted(given_up):
        if arguments[i].type in free:
            free.remove(arguments[i].type)
            taken.append(i)
    _mark(function, taken)


def overwritten(module: Module, name: str) -> list[int]:
    """Return the arguments that a function of a lowered module writes to."""
    return donated(mlir.functions(module)[name])


@register_pass
class Donation(Pass):
    """Tells the runtime what becomes of donated arguments: `irax.donated` are the arguments that
    are gone after a call, `irax.in_place` those that the program writes to, `irax.own` the results
    with memory that nothing else has, also not another result or an argument, and `irax.shared` the
    arguments in whose memory a result may be.
    """

    name: ClassVar[str] = "donation"

    def run(self, module: Module) -> None:
        for function in mlir.functions(module).values():
            if not mlir.is_public(function):
                continue
            marked = donated(function)
            arguments = mlir.arguments(function)
            written = {without_reshapes(x) for o in nested(function) for x in _written(o)}
            in_place = [i for i in marked if arguments[i] in written]
            _mark(function, in_place)
            results = returned(function)
            sources = [_sources(x) for x in results]
            numbers = {
                "irax.donated": marked,
                "irax.in_place": in_place,
                "irax.own": [i for i, x in enumerate(results) if _is_own(x, results, sources)],
                "irax.shared": [i for i, x in enumerate(arguments) if any(x in s for s in sources)],
            }
            add_reflection(
                function, {k: ",".join(map(str, found)) for k, found in numbers.items() if found}
            )


def _is_own(x: Value, results: Sequence[Value], sources: Sequence[set[Value]]) -> bool:
    """True for what a dispatch wrote, or an update of an argument, if no other result, which may be
    these `sources`, may be in its memory.
    """
    whole = without_reshapes(x)
    source = mlir.definition(whole)
    if source is None or results.count(x) > 1:
        return False
    if source.name != "flow.dispatch" and not any(map(is_donated, _updated(source))):
        return False
    return not any(whole in s for y, s in zip(results, sources, strict=True) if y != x)


def _sources(result: Value) -> set[Value]:
    """Return the values that a result may be, or be a part of, in another form."""
    found: set[Value] = set()
    pending = [result]
    while pending:
        value = pending.pop()
        if value in found:
            continue
        found.add(value)
        source = mlir.definition(value)
        if source is None or source.name == "flow.dispatch":
            continue
        if traits_of(source).memory is not Memory.FRESH:
            pending += [x for inner in (source, *nested(source)) for x in inner.operands]
    return found


def _updated(operation: Operation) -> list[Value]:
    """Return the operands of an operation that IREE updates in place: one for each result."""
    updates = traits_of(operation).updates
    return list(operation.operands)[: len(operation.results)] if updates else []


def _written(operation: Operation) -> list[Value]:
    """Return the operands that results are written over."""
    if operation.name != "flow.dispatch":
        return _updated(operation)
    if _TIED not in operation.attributes:
        return []
    ties: Any = operation.attributes[_TIED]
    return [operation.operands[tie.value] for tie in ties if tie.value >= 0]


def _mark(function: Operation, numbers: Sequence[int]) -> None:
    """Give these arguments the mark, and take it from others."""
    if not numbers and not donated(function):
        return
    count = len(mlir.arguments(function))
    old: Any = (
        function.attributes["arg_attrs"] if "arg_attrs" in function.attributes else [{}] * count
    )
    kept = [{e.name: e.attr for e in entries if e.name != CONSUMED} for entries in old]
    for i in numbers:
        kept[i][CONSUMED] = mlir.parse_attribute("unit")
    function.attributes["arg_attrs"] = mlir.array([mlir.dictionary(x) for x in kept])
