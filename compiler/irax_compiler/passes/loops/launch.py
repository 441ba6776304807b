"""Kernels in the forms that IREE launches.

A short kernel is a dispatch region. A long one calls functions, so it is an executable that
contains them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from irax_compiler import mlir
from irax_compiler.mlir import (
    Attribute,
    Block,
    InsertionPoint,
    Operation,
    Type,
    Value,
)
from irax_compiler.ops import registers
from irax_compiler.ops.registers import Registers, emit


@dataclass
class Functions:
    """The functions that a kernel calls, from registers to registers."""

    kernel: str
    """The kernel's name, which makes names unique, because several kernels are linked together."""
    block: Block
    _made: dict[tuple[str, ...], tuple[str, list[Type]]] = field(default_factory=dict)

    def call(
        self, name: str, operands: Registers, body: Callable[[Registers], Registers]
    ) -> Registers:
        """Call the function `name`, which `body` fills once per types of operands."""
        types = [x.type for x in operands]
        key = (name, *map(str, types))
        if key not in self._made:
            self._made[key] = self._make(f"{self.kernel}_{name}_{len(self._made)}", types, body)
        callee, results = self._made[key]
        return list(
            mlir.emit("func.call", operands, {"callee": mlir.symbol(callee)}, results).results
        )

    def _make(
        self, name: str, types: Sequence[Type], body: Callable[[Registers], Registers]
    ) -> tuple[str, list[Type]]:
        with InsertionPoint.at_block_begin(self.block):
            function = _function(name, types)
        function.attributes["sym_visibility"] = mlir.string("private")
        function.attributes["no_inline"] = mlir.parse_attribute("unit")  # for MLIR ...
        function.attributes["llvm.no_inline"] = mlir.parse_attribute("unit")  # ... and LLVM
        with InsertionPoint(mlir.body(function)):
            results = body(mlir.arguments(function))
        mlir.finish_function(function, results)
        return name, [x.type for x in results]


Body = Callable[[dict[Value, Value], Functions | None], Sequence[Value]]
"""Builds a kernel's results from its arrays, and functions that it may call."""


def region(arrays: Sequence[Value], types: Sequence[Type], body: Body) -> list[Value]:
    """Build a kernel without functions, with results of these types."""
    no_workload = {"operandSegmentSizes": mlir.parse_attribute("array<i32: 0, 0>")}
    dispatch = mlir.emit("flow.dispatch.region", [], no_workload, types, regions=2)
    with InsertionPoint(mlir.Block.create_at_start(dispatch.regions[0], [])):
        mlir.emit("flow.return", body({x: x for x in arrays}, None), {}, [])
    return list(dispatch.results)


def executable(
    arrays: Sequence[Value], types: Sequence[Type], body: Body, shares: Shares | None = None
) -> list[Value]:
    """Build a kernel with functions, with results of these types. With `shares`, `body` is that of
    one workgroup, which sees its share of the shared arrays.
    """
    module = mlir.open_module()
    name = mlir.unique_name(module, "kernel")
    with InsertionPoint(module.body):
        outer = mlir.emit(
            "flow.executable",
            [],
            {"sym_name": mlir.string(name), "sym_visibility": mlir.string("private")},
            [],
            regions=1,
        )
    with InsertionPoint(mlir.Block.create_at_start(outer.regions[0], [])):
        _export(name, 1 if shares is None else shares.count)
        inner = mlir.emit("builtin.module", [], {}, [], regions=1)
        mlir.emit("flow.executable_end", [], {}, [])
    block = mlir.Block.create_at_start(inner.regions[0], [])
    given = [_binding(x.type, "readonly") for x in arrays]
    with InsertionPoint(block):
        function = _function(name, [*given, *(_binding(t, "writeonly") for t in types)])
    bindings = mlir.arguments(function)
    with InsertionPoint(mlir.body(function)):
        start = None if shares is None else shares.start()
        inside = [_load(b, x.type, shares, start) for b, x in zip(bindings, arrays, strict=False)]
        results = body(dict(zip(arrays, inside, strict=True)), Functions(name, block))
        for result, binding, type_ in zip(results, bindings[len(arrays) :], types, strict=True):
            _store(result, binding, type_, shares, start)
    mlir.finish_function(function, [])
    attributes = {
        "entry_points": mlir.array([mlir.parse_attribute(f"@{name}::@{name}")]),
        "operandSegmentSizes": mlir.parse_attribute(f"array<i32: 0, {len(arrays)}, 0, 0>"),
    }
    return list(mlir.emit("flow.dispatch", arrays, attributes, types).results)


