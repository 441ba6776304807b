"""Loops over few elements as single kernels that keep them in registers.

IREE launches kernels for each step, which takes microseconds, while a step itself takes
nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Operation, Value, dtype_of, inexact, shape_of
from irax_compiler.ops import barrier, registers, shape, slicing
from irax_compiler.ops.formulas import definition, has_loop, is_formula
from irax_compiler.passes.core import nested
from irax_compiler.passes.loops import blocks, indexing, launch, vectors
from irax_compiler.passes.loops.blocks import REGISTERS
from irax_compiler.passes.loops.memory import held, held_dtype, released

BINDINGS = 32
"""The most arrays that a kernel may read and write."""
FEW = 1 << 16
"""The most operations on elements per step for which one kernel, on one core, is faster than
kernels for each step."""
LANES = 16
"""The number of elements of large arrays that are processed at a time."""
LONG = 16
"""The number of formulas from which a kernel calls functions."""
LONGEST = 1024
"""The most operations of formulas that a kernel has written out."""


def as_kernel(loop: Operation) -> Sequence[Value] | None:
    """Build a kernel of a `stablehlo.while` at the insertion point, and return its results; None if
    the loop is unsuitable.
    """
    parts = _Parts.of(loop)
    return None if parts is None else _kernel(loop, parts)


def is_of_registers(loop: Operation) -> bool:
    """True if all values of a loop fit in registers, so that it can be part of a larger kernel."""
    parts = _Parts.of(loop)
    return parts is not None and not parts.tables and not parts.buffers


# ---- which loops ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Parts:
    """The values that a loop over few elements uses, by where its kernel keeps them."""

    elements: list[Value]
    """The values from outside that are kept in registers: initial loop-carried values and captured
    ones."""
    tables: list[Value]
    """Arrays from outside that are read slab by slab."""
    buffers: list[int]
    """The numbers of the loop-carried values that are arrays, written slab by slab."""

    @classmethod
    def of(cls, loop: Operation) -> _Parts | None:
        operations = list(nested(loop))
        outside = [x for x in mlir.captured(loop) if not is_constant(x)]
        users = _users(operations)
        tables = [x for x in outside if _is_table(x, users[x])]
        versions = _buffers(loop)
        buffers, own = list(versions), {x for found in versions.values() for x in found}
        in_memory = {*tables, *own}
        if not all(blocks.is_known(o, in_memory) for o in operations):
            return None
        carried = [x for i, x in enumerate(loop.operands) if i not in buffers]
        elements = [*carried, *(x for x in outside if x not in tables)]
        inside = [r for o in operations for r in o.results if r not in own]
        arrays = [*tables, *(loop.operands[i] for i in buffers)]
        if not all(map(is_plain, (*elements, *inside, *arrays))):
            return None
        sizes = [prod(shape_of(x)) for x in (*elements, *inside)]
        if max(sizes) > REGISTERS or sum(sizes) + _extra(operations, in_memory) > FEW:
            return None
        memory = {held_dtype(loop.operands[i]) for i in buffers}
        if too_many([*elements, *tables, *tables], len(carried) + 2 * len(memory)):
            return None
        return cls(elements, tables, buffers)


def _extra(operations: Iterable[Operation], in_memory: set[Value]) -> int:
    """Return the work of products, and of indexing registers, beside that for their results."""
    work = 0
    for operation in operations:
        if operation.name == "stablehlo.dot_general":
            work += vectors.work(operation)
        elif indexing.is_known(operation) and operation.operands[0] not in in_memory:
            work += indexing.work(operation)
    return work


def is_long(operations: Iterable[Operation]) -> bool:
    """True if a kernel of these operations is an executable of its own, in which formulas are
    functions.
    """
    formulas = [o for each in operations for o in (each, *nested(each)) if is_formula(o)]
    if len(formulas) >= LONG or any(map(has_loop, formulas)):
        return True
    return sum(len(mlir.body(definition(o)).operations) for o in formulas) > LONGEST


def too_many(taken: Sequence[Value], results: int) -> bool:
    """True if a kernel would have more arrays than IREE can bind."""
    return sum(mlir.splat(x) is None for x in taken) + results > BINDINGS


def is_plain(x: Value) -> bool:
    dtype = dtype_of(x)
    is_number = dtype.kind in "biu" or (inexact(dtype) and dtype.kind != "c" and dtype.itemsize > 1)
    return is_number and prod(shape_of(x)) > 0


def is_constant(x: Value) -> bool:
    definition = mlir.definition(x)
    is_one = definition is not None and definition.name == "stablehlo.constant"
    return is_one and (mlir.splat(x) is not None or prod(shape_of(x)) <= REGISTERS)


def _users(operations: Sequence[Operation]) -> dict[Value, list[Operation]]:
    """Return the operations that use each value."""
    found: dict[Value, list[Operation]] = {}
    for operation in operations:
        for x in dict.fromkeys(operation.operands):
            found.setdefault(x, []).append(operation)
    return found


def _is_table(x: Value, users: Sequence[Operation]) -> bool:
    """True if the uses of a value are only reads of slabs and, if it is large, products."""
    is_large = prod(shape_of(x)) > REGISTERS
    return all(_reads(o, x) or (is_large and vectors.takes_table(o, x)) for o in users)


def _reads(operation: Operation, x: Value) -> bool:
    """True if an operation reads a slab of a value, and does not use it otherwise."""
    array, *starts = operation.operands
    return blocks.reads_slab(operation) and array == x and x not in starts


def _buffers(loop: Operation) -> dict[int, set[Value]]:
    """Return the loop-carried values of which the body writes slabs, with all their versions."""
    last = mlir.terminator(loop.regions[1].blocks[0])
    made = [mlir.definition(x) for x in last.operands]
    written = [i for i, o in enumerate(made) if o is not None and blocks.writes_slab(o)]
    found = {i: _versions(loop, i) for i in written}
    return {i: versions for i, versions in found.items() if versions is not None}


def _versions(loop: Operation, i: int) -> set[Value] | None:
    """Return all values of a loop's buffer. Each must be read before it is written, and written
    once, so that a single buffer can hold them. None if that is not so.
    """
    condition, body = (region.blocks[0] for region in loop.regions)
    order = {view.operation: place for place, view in enumerate(body.operations)}
    last, version = mlir.terminator(body), body.arguments[i]
    if mlir.num_uses(condition.arguments[i]):
        return None
    found: set[Value] = set()
    while last.operands[i] != version:
        found.add(version)
        users = [use.owner for use in version.uses]
        if not users or not all(user in order for user in users):
            return None
        *readers, writer = sorted(users, key=order.__getitem__)
        if not blocks.writes_slab(writer) or not all(_reads(o, version) for o in readers):
            return None
        version = writer.results[0]
    found.add(version)
    is_kept = all(u.owner == last or _reads(u.owner, version) for u in version.uses)
    return found if is_kept else None


# ---- the kernel ----------------------------------------------------------------------------------


def _kernel(loop: Operation, parts: _Parts) -> Sequence[Value]:
    """Build a dispatch with the loop inside. Outside of it, all arrays have one dimension."""
    start = list(loop.operands)
    kept = [i for i in range(len(start)) if i not in parts.buffers]
    tables = {x: _kept_out(_flat(x)) for x in parts.tables}
    factors = {
        o: _kept_out(_flat(vectors.rows(o, x)))
        for o in nested(loop)
        if o.name == "stablehlo.dot_general"
        for x in o.operands
        if x in tables
    }
    elements = {x: _kept_out(_flat(x)) for x in parts.elements}
    memory = _Memory.of([start[i] for i in parts.buffers])
    types = [mlir.tensor_type((prod(shape_of(start[i])),), held_dtype(start[i])) for i in kept]
    types += [x.type for x in memory.arrays.values()]

    def body(inside: dict[Value, Value], functions: launch.Functions | None) -> list[Value]:
        first = registers.index(0)
        loaded = {x: blocks.load(inside[array], first, x) for x, array in elements.items()}
        scope = blocks.Scope(
            loaded,
            {x: inside[array] for x, array in tables.items()},
            {o: inside[array] for o, array in factors.items()},
            functions=functions,
        )
        own = {dtype: _copied(inside[array]) for dtype, array in memory.arrays.items()}
        places = list(zip(parts.buffers, memory.places, strict=True))
        results = _loop(loop, scope, kept, places, own)
        n = len(kept)
        results[:n] = [_stored(x, first, t) for x, t in zip(results[:n], types, strict=False)]
        return results

    groups = (tables, factors, elements, memory.arrays)
    arrays = list(dict.fromkeys(array for group in groups for array in group.values()))
    results = _launched([loop], arrays, types, body)
    final: dict[int, Value] = dict(zip(kept, results, strict=False))
    written = dict(zip(memory.arrays, results[len(kept) :], strict=True))
    for i, (dtype, base) in zip(parts.buffers, memory.places, strict=True):
        end = base + prod(shape_of(start[i]))
        final[i] = slicing.Slice((base,), (end,), (1,))(written[dtype])
    return [_as_it_was(final[i], start[i]) for i in range(len(start))]


def of_operations(
    operations: Sequence[Operation], taken: Sequence[Value], given: Sequence[Value]
) -> list[Value]:
    """Build a dispatch of operations on registers, with some of their results. It returns one array
    per dtype: of two equal arrays IREE drops one, and confuses them later.
    """
    elements = {x: _kept_out(_flat(x)) for x in taken}
    places: dict[Value, int] = {}
    sizes: dict[np.dtype, int] = {}
    for x in given:
        places[x] = sizes.get(held_dtype(x), 0)
        sizes[held_dtype(x)] = places[x] + prod(shape_of(x))
    types = [mlir.tensor_type((size,), dtype) for dtype, size in sizes.items()]

    def body(inside: dict[Value, Value], functions: launch.Functions | None) -> list[Value]:
        first = registers.index(0)
        loaded = {x: blocks.load(inside[array], first, x) for x, array in elements.items()}
        scope = blocks.Scope(loaded, functions=functions)
        blocks.translate(operations, scope)
        made = {
            dtype: mlir.emit("tensor.empty", [], {}, [type_]).results[0]
            for dtype, type_ in zip(sizes, types, strict=True)
        }
        for x, place in places.items():
            dtype = held_dtype(x)
            made[dtype] = blocks.store(scope.register(x), made[dtype], registers.index(place))
        return list(made.values())

    results = _launched(operations, list(dict.fromkeys(elements.values())), types, body)
    arrays = dict(zip(sizes, results, strict=True))
    return [_as_it_was(_alone(arrays[held_dtype(x)], place, x), x) for x, place in places.items()]


def of_arrays(
    operations: Sequence[Operation], taken: Sequence[Value], given: Sequence[Value]
) -> list[Value]:
    """Build a kernel of elementwise operations on scalars and arrays of one size. Workgroups share
    the arrays, and process their shares register by register.
    """
    elements = prod(shape_of(operations[0].results[0]))
    arrays = {x: _kept_out(_flat(x)) for x in taken}
    types = [mlir.tensor_type((elements,), held_dtype(x)) for x in given]
    shares = launch.Shares.of(elements, LANES)
    to = [mlir.tensor_type((shares.size,), held_dtype(x)) for x in given]

    def body(inside: dict[Value, Value], functions: launch.Functions | None) -> Sequence[Value]:
        first, last = registers.index(0), registers.index(shares.size - LANES)
        limit, width = registers.index(shares.size), registers.index(LANES)
        numbers = {
            x: blocks.load(inside[array], first, x)
            for x, array in arrays.items()
            if prod(shape_of(x)) == 1
        }
        empty = [mlir.emit("tensor.empty", [], {}, [t]).results[0] for t in to]
        steps = mlir.emit("scf.for", [first, limit, width, *empty], {}, to, regions=1)
        step = mlir.Block.create_at_start(steps.regions[0], [first.type, *to])
        with InsertionPoint(step):
            at, *made = step.arguments
            place = registers.emit("arith.minsi", at, last)
            loaded = {
                x: blocks.load(inside[array], place, x, LANES)
                for x, array in arrays.items()
                if x not in numbers
            }
            scope = blocks.Scope(numbers | loaded, lanes=LANES, functions=functions)
            blocks.translate(operations, scope)
            results = [registers.spread(scope.register(x), LANES) for x in given]
            stored = [blocks.store(x, y, place) for x, y in zip(results, made, strict=True)]
            mlir.emit("scf.yield", stored, {}, [])
        return list(steps.results)

    results = launch.executable(list(dict.fromkeys(arrays.values())), types, body, shares)
    return [_as_it_was(y, x) for x, y in zip(given, results, strict=True)]


def _launched(
    operations: Iterable[Operation],
    arrays: Sequence[Value],
    types: Sequence[mlir.Type],
    body: launch.Body,
) -> list[Value]:
    launched = launch.executable if is_long(operations) else launch.region
    return launched(arrays, types, body)


def _alone(array: Value, place: int, x: Value) -> Value:
    """Return the slice of an array that holds a value, behind a barrier: IREE cannot fuse a slice
    into some operations.
    """
    size = prod(shape_of(x))
    return (
        array
        if shape_of(array) == (size,)
        else _kept_out(slicing.slice_in_dim(array, place, place + size, 0))
    )


@dataclass(frozen=True)
class _Memory:
    """Arrays stored one behind the other, in one tensor per dtype."""

    arrays: dict[np.dtype, Value]
    places: list[tuple[np.dtype, int]]

    @classmethod
    def of(cls, values: Sequence[Value]) -> _Memory:
        parts: dict[np.dtype, list[Value]] = {}
        places = []
        for x in values:
            together = parts.setdefault(held_dtype(x), [])
            places.append((held_dtype(x), sum(shape_of(y)[0] for y in together)))
            together.append(_flat(x))
        joined = {d: y[0] if len(y) == 1 else slicing.Concatenate(0)(*y) for d, y in parts.items()}
        return cls({dtype: _kept_out(x) for dtype, x in joined.items()}, places)


def _loop(
    loop: Operation,
    scope: blocks.Scope,
    kept: Sequence[int],
    places: Sequence[tuple[int, tuple[np.dtype, int]]],
    own: dict[np.dtype, Value],
) -> list[Value]:
    """Build the loop, which carries registers and memory."""
    condition, body = (region.blocks[0] for region in loop.regions)

    def inside(block: mlir.Block, carried: list[Value]) -> blocks.Scope:
        inner = scope.inner([block.arguments[i] for i in kept], carried[: len(kept)])
        inner.places = {block.arguments[i]: place for i, place in places}
        inner.memory = dict(zip(own, carried[len(kept) :], strict=True))
        return inner

    def step(carried: list[Value]) -> list[Value]:
        inner = inside(body, carried)
        blocks.build(body, inner)
        last = mlir.terminator(body).operands
        return [*(inner.register(last[i]) for i in kept), *inner.memory.values()]

    start = [scope.register(loop.operands[i]) for i in kept]
    return blocks.while_loop(
        [*start, *own.values()],
        lambda carried: blocks.results(condition, inside(condition, carried))[0],
        step,
    )


def _flat(x: Value) -> Value:
    return held(shape.reshape(x, (prod(shape_of(x)),)))


def _kept_out(x: Value) -> Value:
    """Put a barrier behind an array, so that IREE does not fuse its producer into the kernel."""
    if mlir.is_argument(x) or mlir.splat(x) is not None:
        return x
    return barrier.barrier.build([x])[0]


def _as_it_was(x: Value, result: Value) -> Value:
    return shape.reshape(released(x, dtype_of(result)), shape_of(result))


def _stored(x: Value, first: Value, type_: mlir.Type) -> Value:
    """Store a register in an array."""
    empty = mlir.emit("tensor.empty", [], {}, [type_]).results[0]
    return blocks.store(x, empty, first)


def _copied(x: Value) -> Value:
    """Build a dispatch's own copy of an array."""
    (size,) = shape_of(x)
    width = max(w for w in range(1, 65) if size % w == 0)
    zero, limit, step = (registers.index(n) for n in (0, size, width))
    empty = mlir.emit("tensor.empty", [], {}, [x.type]).results[0]
    made = mlir.emit("scf.for", [zero, limit, step, empty], {}, [x.type], regions=1)
    inner = mlir.Block.create_at_start(made.regions[0], [zero.type, x.type])
    with InsertionPoint(inner):
        place, copy = inner.arguments
        part = blocks.read(x, place, registers.type_of(dtype_of(x), width))
        mlir.emit("scf.yield", [blocks.write(part, copy, place)], {}, [])
    return made.results[0]
