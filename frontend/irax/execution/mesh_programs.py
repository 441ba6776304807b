"""Programs that the devices of a mesh run together.

A function is partitioned, compiled and loaded for each pattern of layouts of its arguments. Where
the devices share memory, it is compiled whole, and partitioned for the layouts of its results only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from irax_compiler import api, mlir, spans, targets
from irax_runtime.device import Device, Executable
from irax_runtime.mesh import MeshDevice, MeshExecutable, MeshProgram, Spec

CompileWhole = Callable[[mlir.Module, str, Device], Executable]
"""Compiles a function of a module for one device."""


def executable(
    module: mlir.Module,
    name: str,
    device: MeshDevice,
    compile_whole: CompileWhole,
    donated: Sequence[int] = (),
) -> MeshExecutable:
    """Return the program of a function of a module for the devices of a mesh. Each of them may use
    the memory of its parts of the arguments with the numbers `donated` for results.
    """
    types: list[Any] = mlir.result_types(mlir.functions(module)[name])
    shapes = [tuple(type_.shape) for type_ in types]
    loaded: list[Executable] = []
    recorded = spans.lists()

    def make(layouts: Sequence[Spec]) -> MeshProgram:
        with spans.recorded_in(recorded):
            return made(layouts)

    def made(layouts: Sequence[Spec]) -> MeshProgram:
        mesh = device.axes
        with spans.span("partition", name):
            divided = api.partition(
                module, name, mesh, layouts, [None] * len(shapes), device.target
            )
        specs = api.layouts_of_results(divided, name)
        if device.shares_memory:
            if not loaded:
                loaded.append(compile_whole(module, name, device.first))
            whole = loaded[0]
            return MeshProgram(lambda given: [whole.run(given[0])], shapes, specs)
        lowered = api.lower(divided, name, device.target, donated=donated)
        artefact = targets.compile(lowered, device.target, donated)
        ranks = device.ranks_for(str(lowered), f"jit of {name}")
        return MeshProgram(device.load_together(artefact, name, ranks), shapes, specs)

    return MeshExecutable(device, name, make)
