"""Collectives: operations on values of all lanes of a named mapped axis.

    stablehlo.custom_call @irax.all_reduce(%x) {backend_config =
        {axis = "i", size = 8, combiner = "add"}}

They are defined only under a vmap or a shard_map that names the axis. The pass `batch` for that
axis replaces them by reductions, transposes and gathers over it (`over_lanes`); for other axes it
keeps them. An operand with one element per lane has a dimension of the axis's size for them. The
evaluator runs them device by device (`lockstep`).

With `groups`, each lane communicates with those of its group alone.

A value that is the same in all lanes of an axis is *invariant* along it, others are *varying*. By
itself a collective takes and gives varying values, and that is what it is transposed by: the
transpose of a sum over the lanes is a sum over the lanes. `Pvary` takes an invariant value as a
varying one; it and the sums that are marked as invariant are each other's transposes.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Attribute, Operation, Value, dtype_of, shape_of
from irax_compiler.ops import elementwise, lockstep, shape, slicing
from irax_compiler.ops.attributes import FLAG, call_attributes
from irax_compiler.ops.core import (
    Axis,
    Linear,
    Op,
    Tangent,
    UnboundAxis,
    UnsupportedOp,
    full,
    full_like,
    no_calls,
    only,
)
from irax_compiler.ops.indexing import dynamic_slices, gather_scatter
from irax_compiler.ops.linear import LinearOp
from irax_compiler.ops.reductions import reduce, window_shapes
from irax_compiler.ops.registry import traits_named
from irax_compiler.ops.shape import insert
from irax_compiler.ops.sharding_rule import Shape, ShardingRule, pointwise
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation, Transposition

INT32 = np.dtype(np.int32)
Groups = tuple[tuple[int, ...], ...]
BY_LANE = 0
"""The dimension at which `over_lanes` puts the mapped axis of a result that differs between lanes.
"""


class Collective(Op):
    """A custom call in which all lanes of `axis` take part, or the lanes of each group."""

    name = "stablehlo.custom_call"
    is_pure = False
    joins_operands = False
    kind: ClassVar[str]
    rounds: ClassVar[int] = 1
    """The times that a lane waits for what others send."""
    axis: str
    size: int
    groups: Groups = ()
    """The lanes that communicate with each other, groups of one size; by default it is all."""
    keeps_places: ClassVar[bool] = False
    """True if each element of the result is computed from those at its place in other lanes."""

    @property
    def width(self) -> int:
        """The number of lanes that communicate with each other."""
        return len(self.groups[0]) if self.groups else self.size

    # -- building and reading --

    def attributes(self):
        given = [(f, getattr(self, f.name)) for f in fields(self)]  # pyright: ignore
        config = {f.name: _encoded(value) for f, value in given if value != f.default}
        return call_attributes(self.kind, config)

    def result_types(self, operands: Sequence[Value]):
        (x,) = operands
        return [mlir.tensor_type(self.result_shape(shape_of(x)), dtype_of(x))]

    def result_shape(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of a lane's result, from that of its operand."""
        return extents

    def sharding_rule(
        self, operands: Sequence[Shape], results: Sequence[Shape]
    ) -> ShardingRule | None:
        return pointwise(operands, results) if self.keeps_places else None

    # -- evaluation --

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Any:
        own = lockstep.index_along(self.axis)
        if own is None:
            raise self.unbound()
        groups = self.groups or (tuple(range(self.size)),)
        group = next(group for group in groups if own in group)
        return lockstep.exchange(self, self.axis, group, np.asarray(operands[0]), self.exchanged)

    def exchanged(self, values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        """Return the results of the lanes of a group from their operands."""
        raise NotImplementedError

    def sent(self, size: int) -> float:
        """Return the bytes that a lane sends to others, of an operand of so many bytes."""
        return 0

    def unbound(self, where: str = "") -> UnboundAxis:
        """Return the error for a collective over an axis that nothing around names."""
        return UnboundAxis(
            f"{self.kind} is over the axis {self.axis!r}: it means something only in a function "
            f"that is mapped along an axis of this name{where}"
        )

    # -- batching --

    def over_lanes(self, operands: Sequence[Value], axes: Sequence[Axis]) -> tuple[Value, Axis]:
        """The results of all lanes, from their operands with the mapped axis."""
        raise NotImplementedError

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        if self.axis == transform.axis_name:
            self._check_size(transform.size)
            if self.groups:
                return [self._over_groups(operands[0], axes[0])], [BY_LANE]
            result, axis = self.over_lanes(operands, axes)
            return [result], [axis]
        (x,), (axis,) = operands, axes
        lanes_first = shape.move_axis(x, axis, 0)
        return [self.beside_lanes()(lanes_first)], [0]

    def _over_groups(self, x: Value, axis: Axis) -> Value:
        """The results of all lanes, by the same op over the lanes of a group, beside the groups."""
        x = shape.batched_at(x, axis, self.size, BY_LANE)
        order = np.array(self.groups).reshape(-1)
        count, width = len(self.groups), self.width
        by_group = shape.reshape(_rows(x, order), (count, width, *shape_of(x)[1:]))
        whole = replace(self, size=width, groups=()).beside_lanes()  # pyright: ignore
        found, place = whole.over_lanes([by_group], [1])
        if place == BY_LANE:
            found = shape.move_axis(found, 0, 1)
        else:
            found = shape.batched_at(found, place, width, 1)
        lanes = shape.reshape(found, (self.size, *shape_of(found)[2:]))
        return _rows(lanes, np.argsort(order))

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
class Pvary(Collective, LinearOp):
    """An invariant value, taken as one that may differ between lanes: its transpose is the sum of
    all lanes.
    """

    kind = "irax.pvary"
    keeps_places = True
    axis: str
    size: int
    groups: Groups = field(default=(), init=False)

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Any:
        return operands[0]

    def over_lanes(self, operands: Sequence[Value], axes: Sequence[Axis]) -> tuple[Value, Axis]:
        return operands[0], axes[0]

    def beside_lanes(self) -> Collective:
        return self

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        return [AllReduce(self.axis, self.size, "add", invariant=True)(only(cotangents))]


@dataclass(frozen=True)
class AllReduce(Collective):
    """The sum, maximum or minimum of all lanes; the sum is linear."""

    kind = "irax.all_reduce"
    keeps_places = True
    linear_in = None
    rounds = 2
    axis: str
    size: int
    combiner: str
    """One of "add", "maximum" and "minimum"."""
    groups: Groups = ()
    invariant: bool = False
    """True for a result that counts as invariant."""

    def sent(self, size: int) -> float:
        return 2 * size * (self.width - 1) / self.width

    def exchanged(self, values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        op = traits_named(f"stablehlo.{self.combiner}")
        assert isinstance(op, Op)
        total = functools.reduce(lambda x, y: np.asarray(op.evaluate(no_calls, x, y)), values)
        return [total] * len(values)

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
        op = Pvary(self.axis, self.size) if self.invariant else self
        return [op(only(cotangents))]


@dataclass(frozen=True)
class AllGather(Collective, LinearOp):
    """Stack the values of all lanes along a new dimension."""

    kind = "irax.all_gather"
    axis: str
    size: int
    dimension: int
    """The new dimension, by its number in the result."""
    groups: Groups = ()
    invariant: bool = False
    """True for a result that counts as invariant."""

    def result_shape(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        return insert(extents, self.dimension, self.width)

    def sent(self, size: int) -> float:
        return size * (self.width - 1)

    def exchanged(self, values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        return [np.stack(values, self.dimension)] * len(values)

    def over_lanes(self, operands: Sequence[Value], axes: Sequence[Axis]) -> tuple[Value, Axis]:
        return shape.batched_at(operands[0], axes[0], self.size, self.dimension), None

    def beside_lanes(self) -> Collective:
        return replace(self, dimension=self.dimension + 1)

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        ct = only(cotangents)
        if self.invariant:
            return [self._own_part(Pvary(self.axis, self.size)(ct))]
        return [ReduceScatter(self.axis, self.size, self.dimension, self.groups)(ct)]

    def _own_part(self, x: Value) -> Value:
        """The part of a gathered array that came from this lane."""
        zero, own = full((), 0, INT32), AxisIndex(self.axis, self.size)()
        starts = [own if d == self.dimension else zero for d in range(len(shape_of(x)))]
        sizes = insert(_without(shape_of(x), self.dimension), self.dimension, 1)
        part = dynamic_slices.DynamicSlice(sizes)(x, *starts)
        return shape.reshape(part, _without(sizes, self.dimension))


@dataclass(frozen=True)
class ReduceScatter(Collective, LinearOp):
    """The sum of all lanes, of which each gets its part of a dimension."""

    kind = "irax.reduce_scatter"
    axis: str
    size: int
    dimension: int
    """The operand's dimension that is split; the result does not have it."""
    groups: Groups = ()

    def result_shape(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        return _without(extents, self.dimension)

    def sent(self, size: int) -> float:
        return size * (self.width - 1) / self.width

    def exchanged(self, values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        total, *_ = AllReduce(self.axis, self.size, "add").exchanged(values)
        return list(np.moveaxis(total, self.dimension, 0))

    def over_lanes(self, operands: Sequence[Value], axes: Sequence[Axis]) -> tuple[Value, Axis]:
        total, _ = AllReduce(self.axis, self.size, "add").over_lanes(operands, axes)
        return shape.move_axis(total, self.dimension, BY_LANE), BY_LANE

    def beside_lanes(self) -> Collective:
        return replace(self, dimension=self.dimension + 1)

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        return [AllGather(self.axis, self.size, self.dimension, self.groups)(only(cotangents))]


@dataclass(frozen=True)
class AllToAll(Collective, LinearOp):
    """Lane j gets part j of the dimension `split` of all lanes, as a new dimension `concat`."""

    kind = "irax.all_to_all"
    axis: str
    size: int
    split: int
    concat: int
    groups: Groups = ()

    def result_shape(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        return insert(_without(extents, self.split), self.concat, self.width)

    def sent(self, size: int) -> float:
        return size * (self.width - 1) / self.width

    def exchanged(self, values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        parts = np.moveaxis(np.stack(values), self.split + 1, 0)
        return list(np.moveaxis(parts, 1, self.concat + 1))

    def over_lanes(self, operands: Sequence[Value], axes: Sequence[Axis]) -> tuple[Value, Axis]:
        x = shape.batched_at(operands[0], axes[0], self.size, 0)
        parts_first = shape.move_axis(x, self.split + 1, BY_LANE)
        return shape.move_axis(parts_first, 1, self.concat + 1), BY_LANE

    def beside_lanes(self) -> Collective:
        return replace(self, split=self.split + 1, concat=self.concat + 1)

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        return [replace(self, split=self.concat, concat=self.split)(only(cotangents))]


@dataclass(frozen=True)
class Permute(Collective, LinearOp):
    """Send each lane the value of another one, or zeros."""

    kind = "irax.permute"
    keeps_places = True
    axis: str
    size: int
    sources: tuple[int, ...]
    """For each lane, the one it gets its result from, or -1."""
    groups: Groups = field(default=(), init=False)

    def sent(self, size: int) -> float:
        return size if any(s not in (-1, lane) for lane, s in enumerate(self.sources)) else 0

    def exchanged(self, values: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        zeros = np.zeros_like(values[0])
        return [values[source] if source >= 0 else zeros for source in self.sources]

    def over_lanes(self, operands: Sequence[Value], axes: Sequence[Axis]) -> tuple[Value, Axis]:
        x = shape.batched_at(operands[0], axes[0], self.size, 0)
        zeros = full((1, *shape_of(x)[1:]), 0, dtype_of(x))
        with_zeros = slicing.Concatenate(0)(x, zeros) if -1 in self.sources else x
        return _rows(with_zeros, np.array(self.sources) % shape_of(with_zeros)[0]), BY_LANE

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
    groups: Groups = field(default=(), init=False)

    def result_types(self, operands: Sequence[Value]):
        return [mlir.tensor_type((), INT32)]

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Any:
        own = lockstep.index_along(self.axis)
        if own is None:
            raise self.unbound()
        return np.array(own, INT32)

    def over_lanes(self, operands: Sequence[Value], axes: Sequence[Axis]) -> tuple[Value, Axis]:
        return shape.Iota((self.size,), INT32, 0)(), BY_LANE


KINDS: dict[str, type[Collective]] = {
    cls.kind: cls
    for cls in (AllReduce, AllGather, ReduceScatter, AllToAll, Permute, AxisIndex, Pvary)
}
"""The collectives by the target names of their custom calls."""


def collective_of(operation: Operation) -> Collective | None:
    """Return the collective that an operation is, or None."""
    if operation.name != Collective.name:
        return None
    target: Any = operation.attributes["call_target_name"]
    return read_call(operation) if target.value in KINDS else None


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
        collective = collective_of(reference)
        if collective is not None:
            found.add(collective.axis)
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


def _rows(x: Value, numbers: np.ndarray) -> Value:
    """The rows of an array that have some numbers."""
    extents = shape_of(x)[1:]
    dims = window_shapes.WindowDims(
        window_dims=tuple(range(1, len(extents) + 1)),
        collapsed_dims=(0,),
        index_map=(0,),
        index_vector_dim=1,
    )
    rows = shape.Constant(np.asarray(numbers, INT32))()
    return gather_scatter.Gather(dims, (1, *extents), indices_are_sorted=False)(x, rows)


def _encoded(value: Any) -> Attribute:
    if isinstance(value, str):
        return mlir.string(value)
    if isinstance(value, bool):
        return FLAG.encode(value)
    if isinstance(value, int):
        return mlir.parse_attribute(f"{value} : i64")
    if value and isinstance(value[0], tuple):
        return mlir.array([_encoded(row) for row in value])
    return mlir.integers(value)


def _decoded(attribute: Any) -> Any:
    if hasattr(attribute, "value"):
        return attribute.value
    return tuple(n if isinstance(n, int) else tuple(n) for n in attribute)
