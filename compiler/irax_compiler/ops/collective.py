"""Collectives: operations on values of all lanes of a named mapped axis.

    stablehlo.custom_call @irax.all_reduce(%x) {backend_config =
        {axis = "i", size = 8, combiner = "add"}}

They are defined only under a vmap that names the axis. The pass `batch` for that axis replaces them
by reductions, transposes and gathers over it (`over_lanes`); for other axes it keeps them. An
operand with one element per lane has a dimension of the axis's size for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Attribute, Operation, Value, dtype_of, shape_of
from irax_compiler.ops import elementwise, shape, slicing
from irax_compiler.ops.attributes import call_attributes
from irax_compiler.ops.core import (
    Axis,
    Linear,
    Op,
    Tangent,
    UnboundAxis,
    UnsupportedOp,
    full,
    full_like,
    only,
)
from irax_compiler.ops.indexing import gather_scatter
from irax_compiler.ops.linear import LinearOp
from irax_compiler.ops.reductions import reduce, window_shapes
from irax_compiler.ops.shape import insert
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation, Transposition

INT32 = np.dtype(np.int32)
BY_LANE = 0
"""The dimension at which `over_lanes` puts the mapped axis of a result that differs between lanes.
"""


class Collective(Op):
    """A custom call in which all lanes of `axis` take part."""

    name = "stablehlo.custom_call"
    kind: ClassVar[str]
    axis: str
    size: int

    # -- building and reading --

    def attributes(self):
        config = {f.name: _encoded(getattr(self, f.name)) for f in fields(self)}  # pyright: ignore
        return call_attributes(self.kind, config)

    def result_types(self, operands: Sequence[Value]):
        (x,) = operands
        return [mlir.tensor_type(self.result_shape(shape_of(x)), dtype_of(x))]

    def result_shape(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of a lane's result, from that of its operand."""
        return extents

    # -- rules --

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Any:
        raise self.unbound()

    def unbound(self, where: str = "") -> UnboundAxis:
        """Return the error for a collective over an axis that no vmap names."""
        return UnboundAxis(
            f"{self.kind} is over the axis {self.axis!r}: it means something only in a function "
            f"that is mapped along an axis of this name{where}"
        )

    def over_lanes(self, operands: Sequence[Value], axes: Sequence[Axis]) -> tuple[Value, Axis]:
        """The results of all lanes, from their operands with the mapped axis."""
        raise NotImplementedError

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        if self.axis == transform.axis_name:
            self._check_size(transform.size)
            result, axis = self.over_lanes(operands, axes)
            return [result], [axis]
        (x,), (axis,) = operands, axes
        lanes_first = shape.move_axis(x, axis, 0)
        return [self.beside_lanes()(lanes_first)], [0]

    def _check_size(self, size: int) -> None:
        if size != self.size:
            raise ValueError(
                f"size: expected {self.size}, the size of the axis {self.axis!r} in {self.kind}, "
                f"got {size}"
            )

    def beside_lanes(self) -> Collective:
        """Return this op for operands with an additional leading dimension."""
        raise NotImplementedError


@dataclass(frozen=True)
class AllReduce(Collective):
    """The sum, maximum or minimum of all lanes; the sum is linear, and its own transpose."""

    kind = "irax.all_reduce"
    linear_in = None
    axis: str
    size: int
    combiner: str
    """One of "add", "maximum" and "minimum"."""

    def over_lanes(self, operands: Sequence[Value], axes: Sequence[Axis]) -> tuple[Value, Axis]:
        (x,), (axis,) = operands, axes
        if axis is not None:
            init = full((), reduce.identity(self.combiner, dtype_of(x)), dtype_of(x))
            return reduce.Reduce(self.combiner, (axis,))(x, init), None
        return (_times(x, self.size) if self.combiner == "add" else x), None

    def beside_lanes(self) -> Collective:
        return self

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        if self.combiner != "add":
            raise UnsupportedOp(
                f"the {self.combiner} over the mapped axis {self.axis!r} has no derivative: gather "
                "what all lanes have with irax.lax.all_gather, and take its maximum or minimum"
            )
        return results, [self(only(tangents))]

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        return [self(only(cotangents))]


