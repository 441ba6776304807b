"""Applications of primitives in programs: the rules, as the compiler asks for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from irax.core import source
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.avals import ShapedArray
from irax.core.tracing import Input, outside_traces, trace_function
from irax.extend import rules
from irax.extend.zeros import UndefinedPrimal, Zero
from irax_compiler import mlir
from irax_compiler.ops import shape
from irax_compiler.ops.control_flow.user_primitives import RULES
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.structured import call_function


@dataclass(frozen=True)
class AxisData:
    """The mapped axis of a batching rule."""

    name: Any
    size: int
    spmd_name: Any = None
    explicit_mesh_axis: Any = None


class Application:
    """A primitive, with parameters and for operands of given types, in a program."""

    def __init__(self, primitive: Any, params: dict[str, Any], avals: list[ShapedArray]) -> None:
        self.primitive: Any = primitive
        self.params: dict[str, Any] = params
        self.avals: list[ShapedArray] = avals
        self.effects: set[Any] = set()
        self.results: list[ShapedArray] = self._result_types()
        self.key: str = f"{primitive.name}#{id(self)}"
        self._kept: list[Any] = []
        self._failure: Exception | None = None
        RULES[self.key] = self

    def _result_types(self) -> list[ShapedArray]:
        abstract_eval = self.primitive.abstract_eval
        if abstract_eval is None:
            raise NotImplementedError(
                f"Abstract evaluation for '{self.primitive.name}' not implemented: give the "
                "primitive a function of types with def_abstract_eval"
            )
        found, self.effects = abstract_eval(*self.avals, **self.params)
        avals = list(found) if self.primitive.multiple_results else [found]
        return [ShapedArray(a.shape, a.dtype, getattr(a, "weak_type", False)) for a in avals]

    def _listed(self, results: Any) -> list[Any]:
        return list(results) if self.primitive.multiple_results else [results]

    # -- the lowering --

    def decomposition(self, module: mlir.Module) -> str:
        """The name of the lowering as a function of a module. It has no body until a program with
        the operation is compiled, but effects are looked for in it.
        """
        if self.effects:
            lowered = self.lowered(module)
            if lowered is not None:
                return lowered
        inputs, results = ([_type(a) for a in avals] for avals in (self.avals, self.results))
        with source.user_location():
            unique = mlir.unique_name(module, self._name())
            mlir.declare_function(module, unique, inputs, results)
        return unique

    def _name(self) -> str:
        return self.primitive.name.replace("<", "").replace(">", "")

    def lowered(self, module: mlir.Module) -> str | None:
        """Run the lowering, and return its name as a function of a module; None if it fails."""
        function: rules.Rule = rules.lowerings.get(self.primitive) or self.primitive.impl

        def lowering(*operands: Array) -> list[Array]:
            return self._arrays(self._listed(function(*operands, **self.params)))

        try:
            return self._traced(lowering, self.avals, module, self._name())
        except Exception as error:
            self._failure = error.with_traceback(None)  # whose frames hold traced arrays
        return None

    def refuse(self) -> NoReturn:
        """Raise the error for a program that has no lowering to run."""
        assert self._failure is not None
        if self.primitive in rules.lowerings:
            raise self._failure
        raise NotImplementedError(
            f"MLIR translation rule for primitive '{self.primitive.name}' not found, and its "
            "implementation cannot be traced: give the primitive a function of irax's operations "
            "with mlir.register_lowering"
        ) from self._failure

    def evaluate(self, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The results for concrete operands, by the implementation."""
        with outside_traces():
            arrays = [
                ConcreteArray(np.asarray(x), a.weak_type)
                for x, a in zip(operands, self.avals, strict=True)
            ]
            found = self._listed(self.primitive.impl(*arrays, **self.params))
            return [np.asarray(x) for x in self._arrays(found)]

    # -- the rules of transformations --

    def jvp(self, perturbed: Sequence[bool]) -> tuple[str, list[bool]]:
        """Add the derivative for the operands that have a tangent."""
        rule = self._rule(rules.jvp_rules, "Differentiation")
        moving: list[bool] = []

        def derivative(*given: Array) -> list[Array]:
            primals, rest = given[: len(perturbed)], iter(given[len(perturbed) :])
            tangents = [
                next(rest) if p else Zero(a.to_tangent_aval())
                for p, a in zip(perturbed, self.avals, strict=True)
            ]
            results, found = rule(list(primals), tangents, **self.params)
            moved = self._listed(found)
            moving[:] = [_moves(t, a) for t, a in zip(moved, self.results, strict=True)]
            present = [t for t, is_moving in zip(moved, moving, strict=True) if is_moving]
            return self._arrays([*self._listed(results), *present])

        active = [a.to_tangent_aval() for a, p in zip(self.avals, perturbed, strict=True) if p]
        name = self._traced(derivative, [*self.avals, *active], mlir.open_module(), "jvp")
        return name, moving

    def transpose(self, linear: Sequence[bool], present: Sequence[bool]) -> tuple[str, list[bool]]:
        """Add the transpose in some operands, for the cotangents that there are."""
        rule = self._rule(rules.transpose_rules, "Transpose")
        moving: list[bool] = []
        known = [a for a, is_linear in zip(self.avals, linear, strict=True) if not is_linear]
        given_cts = [a for a, there in zip(self.results, present, strict=True) if there]

        def transposed(*given: Array) -> list[Array]:
            values, cts = iter(given[: len(known)]), iter(given[len(known) :])
            operands = [
                UndefinedPrimal(a) if is_linear else next(values)
                for a, is_linear in zip(self.avals, linear, strict=True)
            ]
            received = [
                next(cts) if there else Zero(a)
                for a, there in zip(self.results, present, strict=True)
            ]
            ct = received if self.primitive.multiple_results else received[0]
            found = rule(ct, *operands, **self.params) or [None] * len(operands)
            moving[:] = [
                is_linear and _moves(ct, a)
                for ct, a, is_linear in zip(found, self.avals, linear, strict=True)
            ]
            return self._arrays([ct for ct, moves in zip(found, moving, strict=True) if moves])

        avals = [*known, *given_cts]
        return self._traced(transposed, avals, mlir.open_module(), "transpose"), moving

    def batch(
        self, size: int, axis_name: str, axes: Sequence[int | None]
    ) -> tuple[str, list[int | None]]:
        """Add the operation of all lanes."""
        apply = self._batching_rule(size, axis_name or None)
        mapped: list[int | None] = []

        def lanes(*operands: Array) -> list[Array]:
            results, found = apply(list(operands), list(axes), **self.params)
            mapped[:] = self._listed(found)
            return self._arrays(self._listed(results))

        avals = [
            a if axis is None else a.update(shape=(*a.shape[:axis], size, *a.shape[axis:]))
            for a, axis in zip(self.avals, axes, strict=True)
        ]
        return self._traced(lanes, avals, mlir.open_module(), "batch"), mapped

    def _batching_rule(self, size: int, axis_name: str | None) -> rules.Rule:
        fancy = rules.fancy_batching_rules.get(self.primitive)
        if fancy is not None:
            data = AxisData(axis_name, size)
            return lambda operands, axes, **params: fancy(data, operands, axes, **params)
        of_axis = rules.axis_batching_rules.get(self.primitive)
        if of_axis is not None:
            return lambda operands, axes, **params: of_axis(
                size, axis_name, None, operands, axes, **params
            )
        return self._rule(rules.batching_rules, "Batching")

    def _rule(self, table: dict[Any, rules.Rule], what: str) -> rules.Rule:
        rule = table.get(self.primitive)
        if rule is None:
            raise NotImplementedError(f"{what} rule for '{self.primitive.name}' not implemented")
        return rule

    # -- tracing --

    def _arrays(self, results: Sequence[Any]) -> list[Array]:
        return [as_array(x, f"{self.primitive.name}: a result of a rule") for x in results]

    def _traced(
        self,
        function: Callable[..., list[Array]],
        avals: Sequence[ShapedArray],
        module: Any,
        suffix: str,
    ) -> str:
        """The name of a function in a module; arrays that it captures are constants."""
        name = suffix if suffix == self.primitive.name else f"{self.primitive.name}.{suffix}"
        inputs = [Input(aval) for aval in avals]
        with outside_traces():
            traced = trace_function(function, inputs, self.primitive.name, name, fresh_module=True)
        self._kept += traced.builder.kept
        constants = [x.value for x in traced.captures if isinstance(x, ConcreteArray)]
        if len(constants) < len(traced.captures):
            raise UnsupportedOp(
                f"{self.primitive.name}: a rule uses a traced array from outside: pass it as an "
                "operand"
            )
        copied = mlir.copy_functions(traced.builder.module, traced.name, module)[traced.name]
        if not constants:
            return copied
        with source.user_location():
            return _closed(module, copied, [_type(a) for a in avals], constants)


def _closed(module: Any, name: str, types: Sequence[Any], constants: Sequence[np.ndarray]) -> str:
    """The name of a function like another one, of which the last arguments are constants."""
    unique = mlir.unique_name(module, f"{name}.closed")
    function = mlir.new_function(module, unique, types, mlir.current_location())
    with mlir.InsertionPoint(mlir.body(function)):
        others = [shape.Constant(x)() for x in constants]
        operands = [*mlir.arguments(function), *others]
        results = call_function(mlir.Functions(module), name, operands)
    mlir.finish_function(function, results)
    return unique


def _type(aval: ShapedArray) -> Any:
    return mlir.tensor_type(aval.shape, aval.dtype)


def _moves(tangent: Any, primal: ShapedArray) -> bool:
    """True if a tangent or a cotangent is there, of an array that can have one."""
    return not (tangent is None or isinstance(tangent, Zero)) and primal.is_inexact