_SHARE = 4096
"""The most elements of a workgroup."""


@dataclass(frozen=True)
class Shares:
    """The division of arrays of one size among workgroups: the last share overlaps with the one
    before it, where it would be smaller.
    """

    elements: int
    """The number of elements of the arrays that are shared; others are not."""
    size: int
    """The number of elements of a workgroup's share."""

    @classmethod
    def of(cls, elements: int, multiple: int) -> Shares:
        """Return shares worth a workgroup each; if there are several, their size is a multiple of
        `multiple`.
        """
        count = -(-elements // _SHARE)
        size = -(-elements // count)
        return cls(elements, elements if count == 1 else -(-size // multiple) * multiple)

    @property
    def count(self) -> int:
        return -(-self.elements // self.size)

    def start(self) -> Value:
        """Return the start of the workgroup's share."""
        dimension = {"dimension": mlir.parse_attribute("0 : index")}
        index = mlir.parse_type("index")
        number = mlir.emit("flow.dispatch.workgroup.id", [], dimension, [index]).results[0]
        place = emit("arith.muli", number, registers.index(self.size))
        return emit("arith.minsi", place, registers.index(self.elements - self.size))


def _export(name: str, count: int) -> None:
    attributes = {
        "sym_name": mlir.string(name),
        "function_ref": mlir.symbol(name),
        "sym_visibility": mlir.string("public"),
    }
    export = mlir.emit("flow.executable.export", [], attributes, [], regions=1)
    with InsertionPoint(mlir.Block.create_at_start(export.regions[0], [])):
        one = registers.index(1)
        mlir.emit("flow.return", [registers.index(count), one, one], {}, [])


def _function(name: str, types: Sequence[Type]) -> Operation:
    attributes: dict[str, Attribute] = {
        "sym_name": mlir.string(name),
        "function_type": mlir.type_attribute(mlir.function_type(types, [])),
    }
    function = mlir.emit("func.func", [], attributes, [], regions=1)
    mlir.Block.create_at_start(function.regions[0], list(types))
    return function


def _binding(type_: Type, access: str) -> Type:
    return mlir.parse_type(f"!iree_tensor_ext.dispatch.tensor<{access}:{type_}>")


def _load(binding: Value, type_: Type, shares: Shares | None, start: Value | None) -> Value:
    type_, places, extent = _share(type_, shares, start)
    attributes = extent | _segments(1, 0, len(places), 0, 0)
    return mlir.emit(
        "iree_tensor_ext.dispatch.tensor.load", [binding, *places], attributes, [type_]
    ).results[0]


def _store(
    result: Value, binding: Value, type_: Type, shares: Shares | None, start: Value | None
) -> None:
    _, places, extent = _share(type_, shares, start)
    attributes = extent | _segments(1, 1, 0, len(places), 0, 0)
    name = "iree_tensor_ext.dispatch.tensor.store"
    mlir.emit(name, [result, binding, *places], attributes, [])


def _segments(*sizes: int) -> dict[str, Attribute]:
    text = f"array<i32: {', '.join(map(str, sizes))}>"
    return {"operandSegmentSizes": mlir.parse_attribute(text)}


_DYNAMIC = -(2**63)


def _share(
    type_: Type, shares: Shares | None, start: Value | None
) -> tuple[Type, list[Value], dict[str, Attribute]]:
    """Return a workgroup's slice of an array: its type, offset and size, and these as
    attributes.
    """
    (size,), places = type_.shape, []  # pyright: ignore
    if shares is not None and start is not None and size == shares.elements:
        size, places = shares.size, [start]
    extent = {
        "static_offsets": _DYNAMIC if places else 0,
        "static_sizes": size,
        "static_strides": 1,
    }
    dtype = mlir.dtype_of_type(type_)
    attributes = {k: mlir.parse_attribute(f"array<i64: {v}>") for k, v in extent.items()}
    return mlir.tensor_type((size,), dtype), places, attributes
