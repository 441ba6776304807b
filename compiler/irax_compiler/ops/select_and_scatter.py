"""The op select_and_scatter, which adds one number per window where the window has its extremum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import comparison, reduce_window, shape
from irax_compiler.ops.attributes import I64S, from_operation
from irax_compiler.ops.computation import Computation
from irax_compiler.ops.core import form, full_like
from irax_compiler.ops.indexing import gather_scatter
from irax_compiler.ops.reductions import reduce, window_shapes
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.structured import DefinedOp


def _window(operation: Operation) -> reduce_window.Window:
    def dims(name: str) -> tuple[int, ...]:
        there: Any = operation.attributes.get(name)
        return () if there is None else I64S.decode(there)

    padding: Any = operation.attributes.get("padding")
    return reduce_window.Window(
        dims("window_dimensions"),
        dims("window_strides"),
        padding=() if padding is None else reduce_window.PAIRS.decode(padding),
    ).full()


@register_class
@dataclass(frozen=True)
class SelectAndScatter(DefinedOp):
    """Add each element of the second operand to one element of a window: the one of the first
    operand that `select` prefers. All others are the third operand, a scalar.
    """

    name = "stablehlo.select_and_scatter"
    reduces = True
    select: Computation = from_operation(lambda o: Computation.of(o.regions[0].blocks[0]))
    scatter: Computation = from_operation(lambda o: Computation.of(o.regions[1].blocks[0]))
    window: reduce_window.Window = from_operation(_window)

    def attributes(self):
        return {
            "window_dimensions": I64S.encode(self.window.sizes),
            "window_strides": I64S.encode(self.window.strides),
            "padding": reduce_window.PAIRS.encode(self.window.padding),
        }

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        types = [operands[0].type]
        operation = mlir.emit(form(self)[0], operands, self.attributes(), types, regions=2)
        self.select.fill(operation.regions[0])
        self.scatter.fill(operation.regions[1])
        return tuple(operation.results)

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        x, source, init = operands
        start = shape.broadcast_scalar(init, shape_of(x))
        if 0 in shape_of(source):
            return [start]
        some = full_like(init, 0) if dtype_of(init) == dtype_of(x) else init
        _, place, there = reduce_window.first_of(
            x, some, self.window, lambda a, b: self.select(a, b)[0]
        )
        # A place beyond the array is left out.
        size = prod(shape_of(x))
        place = comparison.select(there, place, full_like(place, size))
        rank = len(shape_of(place))
        dims = window_shapes.WindowDims(collapsed_dims=(0,), index_map=(0,), index_vector_dim=rank)
        combiner = self.scatter.operation(0, (0, 1))
        if combiner in reduce.COMBINERS:
            op: Any = gather_scatter.Scatter(combiner, dims, False, False)
        else:
            op = gather_scatter.ScatterBy(self.scatter, dims, False, False)
        (flat,) = op.build([shape.reshape(start, (size,)), place, source])
        return [shape.reshape(flat, shape_of(x))]
