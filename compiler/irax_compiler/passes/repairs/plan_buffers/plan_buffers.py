"""The pass plan-buffers, which packs temporaries, the arrays between kernels, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from irax_compiler.mlir import InsertionPoint, Module, Operation
from irax_compiler.ops.registers import index
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.repairs.plan_buffers.packing import ALIGNMENT, Home, pack
from irax_compiler.passes.repairs.plan_buffers.parts import CONCURRENT, Part, Slice, part_of
from irax_compiler.passes.repairs.plan_buffers.waves import in_less_memory, lifetimes, waits

_PACK = "stream.resource.pack"
_LARGE = 1 << 14
"""The bytes of an array from which it matters where it is."""


@register_pass
class PlanBuffers(Pass):
    """Packs the temporaries of a part of a program: into the memory of results that are written
    later, and into as little further memory as it finds. Large kernels that IREE would run at once
    run one after the other if the temporaries then need less.

    The module is one of IREE's phase stream, after its pass schedule-allocation. IREE would pack
    them in the order in which they are made, into memory that no result has.
    """

    name: ClassVar[str] = "plan-buffers"

    def run(self, module: Module) -> None:
        may_wait = waits(module)
        for operation in [o for o in nested(module.operation) if o.name == _PACK]:
            part = part_of(operation)
            if part is not None and max(x.bytes for x in part.slices) >= _LARGE:
                _place(part, in_less_memory(part, may_wait))


def _place(part: Part, steps: Sequence[Sequence[Operation]]) -> None:
    items, results = lifetimes(part, steps)
    homes, size = pack(items, results)
    _divide(steps)
    with InsertionPoint(part.pack), part.pack.location:
        for slice_, home in zip(part.slices, homes, strict=True):
            _move(part, slice_, home)
        # An allocation of no bytes fails.
        part.pack.results[0].replace_all_uses_with(index(max(size, ALIGNMENT)))
    part.pack.erase()


def _divide(steps: Sequence[Sequence[Operation]]) -> None:
    """Have the commands of waves that the steps no longer have run one after the other."""
    waves: list[Operation] = []
    for step in steps:
        wave: Any = step[0].parent
        if len(step) == 1 and wave.name == CONCURRENT:
            step[0].move_before(wave)
            if wave.operation not in waves:
                waves.append(wave.operation)
    for wave in waves:
        wave.erase()


def _move(part: Part, slice_: Slice, home: Home) -> None:
    """Put an array in its place."""
    if home.result is not None:
        result = part.results[home.result]
        for access in slice_.accesses:
            access.command.operands[access.resource] = result.memory
            access.command.operands[access.size] = result.size
    slice_.packed.replace_all_uses_with(index(home.offset))
