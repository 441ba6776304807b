"""Lowering: the passes from any StableHLO module to one that a target compiles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from irax_compiler import chips, mlir
from irax_compiler.determinism import is_marked
from irax_compiler.mlir import Module
from irax_compiler.ops.control_flow.shard_map import Spec
from irax_compiler.passes.core import INLINE, REMOVE_DEAD_FUNCTIONS, Pass, alone, find_function
from irax_compiler.passes.host.annotate import Annotate, call_directly, reflection
from irax_compiler.passes.host.donation import donate
from irax_compiler.passes.legalize.check import Check
from irax_compiler.passes.legalize.decompose import Decompose
from irax_compiler.passes.legalize.encode import Encode
from irax_compiler.passes.legalize.widen import Widen
from irax_compiler.passes.mesh.batch_shard_maps import BatchShardMaps
from irax_compiler.passes.mesh.partition import (
    Partition,
    layouts_in,
    layouts_of_partitioned,
    layouts_of_uses,
    layouts_wanted,
    mesh_in,
    state_layouts,
)
from irax_compiler.passes.mesh.scatter_sums import ScatterSums
from irax_compiler.passes.sizes.dynamic_shapes import NotDynamic
from irax_compiler.passes.sizes.refine import is_sized
from irax_compiler.pipeline import run_passes
from irax_compiler.shardy.layouts import Mesh, StatedLayouts
from irax_compiler.spans import span
from irax_compiler.targets import find


def lower(
    module: Module,
    func: str = "main",
    target: str = "iree-cpu",
    after: Callable[[str, Module], None] | None = None,
    passes: Iterable[Pass] | None = None,
    donated: Sequence[int] = (),
    is_direct: bool = False,
) -> Module:
    """Return a new module with the function `func` of `module` and all that it calls, lowered for
    `target`.

    `func` is its only public function. `after(name, module)` is called after each pass. `passes`
    are those still to run, for a module that has seen some; by default it is all of the target's.
    Arguments with the numbers `donated` may be overwritten, on targets that can. `is_direct` is for
    programs that irax's runtime alone will call (see `Direct`).
    Raises PassError where the module has no such function, ValueError where the target is not
    known, and UnsupportedOp for what irax cannot run.

        lowered = lower(parse_module(text))
        print(lowered)
    """
    _, _, chip = target.partition(":")
    with span("lower", func), chips.compiling_for(chip):
        lowered = alone(module, func, is_foreign=passes is None)
        function = mlir.functions(lowered)[func]
        if is_sized(function) and passes is None:
            if is_marked(lowered.operation):
                raise NotDynamic(
                    f'{func} has symbolic dimensions: with deterministic="batch", programs are for '
                    "known sizes alone; expected a function that was refined for some"
                )
            passes = _dynamic_passes(func, target)
        elif find(target).overwrites:
            donate(function, donated)
        run_passes(lowered, find(target).passes if passes is None else passes, after)
        if is_direct:
            call_directly(lowered)
    return lowered


def _dynamic_passes(func: str, target: str) -> Sequence[Pass]:
    passes = find(target).dynamic_passes
    if not passes:
        raise NotDynamic(
            f"{func} has symbolic dimensions: programs of {target} are for known sizes alone; "
            "expected a function that was refined for some"
        )
    return passes


def notes(module: Module, func: str, target: str = "iree-cpu") -> dict[str, str]:
    """Return what the runtime needs to know of a program for all sizes, to call it with those of
    `func`, whose sizes are known: reflection attributes (see `Annotate`).
    """
    copy = alone(module, func, is_foreign=False)
    plain = (REMOVE_DEAD_FUNCTIONS, Decompose(target), INLINE, REMOVE_DEAD_FUNCTIONS)
    run_passes(copy, (*plain, Widen(), Encode(target), Annotate()))
    return reflection(find_function(copy, func))


def partition(
    module: Module,
    func: str,
    mesh: Mesh,
    in_specs: Sequence[Spec] | None = None,
    out_specs: Sequence[Spec | None] | None = None,
    target: str = "iree-cpu",
) -> Module:
    """Return a new module with the program that each device of a mesh runs in place of `func`.

    The specs are the layouts of arguments and results; a result may have None, which stands for the
    layout that it is computed in. Without them, those are taken that the module states for this
    mesh; other arguments have the layouts in which they are first used. `layouts_of_results`
    returns those that results have.
    """
    divided = alone(module, func, is_foreign=False)
    run_passes(divided, (REMOVE_DEAD_FUNCTIONS, Decompose(target), INLINE, REMOVE_DEAD_FUNCTIONS))
    function = find_function(divided, func)
    if in_specs is None:
        in_specs = layouts_of_uses(function, mesh)
    if out_specs is None:
        out_specs = layouts_wanted(function, mesh)
    state_layouts(function, mesh, in_specs, out_specs)
    run_passes(divided, (Partition(), INLINE, REMOVE_DEAD_FUNCTIONS, ScatterSums()))
    return divided


def mesh_of(module: Module, func: str) -> Mesh | None:
    """Return the mesh that a function is for, as the module states it or as an `irax.shard_map` in
    it has it; None for a program of one device.
    """
    return mesh_in(find_function(module, func))


def layouts_of(module: Module, func: str) -> StatedLayouts | None:
    """Return the mesh that a function is for, and the layouts of its arguments and results, as far
    as the module states them; None for a program of one device.
    """
    return layouts_in(find_function(module, func))


def layouts_of_results(module: Module, func: str) -> tuple[Spec, ...]:
    """Return the layouts of the results of a function that was partitioned."""
    return layouts_of_partitioned(find_function(module, func))


def check(module: Module, func: str = "main") -> None:
    """Raise UnsupportedOp if the function `func` of `module`, or one that it calls, cannot be run
    by irax, and PassError if there is no such function.

    What just some targets have (a library of the CPU's) counts as what irax can run.
    """
    without_composites = (BatchShardMaps(), REMOVE_DEAD_FUNCTIONS, Decompose("iree-cpu"))
    passes = (REMOVE_DEAD_FUNCTIONS, *without_composites, REMOVE_DEAD_FUNCTIONS, Check())
    run_passes(alone(module, func, is_foreign=True), passes)
