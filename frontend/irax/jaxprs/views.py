"""Functions of StableHLO modules as jaxprs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from irax.core.array import as_array
from irax.core.avals import ShapedArray
from irax.core.module_builder import ModuleBuilder
from irax.core.source import SourceInfo
from irax.extend.application import Application
from irax.extend.primitive import Primitive
from irax.jaxprs import primitives
from irax.jaxprs.forms import FORMS, Params, form_of
from irax.jaxprs.language import SIDE_EFFECT, Atom, DropVar, Jaxpr, JaxprEqn, Literal, Var
from irax.jaxprs.names import name_of
from irax.jaxprs.primitives import takes_numbers
from irax_compiler import mlir
from irax_compiler.effects import has_effects
from irax_compiler.mlir import Block, Operation, Value
from irax_compiler.ops.composite import ComposedOp
from irax_compiler.ops.control_flow.branches import Branches, If
from irax_compiler.ops.control_flow.scan import Scan
from irax_compiler.ops.control_flow.user_primitives import RULES, UserPrimitive
from irax_compiler.ops.control_flow.while_loops import While
from irax_compiler.ops.core import Op
from irax_compiler.ops.indexing.gather_scatter import Scatter
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.ops.shape import Reshape
from irax_compiler.ops.structured import Call, StructuredOp


def jaxpr_of_function(
    builder: ModuleBuilder,
    name: str,
    consts: Sequence[Any] = (),
    weak_inputs: Sequence[bool] = (),
) -> Jaxpr:
    """Return a function of a module as a jaxpr. Its last arguments are the values `consts`."""
    function = mlir.Functions(builder.module)[name]
    return _View(builder).closed(mlir.body(function), [], consts, weak_inputs)


@dataclass
class _View:
    """The module that jaxprs are made of."""

    builder: ModuleBuilder

    @cached_property
    def _called(self) -> set[str]:
        """The functions that are called by others."""
        functions = mlir.functions(self.builder.module).values()
        return {mlir.callee(call) for function in functions for call in mlir.calls(function)}

    def is_derivative_alone(self, name: str) -> bool:
        """True for a function that a transformation made of one that nobody calls: the function
        that `grad` or `vmap` was given. JAX has its equations in the place of the call; a
        derivative of a jitted function is a jitted function.
        """
        source, _, derived = name.partition(".")
        return bool(derived) and source not in self._called

    def closed(
        self,
        block: Block,
        captured: Sequence[Value],
        consts: Sequence[Any] = (),
        weak: Sequence[bool] = (),
    ) -> Jaxpr:
        """Return the jaxpr of a block: of the values that it captures, then its arguments."""
        reading = _Reading(self, [*captured, *block.arguments], consts, weak)
        return reading.closed(block)

    def function(self, name: str) -> Jaxpr:
        """Return the jaxpr of a function that an operation names."""
        return self.closed(mlir.body(mlir.Functions(self.builder.module)[name]), [])

    def parts(self, operation: Operation, op: Op) -> tuple[Primitive, list[Value], Params]:
        """Return an operation as a primitive, its operands and its parameters."""
        operands = list(operation.operands)
        if traits_of(operation).captures:
            captured = mlir.captured(operation)
            if isinstance(op, While):
                operands = [*captured, *captured, *operands]
                return primitives.while_p, operands, self._loop_params(operation, captured)
            operands += captured
            if isinstance(op, Branches):
                return primitives.cond_p, operands, self._branch_params(operation, captured)
        match op:
            case Call(callee=callee):
                called, name = self.function(callee), callee.partition(".")[0]
                return primitives.call_p, operands, primitives.parameters_of_jit(name, called)
            case Scan():
                return primitives.scan_p, operands, self._scan_params(op)
            case UserPrimitive(rules=key):
                application: Any = RULES.get(key)
                if isinstance(application, Application):
                    return application.primitive, operands, application.params
        return self._plain_parts(operation, op, operands)

    def _loop_params(self, operation: Operation, captured: Sequence[Value]) -> Params:
        condition, body = (self.closed(r.blocks[0], captured) for r in operation.regions)
        return {
            "cond_jaxpr": condition,
            "body_jaxpr": body,
            "cond_nconsts": len(captured),
            "body_nconsts": len(captured),
        }

    def _branch_params(self, operation: Operation, captured: Sequence[Value]) -> Params:
        branches = [self.closed(r.blocks[0], captured) for r in operation.regions]
        # JAX's branches are in the order of indices, so the one for False is first.
        return {"branches": tuple(branches[::-1] if operation.name == If.name else branches)}

    def _scan_params(self, op: Scan) -> Params:
        jaxpr = self.function(op.body)
        num_rows = len(jaxpr.invars) - op.num_consts - op.num_carry
        return {
            "jaxpr": jaxpr,
            "length": op.length,
            "reverse": op.reverse,
            **primitives.groups_of_scan(
                op.num_consts, op.num_carry, num_rows, len(jaxpr.outvars) - op.num_carry
            ),
            "unroll": 1,
        }

    def _plain_parts(
        self, operation: Operation, op: Op, operands: list[Value]
    ) -> tuple[Primitive, list[Value], Params]:
        """Return the parts of an operation that holds no functions, or some that only its module
        has.
        """
        found = form_of(op, operands)
        if found is not None:
            form, name = found
            primitive = primitives.of_form(name, type(op))
            params: Params = form.params(op, operands)
            if isinstance(op, Scatter) and op.combiner != "set":
                params["update_jaxpr"] = self.closed(operation.regions[0].blocks[0], [])
            return primitive, form.operands(operands), params
        # What a form does not tell goes by the operation's own name.
        name = op.name if type(op) in FORMS else name_of(operation, op)
        if isinstance(op, StructuredOp):
            whole = primitives.InModule(self.builder, operation, operands)
            params = {"operation": whole}
            function = getattr(op, "function", None)
            if function and isinstance(op, ComposedOp):
                whole.jaxpr = self.function(function)
                params |= primitives.parameters_of_call(name, whole.jaxpr)
            return primitives.in_module(name), operands, params
        if isinstance(traits_of(operation), type) or isinstance(op, ComposedOp):
            params = {f.name: getattr(op, f.name) for f in fields(op) if f.init}  # pyright: ignore
            return primitives.of_op(name, type(op)), operands, params
        return primitives.of_op(name, op), operands, {}


class _Reading:
    """The equations of one block."""

    def __init__(
        self, view: _View, arguments: list[Value], consts: Sequence[Any], weak: Sequence[bool]
    ) -> None:
        self.view = view
        self.consts: list[Any] = list(consts)
        weak = [*weak, *[False] * (len(arguments) - len(weak))]
        given = [Var(_aval(v, w)) for v, w in zip(arguments, weak, strict=True)]
        count = len(arguments) - len(consts)
        self.invars, self.constvars = given[:count], given[count:]
        self.env: dict[Value, Atom] = dict(zip(arguments, given, strict=True))

    def closed(self, block: Block) -> Jaxpr:
        """Return the jaxpr."""
        eqns, results = self._body(block)
        acts = frozenset().union(*(eqn.effects for eqn in eqns))
        return Jaxpr(self.constvars, self.invars, results, eqns, acts, consts=self.consts)

    def _body(self, block: Block) -> tuple[list[JaxprEqn], list[Atom]]:
        """Return the equations of a block, and its results."""
        *body, last = [o.operation for o in block.operations]
        eqns = [equation for operation in body for equation in self._equations(operation)]
        return eqns, [self.env[v] for v in last.operands]

    def _equations(self, operation: Operation) -> list[JaxprEqn]:
        op = read(operation)
        if op.is_constant:
            self._constant(operation.results[0])
            return []
        if isinstance(op, Call) and self.view.is_derivative_alone(op.callee):
            return self._inlined(operation, op.callee)
        primitive, operands, params = self.view.parts(operation, op)
        line = SourceInfo(mlir.location_text(operation.location))
        before, invars = self._reshaped(op, operands, line)
        outvars = [
            (Var if mlir.num_uses(v) else DropVar)(_aval(v, False)) for v in operation.results
        ]
        self.env.update(zip(operation.results, outvars, strict=True))
        acts = frozenset({SIDE_EFFECT}) if has_effects(operation) else frozenset()
        return [*before, JaxprEqn(invars, outvars, primitive, params, acts, line)]

    def _inlined(self, operation: Operation, callee: str) -> list[JaxprEqn]:
        """Return the equations of a function in the place of a call of it."""
        block = mlir.body(mlir.Functions(self.view.builder.module)[callee])
        given = [self.env[v] for v in operation.operands]
        self.env.update(zip(block.arguments, given, strict=True))
        eqns, results = self._body(block)
        self.env.update(zip(operation.results, results, strict=True))
        return eqns

    def _reshaped(
        self, op: Op, operands: Sequence[Value], line: SourceInfo
    ) -> tuple[list[JaxprEqn], list[Atom]]:
        """Return the equations that give operands the shapes that JAX's primitive takes, and what
        the primitive is applied to.
        """
        invars = [self.env[v] for v in operands]
        form = FORMS.get(type(op))
        eqns = []
        for i, extents in form.extents(op, operands).items() if form else ():
            reshape = primitives.of_form("reshape", Reshape)
            params = {"new_sizes": extents, "dimensions": None, "sharding": None}
            outvar = Var(ShapedArray(extents, mlir.dtype_of(operands[i])))
            eqns.append(JaxprEqn([invars[i]], [outvar], reshape, params, source_info=line))
            invars[i] = outvar
        if takes_numbers(op) and any(isinstance(v, Var) for v in invars):
            invars = [v.scalar() if isinstance(v, Literal) else v for v in invars]
        return eqns, invars

    def _constant(self, value: Value) -> None:
        """A constant: a literal if its elements are all the same."""
        aval, element = _aval(value, False), mlir.splat(value)
        if element is not None:
            self.env[value] = Literal(np.full(aval.shape, element, aval.dtype)[()], aval)
            return
        definition: Any = mlir.definition(value)
        constant = Var(aval)
        self.env[value] = constant
        self.constvars.append(constant)
        self.consts.append(as_array(mlir.dense_to_numpy(definition)))


def _aval(value: Value, weak: bool) -> ShapedArray:
    return ShapedArray(mlir.shape_of(value), mlir.dtype_of(value), weak)
