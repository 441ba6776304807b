"""Counted loops that stack rows, which write the rows in place.

IREE copies the whole array for each row that a step updates. Here the array is a buffer allocated
before the loop, and each row is written into its part. Steps that need nothing of each other run at
once, so each waits for the rows of the step before: it carries a fence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Operation, Value, dtype_of, shape_of
from irax_compiler.ops import registers, shape, slicing
from irax_compiler.ops.control_flow.trip_counts import Count, count
from irax_compiler.ops.core import full
from irax_compiler.ops.registers import emit
from irax_compiler.passes.core import walk
from irax_compiler.passes.kernels.loops import blocks, memory


@dataclass(frozen=True)
class _Stack:
    """A loop-carried array of which each step writes a row, and which no step reads."""

    place: int
    update: Operation
    """The dynamic_update_slice that writes the row."""

    @property
    def row(self) -> Value:
        return self.update.operands[1]

    @property
    def starts(self) -> list[Value]:
        return list(self.update.operands)[2:]


def with_rows(loop: Operation) -> Sequence[Value] | None:
    """Build an `scf.for` of a `stablehlo.while` that writes rows in place, at the insertion point,
    and return its results; None if the loop is unsuitable.
    """
    how = count(loop, {})
    stacks = _stacks(loop)
    if how is None or not stacks or how.steps == 0:
        return None
    return _Loop(loop, how, stacks).build()


def _stacks(loop: Operation) -> list[_Stack]:
    condition, body = (region.blocks[0] for region in loop.regions)
    found = []
    for i, x in enumerate(mlir.terminator(body).operands):
        update = mlir.definition(x)
        if update is None or update.block != body or not _writes_row(update):
            continue
        unread = (body.arguments[i], x)
        is_only_written = update.operands[0] == body.arguments[i] and not (
            mlir.num_uses(condition.arguments[i]) or any(mlir.num_uses(v) > 1 for v in unread)
        )
        if is_only_written and prod(shape_of(x)) > 0 and _is_dense(update):
            found.append(_Stack(i, update))
    return found


def _writes_row(operation: Operation) -> bool:
    if operation.name != "stablehlo.dynamic_update_slice":
        return False
    whole, part = shape_of(operation.operands[0]), shape_of(operation.operands[1])
    return part[:1] == (1,) and part[1:] == whole[1:]


@dataclass(frozen=True)
class _Loop:
    source: Operation
    how: Count
    stacks: Sequence[_Stack]

    def build(self) -> list[Value]:
        start, how = list(self.source.operands), self.how
        stacked = {stack.place for stack in self.stacks}
        kept = [i for i in range(len(start)) if i not in stacked and i != how.place]
        buffers = [_buffer(start[stack.place]) for stack in self.stacks]
        carried = [memory.held(start[i]) for i in kept]
        carried += [
            full(memory.held_shape(s.row), 0, memory.held_dtype(s.row)) for s in self.stacks
        ]
        carried.append(emit("util.null", to=_FENCE))
        types = [x.type for x in carried]
        bounds = [registers.index(n) for n in (0, how.steps, 1)]
        made = mlir.emit("scf.for", [*bounds, *carried], {}, types, regions=1)
        block = mlir.Block.create_at_start(made.regions[0], [bounds[0].type, *types])
        with InsertionPoint(block):
            arguments: list[Value] = list(block.arguments)
            mlir.emit("scf.yield", self._step(arguments, kept, buffers), {}, [])
        results = dict(zip(kept, made.results, strict=False))
        final = {i: memory.released(x, dtype_of(start[i])) for i, x in results.items()}
        end = how.start + how.steps * how.step
        final[how.place] = full(shape_of(start[how.place]), end, dtype_of(start[how.place]))
        last = list(made.results)[len(kept) : -1]
        for stack, buffer, row in zip(self.stacks, buffers, last, strict=True):
            final[stack.place] = _array(buffer, row, start[stack.place])
        return [final[i] for i in range(len(start))]

    def _step(self, arguments: list[Value], kept: list[int], buffers: list[Value]) -> list[Value]:
        body = self.source.regions[1].blocks[0]
        step, *carried, written = arguments
        env: dict[Value, Value] = {body.arguments[self.how.place]: self._counter(step)}
        for i, x in zip(kept, carried, strict=False):
            env[body.arguments[i]] = memory.released(x, dtype_of(body.arguments[i]))
        operations = list(walk(body))
        # IREE wants to know where a row belongs before it knows what is in it.
        first = _needed([x for s in self.stacks for x in s.starts], operations)
        for operation in operations:
            if operation in first:
                mlir.copy(operation, env)
        parts = [
            _part(stack, buffer, [_scalar(env.get(x, x)) for x in stack.starts])
            for stack, buffer in zip(self.stacks, buffers, strict=True)
        ]
        updates = {stack.update for stack in self.stacks}
        for operation in operations:
            if operation not in first | updates:
                mlir.copy(operation, env)
        last: list[Value] = [mlir.terminator(body).operands[i] for i in kept]
        results = [memory.held(env.get(x, x)) for x in last]
        rows = [memory.held(env.get(stack.row, stack.row)) for stack in self.stacks]
        placed = [_aliased(row, part, written) for row, part in zip(rows, parts, strict=True)]
        return [*results, *_signalled(placed)]

    def _counter(self, step: Value) -> Value:
        """Return the counter's value in a step."""
        x = self.source.operands[self.how.place]
        integer = registers.register_type(x)
        counted = emit("arith.index_cast", step, to=integer)
        by, start = (
            registers.constant(np.array(n, dtype_of(x))) for n in (self.how.step, self.how.start)
        )
        value = emit("arith.addi", emit("arith.muli", counted, by), start)
        holder = mlir.tensor_type(shape_of(x), memory.held_dtype(x))
        return memory.released(emit("tensor.from_elements", value, to=holder), dtype_of(x))


