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
from irax_compiler.passes.core import (
    Pass,
    inputs,
    publish,
    register_pass,
)
from irax_compiler.passes.jvp import (
    DifferentiationDeriver,
    JvpDeriver,
)
from irax_compiler.passes.linearity import Dependents
from irax_compiler.passes.residuals import Residuals


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
) -> Linearized:
    """Add the two parts of a linearized function to its module, as private functions.

    Args:
        module: the module.
        func: the function's name.
        wrt: the arguments that have a tangent; by default all those of inexact types.
        results: for each result, True if its tangent is wanted; by default all of inexact types.
    """
    return LinearizeDeriver.derived(module, func, wrt, results)


class LinearizeDeriver(DifferentiationDeriver[Linearized]):
    """Derives @f.fwd and @f.lin."""

    def __init__(self, module: Module, outputs: Mapping[str, Sequence[bool]] | None = None) -> None:
        super().__init__(module, outputs)
        self._splits: dict[str, Linearized] = {}

    def derive(self, source: Operation, pattern: tuple[Any, ...]) -> Linearized:
        name = mlir.function_name(source)
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
            return mlir.clone(operation, dict(zip(operands, values, strict=True)))

        name = operation.name.partition(".")[2]
        name = self.build_function(name, [v.type for v in operands], again)
        return again(*primals), self.forward_tangents(name, primals, tangents)

    def forward_tangents(
        self, name: str, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> Sequence[Tangent]:
        found = JvpDeriver(self.module).forward_tangents(name, primals, tangents)
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
        given = mlir.arguments(joint)
        primal_inputs, tangent_inputs = given[: len(active)], given[len(active) :]
        moving = Dependents(mlir.body(joint), tangent_inputs)
        if any(v in moving.values for v in results):
            raise UnsupportedOp(
                f"@{name}: its rule computes results and tangents in one loop or branch, which "
                "has no reverse mode: compute them apart"
            )
        outputs = [t for t in tangents if t is not None]
        residuals = Residuals(moving, outputs)
        saved = residuals.saved
        location, linear_operations = joint.location, [*residuals.recomputed, *moving.operations]
        forward = self._part(
            f"{name}.fwd", location, primal_inputs, moving.others, [*results, *saved]
        )
        linear = self._part(
            f"{name}.lin", location, [*saved, *tangent_inputs], linear_operations, outputs
        )
        effects.remove_dead_operations(mlir.body(self.functions[forward]))
        numbers: dict[Value, Any] = {x: i for i, x in enumerate(primal_inputs)}
        split = Linearized(
            forward,
            tuple(active),
            tuple(t is not None for t in tangents),
            linear,
            tuple(numbers.get(x, x.type) for x in saved),
        )
        del self.functions[mlir.function_name(joint)]
        joint.erase()
        return split

    def _part(
        self,
        name: str,
        location: Any,
        given: Sequence[Value],
        operations: Sequence[Operation],
        results: Sequence[Value],
    ) -> str:
        """The name of a new function of some values, of copies of some operations."""

        def build(*arguments: Value) -> Sequence[Value]:
            env = dict(zip(given, arguments, strict=True))
            mlir.clone_all(operations, env)
            return [env[v] for v in results]

        with location:
            return self.build_function(name, [v.type for v in given], build)
