"""Kinds of ops, as shadow runs see them: those that move elements, read bits, or are flat."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from irax_compiler.mlir import Type, dtype_of_type, tensor_type
from irax_compiler.ops import bitcast, comparison, conversion, marks
from irax_compiler.ops.core import ArrayType, Linear, Op
from irax_compiler.ops.indexing import dynamic_slices, gather_scatter


def moves(op: Op) -> bool:
    """True if an op only moves elements, to places that integers or its parameters tell."""
    if isinstance(op, gather_scatter.Scatter):
        return op.combiner == "set"
    return op.moves or isinstance(op, _MOVES)


_MOVES = (
    dynamic_slices.DynamicSlice,
    dynamic_slices.DynamicUpdateSlice,
    gather_scatter.Gather,
    comparison.Select,
    marks.StopGradient,
)


def is_of_bits(op: Op) -> bool:
    """True if an op reads or cuts the bits of floats."""
    return isinstance(op, bitcast.BitcastConvert | conversion.ReducePrecision) or (
        op.name == "chlo.next_after"
    )


@lru_cache(maxsize=4096)
def is_step_function(op: Op, dtypes: tuple[np.dtype[Any], ...]) -> bool:
    """True if the derivative of an op is zero wherever it has one."""
    return op.is_flat([Linear(tensor_type((), d)) for d in dtypes])  # pyright: ignore


def array_type(type_: Type) -> ArrayType | None:
    """Return the type of an array of numbers of a known shape; None for any other."""
    try:
        return ArrayType(tuple(type_.shape), dtype_of_type(type_))  # pyright: ignore
    except (AttributeError, TypeError):
        return None
