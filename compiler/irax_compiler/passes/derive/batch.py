"""Batching: adds @f.batch, which applies @f along a mapped axis of some of its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from irax_compiler import effects, mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value, dtype_of, shape_of
from irax_compiler.ops.collective import axes_in
from irax_compiler.ops.conversion import convert
from irax_compiler.ops.core import Axis
from irax_compiler.ops.derived import Batched
from irax_compiler.ops.reduction_builders import reduce_sum
from irax_compiler.ops.shape import Constant, batched_at, insert
from irax_compiler.ops.structured import Call
from irax_compiler.passes.core import (
    Deriver,
    Pass,
    PassError,
    asking,
    find_function,
    inputs,
    publish,
    register_pass,
    returned,
    rule,
    walk,
)


@register_pass
@dataclass
class Batch(Pass):
    """Adds @f.batch, whose argument i has a further axis of `size` at `in_axes[i]`, or is unbatched
    where that is None. Result j has the axis at `out_axes[j]`, by default 0. Collectives over
    `axis_name` become operations on the axis.
    """

    name: ClassVar[str] = "batch"
    func: str = "main"
    size: int = 1
    in_axes: tuple[int | None, ...] | None = None
    out_axes: tuple[int | None, ...] | None = None
    axis_name: str = ""

    def run(self, module: Module) -> None:
        check_mapped(self.in_axes)
        derived = derive_batched(
            module, self.func, self.size, self.in_axes, self.out_axes, self.axis_name
        )
        publish(module, derived.name)


def check_mapped(in_axes: Sequence[Axis] | None) -> None:
    """Raise PassError if the given axes map no argument."""
    if in_axes is not None and all(axis is None for axis in in_axes):
        raise PassError("in_axes: expected at least one mapped argument, got none")


def derive_batched(
    module: Module,
    func: str = "main",
    size: int = 1,
    in_axes: Sequence[Axis] | None = None,
    out_axes: Sequence[Axis] | None = None,
    axis_name: str = "",
    mesh_axes: Sequence[str] = (),
    over_devices: bool = False,
    sum_match: bool = False,
) -> Batched:
    """Add the batched form of a function to its module, as a private function.

    Args:
        module: the module.
        func: the function's name.
        size: the number of lanes.
        in_axes: for each argument, the mapped axis, or None for one that all lanes share; a single
            one is that of all. By default the first.
        out_axes: for each result, where it has the mapped axis, likewise.
        axis_name: the name of the axis, over which collectives become operations.
        mesh_axes: the axes of a mesh along which shard_maps have the mapped axis divided.
        over_devices: lanes are devices, of which each makes its own calls of the host.
        sum_match: results that have lanes, where `out_axes` is None, are added up over them.
    """
    function = find_function(module, func)
    places = _axes("in_axes", in_axes, mlir.arguments(function), func)
    wanted = _axes("out_axes", out_axes, returned(function), func)
    deriver = BatchDeriver(module, size, {func: wanted}, axis_name, tuple(mesh_axes), over_devices)
    deriver.sum_match = sum_match
    return deriver.function(func, places)


def _axes(
    option: str, axes: Sequence[Axis] | None, values: Sequence[Value], func: str
) -> tuple[Axis, ...]:
    """Return an axis for each of a function's arguments or results."""
    if axes is None:
        return (0,) * len(values)
    if len(axes) == 1:
        axes = tuple(axes) * len(values)
    if len(axes) != len(values):
        raise PassError(f"{option}: expected {len(values)} axes for @{func}, got {len(axes)}")
    for axis, value in zip(axes, values, strict=True):
        rank = len(shape_of(value))
        if axis is not None and not 0 <= axis <= rank:
            raise PassError(
                f"{option}: axis {axis} is out of range for {value.type}; expected 0 to {rank}"
            )
    return tuple(axes)


