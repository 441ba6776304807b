"""The pass decompose, which replaces composites, synonyms and known custom calls by ordinary
operations.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import prod
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value, shape_of
from irax_compiler.ops.composite import decomposition_of
from irax_compiler.ops.core import Op, UnsupportedOp
from irax_compiler.ops.foreign import TARGETS, ForeignCall
from irax_compiler.ops.linalg.matrices import LibraryOp
from irax_compiler.ops.registry import read
from irax_compiler.ops.special.series import ByFormula
from irax_compiler.ops.structured import DefinedOp
from irax_compiler.ops.synonyms import MEANINGS
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.host import host_call
from irax_compiler.targets.target import NO_TARGET, find

ELIMINATIONS = ("irax.lu", "irax.solve")
MOST_ROWS, MOST_ELEMENTS = 4, 128
"""Up to these sizes elimination takes less time than a call of a library; a loop that calls none
can be one kernel."""


@register_pass
@dataclass
class Decompose(Pass):
    """Leaves no composite: each becomes a call of the function that it is made of, or of one of the
    host's where the target has a better one there. Nor does it leave a synonym, or a custom call
    that irax knows the meaning of. It may leave elementwise functions, for the pass `outline`.
    """

    name: ClassVar[str] = "decompose"
    target: str = ""
    elementwise: bool = True

    def run(self, module: Module) -> None:
        target = find(self.target) if self.target else NO_TARGET
        for operation in [o for o in nested(module.operation) if _is_defined(o)]:
            _define(operation)
        functions = mlir.functions(module)
        composites = [o for o in nested(module.operation) if o.name == "stablehlo.composite"]
        for composite in composites:
            callee = decomposition_of(composite)
            op = read(composite)
            if isinstance(op, ByFormula) and not self.elementwise:
                continue
            on_host = target.host_functions.get(op.name)
            if op.name in ELIMINATIONS and _is_small(composite.operands[0]):
                on_host = None
            if on_host is None and not functions[callee].regions[0].blocks:
                raise UnsupportedOp(f"{op.name} at {composite.location}: {_why_not(op)}")
            operands, types = list(composite.operands), [r.type for r in composite.results]
            with InsertionPoint(composite), composite.location:
                if on_host is None:
                    attributes = {"callee": mlir.symbol(callee)}
                    call = mlir.emit("func.call", operands, attributes, types)
                    results = tuple(call.results)
                else:
                    results = host_call(on_host, operands, types, **_parameters(op))
            for result, value in zip(composite.results, results, strict=True):
                result.replace_all_uses_with(value)
            composite.erase()


def _is_small(matrices: Value) -> bool:
    extents = shape_of(matrices)
    return extents[-1] <= MOST_ROWS and prod(extents) <= MOST_ELEMENTS


def _why_not(op: Op) -> str:
    if isinstance(op, LibraryOp):
        return "a library has it (LAPACK, for the CPU); this target has none"
    return "just its transpose is known (custom_vjp); it cannot be run itself"


def _parameters(op: Op) -> dict[str, Any]:
    return {f.name: int(getattr(op, f.name)) for f in fields(op)}  # pyright: ignore


def _is_defined(operation: Operation) -> bool:
    """True if an operation is a synonym, or a custom call with a definition."""
    if operation.name != ForeignCall.name:
        return operation.name in MEANINGS
    target: Any = operation.attributes["call_target_name"]
    return target.value in TARGETS


def _define(operation: Operation) -> None:
    """Puts what an operation means in its place."""
    op = read(operation)
    assert isinstance(op, DefinedOp)
    with InsertionPoint(operation), operation.location:
        results = op.define(list(operation.operands))
    for result, value in zip(operation.results, results, strict=True):
        result.replace_all_uses_with(value)
    operation.erase()
