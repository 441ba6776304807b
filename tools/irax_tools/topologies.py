"""Compiling for chips that need not be here, and what the compiler tells of the program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from irax_runtime.pjrt.abi import Error_Code
from irax_runtime.pjrt.errors import PjrtError
from irax_runtime.pjrt.topology import CompiledForTopology, topology_for
from irax_tools.programs import compile_source
from irax_tools.sources import Source


def compile_for(source: Source, platform: str, topology: str) -> CompiledForTopology:
    """A function compiled by the plugin of a platform for a chip of a topology: `v5e:2x2x1`.

    Raises RuntimeError or ValueError where there is no such plugin or topology.
    """
    chips = topology_for(platform, topology)
    return chips.compile(compile_source(source, chips.target))


def report(program: CompiledForTopology) -> Iterator[str]:
    """A line for each thing that the compiler tells."""
    chips = program.topology.chips
    costs, memory = _costs(program), program.memory_analysis()
    yield f"{program.name} for one {chips[0]['kind']} of {program.topology.name} ({len(chips)})"
    for label, size in (
        ("code", memory["generated_code_size_in_bytes"]),
        ("arguments", memory["argument_size_in_bytes"]),
        ("results", memory["output_size_in_bytes"]),
        ("temporaries", memory["temp_size_in_bytes"]),
        ("peak memory", memory["peak_memory_in_bytes"]),
    ):
        yield f"{label:14}{size:14,} bytes"
    if costs:
        yield f"{'flops':14}{costs.get('flops', 0):14,.0f}"
        yield f"{'moved':14}{costs.get('bytes accessed', 0):14,.0f} bytes"
    if "optimal_seconds" in costs:
        yield f"{'at best':14}{costs['optimal_seconds'] * 1e6:14,.2f} us"


def _costs(program: CompiledForTopology) -> dict[str, Any]:
    """The compiler's estimates; none where it makes none for chips that are not here."""
    try:
        return program.cost_analysis()
    except PjrtError as error:
        if error.code != Error_Code.UNIMPLEMENTED:
            raise
        return {}
