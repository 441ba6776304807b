"""The rewrite of `chlo.scan` to a counted loop with slices at its counter, which irax recognizes as
rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, shape_of
from irax_compiler.ops import comparison, elementwise, shape
from irax_compiler.ops.core import full
from irax_compiler.ops.indexing import dynamic_slices
from irax_compiler.ops.loop_builders import while_loop
from irax_compiler.ops.structured import zeros_of

I32 = np.dtype(np.int32)


def loop_of_scan(operation: Operation, number: int) -> Sequence[Value] | None:
    """The body of the inputs' rows and of what is carried, to the outputs' rows and what is carried
    on.
    """
    attributes: Any = operation.attributes
    axis = attributes["dimension"].value
    num_inputs = attributes["operandSegmentSizes"][0]
    num_outputs = attributes["resultSegmentSizes"][0]
    inputs, inits = list(operation.operands)[:num_inputs], list(operation.operands)[num_inputs:]
    outputs = list(operation.results)[:num_outputs]
    block = operation.regions[0].blocks[0]
    if not [*inputs, *outputs]:
        return None
    length = shape_of([*inputs, *outputs][0])[axis]
    is_reverse = "is_reverse" in attributes and attributes["is_reverse"].value
    zero, one, last, end = (full((), n, I32) for n in (0, 1, length - 1, length))

    def starts(rank: int, place: Value) -> list[Value]:
        return [place if d == axis else zero for d in range(rank)]

    def row(x: Value, place: Value) -> Value:
        extents = shape_of(x)
        sizes = tuple(1 if d == axis else n for d, n in enumerate(extents))
        found = dynamic_slices.DynamicSlice(sizes)(x, *starts(len(extents), place))
        return shape.reshape(found, extents[:axis] + extents[axis + 1 :])

    def with_row(y: Value, new: Value, place: Value) -> Value:
        new = shape.reshape(new, shape.insert(shape_of(new), axis, 1))
        return dynamic_slices.DynamicUpdateSlice()(y, new, *starts(len(shape_of(y)), place))

    def advance(step: Value, *state: Value) -> Sequence[Value]:
        place = elementwise.subtract(last, step) if is_reverse else step
        carried, ys = state[: len(inits)], state[len(inits) :]
        rows = [row(x, place) for x in inputs]
        env = dict(zip(block.arguments, [*rows, *carried], strict=True))
        found = mlir.copy_block(block, env)
        new = [with_row(y, r, place) for y, r in zip(ys, found[:num_outputs], strict=True)]
        return [elementwise.add(step, one), *found[num_outputs:], *new]

    _, *results = while_loop(
        lambda step, *_: comparison.less(step, end),
        advance,
        [zero, *inits, *(zeros_of(y.type) for y in outputs)],
    )
    return [*results[len(inits) :], *results[: len(inits)]]
