"""The pass decompose, which replaces composites, synonyms and known custom calls by ordinary
operations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import prod
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.determinism import is_marked
from irax_compiler.effects import remove_dead_primitives
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value, shape_of
from irax_compiler.ops.composite import Composite, decomposition_of
from irax_compiler.ops.control_flow.user_primitives import UserPrimitive
from irax_compiler.ops.core import Op, UnsupportedOp
from irax_compiler.ops.foreign import TARGETS, ForeignCall
from irax_compiler.ops.linalg import small_systems
from irax_compiler.ops.linalg.lu import Solve
from irax_compiler.ops.linalg.matrices import LibraryOp
from irax_compiler.ops.registry import read
from irax_compiler.ops.special.series import ByFormula
from irax_compiler.ops.structured import DefinedOp, call_function
from irax_compiler.ops.synonyms import MEANINGS
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.host.host import host_call
from irax_compiler.passes.host.user_lowerings import write_lowerings
from irax_compiler.passes.legalize.target import NO_TARGET, find
from irax_compiler.sizes import at_least

ELIMINATIONS = ("irax.lu", "irax.solve")
MOST_ROWS, MOST_ELEMENTS = 8, 128
"""The largest sizes for which elimination in the program is faster than a call of a library; a loop
without such calls can be a single kernel."""


@register_pass
@dataclass
class Decompose(Pass):
    """Replaces composites by calls of their decompositions, or of host functions where the target
    has faster ones; and synonyms and known custom calls by their definitions. May keep elementwise
    functions, for the pass `outline`.
    """

    name: ClassVar[str] = "decompose"
    target: str = ""
    elementwise: bool = True

    def run(self, module: Module) -> None:
        remove_dead_primitives(list(nested(module.operation)))
        write_lowerings(module)
        operations = list(nested(module.operation))
        defined = [o for o in operations if _is_defined(o)]
        for operation in defined:
            mlir.replace(operation, _definition(operation))
        if defined:  # of which some are made of composites
            operations = list(nested(module.operation))
        functions = mlir.functions(module)
        # How many matrices there are must not matter in marked functions: LAPACK factors each.
        is_free = not is_marked(module.operation)
        for operation in operations:
            if operation.name == Composite.name and not self._is_kept(operation):
                mlir.replace(operation, self._called(operation, functions, is_free))

    def _is_kept(self, composite: Operation) -> bool:
        return not self.elementwise and isinstance(read(composite), ByFormula)

    def _called(
        self, composite: Operation, functions: Mapping[str, Operation], is_free: bool
    ) -> Sequence[Value]:
        """Build a call in place of a composite; small matrices need no library if it `is_free`."""
        op, callee = read(composite), decomposition_of(composite)
        target = find(self.target) if self.target else NO_TARGET
        on_host = target.host_functions.get(op.name)
        if is_free and op.name in ELIMINATIONS and _is_small(composite.operands[0]):
            on_host = None
        if on_host is None and not functions[callee].regions[0].blocks:
            raise UnsupportedOp(f"{op.name} at {composite.location}: {_why_not(op)}")
        operands = list(composite.operands)
        with InsertionPoint(composite), composite.location:
            is_solve = on_host is not None and op.name == Solve.name
            if is_free and is_solve and small_systems.is_known(*operands):
                return [small_systems.solved(*operands)]
            if on_host is None:
                return call_function(functions, callee, operands)
            types = [r.type for r in composite.results]
            given: Any = op
            parameters: dict[str, Any] = {f.name: int(getattr(op, f.name)) for f in fields(given)}
            return host_call(on_host, operands, types, **parameters)


def _is_small(matrices: Value) -> bool:
    extents = shape_of(matrices)
    return at_least(MOST_ROWS, extents[-1]) and at_least(MOST_ELEMENTS, prod(extents))


def _why_not(op: Op) -> str:
    if isinstance(op, LibraryOp):
        return "a library has it (LAPACK, for the CPU); this target has none"
    if isinstance(op, UserPrimitive):
        op.ask("compile").refuse()
    return "just its transpose is known (custom_vjp); it cannot be run itself"


def _is_defined(operation: Operation) -> bool:
    """True if an operation is a synonym, or a custom call with a definition."""
    if operation.name != ForeignCall.name:
        return operation.name in MEANINGS
    target: Any = operation.attributes["call_target_name"]
    return target.value in TARGETS


def _definition(operation: Operation) -> Sequence[Value]:
    """Build the definition of an operation."""
    op = read(operation)
    assert isinstance(op, DefinedOp)
    with InsertionPoint(operation), operation.location:
        return op.define(list(operation.operands))
