"""Reverse-mode differentiation: `linearize`, then `transpose`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, is_inexact
from irax_compiler.ops.derived import Reversed
from irax_compiler.ops.derived import Vjp as DerivedVjp
from irax_compiler.ops.structured import call_function
from irax_compiler.passes.core import Pass, find_function, publish, register_pass, returned
from irax_compiler.passes.derive.linearize import derive_linearized
from irax_compiler.passes.derive.transpose import TransposeDeriver


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
        publish(module, derive_vjp(module, self.func, self.wrt).name)


def derive_reversed(
    module: Module,
    func: str = "main",
    wrt: Sequence[int] | None = None,
    results: Sequence[bool] | None = None,
) -> Reversed:
    """Add the forward and the backward pass of a function to its module, as private functions.

    Args:
        module: the module.
        func: the function's name.
        wrt: the arguments that have a cotangent; by default all those of inexact types.
        results: for each result, True if its cotangent is given; by default all of inexact types.
    """
    linearized = derive_linearized(module, func, wrt, results)
    transposer = TransposeDeriver(module, instantiate=linearized.linear)
    linear = (False,) * len(linearized.residuals) + (True,) * sum(linearized.active)
    pattern = (linear, (True,) * sum(linearized.results))
    return Reversed(linearized, transposer.function(linearized.linear, pattern))


def derive_vjp(module: Module, func: str = "main", wrt: Sequence[int] | None = None) -> DerivedVjp:
    """Add one function of both passes to the module, too: see `derive_reversed`."""
    function = find_function(module, func)
    passes = derive_reversed(module, func, wrt)
    results = returned(function)
    cotangent_types = [v.type for v in results if is_inexact(v)]
    inputs = [a.type for a in mlir.arguments(function)]
    name = mlir.unique_name(module, f"{func}.vjp")
    vjp = mlir.new_function(module, name, [*inputs, *cotangent_types], function.location)
    with InsertionPoint(mlir.body(vjp)), mlir.named("vjp", function.location):
        functions = mlir.Functions(module)
        arguments = mlir.arguments(vjp)
        primals, cotangents = arguments[: len(inputs)], arguments[len(inputs) :]
        outputs = call_function(functions, passes.forward, primals)
        residuals = outputs[len(results) :]
        gradients = call_function(functions, passes.backward, [*residuals, *cotangents])
    mlir.finish_function(vjp, [*outputs[: len(results)], *gradients])
    return DerivedVjp(name, passes)
