"""The memory that a compiled program takes, in bytes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from irax.core.avals import ShapedArray
from irax_compiler import api, mlir, targets
from irax_runtime.device import Executable


@dataclass(frozen=True)
class MemoryAnalysis:
    """The bytes that a program takes, under JAX's names; see `Compiled.memory_analysis`."""

    argument_size_in_bytes: int
    output_size_in_bytes: int
    alias_size_in_bytes: int
    """Memory of arguments that results reuse."""
    temp_size_in_bytes: int
    """Memory that is allocated and freed during a call."""
    generated_code_size_in_bytes: int
    """The program itself, with its constants."""
    peak_memory_in_bytes: int
    """The most memory in use at a time, without the program itself."""
    host_generated_code_size_in_bytes: int = 0
    host_argument_size_in_bytes: int = 0
    host_output_size_in_bytes: int = 0
    host_alias_size_in_bytes: int = 0
    host_temp_size_in_bytes: int = 0


def analyse(
    executable: Executable,
    module: mlir.Module,
    name: str,
    avals: tuple[Sequence[ShapedArray], Sequence[ShapedArray]],
    donated: Sequence[int] = (),
) -> MemoryAnalysis:
    """Return the memory that the compiled function `name` takes: as a PJRT plugin reports it, or as
    IREE's compiler has planned it. Memory of host functions is not counted, and that of arguments
    that are not read is the caller's.
    """
    told = getattr(executable, "memory_analysis", None)
    if told is not None:
        return of_plugin(told())
    from irax_compiler.iree import phases

    target = executable.device.target
    lowered = api.lower(module, name, target, donated=donated)
    read = [avals[0][i] for i in api.arguments_read(lowered, name)]
    arguments, results = (sum(map(_size, side)) for side in (read, avals[1]))
    reused = sum(_size(avals[0][i]) for i in api.overwritten(lowered, name))
    temporary = max(0, phases.transient_memory(lowered, target) - results + reused)
    return MemoryAnalysis(
        argument_size_in_bytes=arguments,
        output_size_in_bytes=results,
        alias_size_in_bytes=reused,
        temp_size_in_bytes=temporary,
        generated_code_size_in_bytes=len(targets.compile(lowered, target)),
        peak_memory_in_bytes=arguments + results + temporary - reused,
    )


def of_plugin(told: Mapping[str, int]) -> MemoryAnalysis:
    """Return the analysis of a plugin's report; fields of newer plugins are ignored."""
    known = {f.name for f in fields(MemoryAnalysis)}
    return MemoryAnalysis(**{name: size for name, size in told.items() if name in known})


def _size(aval: Any) -> int:
    return math.prod(aval.shape) * aval.dtype.itemsize
