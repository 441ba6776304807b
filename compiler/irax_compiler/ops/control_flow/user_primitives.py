"""The op irax.primitive: an operation of the user's own, with rules that are Python functions.

In the IR it is a composite, and an attribute names the rules, which belong to the process that
traced it. A transformation that meets the operation runs the rule that it needs. The decomposition
is the lowering: a function without a body until `write_lowerings` runs the rule that gives one, in
a module that is compiled or leaves the process. An operation without a lowering can be transformed
and evaluated, but not compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn, Protocol
from weakref import WeakValueDictionary

import numpy as np

from irax_compiler.effects import PRIMITIVE
from irax_compiler.mlir import Module, Value
from irax_compiler.ops.attributes import STRING, attribute, from_operation
from irax_compiler.ops.composite import decomposition_of, register_composed
from irax_compiler.ops.control_flow.custom_rules import RuledOp
from irax_compiler.ops.control_flow.deferred_rules import users_code
from irax_compiler.ops.core import Axis, Linear, Tangent, UnsupportedOp
from irax_compiler.ops.structured import call_function, scatter
from irax_compiler.ops.transformation import (
    Batching,
    Dependence,
    Differentiation,
    Evaluation,
    Transformation,
    Transposition,
)


class PrimitiveRules(Protocol):
    """The rules of one application of a primitive. Those of transformations add a function to the
    open module, and return its name and which results it has.
    """

    def jvp(self, perturbed: Sequence[bool]) -> tuple[str, Sequence[bool]]:
        """Add a function of the operands and the tangents that there are, to the results and the
        tangents of those that are marked.
        """
        ...

    def transpose(
        self, linear: Sequence[bool], present: Sequence[bool]
    ) -> tuple[str, Sequence[bool]]:
        """Add a function of the operands that are not linear and the cotangents that there are, to
        the cotangents of the operands that are marked.
        """
        ...

    def batch(self, size: int, axis_name: str, axes: Sequence[Axis]) -> tuple[str, Sequence[Axis]]:
        """Add a function of operands with mapped axes; return its results' axes."""
        ...

    def evaluate(self, operands: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        """The results for concrete operands."""
        ...

    def lowered(self, module: Module) -> str | None:
        """Add the lowering to a module, and return its name; None if there is none that runs."""
        ...

    def refuse(self) -> NoReturn:
        """Raise the error for a program that has no lowering to run."""
        ...


RULES: WeakValueDictionary[str, PrimitiveRules] = WeakValueDictionary()
"""The rules by the names that the IR has for them."""


@register_composed
@dataclass(frozen=True)
class UserPrimitive(RuledOp):
    """An application of a primitive of the user's; its operands are numbered as its rules know
    them.
    """

    name = PRIMITIVE
    function: str = from_operation(decomposition_of)
    primitive: str = attribute(STRING)
    """The name that its errors have for it."""
    rules: str = attribute(STRING)

    @property
    def rule_names(self) -> tuple[str, ...]:
        return ()

    def dependent_results(self, dependence: Dependence, flags: Sequence[bool]) -> None:
        return None

    def ask(self, what: str) -> PrimitiveRules:
        """Return the rules; `what` is done with them.

        Raises:
            UnsupportedOp: they belong to another process.
        """
        found = RULES.get(self.rules)
        if found is None:
            raise UnsupportedOp(
                f"{self.primitive}: its rules are Python functions of the process that traced it: "
                f"{what} there"
            )
        return found

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Sequence[np.ndarray]:
        rules = RULES.get(self.rules)
        return call(self.function, operands) if rules is None else rules.evaluate(operands)

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        rules = self.ask("differentiate")
        with users_code():
            name, moving = rules.jvp([t is not None for t in tangents])
        transform.refresh()
        given = [t for t in tangents if t is not None]
        results, found = transform.call_rule(name, primals, given, len(moving))
        return results, scatter(found, moving)

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        linear = [isinstance(x, Linear) for x in operands]
        present = [ct is not None for ct in cotangents]
        rules = self.ask("transpose")
        with users_code():
            name, moving = rules.transpose(linear, present)
        known = [x for x in operands if not isinstance(x, Linear)]
        given = [ct for ct in cotangents if ct is not None]
        return scatter(_called(transform, name, [*known, *given]), moving)

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        rules = self.ask("batch")
        with users_code():
            name, found = rules.batch(transform.size, transform.axis_name, tuple(axes))
        return _called(transform, name, operands), found


def _called(transform: Transformation, name: str, operands: Sequence[Value]) -> Sequence[Value]:
    transform.refresh()
    return call_function(transform.functions, name, operands)
