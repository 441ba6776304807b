"""Vectors whose length is no power of two, divided into two that overlap and whose lengths are.

LLVM rounds the size of a vector up to a power of two. With AVX-512 it then converts integers of
several sizes element by element, and does not finish for a chain of a few divisions and choices.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Operation, Value
from irax_compiler.ops import registers
from irax_compiler.ops.registers import emit
from irax_compiler.passes.core import nested
from irax_compiler.passes.kernels.code.shuffles import shuffled

LARGEST = 16
"""The most elements of a vector that is left as it is. LLVM is slow from 17 of 64 bits, and from 33
of 32 bits."""

_BY_ELEMENTS = ("vector.load", "vector.store", "vector.broadcast")
"""The operations on vectors that are divided, beside those of arith and math."""


def divide(kernel: Operation) -> None:
    """Divide the elementwise operations, loads and stores of a kernel on vectors of more than
    `LARGEST` elements, unless their number is a power of two.
    """
    parted = _Parted()
    divided = [operation for operation in nested(kernel) if _is_divided(operation)]
    for operation in divided:
        parted.divide(operation)
    for operation in reversed(divided):
        operation.erase()


@dataclass(frozen=True)
class _Halves:
    """The first and the last elements of a vector, some of which may be in both."""

    size: int

    @cached_property
    def sizes(self) -> tuple[int, int]:
        """The numbers of elements, each a power of two."""
        first = 1 << (self.size.bit_length() - 1)
        return first, 1 << (self.size - first - 1).bit_length()

    @property
    def starts(self) -> tuple[int, int]:
        """The place of the first element of each."""
        return 0, self.size - self.sizes[1]

    def of(self, x: Value) -> list[Value]:
        """Build both from a vector."""
        each = zip(self.starts, self.sizes, strict=True)
        return [shuffled(x, x, np.arange(start, start + size)) for start, size in each]

    def joined(self, first: Value, last: Value) -> Value:
        """Build the vector."""
        size, rest = self.sizes
        if rest < size:
            last = shuffled(last, last, np.arange(size) % rest)
        places = np.arange(self.size)
        return shuffled(
            first, last, np.where(places < size, places, places - self.starts[1] + size)
        )


@dataclass
class _Parted:
    """The vectors of a kernel whose halves are known."""

    halves: dict[Value, list[Value]] = field(default_factory=dict)

    def divide(self, operation: Operation) -> None:
        """Build the two parts of a vector operation before it, and the whole vector for users
        that are not divided.
        """
        made = _Halves(_size(operation))
        with InsertionPoint(operation), operation.location:
            parts = [
                self._part(operation, i, start, size)
                for i, (start, size) in enumerate(zip(made.starts, made.sizes, strict=True))
            ]
            for result in operation.results:
                first, last = self.halves[result] = [part.results[0] for part in parts]
                uses = [use for use in result.uses if not _is_divided(use.owner.operation)]
                if uses:
                    whole = made.joined(first, last)
                    for use in uses:
                        use.owner.operands[use.operand_number] = whole

    def _part(self, operation: Operation, i: int, start: int, size: int) -> Operation:
        operands = [self._half(x, i) for x in operation.operands]
        if operation.name in ("vector.load", "vector.store") and start:
            operands[-1] = emit("arith.addi", operands[-1], registers.index(start))
        scalars: list[Any] = [x.type for x in operation.results]
        types = [mlir.parse_type(f"vector<{size}x{x.element_type}>") for x in scalars]
        attributes = {name: operation.attributes[name] for name in operation.attributes}
        if operation.name == "arith.constant":
            element = mlir.attribute_text(attributes["value"]).rpartition(" : ")[0]
            attributes["value"] = mlir.parse_attribute(f"{element} : {types[0]}")
        return mlir.emit(operation.name, operands, attributes, types)

    def _half(self, x: Value, i: int) -> Value:
        """Return a half of a vector, or what is no vector."""
        if not isinstance(x.type, mlir.VectorType):
            return x
        if x not in self.halves:
            source = mlir.definition(x)
            block: Any = x.owner
            after = InsertionPoint.after
            at = InsertionPoint.at_block_begin(block) if source is None else after(source)
            with at:
                self.halves[x] = _Halves(registers.size_of(x)).of(x)
        return self.halves[x][i]


def _is_divided(operation: Operation) -> bool:
    dialect = operation.name.partition(".")[0]
    size = _size(operation)
    if size <= LARGEST or size & (size - 1) == 0:
        return False
    if operation.name == "arith.constant":
        value: Any = operation.attributes["value"]
        return value.is_splat
    return dialect in ("arith", "math") or operation.name in _BY_ELEMENTS


def _size(operation: Operation) -> int:
    """Return the number of elements that an operation computes, loads or stores."""
    values = list(operation.results) or list(operation.operands)
    return registers.size_of(values[0]) if values else 1
