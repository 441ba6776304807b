"""Batching by lanes in turn, for ops that cannot process all lanes at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from irax_compiler.mlir import Value, shape_of
from irax_compiler.ops import shape, slicing
from irax_compiler.ops.control_flow import scan
from irax_compiler.ops.control_flow.rows import row_type
from irax_compiler.ops.core import Axis
from irax_compiler.ops.transformation import Batching

Build = Callable[[Sequence[Value]], Sequence[Value]]
"""Builds the op for the operands of one lane."""


def one_by_one(
    transform: Batching,
    name: str,
    build: Build,
    operands: Sequence[Value],
    axes: Sequence[Axis],
) -> tuple[Sequence[Value], Sequence[Axis]]:
    """The results for each lane, stacked: a scan over the lanes."""
    is_mapped = [axis is not None for axis in axes]
    shared = [x for x, mapped in zip(operands, is_mapped, strict=True) if not mapped]
    rows = [
        shape.move_axis(x, axis, 0)
        for x, axis in zip(operands, axes, strict=True)
        if axis is not None
    ]

    def step(*arguments: Value) -> Sequence[Value]:
        same, own = iter(arguments[: len(shared)]), iter(arguments[len(shared) :])
        return build([next(own if mapped else same) for mapped in is_mapped])

    types = [x.type for x in shared]
    types += [row_type(x.type) for x in rows]
    body = transform.build_function(f"{name}.lane", types, step)
    over_lanes = scan.Scan(body, transform.size, False, len(shared), 0)
    results = over_lanes.build([*shared, *rows])
    return results, [0] * len(results)


def unrolled(
    transform: Batching, build: Build, operands: Sequence[Value], axes: Sequence[Axis]
) -> tuple[Sequence[Value], Sequence[Axis]]:
    """Build the op once for each lane, and stack the results."""

    def lane(x: Value, axis: Axis, number: int) -> Value:
        if axis is None:
            return x
        rest = [n for d, n in enumerate(shape_of(x)) if d != axis]
        return shape.reshape(slicing.slice_in_dim(x, number, number + 1, axis), rest)

    found = [
        build([lane(x, axis, number) for x, axis in zip(operands, axes, strict=True)])
        for number in range(transform.size)
    ]
    stacked = [
        slicing.Concatenate(0)(*(shape.reshape(x, (1, *shape_of(x))) for x in results))
        for results in zip(*found, strict=True)
    ]
    return stacked, [0] * len(stacked)
