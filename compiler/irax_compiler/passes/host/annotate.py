"""The pass annotate, which records on public functions what the runtime needs to call them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, Module, Operation, Value, dtype_of, shape_of
from irax_compiler.ops.control_flow.shard_map import decoded
from irax_compiler.ops.control_flow.trip_counts import count, most_steps
from irax_compiler.ops.convolution import Convolution
from irax_compiler.ops.dot import DotGeneral
from irax_compiler.ops.fft import Fft
from irax_compiler.ops.indexing.dynamic_slices import DynamicUpdateSlice
from irax_compiler.ops.reductions.reduce import Reduce
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.core import Pass, register_pass, returned
from irax_compiler.shardy.layouts import IN_SPECS, OUT_SPECS, mesh_of

LARGEST_SIZE = "irax.largest_size"
"""The reflection attribute of programs for all sizes: the largest that a variable may be."""
DIRECT = "irax.direct"
"""The reflection attribute of functions that irax's runtime alone will call."""

ELEMENTS_PER_MICROSECOND = 1000.0
"""Elements of 4 bytes or less that one core computes in a microsecond."""
TRANSCENDENTAL = 4.0
"""The multiple of that time that a transcendental function takes."""
FLOPS_PER_MICROSECOND = 20000.0
BYTES_PER_MICROSECOND = 25000.0
"""The bytes of arrays that one core reads in a microsecond to reduce or multiply them."""
TASK_THRESHOLD = 300.0
"""The microseconds of work on one core above which sharing it with other cores pays."""
READING_THRESHOLD = 100.0
"""The microseconds of reading arrays in a dispatch of a loop's step above which it pays: workers
are awake then, and their caches together may hold an array that is too large for one.
"""
LAUNCH = 3.0
"""The most microseconds of overhead of a step of a loop."""
HAND_OFF = 5.0
"""The additional microseconds of a step whose work is shared with other cores."""
UNKNOWN_STEPS = 10
MOMENTS = 50_000.0
"""The microseconds on one core below which a program need not be interruptible."""


@register_pass
class Annotate(Pass):
    """Gives public functions reflection attributes for the runtime. `irax.args` and `irax.results`
    are the types of arguments and results (`f32[4,4];i32[]`). `irax.driver` is "task" where the
    work is worth several cores, and "sync" where sharing would take longer. `irax.takes` is
    "moments" for programs too short to interrupt, "unknown" for programs that are short apart from
    loops of unknown length (`loops` makes it "metered" where these loops can stop), and "long" for
    others. `irax.layouts` is for the program of each device of a mesh: the mesh, and how arguments
    and results are divided, in JSON.
    """

    name: ClassVar[str] = "annotate"

    def run(self, module: Module) -> None:
        for function in mlir.functions(module).values():
            if not mlir.is_public(function):
                continue
            block = mlir.body(function)
            work = _work(block)
            is_shared = work.shared > TASK_THRESHOLD and work.shared / 2 > HAND_OFF * work.hand_offs
            entries = {
                **_types(function),
                "irax.driver": "task" if is_shared else "sync",
                "irax.takes": _takes(work),
                **_layouts(function),
            }
            function.attributes["iree.reflection"] = mlir.reflection(entries)


def call_directly(module: Module) -> None:
    """Mark the functions of a module as called by irax's runtime alone: with arguments of their
    types, by the driver that they are for. Functions for all sizes are left as they are.
    """
    for function in mlir.functions(module).values():
        entries = reflection(function)
        if "irax.driver" in entries and LARGEST_SIZE not in entries:
            add_reflection(function, {DIRECT: "1"})


def is_direct(text: str) -> bool:
    """Return True if a module may have such functions: if its text has, or if it is too long to
    print, and the text is empty.
    """
    return not text or DIRECT in text


def keep_types(function: Operation) -> None:
    """Have the runtime told the types of arguments and results that a function has now."""
    for name, types in _types(function).items():
        function.attributes[name] = mlir.string(types)


def _types(function: Operation) -> dict[str, str]:
    now = {
        "irax.args": signature(mlir.arguments(function)),
        "irax.results": signature(returned(function)),
    }
    kept: Any = function.attributes
    return {name: kept[name].value if name in kept else types for name, types in now.items()}


def _layouts(function: Operation) -> dict[str, str]:
    if IN_SPECS not in function.attributes:
        return {}
    ins, outs = (decoded(function.attributes[name]) for name in (IN_SPECS, OUT_SPECS))
    return {"irax.layouts": json.dumps({"mesh": mesh_of(function), "in": ins, "out": outs})}


def add_reflection(function: Operation, entries: Mapping[str, str]) -> None:
    """Adds to the reflection attributes of a function."""
    function.attributes["iree.reflection"] = mlir.reflection({**reflection(function), **entries})


