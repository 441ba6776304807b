"""Vectors as long as a register, in registers and at addresses in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Attribute, Type, Value
from irax_compiler.ops.registers import constant, emit, index, type_of
from irax_compiler.passes.kernels.code.intrinsics import call_intrinsic
from irax_compiler.passes.kernels.code.loops import for_each
from irax_compiler.passes.kernels.code.places import moved
from irax_compiler.passes.kernels.executables import local_memory, long


@dataclass(frozen=True)
class Vector:
    """The kind of vectors with elements of a dtype."""

    dtype: np.dtype
    bytes: int
    """The bytes of a vector."""

    @property
    def size(self) -> int:
        """The bytes of an element."""
        return self.dtype.itemsize

    @property
    def lanes(self) -> int:
        """The elements of a vector."""
        return self.bytes // self.size

    @property
    def type(self) -> Type:
        return type_of(self.dtype, self.lanes)

    def zeros(self) -> Value:
        return constant(np.zeros(self.lanes, self.dtype))

    def memory(self, elements: int) -> Value:
        """Allocate memory of the workgroup's own."""
        return local_memory(elements, mlir.element_type(self.dtype), self.bytes)

    def mask(self, count: Value) -> Value:
        """Build the mask of the first elements, none if the count is negative."""
        return emit("vector.create_mask", count, to=type_of(np.dtype(np.bool_), self.lanes))

    def load(self, address: Value, mask: Value | None = None) -> Value:
        """Load a vector; elements that the mask leaves out are zeros."""
        place, aligned = pointer(address), self._aligned
        if mask is None:
            return mlir.emit("llvm.load", [place], aligned, [self.type]).results[0]
        operands = [place, mask, self.zeros()]
        return mlir.emit("llvm.intr.masked.load", operands, aligned, [self.type]).results[0]

    def store(self, x: Value, address: Value, mask: Value | None = None) -> None:
        """Store the elements of a vector that the mask does not leave out."""
        place, aligned = pointer(address), self._aligned
        if mask is None:
            mlir.emit("llvm.store", [x, place], aligned, [])
        else:
            mlir.emit("llvm.intr.masked.store", [x, place, mask], aligned, [])

    def add(self, x: Value, y: Value) -> Value:
        """Build the sum of two vectors."""
        return emit("arith.addi" if self.dtype.kind == "i" else "arith.addf", x, y)

    def copy(self, source: Value, target: Value, count: int) -> None:
        """Copy so many elements from an address to another."""
        whole, rest = divmod(count, self.lanes)

        def copy(number: Value, mask: Value | None = None) -> None:
            found = self.load(moved(source, number, self.bytes), mask)
            self.store(found, moved(target, number, self.bytes), mask)

        for_each(index(0), index(whole), copy)
        if rest:
            copy(index(whole), constant(np.arange(self.lanes) < rest))

    def spread(self, address: Value) -> Value:
        """Load a number, as a vector of it."""
        number = emit("llvm.load", pointer(address), to=mlir.element_type(self.dtype))
        return emit("vector.broadcast", number, to=self.type)

    @property
    def _aligned(self) -> dict[str, Attribute]:
        return {"alignment": mlir.parse_attribute(f"{self.size} : i64")}


def add_pairs(left: Value, right: Value, sums: Value) -> Value:
    """Add products of numbers of bfloat16, of which vectors have two in each place, to float32s."""
    return add_products("llvm.x86.avx512bf16.dpbf16ps.512", "bf16", (left, right), sums)


def add_products(intrinsic: str, element: str, factors: Sequence[Value], sums: Value) -> Value:
    """Add products to sums, by an instruction that takes vectors of narrow numbers of a type, as
    many in each place as it has room for.
    """
    lanes = 64 // (1 if element == "i8" else 2)
    to = mlir.parse_type(f"vector<{lanes}x{element}>")
    operands = [sums, *(emit("vector.bitcast", x, to=to) for x in factors)]
    return call_intrinsic(intrinsic, operands, [sums.type])[0]


def pointer(address: Value) -> Value:
    """Return an address as a pointer."""
    return emit("llvm.inttoptr", long(address), to=mlir.parse_type("!llvm.ptr"))
