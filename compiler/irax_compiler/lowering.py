"""The way from any StableHLO module to one that a target compiles."""

from __future__ import annotations

from collections.abc import Callable

from irax_compiler import mlir
from irax_compiler.mlir import Module
from irax_compiler.passes.core import find_function
from irax_compiler.pipeline import run_pipeline

LOWERING = (
    "symbol-dce,decompose,inline,symbol-dce,"
    "legalize{{target=chlo}},func.func(chlo-legalize-to-stablehlo),simplify,cse,"
    "legalize{{target={target}}},canonicalize,cse,annotate,host"
)
"""The passes, in order, as a pipeline with `target` to be filled in."""


def lower(
    module: Module,
    func: str = "main",
    target: str = "iree-cpu",
    after: Callable[[str, Module], None] | None = None,
) -> Module:
    """A new module with the function `func` of `module` and what it needs, ready for `target`.

    `func` is its only public function. `after(name, module)` is called after each pass.
    Raises PassError where the module has no such function or the target is not known.

        lowered = lower(parse_module(text))
        print(lowered)
    """
    find_function(module, func)
    lowered = mlir.new_module()
    for operation in module.body.operations:
        operation.operation.clone(ip=mlir.InsertionPoint(lowered.body))
    for name, function in mlir.functions(lowered).items():
        function.attributes["sym_visibility"] = mlir.string("public" if name == func else "private")
    run_pipeline(lowered, LOWERING.format(target=target), after)
    return lowered