@dataclass(frozen=True)
class AllGather(Collective, LinearOp):
    """Stack the values of all lanes along a new dimension."""

    kind = "irax.all_gather"
    axis: str
    size: int
    dimension: int
    """The new dimension, by its number in the result."""

    def result_shape(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        return insert(extents, self.dimension, self.size)

    def over_lanes(self, operands: Sequence[Value], axes: Sequence[Axis]) -> tuple[Value, Axis]:
        return shape.batched_at(operands[0], axes[0], self.size, self.dimension), None

    def beside_lanes(self) -> Collective:
        return AllGather(self.axis, self.size, self.dimension + 1)

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        return [ReduceScatter(self.axis, self.size, self.dimension)(only(cotangents))]


@dataclass(frozen=True)
class ReduceScatter(Collective, LinearOp):
    """The sum of all lanes, of which each gets its part of a dimension."""

    kind = "irax.reduce_scatter"
    axis: str
    size: int
    dimension: int
    """The operand's dimension that is split; the result does not have it."""

    def result_shape(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        return _without(extents, self.dimension)

    def over_lanes(self, operands: Sequence[Value], axes: Sequence[Axis]) -> tuple[Value, Axis]:
        total, _ = AllReduce(self.axis, self.size, "add").over_lanes(operands, axes)
        return shape.move_axis(total, self.dimension, BY_LANE), BY_LANE

    def beside_lanes(self) -> Collective:
        return ReduceScatter(self.axis, self.size, self.dimension + 1)

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        return [AllGather(self.axis, self.size, self.dimension)(only(cotangents))]


@dataclass(frozen=True)
class AllToAll(Collective, LinearOp):
    """Lane j gets part j of the dimension `split` of all lanes, as a new dimension `concat`."""

    kind = "irax.all_to_all"
    axis: str
    size: int
    split: int
    concat: int

    def result_shape(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        return insert(_without(extents, self.split), self.concat, self.size)

    def over_lanes(self, operands: Sequence[Value], axes: Sequence[Axis]) -> tuple[Value, Axis]:
        x = shape.batched_at(operands[0], axes[0], self.size, 0)
        parts_first = shape.move_axis(x, self.split + 1, BY_LANE)
        return shape.move_axis(parts_first, 1, self.concat + 1), BY_LANE

    def beside_lanes(self) -> Collective:
        return AllToAll(self.axis, self.size, self.split + 1, self.concat + 1)

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        return [AllToAll(self.axis, self.size, self.concat, self.split)(only(cotangents))]


@dataclass(frozen=True)
class Permute(Collective, LinearOp):
    """Send each lane the value of another one, or zeros."""

    kind = "irax.permute"
    axis: str
    size: int
    sources: tuple[int, ...]
    """For each lane, the one it gets its result from, or -1."""

    def over_lanes(self, operands: Sequence[Value], axes: Sequence[Axis]) -> tuple[Value, Axis]:
        x = shape.batched_at(operands[0], axes[0], self.size, 0)
        rank, extents = len(shape_of(x)), shape_of(x)[1:]
        zeros = full((1, *extents), 0, dtype_of(x))
        with_zeros = slicing.Concatenate(0)(x, zeros) if -1 in self.sources else x
        rows = shape.Constant(np.array(self.sources, INT32) % shape_of(with_zeros)[0])()
        dims = window_shapes.WindowDims(
            window_dims=tuple(range(1, rank)),
            collapsed_dims=(0,),
            index_map=(0,),
            index_vector_dim=1,
        )
        return gather_scatter.Gather(dims, (1, *extents), indices_are_sorted=False)(
            with_zeros, rows
        ), BY_LANE

    def beside_lanes(self) -> Collective:
        return self

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        targets = [-1] * self.size
        for target, source in enumerate(self.sources):
            if source >= 0:
                targets[source] = target
        return [Permute(self.axis, self.size, tuple(targets))(only(cotangents))]


@dataclass(frozen=True)
class AxisIndex(Collective):
    """The number of the lane, a scalar of int32."""

    kind = "irax.axis_index"
    axis: str
    size: int

    def result_types(self, operands: Sequence[Value]):
        return [mlir.tensor_type((), INT32)]

    def over_lanes(self, operands: Sequence[Value], axes: Sequence[Axis]) -> tuple[Value, Axis]:
        return shape.Iota((self.size,), INT32, 0)(), BY_LANE


KINDS: dict[str, type[Collective]] = {
    cls.kind: cls for cls in (AllReduce, AllGather, ReduceScatter, AllToAll, Permute, AxisIndex)
}
"""The collectives by the target names of their custom calls."""


def read_call(operation: Operation) -> Collective:
    """The collective that a custom call is."""
    target: Any = operation.attributes["call_target_name"]
    config: Any = operation.attributes["backend_config"]
    return KINDS[target.value](**{entry.name: _decoded(entry.attr) for entry in config})


def axes_in(operation: Operation, seen: set[str] | None = None) -> set[str]:
    """The names of the axes of the collectives that an operation is, or has in its regions or in
    the functions that it names.
    """
    seen = set() if seen is None else seen
    found: set[str] = set()
    for reference in mlir.references(operation):
        if reference.name == Collective.name:
            target: Any = reference.attributes["call_target_name"]
            if target.value in KINDS:
                found.add(read_call(reference).axis)
        for name in mlir.named_functions(reference):
            if name not in seen:
                seen.add(name)
                found |= axes_in(mlir.function_beside(operation, name), seen)
    return found


def _without(values: Sequence[int], at: int) -> tuple[int, ...]:
    return (*values[:at], *values[at + 1 :])


def _times(x: Value, factor: int) -> Value:
    """`x` added to itself so often."""
    return elementwise.multiply(x, full_like(x, factor))


def _encoded(value: int | str | tuple[int, ...]) -> Attribute:
    if isinstance(value, str):
        return mlir.string(value)
    if isinstance(value, int):
        return mlir.parse_attribute(f"{value} : i64")
    return mlir.parse_attribute(f"array<i64: {', '.join(map(str, value))}>")


def _decoded(attribute: Any) -> Any:
    return attribute.value if hasattr(attribute, "value") else tuple(attribute)
