"""Lowerings of the user's primitives, written into a module before it is compiled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from irax_compiler import mlir
from irax_compiler.mlir import Module, Operation
from irax_compiler.ops.composite import Composite, decomposition_of
from irax_compiler.ops.control_flow.user_primitives import RULES, UserPrimitive
from irax_compiler.ops.registry import read


def write_lowerings(module: Module, func: str | None = None) -> None:
    """Has the lowerings of the user's primitives run, each once, and makes them decompositions: of
    those that the function `func` needs, or of all in the module.

    Lowerings that fail leave a decomposition without a body: the program cannot be compiled.
    """
    written: dict[str, str | None] = {}
    functions = mlir.Functions(module)
    pending = list(functions) if func is None else [func]
    seen = set(pending)
    while pending:
        function = functions[pending.pop()]
        for operation, key in _without_lowering(function, functions):
            if key not in written:
                written[key] = RULES[key].lowered(module)
            name = written[key]
            if name is not None:
                operation.attributes["decomposition"] = mlir.symbol(name)
        used = dict.fromkeys(n for o in mlir.references(function) for n in mlir.named_functions(o))
        pending += [name for name in used if name not in seen]
        seen.update(used)


def _without_lowering(
    function: Operation, functions: Mapping[str, Operation]
) -> Iterator[tuple[Operation, str]]:
    """Return the primitives in a function whose lowerings are not written yet, with the keys of
    their rules.
    """
    for operation in mlir.references(function):
        if operation.name != Composite.name or _has_body(functions[decomposition_of(operation)]):
            continue
        op = read(operation)
        if isinstance(op, UserPrimitive) and op.rules in RULES:
            yield operation, op.rules


def _has_body(function: Operation) -> bool:
    return len(function.regions[0].blocks) > 0
