"""The SPIR-V that is compiled for Vulkan, and a check of it for data races."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

_CHIP = (
    '#iree_gpu.target<arch = "portable", features = "spirv:v1.3,cap:Shader", wgp = <'
    "compute = fp32|fp16|int64|int32|int16|int8, storage = b64|b32|b16|b8, "
    "subgroup = none, subgroup_size_choices = [8], "
    "max_workgroup_sizes = [128, 128, 64], max_thread_count_per_workgroup = 128, "
    "max_workgroup_memory_bytes = 16384, max_workgroup_counts = [65535, 65535, 65535]>>"
)

ANY_CHIP = (
    '--iree-hal-target-device=gpu=#hal.device.target<"vulkan", [#hal.executable.target<'
    f'"vulkan-spirv", "vulkan-spirv-fb", {{iree_codegen.target_info = {_CHIP}}}>]>',
)
"""Flags for a device of which nothing is known: the limits that Vulkan guarantees, no operations of
subgroups, whose size differs from chip to chip, and no float64."""

_MAGIC = np.uint32(0x07230203).tobytes()
_VARIABLE, _ACCESS_CHAINS, _BARRIER = 59, (65, 66, 67), 224
_LOAD, _EXTRACT, _ARITHMETIC = 61, 81, range(126, 142)
_INPUT, _WORKGROUP = 1, 4
_MODE, _LOCAL_SIZE = 16, 17
_HEADER = 5
"""Words before the first instruction."""


def races(artefact: bytes) -> bool:
    """True if a kernel's threads use shared memory at different places without a barrier between,
    which IREE omits for some fused operations.

    >>> races(b"")
    False
    """
    return any(_has_race(code) for code in _modules(artefact))


def _modules(artefact: bytes) -> Iterator[list[int]]:
    """The SPIR-V modules in an artefact, as words."""
    start = artefact.find(_MAGIC)
    while start >= 0:
        end = artefact.find(_MAGIC, start + 4)
        size = ((end if end >= 0 else len(artefact)) - start) // 4
        yield np.frombuffer(artefact, "<u4", size, start).tolist()
        start = end


def _has_race(code: list[int]) -> bool:
    shared: dict[int, set[tuple[int, ...]]] = {}
    known: dict[tuple[int, ...], int] = {}
    same: dict[int, int] = {}
    """For a value the first that was computed in the same way."""
    inputs: set[int] = set()
    place = _HEADER
    while place < len(code):
        size, operation = code[place] >> 16, code[place] & 0xFFFF
        if size == 0:  # the end of the module
            break
        operands = code[place + 1 : place + size]
        is_alone = operation == _MODE and operands[1:] == [_LOCAL_SIZE, 1, 1, 1]
        if operation == _BARRIER or is_alone:
            return False
        if operation == _VARIABLE and operands[2] == _WORKGROUP:
            shared[operands[1]] = set()
        elif operation == _VARIABLE and operands[2] == _INPUT:
            inputs.add(operands[1])
        elif operation in _ACCESS_CHAINS and operands[2] in shared:
            shared[operands[2]].add(tuple(same.get(x, x) for x in operands[3:]))
        elif operation == _EXTRACT:
            _, result, source, *numbers = operands
            same[result] = known.setdefault((operation, same.get(source, source), *numbers), result)
        elif operation in _ARITHMETIC or (operation == _LOAD and operands[2] in inputs):
            _, result, *sources = operands
            key = (operation, *(same.get(x, x) for x in sources))
            same[result] = known.setdefault(key, result)
        place += size
    return any(len(places) > 1 for places in shared.values())
