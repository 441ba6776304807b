"""Operations that read and write elements of registers at computed places."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import registers
from irax_compiler.ops.core import no_calls
from irax_compiler.ops.indexing.dynamic_slices import DynamicSlice, DynamicUpdateSlice
from irax_compiler.ops.indexing.gather_scatter import Gather, Scatter
from irax_compiler.ops.reductions.window_shapes import WindowDims
from irax_compiler.ops.registers import Registers, emit
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.kernels.code.places import clamped
from irax_compiler.passes.kernels.code.shuffles import joined, picked
from irax_compiler.passes.kernels.views import contiguous
from irax_compiler.passes.rewriting import read_as

Combine = Callable[[Value, Value], Value]
INT16, INT32 = np.dtype(np.int16), np.dtype(np.int32)
READ = 64
"""The work that reading an element at a computed place counts as: LLVM compiles each by itself."""
NOWHERE = -1
"""A place that no register has."""


def is_known(operation: Operation) -> bool:
    """Return True for an operation that can index registers."""
    if operation.name == Gather.name:
        return read_as(Gather, operation) is not None
    if operation.name == Scatter.name:
        return len(operation.operands) == 3 and read_as(Scatter, operation) is not None
    return operation.name in (DynamicSlice.name, DynamicUpdateSlice.name)


def work(operation: Operation) -> int:
    """The number of elements that an operation on registers deals with."""
    if _fixed(operation) is not None:
        return prod(shape_of(operation.results[0]))
    if operation.name == Scatter.name:
        x, _, updates = operation.operands
        return prod(shape_of(x)) * prod(shape_of(updates))
    size = prod(shape_of(operation.results[0]))
    return size if operation.name == DynamicUpdateSlice.name else READ * size


def gathered(operation: Operation, operands: Registers) -> Value:
    """`stablehlo.gather`."""
    op = read_as(Gather, operation)
    assert op is not None
    x, indices = operation.operands
    fixed = _fixed(operation)
    if fixed is not None:
        return picked(operands[0], np.asarray(op.evaluate(no_calls, _numbered(shape_of(x)), fixed)))
    result = shape_of(operation.results[0])
    limits = np.subtract(shape_of(x), op.slice_sizes)
    nowhere = np.zeros(shape_of(indices), np.int32)
    first = np.asarray(op.evaluate(no_calls, _numbered(shape_of(x)), nowhere))
    at = registers.constant(first.astype(np.int32))
    for d, of_batch in _index_places(op.dims, shape_of(indices)).items():
        apart = np.expand_dims(of_batch, op.dims.window_dims)
        chosen = picked(operands[1], np.broadcast_to(apart, result))
        place = clamped(chosen, dtype_of(indices), limits[d])
        at = emit("arith.addi", at, _times(place, prod(shape_of(x)[d + 1 :])))
    return _elements(operands[0], at)


def _fixed(operation: Operation) -> np.ndarray | None:
    """Return the indices of a gather at known places."""
    source = mlir.definition(operation.operands[1]) if operation.name == Gather.name else None
    if source is None or not traits_of(source).is_constant:
        return None
    return mlir.dense_to_numpy(source)


def scattered(operation: Operation, operands: Registers, combine: Combine) -> Value:
    """`stablehlo.scatter` of one array, element by element."""
    op = read_as(Scatter, operation)
    assert op is not None
    x, indices, updates = operation.operands
    total, chosen, new = operands
    sizes = op.dims.sizes(shape_of(x), shape_of(updates))
    each = _index_places(op.dims, shape_of(indices))
    starts = op.dims.starts(np.zeros(shape_of(indices), np.int32), len(shape_of(x)))
    batch = starts.shape[1:]
    corners = np.tensordot(_strides(shape_of(x)), starts, 1)
    window = np.tensordot(_strides(shape_of(x)), np.indices(sizes), 1).reshape(-1)
    places = corners.reshape(-1, 1) + window
    axes = range(len(batch), len(shape_of(updates)))
    order = np.moveaxis(_numbered(shape_of(updates)), op.dims.window_dims, axes)
    at = registers.constant(places.astype(np.int32))
    inside: Value | None = None
    for d, of_batch in each.items():
        start = picked(chosen, np.broadcast_to(of_batch.reshape(-1, 1), places.shape))
        limit = shape_of(x)[d] - sizes[d]
        fits = _compared("ULE", start, registers.number(limit, start))
        inside = fits if inside is None else emit("arith.andi", inside, fits)
        place = clamped(start, dtype_of(indices), limit)
        at = emit("arith.addi", at, _times(place, prod(shape_of(x)[d + 1 :])))
    if inside is not None:
        at = registers.select(inside, at, registers.number(NOWHERE, at))
    return _written(total, picked(new, order), at, combine)


def sliced(operation: Operation, operands: Registers) -> Value:
    """`stablehlo.dynamic_slice`."""
    x, *starts = operation.operands
    part = shape_of(operation.results[0])
    numbers = _numbered(shape_of(x))[tuple(slice(n) for n in part)]
    at = registers.constant(numbers.astype(np.int32))
    for d, place in _starts(shape_of(x), part, starts, operands[1:]).items():
        step = _times(place, prod(shape_of(x)[d + 1 :]))
        at = emit("arith.addi", at, registers.spread(step, numbers.size))
    return _elements(operands[0], at)


def updated(operation: Operation, operands: Registers) -> Value:
    """`stablehlo.dynamic_update_slice`: each element is its own or one of the slice."""
    x, new, *starts = operation.operands
    whole, part = shape_of(x), shape_of(new)
    coordinates, size = list(np.indices(whole, np.int32)), prod(whole)
    placed = _starts(whole, part, starts, operands[2:])
    within = {
        d: emit(
            "arith.subi", registers.constant(coordinates[d]), registers.spread(place, prod(whole))
        )
        for d, place in placed.items()
    }
    fixed = np.zeros(whole, np.int32)
    for d, step in enumerate(_strides(part)):
        if d not in placed:
            fixed += coordinates[d] * step
    if all(part[d] == 1 for d in placed):
        chosen = registers.spread(picked(operands[1], fixed), size)
    else:
        at = registers.constant(fixed)
        for d, place in within.items():
            at = emit("arith.addi", at, _times(place, prod(part[d + 1 :])))
        last = registers.number(prod(part) - 1, at)
        chosen = _elements(operands[1], emit("arith.minui", at, last))
    for d, place in within.items():
        is_inside = _compared("ULT", place, registers.number(part[d], place))
        chosen = registers.select(is_inside, chosen, operands[0])
    return chosen


def _starts(
    whole: tuple[int, ...], part: tuple[int, ...], starts: Sequence[Value], given: Registers
) -> dict[int, Value]:
    """Return the clamped starts of a slice, for dimensions that it is not the whole of."""
    return {
        d: clamped(scalar, dtype_of(start), whole[d] - part[d])
        for d, (start, scalar) in enumerate(zip(starts, given, strict=True))
        if part[d] < whole[d]
    }


def _index_places(dims: WindowDims, indices: tuple[int, ...]) -> dict[int, np.ndarray]:
    """For each dimension of the array that has an index, the places of it in the indices."""
    numbers = _numbered(indices)
    if dims.index_vector_dim == len(indices):
        return dict.fromkeys(dims.index_map, numbers)
    return {d: numbers.take(e, dims.index_vector_dim) for e, d in enumerate(dims.index_map)}


def _numbered(extents: Sequence[int]) -> np.ndarray:
    return np.arange(prod(extents)).reshape(extents)


def _strides(extents: Sequence[int]) -> np.ndarray:
    return np.array(contiguous(extents), np.int64)


# ---- places as registers of int32 ----------------------------------------------------------------


def _times(x: Value, factor: int) -> Value:
    return x if factor == 1 else emit("arith.muli", x, registers.number(factor, x))


def _compared(direction: str, x: Value, y: Value) -> Value:
    predicate = {"EQ": 0, "ULT": 6, "ULE": 7}[direction]
    boolean = registers.with_elements(x, np.dtype(np.bool_))
    return emit(
        "arith.cmpi", x, y, to=boolean, predicate=mlir.parse_attribute(f"{predicate} : i64")
    )


# ---- elements ------------------------------------------------------------------------------------

_COMPUTED = mlir.integers([-(2**63)])


def _elements(x: Value, at: Value) -> Value:
    """The elements of a register at places."""
    count = registers.size_of(at)
    if registers.size_of(x) == 1:
        return registers.spread(x, count)
    if registers.is_boolean(x):
        byte = emit("arith.extui", x, to=registers.with_elements(x, np.dtype(np.int8)))
        found = _elements(byte, at)
        return emit("arith.trunci", found, to=registers.with_elements(found, np.dtype(np.bool_)))
    if dtype_of(x).itemsize == INT16.itemsize:
        # LLVM makes one permutation of these reads. That of IREE 3.13 ends the process for some
        # permutations whose places have more bits than the elements.
        at = emit("arith.trunci", at, to=registers.with_elements(at, INT16))
    return joined([_element(x, picked(at, np.array(i))) for i in range(count)])


def _element(x: Value, at: Value) -> Value:
    place = emit("arith.index_cast", at, to=mlir.parse_type("index"))
    return emit("vector.extract", x, place, to=x.type.element_type, static_position=_COMPUTED)


def _written(x: Value, new: Value, at: Value, combine: Combine) -> Value:
    """A register with elements combined with what is at places, one after the other."""
    size = registers.size_of(x)
    own = registers.constant(np.arange(size, dtype=np.int32))
    for i in range(registers.size_of(at)):
        place, element = (picked(y, np.array(i)) for y in (at, new))
        is_there = _compared("EQ", own, registers.spread(place, size))
        combined = registers.spread(combine(x, registers.spread(element, size)), size)
        x = registers.select(is_there, combined, x)
    return x
