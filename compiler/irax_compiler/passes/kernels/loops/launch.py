"""Kernels: executables of a function that reads and writes arrays in memory.

A kernel's arguments, results and own memory are bindings. A result that the program does not use
holds the values that the kernel needs in between.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Operation, Type, Value
from irax_compiler.ops import registers
from irax_compiler.ops.registers import Registers, emit
from irax_compiler.passes.kernels.executables import (
    add_executable,
    dispatch,
    local_memory,
    memory,
    typed,
    workgroup,
)
from irax_compiler.passes.kernels.loops import bindings, widths
from irax_compiler.passes.kernels.loops.arrays import Array
from irax_compiler.passes.kernels.loops.bindings import Bindings, Flat
from irax_compiler.passes.kernels.loops.lifetimes import Buffer, Turn, places
from irax_compiler.passes.kernels.loops.memory import stored_dtype

ALIGNMENT = 64
"""The alignment in bytes of arrays in a kernel's own memory."""

_BYTE = np.dtype(np.int8)


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


@dataclass
class Memory:
    """A kernel's own memory: one more binding, if it needs any."""

    body: Block
    buffers: list[Buffer] = field(default_factory=list)
    """The memory of each array so far."""
    arrays: dict[Value, Array] = field(default_factory=dict)
    """These arrays, by the memory."""
    turns: list[Turn] = field(default_factory=list)

    def array(self, dtype: np.dtype, extents: Sequence[int]) -> Array:
        """Take memory for an array of contiguous elements."""
        if not self.buffers:
            self.body.add_argument(mlir.parse_type("!stream.binding"), mlir.current_location())
            types = [argument.type for argument in self.body.arguments]
            function: Any = self.body.owner
            function.attributes["function_type"] = typed(types)["function_type"]
        size = prod(extents) * _bytes(dtype)
        block = InsertionPoint.current.block
        with InsertionPoint.at_block_begin(self.body):
            array = _bound(self.body.arguments[-1], dtype, extents, start=0)
        self.buffers.append(Buffer(array.memory, -(-size // ALIGNMENT) * ALIGNMENT, block))
        self.arrays[array.memory] = array
        return array

    @contextmanager
    def in_turn(
        self, read: Collection[Array], written: Collection[Array], apart: Collection[Array] = ()
    ) -> Iterator[None]:
        """Note that what is built within reads each element of some arrays before it writes that of
        others. It reads those in `apart` in another order.
        """
        others = {x.memory for x in (*apart, *(x for x in read if not self._is_whole(x)))}
        old = {x.memory: x for x in read if x.memory not in others}
        pairs = [
            (x.memory, y.memory)
            for y in filter(self._is_whole, written)
            for x in old.values()
            if _bytes(x.dtype) == _bytes(y.dtype) and x.size == y.size and x.memory != y.memory
        ]
        block = InsertionPoint.current.block
        count = len(block.operations) if pairs else 0
        yield
        if pairs:
            built = [view.operation for view in block.operations][count:]
            self.turns += [Turn(x, y, built[0], built[-1]) for x, y in pairs]

    def _is_whole(self, x: Array) -> bool:
        """True for all elements of an array of this memory, in order."""
        return x.memory in self.arrays and x.is_contiguous and x.size == self.arrays[x.memory].size

    def put(self) -> int:
        """Give each array its place; return the bytes of all."""
        starts, size = places(self.buffers, self.turns)
        for buffer, start in zip(self.buffers, starts, strict=True):
            view = mlir.definition(buffer.array)
            place = None if view is None else mlir.definition(view.operands[1])
            assert place is not None
            place.attributes["value"] = mlir.parse_attribute(f"{start} : index")
        return size


class LocalMemory(Memory):
    """Memory of each workgroup's own, on its stack."""

    def array(self, dtype: np.dtype, extents: Sequence[int]) -> Array:
        element = mlir.element_type(stored_dtype(dtype))
        with InsertionPoint.at_block_begin(self.body):
            buffer = local_memory(prod(extents), element, ALIGNMENT)
            return Array.of(buffer, dtype, extents, registers.index(0))


@dataclass(frozen=True)
class Kernel:
    """The arrays, memory and functions that the body of a kernel is built with."""

    arrays: dict[Value, Array]
    """The arguments, by the program's values."""
    results: list[Array]
    memory: Memory
    functions: Functions
    meter: Value | None = None
    """The address of the meter of loops that need not end."""


_NONE: Mapping[int, Value] = {}


def launched(
    arrays: Sequence[Value],
    results: Sequence[Flat],
    build: Callable[[Kernel], None],
    shares: Shares | None = None,
    meter: Value | None = None,
    ties: Mapping[int, Value] = _NONE,
    begins: Mapping[int, Value] = _NONE,
) -> list[Value]:
    """Build a kernel of arrays of one dimension, and its launch; return its results. With `shares`,
    the body is that of one workgroup, which sees its share of the shared arrays. `meter` is the
    address that a kernel with loops that need not end gets. `ties` has the array, by the number of
    a result, in whose memory that is, and `begins` one in whose memory it may be: the kernel copies
    the array there first, and reads it for nothing else.
    """
    module = mlir.open_module()
    name = mlir.unique_name(module, "kernel")
    taken = [(prod(mlir.shape_of(x)), mlir.dtype_of(x)) for x in arrays]
    own = [result for i, result in enumerate(results) if i not in ties]
    arguments, returned = bindings.of_kernel(taken, own)
    size = 0

    def body(functions: Block, given: list[Value]) -> None:
        nonlocal size
        count = len(arguments.sizes)
        bound = _arrays(arguments, given[:count], taken) + _arrays(returned, given[count:], own)
        if shares is not None:
            start = shares.start()
            bound = [
                x.part([start], (shares.size,)) if x.size == shares.elements else x for x in bound
            ]
        inside = dict(zip(arrays, bound, strict=False))
        others = iter(bound[len(arrays) :])
        made = [inside[ties[i]] if i in ties else next(others) for i in range(len(results))]
        local = (Memory if shares is None else LocalMemory)(InsertionPoint.current.block)
        build(
            Kernel(
                inside,
                made,
                local,
                Functions(name, functions),
                meter=None if meter is None else given[-1],
            )
        )
        size = local.put()

    count = 1 if shares is None else shares.count
    numbers = [] if meter is None else [meter]
    bound = len(arguments.sizes) + len(returned.sizes)
    in_place = {}
    if meter is None and not ties:
        in_place = bindings.in_place(
            arguments, returned, {k: arrays.index(begins[k]) for k in begins}
        )
    kernel = add_executable(
        module, name, (count, 1), bound, body, numbers=len(numbers), in_place=in_place
    )
    widths.divide(kernel)
    tied = {k: arguments.places[arrays.index(x)][0] for k, x in enumerate(ties.values())}
    flats = [*(results[i] for i in ties), *returned.sizes, *([(size, _BYTE)] if size else [])]
    types = [mlir.tensor_type((count,), dtype) for count, dtype in flats]
    made = dispatch(name, [*arguments.joined(arrays), *numbers], types, tied)
    in_place, others = made[: len(ties)], iter(returned.parted(made[len(ties) :], own))
    by_number = dict(zip(ties, in_place, strict=True))
    return [by_number[i] if i in ties else next(others) for i in range(len(results))]


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
    def of(cls, elements: int, multiple: int, most: int = _SHARE) -> Shares:
        """Return shares of `most` elements, or some more; if there are several, their size is a
        multiple of `multiple`.
        """
        count = -(-elements // min(most, _SHARE))
        size = -(-elements // count)
        return cls(elements, elements if count == 1 else -(-size // multiple) * multiple)

    @property
    def count(self) -> int:
        return -(-self.elements // self.size)

    def start(self) -> Value:
        """Return the start of the workgroup's share."""
        place = emit("arith.muli", workgroup(0), registers.index(self.size))
        return emit("arith.minsi", place, registers.index(self.elements - self.size))


def _arrays(bound: Bindings, given: Sequence[Value], flats: Sequence[Flat]) -> list[Array]:
    """Return the arrays of some bindings, which the body of a kernel is `given`."""
    each = zip(bound.places, flats, strict=True)
    return [
        _bound(given[binding], dtype, (count,), start * stored_dtype(dtype).itemsize)
        for (binding, start), (count, dtype) in each
    ]


def _bytes(dtype: np.dtype) -> int:
    """Return the bytes of an element."""
    return stored_dtype(dtype).itemsize


def _bound(binding: Value, dtype: np.dtype, extents: Sequence[int], start: int) -> Array:
    """Return the array that begins at a byte of a binding."""
    buffer = memory(binding, prod(extents), stored_dtype(dtype), start)
    return Array.of(buffer, dtype, extents, registers.index(0))


def _function(name: str, types: Sequence[Type]) -> Operation:
    named = {"sym_name": mlir.string(name)}
    function = mlir.emit("func.func", [], named | typed(types), [], regions=1)
    mlir.Block.create_at_start(function.regions[0], list(types))
    return function
