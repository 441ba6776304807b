"""Reverse-mode differentiation: linearize, then transpose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, is_inexact
from irax_compiler.ops.structured import Linearized, call_function
from irax_compiler.passes.core import Pass, find_function, register_pass, returned
from irax_compiler.passes.jvp import active_pattern, differentiable_results
from irax_compiler.passes.linearize import LinearizeDeriver
from irax_compiler.passes.transpose import TransposeDeriver


@register_pass
@dataclass
class Vjp(Pass):
    """Adds @f.fwd and @f.bwd, and @f.vjp, which takes the arguments of @f and a cotangent for each
    result that can have one, and returns the results and the cotangents of the arguments in
    `wrt`.
    """

    name: ClassVar[str] = "vjp"
    func: str = "main"
    wrt: tuple[int, ...] | None = None

    def run(self, module: Module) -> None:
        function = find_function(module, self.func)
        active = active_pattern(function, self.wrt)
        wanted = differentiable_results(module, self.func)
        reverse = derive_vjp(module, self.func, active, wanted)
        results = returned(function)
        cotangent_types = [v.type for v in results if is_inexact(v)]
        inputs = [a.type for a in mlir.body(function).arguments]
        vjp = mlir.new_function(
            module,
            mlir.unique_name(module, f"{self.func}.vjp"),
            [*inputs, *cotangent_types],
            function.location,
            public=True,
        )
        with InsertionPoint(mlir.body(vjp)), mlir.named("vjp", function.location):
            functions = mlir.functions(module)
            arguments = mlir.arguments(vjp)
            primals, cotangents = arguments[: len(inputs)], arguments[len(inputs) :]
            outputs = call_function(functions, reverse.forward, primals)
            residuals = outputs[len(results) :]
            gradients = call_function(functions, reverse.backward, [*residuals, *cotangents])
        mlir.finish_function(vjp, [*outputs[: len(results)], *gradients])


@dataclass(frozen=True)
class Reverse:
    """The two functions that reverse mode makes of one."""

    forward: str
    """The name of the function that returns the results, then the residuals."""
    linear: str
    """The name of the function from residuals and tangents to the results' tangents."""
    backward: str
    """The name of the function from residuals and cotangents to the arguments' cotangents."""


def derive_vjp(
    module: Module, name: str, active: tuple[bool, ...], wanted: tuple[bool, ...]
) -> Reverse:
    """Adds @f.fwd, @f.lin and @f.bwd of function `name` for the active arguments and the results
    that are wanted: @f.bwd takes a cotangent for each of these.
    """
    linearized = LinearizeDeriver(module, {name: wanted}).function(name, active)
    assert isinstance(linearized, Linearized)
    transposer = TransposeDeriver(module, instantiate=linearized.linear)
    linear = transposer.functions[linearized.linear]
    num_tangents = sum(active)
    num_residuals = len(mlir.body(linear).arguments) - num_tangents
    pattern = (
        (False,) * num_residuals + (True,) * num_tangents,
        (True,) * len(returned(linear)),
    )
    backward = transposer.function(linearized.linear, pattern)
    return Reverse(linearized.name, linearized.linear, backward.name)
