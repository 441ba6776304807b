"""Operations with symbolic sizes as those of StableHLO, tensor and flow that IREE compiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Type, Value
from irax_compiler.mlir.types import UNKNOWN_SIZE, element_type
from irax_compiler.ops import shape as shape_ops
from irax_compiler.ops import slicing
from irax_compiler.ops.bitcast import BitcastConvert
from irax_compiler.ops.core import full
from irax_compiler.ops.dimension import Dimension
from irax_compiler.ops.elementwise import minimum
from irax_compiler.ops.indexing.dynamic_slices import DynamicSlice, DynamicUpdateSlice
from irax_compiler.passes.sizes.lowering.lowering import (
    I32,
    I64,
    INDEX,
    Lowering,
    NotDynamic,
    anonymous,
    emit,
)
from irax_compiler.sizes import Size, larger, smaller

_CONVERT = "stablehlo.convert"
_WIDE = mlir.tensor_type((), np.dtype(np.int64))


def _dimension(of: Lowering, op: Any, operands: list[Value], type_: Any) -> Value:
    is_integer = op.dtype.kind in "iu"
    element = element_type(np.dtype(f"i{op.dtype.itemsize}")) if is_integer else I32
    number = emit("arith.index_cast", [of.number(op.size)], element)
    found = emit("tensor.from_elements", [number], anonymous((), element))
    users = mlir.users(of.operation.results[0])
    becomes = [mlir.dtype_of(x) for user in users for x in user.results if user.name == _CONVERT]
    if any(dtype.kind == "u" for dtype in (op.dtype, *becomes)):
        # MLIR would convert the number, and arithmetic of numbers has no unsigned ones.
        found = emit("stablehlo.optimization_barrier", [found], found.type)
    if found.type == type_:
        return found
    return emit(f"stablehlo.{'bitcast_convert' if is_integer else 'convert'}", [found], type_)


def _broadcast(of: Lowering, op: Any, operands: list[Value], type_: Any) -> Value:
    (x,) = operands
    order = sorted(range(len(of.shape(x))), key=lambda d: op.broadcast_dimensions[d])
    if order != sorted(order):  # of which IREE makes one that does not permute
        own = tuple(of.shape(x)[d] for d in order)
        permutation = mlir.integers(order)
        turned = emit("stablehlo.transpose", [x], _type_of(own, x), permutation=permutation)
        of.shapes[turned] = own
        dimensions = tuple(sorted(op.broadcast_dimensions))
        return _broadcast(of, replace(op, broadcast_dimensions=dimensions), [turned], type_)
    own = of.shape(x)
    stretched = [d for d, n in enumerate(own) if n == 1]
    kept = [d for d, n in enumerate(own) if n != 1]
    return emit(
        "stablehlo.dynamic_broadcast_in_dim",
        [x, of.vector(op.shape)],
        type_,
        broadcast_dimensions=mlir.integers(op.broadcast_dimensions),
        known_expanding_dimensions=mlir.integers(stretched),
        known_nonexpanding_dimensions=mlir.integers(kept),
    )


def _type_of(shape: Sequence[Any], like: Value) -> Type:
    return anonymous(shape, mlir.element_type(mlir.dtype_of(like)))


def _iota(of: Lowering, op: Any, operands: list[Value], type_: Any) -> Value:
    along = mlir.parse_attribute(f"{op.iota_dimension} : i64")
    return emit("stablehlo.dynamic_iota", [of.vector(op.shape)], type_, iota_dimension=along)


def _reshape(of: Lowering, op: Any, operands: list[Value], type_: Any) -> Value:
    (x,) = operands
    name, dtype = held_as(mlir.dtype_of(x))
    if name:  # flow has neither booleans nor unsigned integers
        held = emit(name, [x], anonymous(of.shape(x), element_type(dtype)))
        of.shapes[held] = of.shape(x)
        return emit(
            name, [_reshape(of, op, [held], anonymous(op.shape, held.type.element_type))], type_
        )
    own, new = ([n for n in s if isinstance(n, Size)] for s in (of.shape(x), op.shape))
    segments = mlir.segment_sizes(1, len(own), len(new))
    operands = [x, *of.sizes(own), *of.sizes(new)]
    return emit("flow.tensor.reshape", operands, type_, **segments)


def held_as(dtype: np.dtype) -> tuple[str, np.dtype]:
    """Return the name of the conversion to a dtype that the dialects flow and tensor have, and that
    dtype; an empty name if they have the dtype itself.
    """
    if dtype == np.bool_:
        return "stablehlo.convert", np.dtype(np.int8)
    if dtype.kind == "u":
        return "stablehlo.bitcast_convert", np.dtype(f"i{dtype.itemsize}")
    return "", dtype


def signed_type(x: Any) -> Type:
    """The type of an array of unsigned integers if these were signed ones."""
    element = element_type(np.dtype(f"i{mlir.dtype_of(x).itemsize}"))
    return anonymous(x.type.shape, element)


def bits(of: Lowering, x: Value, type_: Any) -> Value:
    """The bits of an array of integers as another type."""
    found = emit("stablehlo.bitcast_convert", [x], type_)
    of.shapes[found] = of.shape(x)
    return found


def _bitcast(of: Lowering, op: Any, operands: list[Value], type_: Any) -> Value:
    (x,) = operands
    if mlir.dtype_of(x).itemsize != op.dtype.itemsize:
        raise NotDynamic("bitcast_convert to a dtype of another width")
    return emit("stablehlo.bitcast_convert", [x], type_)


def _slice(of: Lowering, op: Any, operands: list[Value], type_: Any) -> Value:
    place = (op.start_indices, of.result_shape, op.strides)
    return _at("tensor.extract_slice", of, operands, place, type_)


def _pad(of: Lowering, op: Any, operands: list[Value], type_: Any) -> Value:
    return padded(of, op, operands, of.result_shape, type_)


def padded(
    of: Lowering, op: slicing.Pad, operands: Sequence[Value], shape: Sequence[Any], type_: Type
) -> Value:
    """The scalar broadcast to the result's shape, with the operand written into it. What negative
    padding takes away is written, too, and then cut off.
    """
    x, value = operands
    low, high = (
        tuple(larger(n, 0) for n in edge) for edge in (op.edge_padding_low, op.edge_padding_high)
    )
    if (low, high) != (op.edge_padding_low, op.edge_padding_high):
        wider = replace(op, edge_padding_low=low, edge_padding_high=high)
        wide = wider.result_shape(of.shape(x))
        whole = padded(of, wider, operands, wide, anonymous(wide, x.type.element_type))
        of.shapes[whole] = wide
        cut = [n - m for n, m in zip(low, op.edge_padding_low, strict=True)]
        return part(of, whole, cut, shape, type_)
    spread = of.spread(value, shape, type_)
    of.shapes[spread] = tuple(shape)
    extents = of.shape(x)
    place = (low, extents, tuple(n + 1 for n in op.interior_padding))
    return _at("tensor.insert_slice", of, [x, of.apart(spread, of.operation)], place, type_)


def _update(of: Lowering, op: Any, operands: list[Value], type_: Any) -> Value:
    """The update written at the starts, moved so that it lies within the array."""
    x, update, *starts = operands
    array, extents = of.shape(x), of.shape(update)
    places, sizes = _within(of, starts, array, extents), _there(array, extents)
    if sizes != extents:
        zeros, own = (0,) * len(sizes), anonymous(sizes, update.type.element_type)
        update = part(of, update, zeros, sizes, own)
    place = (places, sizes, (1,) * len(sizes))
    return _at("tensor.insert_slice", of, [update, of.apart(x, of.operation)], place, type_)


def _read(of: Lowering, op: Any, operands: list[Value], type_: Any) -> Value:
    """The part of an array at the starts, moved so that it lies within the array."""
    x, *starts = operands
    array, extents = of.shape(x), op.slice_sizes
    places, sizes = _within(of, starts, array, extents), _there(array, extents)
    own = type_ if sizes == extents else anonymous(sizes, x.type.element_type)
    found = part(of, x, places, sizes, own)
    if sizes == extents:
        return found
    spread = of.spread(full((), 0, mlir.dtype_of(x)), extents, type_)
    of.shapes[spread] = extents
    place = ((0,) * len(sizes), sizes, (1,) * len(sizes))
    return _at("tensor.insert_slice", of, [found, of.apart(spread, of.operation)], place, type_)


def _there(array: Sequence[Any], part: Sequence[Any]) -> tuple[Any, ...]:
    """The sizes of as much of a part as fits into an array: a step of a loop that is never taken
    may read an element of an array that has none.
    """
    return tuple(smaller(m, n) for n, m in zip(array, part, strict=True))


def part(
    of: Lowering, x: Value, offsets: Sequence[Any], extents: Sequence[Any], type_: Type
) -> Value:
    """A part of an array."""
    found = _at("tensor.extract_slice", of, [x], (offsets, extents, (1,) * len(extents)), type_)
    of.shapes[found] = tuple(extents)
    return found


def _within(
    of: Lowering, starts: Sequence[Value], array: Sequence[Any], sizes: Sequence[Any]
) -> list[Value]:
    """Starts of a part of an array as indices, moved so that it lies within the array."""
    places = []
    for start, n, size in zip(starts, array, sizes, strict=True):
        if mlir.dtype_of(start) == np.uint64:
            start = minimum(start, full((), 2**62, np.dtype(np.uint64)))
        wide = emit("stablehlo.convert", [start], _WIDE)
        number = emit("arith.index_cast", [emit("tensor.extract", [wide], I64)], INDEX)
        with of.at_start():
            last = emit("arith.subi", [of.number(n), of.number(size)], INDEX)
        least = emit("arith.minsi", [number, last], INDEX)
        places.append(emit("arith.maxsi", [least, of.number(0)], INDEX))
    return places


def _at(
    name: str,
    of: Lowering,
    operands: Sequence[Value],
    place: tuple[Sequence[Any], Sequence[Any], Sequence[int]],
    type_: Any,
) -> Value:
    """An operation of the dialect tensor on a part of an array: its offsets, sizes and strides,
    each of which is a size or an index that was computed.
    """
    if mlir.dtype_of(operands[0]).kind == "u":  # which these dialects do not have
        held = [bits(of, x, signed_type(x)) for x in operands]
        found = anonymous(type_.shape, held[0].type.element_type)
        return emit("stablehlo.bitcast_convert", [_at(name, of, held, place, found)], type_)
    found, stated, counts = list(operands), {}, [1] * len(operands)
    for kind, numbers in zip(("offsets", "sizes", "strides"), place, strict=True):
        known = [n if isinstance(n, int) else UNKNOWN_SIZE for n in numbers]
        computed = of.extent if kind == "sizes" else of.number
        open_ = [n if isinstance(n, Value) else computed(n) for n in numbers if type(n) is not int]
        found += open_
        counts.append(len(open_))
        stated[f"static_{kind}"] = mlir.integers(known)
    return emit(name, found, type_, **mlir.segment_sizes(*counts), **stated)


LOWERINGS: dict[type, Callable[[Lowering, Any, list[Value], Any], Value]] = {
    Dimension: _dimension,
    BitcastConvert: _bitcast,
    shape_ops.BroadcastInDim: _broadcast,
    shape_ops.Iota: _iota,
    shape_ops.Reshape: _reshape,
    slicing.Slice: _slice,
    slicing.Pad: _pad,
    DynamicSlice: _read,
    DynamicUpdateSlice: _update,
}

ALSO = (slicing.Pad, DynamicUpdateSlice)
"""The ones among them whose parameters may be known where operands are of unknown size."""
