"""StableHLO's collectives, for programs of which each device runs a replica.

StableHLO gathers and scatters along dimensions that there are; irax's ops stack along new ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Attribute, Value, dtype_of, shape_of
from irax_compiler.ops import collective, conversion, shape
from irax_compiler.ops.attributes import I64
from irax_compiler.ops.reduction_builders import combiner_region

Groups = Sequence[Sequence[int]]
"""The devices that communicate with each other, by their numbers."""


def all_reduce(op: collective.AllReduce, groups: Groups, operands: Sequence[Value]) -> Value:
    """Build the sum, maximum or minimum over each group."""
    (x,) = operands
    return _emit("all_reduce", x, shape_of(x), groups, {}, op.combiner)


def all_gather(op: collective.AllGather, groups: Groups, operands: Sequence[Value]) -> Value:
    """Build the arrays of each group, stacked along a new dimension."""
    (x,) = operands
    row = shape.reshape(x, shape.insert(shape_of(x), op.dimension, 1))
    stacked = shape.insert(shape_of(x), op.dimension, len(groups[0]))
    return _emit("all_gather", row, stacked, groups, {"all_gather_dim": I64.encode(op.dimension)})


def reduce_scatter(
    op: collective.ReduceScatter, groups: Groups, operands: Sequence[Value]
) -> Value:
    """Build the parts of the sum over each group; the dimension that has them goes."""
    (x,) = operands
    d = op.dimension
    kept = (*shape_of(x)[:d], *shape_of(x)[d + 1 :])
    attributes = {"scatter_dimension": I64.encode(d)}
    row = _emit("reduce_scatter", x, shape.insert(kept, d, 1), groups, attributes, "add")
    return shape.reshape(row, kept)


def all_to_all(op: collective.AllToAll, groups: Groups, operands: Sequence[Value]) -> Value:
    """Build the parts that each device has for this one, stacked along another dimension."""
    parts = shape.move_axis(operands[0], op.split, 0)
    attributes = {
        "split_dimension": I64.encode(0),
        "concat_dimension": I64.encode(0),
        "split_count": I64.encode(len(groups[0])),
    }
    found = _emit("all_to_all", parts, shape_of(parts), groups, attributes)
    return shape.move_axis(found, 0, op.concat)


def permute(op: collective.Permute, groups: Groups, operands: Sequence[Value]) -> Value:
    """Build the array of another device of each group, or zeros."""
    (x,) = operands
    pairs = [
        (group[source], group[target])
        for group in groups
        for target, source in enumerate(op.sources)
        if source >= 0
    ]
    attributes = {"source_target_pairs": _numbers(pairs)}
    return mlir.emit("stablehlo.collective_permute", [x], attributes, [x.type]).results[0]


def device_number(op: collective.AxisIndex, groups: Groups, operands: Sequence[Value]) -> Value:
    """Build the number of this device."""
    found = mlir.emit("stablehlo.replica_id", [], {}, [mlir.tensor_type((), np.dtype(np.uint32))])
    return conversion.convert(found.results[0], collective.INT32)


def _emit(
    name: str,
    x: Value,
    extents: Sequence[int],
    groups: Groups,
    attributes: Mapping[str, Attribute],
    combiner: str | None = None,
) -> Value:
    """Build an operation; one with a combiner has it as its region."""
    operation = mlir.emit(
        f"stablehlo.{name}",
        [x],
        {**attributes, "replica_groups": _numbers(groups)},
        [mlir.tensor_type(tuple(extents), dtype_of(x))],
        regions=0 if combiner is None else 1,
    )
    if combiner is not None:
        combiner_region(operation.regions[0], combiner, dtype_of(x))
    return operation.results[0]


def _numbers(rows: Any) -> Attribute:
    """Return the attribute of a matrix of integers; one without rows is of pairs."""
    return mlir.dense(np.array(rows, np.int64).reshape(-1, len(rows[0]) if rows else 2))