def _needed(values: Sequence[Value], operations: Sequence[Operation]) -> set[Operation]:
    """Return the operations of a block on which the given values depend."""
    wanted, found = set(values), set()
    for operation in reversed(operations):
        if wanted.intersection(operation.results):
            found.add(operation)
            wanted.update(operation.operands, mlir.captured(operation))
    return found


def _scalar(x: Value) -> Value:
    return emit("tensor.extract", memory.held(x), to=registers.register_type(x))


# ---- buffers -------------------------------------------------------------------------------------

ALIGNMENT = 64
"""The alignment in bytes of the memory that IREE's kernels get."""
_BUFFER = mlir.parse_type("!hal.buffer")
_FENCE = mlir.parse_type("!hal.fence")
_FLAGS = {  # as IREE's own buffers have them: for the device and the host; for kernels and copies
    "hal.memory_type": ("type", "50 : i32"),
    "hal.buffer_usage": ("usage", "150998019 : i32"),
}


def _buffer(x: Value) -> Value:
    """Allocate a buffer of its own with a value's rows."""
    rows = shape.reshape(memory.held(x), (shape_of(x)[0], prod(memory.held_shape(x)[1:])))
    missing = _width(rows) - shape_of(rows)[1]
    if missing:
        rows = slicing.Pad((0, 0), (0, missing), (0, 0))(rows, full((), 0, dtype_of(rows)))
    allocator = emit("hal.device.allocator", _device(), to=mlir.parse_type("!hal.allocator"))
    any_queue = registers.constant(np.array(-1))
    flags = [
        mlir.emit(name, [], {key: mlir.parse_attribute(bits)}, [mlir.parse_type("i32")]).results[0]
        for name, (key, bits) in _FLAGS.items()
    ]
    size = registers.index(_bytes(rows))
    buffer = emit("hal.allocator.allocate", allocator, any_queue, *flags, size, to=_BUFFER)
    return _exported(_aliased(rows, buffer))


MOST = 1 << 20
"""The most bytes of a buffer that are not used, because of the alignment."""


def _is_dense(update: Operation) -> bool:
    """True if a buffer for the rows has little memory beside them."""
    array, row = update.operands[:2]
    return (
        shape_of(array)[0] * _width(row) * memory.held_dtype(row).itemsize - _bytes(array) <= MOST
    )


def _width(x: Value) -> int:
    """Return the distance between the starts of rows, a multiple of the alignment that kernels
    assume.
    """
    aligned = ALIGNMENT // memory.held_dtype(x).itemsize
    return -(-prod(memory.held_shape(x)[1:]) // aligned) * aligned


def _part(stack: _Stack, buffer: Value, starts: Sequence[Value]) -> Value:
    """Return the part of a buffer that a step's row belongs to."""
    array, row = stack.update.operands[:2]
    (at,) = blocks.clamped((shape_of(array)[0],), (1,), stack.starts[:1], starts[:1])
    stride = registers.index(_width(row) * memory.held_dtype(row).itemsize)
    place = emit("arith.muli", at, stride)
    return emit("hal.buffer.subspan", buffer, place, registers.index(_bytes(row)), to=_BUFFER)


def _array(buffer: Value, last: Value, result: Value) -> Value:
    """Return all rows of a buffer, after the last was written."""
    # A buffer has no dependencies. The last row is there when all rows are written, and where the
    # array begins depends on it.
    length = emit("hal.buffer.length", _exported(last), to=mlir.parse_type("index"))
    zero = emit("arith.subi", length, registers.index(_bytes(last)))
    extents, width = memory.held_shape(result), _width(result)
    type_ = mlir.tensor_type((extents[0], width), memory.held_dtype(result))
    size = registers.index(extents[0] * width * memory.held_dtype(result).itemsize)
    whole = emit("hal.buffer.subspan", buffer, zero, size, to=_BUFFER)
    attributes = mlir.segment_sizes(1, 0, 0, 0) | {"target_encoding": mlir.type_attribute(type_)}
    rows = emit("hal.tensor.import", whole, to=type_, **attributes)
    if width != prod(extents[1:]):
        rows = slicing.Slice((0, 0), (extents[0], prod(extents[1:])), (1, 1))(rows)
    return memory.released(shape.reshape(rows, extents), dtype_of(result))


def _exported(x: Value) -> Value:
    encoding = mlir.type_attribute(x.type)
    return emit("hal.tensor.export", x, to=_BUFFER, source_encoding=encoding)


def _aliased(x: Value, buffer: Value, *fence: Value) -> Value:
    """Put an array into a buffer, when a fence is signalled."""
    segments = mlir.segment_sizes(1, 0, 1, len(fence))
    return mlir.emit("hal.tensor.alias", [x, buffer, *fence], segments, [x.type]).results[0]


def _signalled(rows: Sequence[Value]) -> list[Value]:
    """Return rows, and a fence that is signalled when they are written."""
    flags = mlir.parse_attribute("0 : i64")
    fence = emit("hal.fence.create", _device(), to=_FENCE, flags=flags)
    types = [row.type for row in rows]
    return [*mlir.emit("hal.tensor.barrier", [*rows, fence], {}, types).results, fence]


def _device() -> Value:
    return emit("hal.devices.get", registers.index(0), to=mlir.parse_type("!hal.device"))


def _bytes(x: Value) -> int:
    return prod(memory.held_shape(x)) * memory.held_dtype(x).itemsize
