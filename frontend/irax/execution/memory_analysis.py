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
    """What `Compiled.memory_analysis` returns, with the names that JAX has."""

    argument_size_in_bytes: int
    output_size_in_bytes: int
    alias_size_in_bytes: int
    """Of the arguments' memory, what results take over."""
    temp_size_in_bytes: int
    """What is taken and given back during a call."""
    generated_code_size_in_bytes: int
    """The program itself, with its constants."""
    peak_memory_in_bytes: int
    """What there is at most at a time, the program itself not counted."""
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
) -> MemoryAnalysis:
    """What a program takes that was compiled of function `name`: of a plugin's, what the plugin
    tells; of IREE's, what its compiler has planned. Functions of the host's take more.
    """
    told = getattr(executable, "memory_analysis", None)
    if told is not None:
        return of_plugin(told())
    from irax_compiler.iree import phases

    target = executable.device.target
    lowered = api.lower(module, name, target)
    arguments, results = (sum(map(_size, side)) for side in avals)
    temporary = max(0, phases.transient_memory(lowered, target) - results)
    return MemoryAnalysis(
        argument_size_in_bytes=arguments,
        output_size_in_bytes=results,
        alias_size_in_bytes=0,
        temp_size_in_bytes=temporary,
        generated_code_size_in_bytes=len(targets.compile(lowered, target)),
        peak_memory_in_bytes=arguments + results + temporary,
    )


def of_plugin(told: Mapping[str, int]) -> MemoryAnalysis:
    """What a plugin tells of a program, of which a newer one may tell more."""
    known = {f.name for f in fields(MemoryAnalysis)}
    return MemoryAnalysis(**{name: size for name, size in told.items() if name in known})


def _size(aval: Any) -> int:
    return math.prod(aval.shape) * aval.dtype.itemsize
