"""Linearization: splits @f's derivative into @f.fwd, which computes results and residuals, and
@f.lin, which is linear in the tangents.

The derivative is first built as `jvp` does, in one function. Then each operation goes to @f.lin if
it depends on a tangent, and to @f.fwd otherwise. The values of @f.fwd that @f.lin uses are the
residuals, or follow from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from irax_compiler import effects, mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.ops.core import Op, Tangent, UnsupportedOp
from irax_compiler.ops.derived import Linearized
from irax_compiler.ops.structured import call_function, inlined
from irax_compiler.passes.core import Pass, inputs, publish, register_pass, returned
from irax_compiler.passes.derive.jvp import DifferentiationDeriver, JvpDeriver
from irax_compiler.passes.derive.linearity import Dependents
from irax_compiler.passes.derive.loop_bounds import note_bounds
from irax_compiler.passes.derive.separation import Separation, split


@register_pass
@dataclass
class Linearize(Pass):
    """Adds @f.fwd, which takes the arguments of @f and returns its results and the residuals, and
    @f.lin, which takes the residuals and tangents of the arguments in `wrt` and returns the
    tangents of the results that can have one; @f.lin is linear in the tangents.
    """

    name: ClassVar[str] = "linearize"
    func: str = "main"
    wrt: tuple[int, ...] | None = None

    def run(self, module: Module) -> None:
        linearized = derive_linearized(module, self.func, self.wrt)
        publish(module, linearized.name, linearized.linear)


def derive_linearized(
    module: Module,
    func: str = "main",
    wrt: Sequence[int] | None = None,
    results: Sequence[bool] | None = None,
    pushes: bool = False,
) -> Linearized:
    """Add the two parts of a linearized function to its module, as private functions.

    Args:
        module: the module.
        func: the function's name.
        wrt: the arguments that have a tangent; by default all those of inexact types.
        results: for each result, True if its tangent is wanted; by default all of inexact types.
        pushes: the linear part is to run, not to be transposed: of functions that have rules for
            both modes, those for forward mode count.
    """
    deriver = _PushDeriver if pushes else LinearizeDeriver
    return deriver.derived(module, func, wrt, results)


class LinearizeDeriver(DifferentiationDeriver[Linearized]):
    """Derives @f.fwd and @f.lin."""

    pushes: bool = False

    def __init__(self, module: Module, outputs: Mapping[str, Sequence[bool]] | None = None) -> None:
        super().__init__(module, outputs)
        self._splits: dict[str, Linearized] = {}

    def derive(self, source: Operation, pattern: tuple[Any, ...]) -> Linearized:
        name = mlir.function_name(source)
        note_bounds(source, self.functions)
        joint, results, tangents = self.differentiated(source, pattern, f"{name}.lin.joint")
        return self._split(joint, name, pattern, results, tangents)

    def ask(
        self, op: Op, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        return op.linearize(self, primals, tangents)

    def call_rule(
        self, name: str, primals: Sequence[Value], tangents: Sequence[Value], num_results: int
    ) -> tuple[Sequence[Value], Sequence[Value]]:
        parts = self._parts_of_rule(name, len(primals), num_results)
        found = call_function(self.functions, parts.name, primals)
        results, residuals = found[:num_results], found[num_results:]
        return results, call_function(self.functions, parts.linear, [*residuals, *tangents])

    def _parts_of_rule(self, name: str, num_primals: int, num_results: int) -> Linearized:
        """Split a function of primals and tangents into the part that does not depend on tangents
        and the part that does.
        """
        if name not in self._splits:
            source = self.functions[name]
            types = [a.type for a in mlir.arguments(source)]
            joint = self.new_function(f"{name}.joint", types, source.location)
            with InsertionPoint(mlir.body(joint)):
                values = inlined(self.functions, name, mlir.arguments(joint))
            mlir.finish_function(joint, values)
            effects.remove_dead_operations(mlir.body(joint))
            results, tangents = values[:num_results], values[num_results:]
            active = (False,) * num_primals
            self._splits[name] = self._split(joint, name, active, results, tangents)
        return self._splits[name]

    def in_forward_mode(
        self, operation: Operation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        operands = inputs(operation)

        def again(*values: Value) -> Sequence[Value]:
            return mlir.clone_on(operation, values)

        name = operation.name.partition(".")[2]
        name = self.build_function(name, [v.type for v in operands], again)
        return again(*primals), self.forward_tangents(name, primals, tangents)

    def forward_tangents(
        self, name: str, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> Sequence[Tangent]:
        deriver = JvpDeriver(self.module)
        found = deriver.forward_tangents(name, primals, tangents)
        self.has_lost = self.has_lost or deriver.has_lost
        self.refresh()
        return found

    def _split(
        self,
        joint: Operation,
        name: str,
        active: Sequence[bool],
        results: Sequence[Value],
        tangents: Sequence[Tangent],
    ) -> Linearized:
        given = mlir.arguments(joint)[len(active) :]
        if any(v in Dependents(mlir.body(joint), given).values for v in results):
            # A rule may compute both in one loop or branch.
            joint = self._apart(joint, len(active), name)
            values = iter(returned(joint))
            results = [next(values) for _ in results]
            tangents = [None if t is None else next(values) for t in tangents]
            given = mlir.arguments(joint)[len(active) :]
            if any(v in Dependents(mlir.body(joint), given).values for v in results):
                raise UnsupportedOp(
                    f"@{name}: its rule computes results from tangents: compute them from the "
                    "arguments alone"
                )
        parts = f"{name}.fwd", f"{name}.lin"
        return split(self, joint, name, parts, active, results, tangents)

    def _apart(self, joint: Operation, num_primals: int, name: str) -> Operation:
        """Return a function in whose place operations do not compute results and tangents."""
        flags = [i >= num_primals for i in range(len(mlir.arguments(joint)))]
        found = Separation(self.module).apart(joint, flags, mlir.function_name(joint))
        self.refresh()
        del self.functions[mlir.function_name(joint)]
        joint.erase()
        return found


class _PushDeriver(LinearizeDeriver):
    """Derives @f.lin to run it."""

    pushes = True
