"""Lowering: the passes from any StableHLO module to one that a target compiles."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from irax_compiler import mlir
from irax_compiler.mlir import Module
from irax_compiler.passes.check import Check
from irax_compiler.passes.core import Pass, find_function
from irax_compiler.passes.decompose import Decompose
from irax_compiler.passes.standard import REMOVE_DEAD_FUNCTIONS
from irax_compiler.pipeline import run_passes
from irax_compiler.targets import find


def lower(
    module: Module,
    func: str = "main",
    target: str = "iree-cpu",
    after: Callable[[str, Module], None] | None = None,
    passes: Iterable[Pass] | None = None,
) -> Module:
    """Return a new module with the function `func` of `module` and all that it calls, lowered for
    `target`.

    `func` is its only public function. `after(name, module)` is called after each pass. `passes`
    are those still to run, for a module that has seen some; by default it is all of the target's.
    Raises PassError where the module has no such function, ValueError where the target is not
    known, and UnsupportedOp for what irax cannot run.

        lowered = lower(parse_module(text))
        print(lowered)
    """
    lowered = _alone(module, func, is_foreign=passes is None)
    run_passes(lowered, find(target).passes if passes is None else passes, after)
    return lowered


def check(module: Module, func: str = "main") -> None:
    """Raise UnsupportedOp if the function `func` of `module`, or one that it calls, cannot be run
    by irax, and PassError if there is no such function.

    What just some targets have (a library of the CPU's) counts as what irax can run.
    """
    passes = (REMOVE_DEAD_FUNCTIONS, Decompose("iree-cpu"), REMOVE_DEAD_FUNCTIONS, Check())
    run_passes(_alone(module, func, is_foreign=True), passes)


def _alone(module: Module, func: str, is_foreign: bool) -> Module:
    """Return a copy of a module in which `func` is the only public function. Of a foreign module
    only the functions are copied; uses of other dialects' symbols are refused by name.
    """
    find_function(module, func)
    copy = mlir.new_module()
    for view in module.body.operations:
        if not is_foreign or view.operation.name == "func.func":
            view.operation.clone(ip=mlir.InsertionPoint(copy.body))
    for name, function in mlir.functions(copy).items():
        function.attributes["sym_visibility"] = mlir.string("public" if name == func else "private")
    return copy
