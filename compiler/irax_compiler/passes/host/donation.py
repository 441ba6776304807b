"""Donated arguments: those that their caller gives up, so that a program may overwrite them.

Before the passes, `donate` marks the arguments whose memory a result can take. A pass that writes
kernels may then tie a result to such an argument: the kernel finds the argument's elements in the
memory of the result. IREE copies the argument where others still read it. After the passes,
`donation` tells the runtime which arguments are written to, and which results and arguments are the
only users of their memory, so that they may be donated themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Module, Operation, Value
from irax_compiler.passes.core import Pass, nested, register_pass, returned
from irax_compiler.passes.host.aliases import sources
from irax_compiler.passes.host.annotate import add_reflection, numbers
from irax_compiler.passes.host.donated import donated, is_donated, mark, updated, written
from irax_compiler.passes.rewriting import without_reshapes


def donate(function: Operation, given_up: Iterable[int]) -> None:
    """Mark the donated arguments that have the type of a result, one for each result."""
    arguments, free = mlir.arguments(function), mlir.result_types(function)
    taken = []
    for i in sorted(given_up):
        if arguments[i].type in free:
            free.remove(arguments[i].type)
            taken.append(i)
    mark(function, taken)


def overwritten(module: Module, name: str) -> list[int]:
    """Return the arguments that a function of a lowered module writes to."""
    return numbers(mlir.functions(module)[name], "irax.in_place")


@register_pass
class Donation(Pass):
    """Tells the runtime what becomes of donated arguments: `irax.donated` are the arguments that
    are gone after a call, `irax.in_place` those that the program writes to, `irax.own` the results
    with memory that nothing else has, also not another result or an argument, and `irax.shared` the
    arguments in whose memory a result may be.
    """

    name: ClassVar[str] = "donation"

    def run(self, module: Module) -> None:
        functions = [f for f in mlir.functions(module).values() if f.regions[0].blocks]
        for function in sorted(functions, key=mlir.is_public):  # callers after what they call
            marked = donated(function)
            arguments = mlir.arguments(function)
            over = {without_reshapes(x) for o in nested(function) for x in written(o)}
            in_place = [i for i in marked if arguments[i] in over]
            mark(function, in_place)
            if not mlir.is_public(function):
                continue
            results = returned(function)
            origins = [sources(x) for x in results]
            lists = {
                "irax.donated": marked,
                "irax.in_place": in_place,
                "irax.own": [i for i, x in enumerate(results) if _is_own(x, results, origins)],
                "irax.shared": [i for i, x in enumerate(arguments) if any(x in s for s in origins)],
            }
            add_reflection(
                function, {k: ",".join(map(str, found)) for k, found in lists.items() if found}
            )


def _is_own(x: Value, results: Sequence[Value], origins: Sequence[set[Value]]) -> bool:
    """True for what a dispatch wrote, or an update of an argument, here or in a function that is
    called, if no other result, which may be parts of these `origins`, may be in its memory.
    """
    whole = without_reshapes(x)
    source = mlir.definition(whole)
    if source is None or results.count(x) > 1:
        return False
    if source.name == "func.call":
        number = next(i for i, y in enumerate(source.results) if y == whole)
        is_fresh = _is_own_of_call(source, number)
    else:
        is_fresh = source.name == "flow.dispatch" or any(map(is_donated, updated(source)))
    return is_fresh and not any(whole in s for y, s in zip(results, origins, strict=True) if y != x)


def _is_own_of_call(call: Operation, number: int) -> bool:
    """True for such a result of a function that stays one. IREE may make one dispatch of equal ones
    of functions that it inlines, or of equal operands.
    """
    callee = mlir.function_beside(call, mlir.callee(call))
    operands = list(call.operands)
    if mlir.NOT_INLINED.keys().isdisjoint(callee.attributes) or len({*operands}) < len(operands):
        return False
    results = returned(callee)
    return _is_own(results[number], results, [sources(y) for y in results])