class BatchDeriver(Deriver[Batched]):
    """Derives @f.batch for a pattern of axes. Operations that depend on no mapped argument stay
    unbatched.

    `out_axes` fixes, for some functions by name, where results have their mapped axis (None: they
    must not depend on it); other functions leave it where it fell. Collectives over `axis_name`,
    if it is not empty, become operations on the mapped axis. Shard_maps have the mapped axis
    divided along `mesh_axes`. If `over_devices`, lanes are devices, of which each makes its own
    calls of the host.
    """

    sum_match = False
    """True if results that have lanes, where `out_axes` is None, are added up."""

    def __init__(
        self,
        module: Module,
        size: int,
        out_axes: dict[str, Sequence[Axis]] | None = None,
        axis_name: str = "",
        mesh_axes: tuple[str, ...] = (),
        over_devices: bool = False,
    ) -> None:
        super().__init__(module)
        self.size = size
        self.out_axes = out_axes or {}
        self.axis_name = axis_name
        self.mesh_axes = mesh_axes
        self.over_devices = over_devices

    def derive(self, source: Operation, pattern: tuple[Any, ...]) -> Batched:
        name = mlir.function_name(source)
        arguments = mlir.arguments(source)
        types = [
            a.type
            if axis is None
            else mlir.tensor_type(insert(shape_of(a), axis, self.size), mlir.dtype_of(a))
            for a, axis in zip(arguments, pattern, strict=True)
        ]
        function = self.new_function(f"{name}.batch", types, source.location)
        env = dict(zip(arguments, mlir.arguments(function), strict=True))
        axes: dict[Value, Axis] = dict(zip(arguments, pattern, strict=True))
        with InsertionPoint(mlir.body(function)):
            for operation in walk(mlir.body(source)):
                self._batch(operation, env, axes)
            outputs = returned(source)
            results = [env[v] for v in outputs]
            out_axes = [axes.get(v) for v in outputs]
            if name in self.out_axes:
                with source.location:
                    results = [
                        self._place(r, axis, wanted)
                        for r, axis, wanted in zip(
                            results, out_axes, self.out_axes[name], strict=True
                        )
                    ]
                out_axes = list(self.out_axes[name])
        mlir.finish_function(function, results)
        effects.remove_dead_operations(mlir.body(function))
        return Batched(mlir.function_name(function), pattern, tuple(out_axes))

    def deferred(self) -> DeferredBatch:
        """Return the batching that is applied to functions later, in the same way."""
        return DeferredBatch(self.size, self.axis_name, self.mesh_axes)

    def part(self, count: int) -> DeferredBatch:
        """Return the batching of functions of one of `count` parts of the lanes."""
        return DeferredBatch(self.size // count, self.axis_name)

    def _place(self, result: Value, axis: Axis, wanted: Axis) -> Value:
        if wanted is not None:
            return batched_at(result, axis, self.size, wanted)
        if axis is not None and self.sum_match:
            is_bool = dtype_of(result) == np.bool
            return reduce_sum(convert(result, np.dtype(np.int32)) if is_bool else result, [axis])
        if axis is not None:
            sizes = shape_of(result)
            lane = sizes[:axis] + sizes[axis + 1 :]
            raise PassError(
                f"out_axes: None was asked for a result of shape {lane} in each lane that depends "
                "on a mapped argument; give the place of its mapped axis"
            )
        return result

    def _batch(
        self, operation: Operation, env: dict[Value, Value], axes: dict[Value, Axis]
    ) -> None:
        operands = inputs(operation)
        in_axes = [axes.get(v) for v in operands]
        if all(axis is None for axis in in_axes) and not self._is_collective(operation):
            env.update(zip(operation.results, mlir.clone(operation, env), strict=True))
            return
        # Of a call, some results may depend on no mapped argument.
        is_call = operation.name == Call.name
        if not self.size and not is_call and not effects.has_effects(operation):
            self._batch_nothing(operation, env, axes)
            return
        op = rule(operation, "batch")
        values = [env[v] for v in operands]
        with asking(operation), mlir.named("batch", operation.location):
            results, out_axes = op.batch(self, values, in_axes)
        env.update(zip(operation.results, results, strict=True))
        axes.update(zip(operation.results, out_axes, strict=True))

    def _batch_nothing(
        self, operation: Operation, env: dict[Value, Value], axes: dict[Value, Axis]
    ) -> None:
        """Return results for an axis of size 0, which have no elements."""
        for result in operation.results:
            empty = np.empty((0, *shape_of(result)), mlir.dtype_of(result))
            with mlir.named("batch", operation.location):
                env[result] = Constant(empty)()
            axes[result] = 0

    def _is_collective(self, operation: Operation) -> bool:
        """True if an operation, or one nested in it, is a collective over the mapped axis."""
        return bool(self.axis_name) and self.axis_name in axes_in(operation)


@dataclass(frozen=True)
class DeferredBatch:
    """Batches functions of the open module."""

    size: int
    axis_name: str
    mesh_axes: tuple[str, ...] = ()

    def __call__(self, name: str, axes: tuple[Axis, ...]) -> str:
        module = mlir.open_module()
        found = derive_batched(module, name, self.size, axes, None, self.axis_name, self.mesh_axes)
        return found.name

    def free(self, name: str, axes: tuple[Axis, ...]) -> Batched:
        deriver = BatchDeriver(mlir.open_module(), self.size, {}, self.axis_name, self.mesh_axes)
        return deriver.function(name, axes)
