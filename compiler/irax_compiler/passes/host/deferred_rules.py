"""Rules of functions written into the module that calls them, before it leaves the process."""

from __future__ import annotations

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, is_inexact
from irax_compiler.ops.composite import Composite
from irax_compiler.ops.control_flow.deferred_rules import RULES, Deferred
from irax_compiler.ops.registry import read
from irax_compiler.ops.structured import inlined


def write_rules(module: Module) -> None:
    """Has the rules of all functions that are called with some run, and names them in the module.

    Calls whose rules raise, or are recursive, stay as they are: other processes run them, and
    refuse to differentiate them.
    """
    written: dict[str, str | None] = {}
    seen: set[str] = set()
    while pending := {n: f for n, f in mlir.functions(module).items() if n not in seen}:
        seen.update(pending)
        for function in pending.values():
            for operation in mlir.references(function):
                _write(operation, written)
    functions = mlir.functions(module)
    for name in written.values():
        if name is not None:  # it stands where the calls were
            functions[name].erase()


def _write(operation: Operation, written: dict[str, str | None]) -> None:
    op = read(operation) if operation.name == Composite.name else None
    if not isinstance(op, Deferred):
        return
    operands = list(operation.operands)
    with InsertionPoint(operation), operation.location:
        if op.rules not in written:
            written[op.rules] = _written_out(op, [is_inexact(x) for x in operands[: op.num_args]])
        name = written[op.rules]
        if name is None:
            return
        results = inlined(mlir.Functions(mlir.open_module()), name, operands)
    mlir.replace(operation, results)


def _written_out(op: Deferred, inexact: list[bool]) -> str | None:
    rules = RULES.get(op.rules)
    if rules is None or rules.is_recursive:
        return None
    try:
        return op.written_out(inexact)
    except Exception:  # of the user's, who does not differentiate now
        return None
