"""Rows of arrays, which a loop reads and writes."""

from __future__ import annotations

from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Type, Value, shape_of
from irax_compiler.ops import shape, slicing
from irax_compiler.ops.core import full
from irax_compiler.ops.indexing import dynamic_slices

I32 = np.dtype(np.int32)


def row_type(type_: Any) -> Type:
    """The type of a row of an array."""
    return mlir.tensor_type(mlir.shape_of_type(type_)[1:], mlir.dtype_of_type(type_))


def stacked_type(type_: Any, length: int) -> Type:
    """The type of an array of rows of a type."""
    return mlir.tensor_type((length, *mlir.shape_of_type(type_)), mlir.dtype_of_type(type_))


def read_row(x: Value, place: Value) -> Value:
    """x[place]."""
    sizes = shape_of(x)[1:]
    starts = [place, *[full((), 0, I32)] * len(sizes)]
    return shape.reshape(dynamic_slices.DynamicSlice((1, *sizes))(x, *starts), sizes)


def write_row(x: Value, row: Value, place: Value) -> Value:
    """x, with `row` at x[place]."""
    starts = [place, *[full((), 0, I32)] * len(shape_of(row))]
    return dynamic_slices.DynamicUpdateSlice()(x, shape.reshape(row, (1, *shape_of(row))), *starts)


def read_rows(x: Value, first: int, length: int) -> Value:
    """x[first : first + length]."""
    return slicing.slice_in_dim(x, first, first + length, 0)


def write_rows(x: Value, rows: Value, first: int) -> Value:
    """x, with `rows` from x[first] on."""
    if shape_of(rows) == shape_of(x):
        return rows
    starts = [full((), n, I32) for n in (first, *[0] * (len(shape_of(x)) - 1))]
    return dynamic_slices.DynamicUpdateSlice()(x, rows, *starts)
