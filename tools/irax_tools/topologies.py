"""Compiling for chips that need not be here, and what the compiler tells of the program."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from irax_runtime.pjrt.abi import Error_Code
from irax_runtime.pjrt.errors import PjrtError
from irax_runtime.pjrt.topology import CompiledForTopology, topology_for
from irax_tools.programs import compile_source
from irax_tools.sources import Source


def compile_for(source: Source, platform: str, topology: str) -> CompiledForTopology:
    """A function compiled by the plugin of a platform for a chip of a topology, `v5e:2x2x1`, or for
    the devices of its mesh.

    Raises RuntimeError or ValueError where there is no such plugin or topology.
    """
    chips = topology_for(platform, topology)
    return chips.compile(compile_source(source, chips.target))


def report(program: CompiledForTopology) -> Iterator[str]:
    """A line for each thing that the compiler tells."""
    chips = program.topology.chips
    costs, memory = _costs(program), program.memory_analysis()
    count = "one" if program.count == 1 else f"{program.count} of"
    yield f"{program.name} for {count} {chips[0]['kind']} of {program.topology.name} ({len(chips)})"
    for label, size in (
        ("code", memory["generated_code_size_in_bytes"]),
        ("arguments", memory["argument_size_in_bytes"]),
        ("results", memory["output_size_in_bytes"]),
        ("temporaries", memory["temp_size_in_bytes"]),
        ("peak memory", memory["peak_memory_in_bytes"]),
    ):
        yield _line(label, size, " bytes")
    if costs:
        yield _line("flops", costs.get("flops", 0))
        yield _line("transcendental", costs.get("transcendentals", 0))
        yield _line("moved", costs.get("bytes accessed", 0), " bytes")
    if "optimal_seconds" in costs:
        yield _line("at best", costs["optimal_seconds"] * 1e6, " us", digits=2)


def _line(label: str, number: float, unit: str = "", digits: int = 0) -> str:
    """One of the compiler's estimates; nan is one that it does not know."""
    if math.isnan(number):
        return f"{label:14}{'unknown':>14}"
    return f"{label:14}{number:14,.{digits}f}{unit}"


def _costs(program: CompiledForTopology) -> dict[str, Any]:
    """The compiler's estimates; none where it makes none for chips that are not here."""
    try:
        return program.cost_analysis()
    except PjrtError as error:
        if error.code != Error_Code.UNIMPLEMENTED:
            raise
        return {}
