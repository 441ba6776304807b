"""Gathers of symbolic sizes, as `linalg.generic`: each element of the result reads its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value
from irax_compiler.ops.indexing.gather_scatter import Gather
from irax_compiler.passes.sizes.lowering.lowering import (
    INDEX,
    Lowering,
    NotDynamic,
    anonymous,
    element_wise,
    emit,
)
from irax_compiler.passes.sizes.lowering.moves import held_as
from irax_compiler.sizes.comparison import bounds


def _gather(of: Lowering, op: Gather, operands: list[Value], type_: Any) -> Value:
    x, indices = operands
    name, dtype = held_as(mlir.dtype_of(x))
    if name:
        held = emit(name, [x], anonymous(of.shape(x), mlir.element_type(dtype)))
        of.shapes[held] = of.shape(x)
        found = anonymous(of.result_shape, held.type.element_type)
        return emit(name, [_gather(of, op, [held, indices], found)], type_)
    array = of.shape(x)
    rank = len(of.result_shape)
    apart = op.dims.collapsed_dims + op.dims.operand_batching_dims
    spanned = [d for d in range(len(array)) if d not in apart]
    vectors = _signed(of, indices)
    vector_dim = op.dims.index_vector_dim

    def element(places: list[Value]) -> Value:
        batch = [places[p] for p in range(rank) if p not in op.dims.window_dims]
        starts = [of.number(0)] * len(array)
        for number, d in enumerate(op.dims.index_map):
            at = list(batch)
            if vector_dim < len(of.shape(indices)):
                at.insert(vector_dim, of.number(number))
            found = emit("tensor.extract", [vectors, *at], vectors.type.element_type)
            place = emit("arith.index_cast", [found], INDEX)
            last = of.number(array[d] - op.slice_sizes[d])
            place = emit("arith.minsi", [place, last], INDEX)
            starts[d] = emit("arith.maxsi", [place, of.number(0)], INDEX)
        pairs = zip(op.dims.operand_batching_dims, op.dims.indices_batching_dims, strict=True)
        for d, along in pairs:
            starts[d] = batch[along - (along > vector_dim)]
        for d, p in zip(spanned, op.dims.window_dims, strict=True):
            starts[d] = emit("arith.addi", [starts[d], places[p]], INDEX)
        return emit("tensor.extract", [x, *starts], x.type.element_type)

    if any(bounds(array[d] - op.slice_sizes[d])[0] < 0 for d in range(len(array))):
        raise NotDynamic("a gather from an array that may be smaller than what is read of it")
    return element_wise(of, of.result_shape, type_, element)


def _signed(of: Lowering, indices: Value) -> Any:
    """Indices as signed integers, which other dialects than StableHLO compute with."""
    dtype = mlir.dtype_of(indices)
    if dtype in (np.int32, np.int64):
        return indices
    if dtype == np.uint64:
        raise NotDynamic("a gather at indices of dtype uint64")
    element = mlir.element_type(np.dtype(np.int64))
    return emit("stablehlo.convert", [indices], anonymous(of.shape(indices), element))


LOWERINGS: dict[type, Callable[[Lowering, Any, list[Value], Any], Value]] = {Gather: _gather}
