"""The way from any StableHLO module to one that a target compiles."""

from __future__ import annotations

from collections.abc import Callable

from irax_compiler import mlir
from irax_compiler.mlir import Module
from irax_compiler.passes.core import find_function
from irax_compiler.pipeline import run_pipeline
from irax_compiler.targets import family

STABLEHLO = (
    "symbol-dce,decompose{{target={target}}},symbol-dce,check{{target={target}}},inline,"
    "symbol-dce,defer,callbacks,widen,"
    "legalize{{target=chlo}},func.func(chlo-legalize-to-stablehlo),simplify,fold,cse,hoist,"
    "legalize{{target={target}}},canonicalize,cse,annotate"
)
"""The passes, in order, as a pipeline with `target` to be filled in: what leaves StableHLO ..."""

ON_GPU = f"{STABLEHLO},divide"
"""... for IREE, what keeps kernels within its bounds ..."""

LOWERING = f"{STABLEHLO},loops,host,divide"
"""... and, on the processor, what it takes besides."""

_OF_SPIRV = ("iree-vulkan", "iree-metal")
_FOLD_FEW = "fold{{elements=16}}"
"""Larger constants stay out of kernels there: drivers take half a minute to compile one that has a
mask of 33 x 33 in it."""


def lower(
    module: Module,
    func: str = "main",
    target: str = "iree-cpu",
    after: Callable[[str, Module], None] | None = None,
    passes: str | None = None,
) -> Module:
    """A new module with the function `func` of `module` and what it needs, ready for `target`.

    `func` is its only public function. `after(name, module)` is called after each pass. `passes`
    are those still to run, for a module that has seen some; by default it is all of them.
    Raises PassError where the module has no such function or the target is not known, and
    UnsupportedOp for what irax cannot run.

        lowered = lower(parse_module(text))
        print(lowered)
    """
    lowered = _alone(module, func, is_foreign=passes is None)
    run_pipeline(lowered, pipeline_for(target) if passes is None else passes, after)
    return lowered


def pipeline_for(target: str) -> str:
    """The passes that `lower` runs."""
    if family(target) == "iree-cpu":
        passes = LOWERING
    else:
        passes = ON_GPU if family(target).startswith("iree-") else STABLEHLO
    if family(target) in _OF_SPIRV:
        passes = passes.replace(",fold,", f",{_FOLD_FEW},")
    return passes.format(target=family(target))


def check(module: Module, func: str = "main") -> None:
    """Raises UnsupportedOp where the function `func` of `module`, or one that it calls, is not
    something that irax can run, and PassError where there is no such function.

    What just some targets have (a library of the CPU's) counts as what irax can run.
    """
    pipeline = "symbol-dce,decompose{target=iree-cpu},symbol-dce,check"
    run_pipeline(_alone(module, func, is_foreign=True), pipeline)


def _alone(module: Module, func: str, is_foreign: bool) -> Module:
    """A copy of a module in which `func` is the only public function. Of a foreign one only the
    functions are copied: who uses what else there is in other dialects is refused by name.
    """
    find_function(module, func)
    copy = mlir.new_module()
    for view in module.body.operations:
        if not is_foreign or view.operation.name == "func.func":
            view.operation.clone(ip=mlir.InsertionPoint(copy.body))
    for name, function in mlir.functions(copy).items():
        function.attributes["sym_visibility"] = mlir.string("public" if name == func else "private")
    return copy
