"""Builders of reductions, for the ops that the rules of `reduce` itself are made of: a sum is the
transpose of a broadcast.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import conversion
from irax_compiler.ops.attributes import I64S
from irax_compiler.ops.core import full, working_dtype


def reduce(combiner: str, x: Value, init: Value, dimensions: Sequence[int]) -> Value:
    """Return `x` with some dimensions reduced by a combiner, starting from the scalar `init`."""
    dtype = dtype_of(x)
    kept = tuple(n for d, n in enumerate(shape_of(x)) if d not in dimensions)
    attributes = {"dimensions": I64S.encode(dimensions)}
    types = [mlir.tensor_type(kept, dtype)]
    operation = mlir.emit("stablehlo.reduce", [x, init], attributes, types, regions=1)
    combiner_region(operation.regions[0], combiner, dtype)
    return operation.results[0]


def reduce_sum(x: Value, dimensions: Sequence[int]) -> Value:
    """The sum over `dimensions`; nothing where there are none. Narrow floats are added up in
    float32: bfloat16 would stop counting at 256.
    """
    if not dimensions:
        return x
    dtype = dtype_of(x)
    wide = working_dtype(dtype)
    total = reduce("add", conversion.convert(x, wide), full((), 0, wide), dimensions)
    return conversion.convert(total, dtype)


def combiner_region(region: Any, combiner: str, dtype: np.dtype) -> None:
    """Fills a reduction's region: one operation on two scalars."""
    scalar = mlir.tensor_type((), dtype)
    block = mlir.Block.create_at_start(region, [scalar, scalar])
    with mlir.InsertionPoint(block):
        folded = mlir.emit(f"stablehlo.{combiner}", block.arguments)
        mlir.emit("stablehlo.return", folded.results, results=[])