def reflection(function: Operation) -> dict[str, str]:
    """The reflection attributes of a function."""
    if "iree.reflection" not in function.attributes:
        return {}
    there: Any = function.attributes["iree.reflection"]
    return {item.name: item.attr.value for item in there}


def numbers(function: Operation, name: str) -> list[int]:
    """Return the numbers that a reflection attribute of a function lists."""
    return [int(word) for word in reflection(function).get(name, "").split(",") if word]


def is_for_all_sizes(module: Module) -> bool:
    """True for a module of IREE's that has a program for sizes that are not known."""
    functions = (x.operation for x in module.body.operations if x.operation.name == "util.func")
    return any(LARGEST_SIZE in reflection(function) for function in functions)


def signature(values: Sequence[Value]) -> str:
    """The types of values as `f32[4,4];i32[]`."""
    return ";".join(
        f"{v.type.element_type}[{','.join(map(str, mlir.shape_of(v)))}]"  # pyright: ignore
        for v in values
    )


@dataclass
class _Work:
    """A rough estimate of the work of a block."""

    total: float = 0.0
    """The most microseconds on one core, those of loops that need not end aside."""
    may_not_end: bool = False
    """True if there are such loops."""
    shared: float = 0.0
    """Microseconds on one core of work that several cores could share."""
    hand_offs: int = 0
    """The number of dispatches in steps of loops that are too short to run on several cores."""


def _takes(work: _Work) -> str:
    if work.total >= MOMENTS:
        return "long"
    return "unknown" if work.may_not_end else "moments"


def step_time(loop: Operation) -> float:
    """Return a rough estimate of the microseconds of a step of a `stablehlo.while` on one core."""
    return _work(loop.regions[1].blocks[0], is_step=True).total


def _work(block: Block, is_step: bool = False) -> _Work:
    """Return the work of a block. In a loop's step each dispatch is handed to other cores by
    itself, so it must be worth that by itself.
    """
    total, elementwise, others, shared = _Work(), 0.0, [], []
    for view in block.operations:
        operation = view.operation
        if operation.name == "stablehlo.while":
            how = count(operation, {})
            step = _work(operation.regions[1].blocks[0], is_step=True)
            _add_steps(total, step, how.steps if how else None, most_steps(operation, {}))
        elif traits_of(operation).captures:
            branches = [_work(b, is_step) for region in operation.regions for b in region]
            total.total += max((branch.total for branch in branches), default=0.0)
            total.may_not_end |= any(branch.may_not_end for branch in branches)
            total.shared += sum(branch.shared for branch in branches)
            total.hand_offs += sum(branch.hand_offs for branch in branches)
        elif not traits_of(operation).is_constant:
            elementwise += _writing_time(operation, is_step)
            computing, reading = _computing_time(operation), _reading_time(operation)
            if time := max(computing, reading):
                others.append(time)
                if not is_step or computing > TASK_THRESHOLD or reading > READING_THRESHOLD:
                    shared.append(time)
    # IREE fuses elementwise operations with each other.
    if not is_step or elementwise > TASK_THRESHOLD:
        shared.append(elementwise)
    total.total += elementwise + sum(others)
    total.shared += sum(shared)
    total.hand_offs += 1 + len(others) - len(shared)
    return total


def _add_steps(total: _Work, step: _Work, steps: int | None, most: int | None) -> None:
    times = UNKNOWN_STEPS if steps is None else steps
    if most is None:
        total.may_not_end = True
    else:
        total.total += most * (step.total + LAUNCH)
    total.may_not_end |= step.may_not_end
    total.shared += times * step.shared
    total.hand_offs += times * step.hand_offs


def _writing_time(operation: Operation, is_step: bool) -> float:
    """Return the microseconds for an operation's results. Loops update slices in place."""
    is_slice = is_step and operation.name == DynamicUpdateSlice.name
    written = [operation.operands[1]] if is_slice else operation.results
    elements = sum(prod(shape_of(x)) * max(1, dtype_of(x).itemsize // 4) for x in written)
    factor = TRANSCENDENTAL if traits_of(operation).transcendental else 1.0
    return factor * elements / ELEMENTS_PER_MICROSECOND


def _computing_time(operation: Operation) -> float:
    """Return the microseconds that a product or a sort computes, beside that."""
    if operation.name in (DotGeneral.name, Convolution.name, Fft.name):
        return traits_of(operation).flops(operation) / FLOPS_PER_MICROSECOND
    if operation.name == "stablehlo.sort":
        return prod(shape_of(operation.operands[0])) / ELEMENTS_PER_MICROSECOND
    return 0.0


def _reading_time(operation: Operation) -> float:
    """Return the microseconds for the operands of a product or a reduction."""
    if operation.name == DotGeneral.name:
        arrays = list(operation.operands)
    elif operation.name == Reduce.name:
        arrays = [operation.operands[0]]
    else:
        return 0.0
    return sum(prod(shape_of(x)) * dtype_of(x).itemsize for x in arrays) / BYTES_PER_MICROSECOND
