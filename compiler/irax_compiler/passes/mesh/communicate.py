"""Collectives as communication between the devices of a mesh.

    func.func @main(%x: tensor<4xf32>) attributes {irax.mesh = "data=2,model=2"} {
      stablehlo.custom_call @irax.all_reduce(%x) {backend_config = {axis = "model", ...}}

The function is the program of each device. Devices are numbered along the axes of the mesh, the
last one fastest. A collective over an axis takes place within groups of devices that differ in
their place on that axis only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.determinism import is_marked
from irax_compiler.mlir import InsertionPoint, Module, Value
from irax_compiler.ops import collective, elementwise
from irax_compiler.ops.collective import Collective
from irax_compiler.ops.core import full_like
from irax_compiler.ops.foreign import ForeignCall
from irax_compiler.ops.registry import read
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.host.host import host_call, is_host_call
from irax_compiler.passes.legalize.target import find
from irax_compiler.passes.mesh import stablehlo_collectives
from irax_compiler.passes.mesh.stablehlo_collectives import Groups
from irax_compiler.shardy.layouts import Mesh, mesh_of


def groups_of(op: Collective, mesh: Mesh) -> list[list[int]]:
    """Return the groups of devices that a collective takes place within: those that differ in their
    place on its axis only, or parts of these.

    >>> groups_of(collective.AllReduce("data", 2, combiner="add"), {"data": 2, "model": 2})
    [[0, 2], [1, 3]]
    """
    numbers = np.arange(math.prod(mesh.values())).reshape(*mesh.values())
    along = np.moveaxis(numbers, list(mesh).index(op.axis), -1).reshape(-1, mesh[op.axis])
    parts = [list(part) for part in op.groups] or [list(range(op.size))]
    return [line[part].tolist() for line in along for part in parts]


@register_pass
@dataclass
class Communicate(Pass):
    """Replaces collectives in the program of each device of a mesh by what the target has for them:
    host functions of the runtime, or StableHLO's collectives.
    """

    name: ClassVar[str] = "communicate"
    target: str = ""

    def run(self, module: Module) -> None:
        builders = _HOST_IN_ORDER if is_marked(module.operation) else _HOST
        if self.target and find(self.target).has_collectives:
            builders = _STABLEHLO
        for function in mlir.functions(module).values():
            if mesh := mesh_of(function):
                _communicate(module, mesh, builders)


def _communicate(module: Module, mesh: Mesh, builders: _Builders) -> None:
    for operation in [o for o in nested(module.operation) if o.name == ForeignCall.name]:
        if is_host_call(operation):
            continue
        op = read(operation)
        if isinstance(op, Collective) and op.axis in mesh:
            with InsertionPoint(operation), operation.location:
                built = _built(op, mesh, operation.operands, builders)
            mlir.replace(operation, [built])


def _built(op: Collective, mesh: Mesh, operands: Sequence[Value], builders: _Builders) -> Value:
    if isinstance(op, collective.Pvary):
        return operands[0]
    if isinstance(op, collective.AxisIndex):
        return _place_on_axis(builders[type(op)](op, [], []), mesh, op.axis)
    return builders[type(op)](op, groups_of(op, mesh), operands)


def _place_on_axis(device: Value, mesh: Mesh, axis: str) -> Value:
    """Build the place on an axis of the device with a number."""
    names = list(mesh)
    stride = math.prod(mesh[name] for name in names[names.index(axis) + 1 :])
    quotient = elementwise.divide(device, full_like(device, stride))
    return elementwise.remainder(quotient, full_like(device, mesh[axis]))


_Builder = Callable[[Any, Groups, Sequence[Value]], Value]
_Builders = Mapping[type[Collective], _Builder]
"""Functions that build the replacement of a collective: of the op, groups of devices, operands."""


# ---- by host functions ---------------------------------------------------------------------------


def _call(name: str, *parameters: str, **more: str) -> _Builder:
    """Return a builder of calls of one of the runtime's functions, with fields of the op as its
    parameters, and more of them.
    """

    def build(op: Collective, groups: Groups, operands: Sequence[Value]) -> Value:
        given: dict[str, Any] = {each: getattr(op, each) for each in parameters} | more
        if groups:
            given["groups"] = ";".join(map(_text, groups))
        types = list(op.result_types(operands))
        return host_call(name, operands, types, **given)[0]

    return build


def _permute(op: collective.Permute, groups: Groups, operands: Sequence[Value]) -> Value:
    given: Any = {"sources": _text(op.sources), "groups": ";".join(map(_text, groups))}
    return host_call("permute", operands, op.result_types(operands), **given)[0]


def _text(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))


_HOST: _Builders = {
    collective.AllReduce: _call("all_reduce", "combiner"),
    collective.AllGather: _call("all_gather", "dimension"),
    collective.ReduceScatter: _call("reduce_scatter", "dimension"),
    collective.AllToAll: _call("all_to_all", "split", "concat"),
    collective.Permute: _permute,
    collective.AxisIndex: _call("rank"),
}

_HOST_IN_ORDER: _Builders = {
    **_HOST,
    collective.AllReduce: _call("all_reduce", "combiner", in_order="yes"),
    collective.ReduceScatter: _call("reduce_scatter", "dimension", in_order="yes"),
}
"""For programs whose sums are to have the same bits whichever processes the devices are of."""

# ---- by StableHLO's collectives ------------------------------------------------------------------

_STABLEHLO: _Builders = {
    collective.AllReduce: stablehlo_collectives.all_reduce,
    collective.AllGather: stablehlo_collectives.all_gather,
    collective.ReduceScatter: stablehlo_collectives.reduce_scatter,
    collective.AllToAll: stablehlo_collectives.all_to_all,
    collective.Permute: stablehlo_collectives.permute,
    collective.AxisIndex: stablehlo_collectives.device_number,
}
