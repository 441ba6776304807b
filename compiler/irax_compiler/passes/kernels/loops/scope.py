"""The registers and arrays of the values that a kernel's code may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import registers
from irax_compiler.ops.registers import Registers
from irax_compiler.passes.kernels.loops import nests
from irax_compiler.passes.kernels.loops.arrays import Array
from irax_compiler.passes.kernels.loops.fusion import is_large
from irax_compiler.passes.kernels.loops.launch import Functions, Memory
from irax_compiler.passes.kernels.loops.sharing import Sharing


@dataclass
class Scope:
    """The registers and arrays of the values that a block may use."""

    registers: dict[Value, Value] = field(default_factory=dict)
    arrays: dict[Value, Array] = field(default_factory=dict)
    factors: Mapping[Operation, Mapping[Value, Array]] = field(default_factory=dict)
    """For products, a factor from outside of the loop, laid out for it."""
    sharing: Sharing = field(default_factory=Sharing)
    """The values that share memory."""
    shared: dict[Value, Array] = field(default_factory=dict)
    """The arrays in memory that values share."""
    memory: Memory | None = None
    """The kernel's own memory; without it, all values are registers."""
    functions: Functions | None = None
    """The functions that formulas call; without them, formulas are inlined."""
    meter: Value | None = None
    """The address of the meter that loops take their steps from if they need not end."""
    together: int = 1
    """The number of elements for which a scalar computation runs at once."""
    lanes: int | None = None
    """The number of elements of arrays that are registers here."""

    def size(self, x: Value) -> int:
        """Return the number of elements of a value's register."""
        size = prod(shape_of(x))
        return size if self.lanes is None else min(size, self.lanes)

    def inner(self, arguments: Sequence[Value], given: Registers) -> Scope:
        """Return the scope of a nested block with the given arguments."""
        values = self.registers | dict(zip(arguments, given, strict=True))
        return replace(self, registers=values, arrays=dict(self.arrays))

    def is_array(self, x: Value) -> bool:
        """Return True for a value in memory."""
        if self.lanes is not None or x in self.registers:
            return False
        return x in self.arrays or is_large(x)

    def register(self, x: Value) -> Value:
        """Return a value's register."""
        if x in self.registers:
            return self.registers[x]
        is_array = x in self.arrays and not (self.lanes is not None and mlir.splat(x) is not None)
        return self.arrays[x].read() if is_array else _constant(x, self.size(x))

    def array(self, x: Value) -> Array:
        """Return a value's array. A register is written to memory for it."""
        if x not in self.arrays:
            array = self.new(dtype_of(x), shape_of(x))
            self.put(x, array)
            self.arrays[x] = array
        return self.arrays[x]

    def place(self, x: Value) -> Array:
        """Return the array that a value, which is kept in memory, is written to."""
        memory = self.sharing.memories[x]
        if memory not in self.shared:
            self.shared[memory] = self.new(dtype_of(x), shape_of(x))
        return self.shared[memory]

    def put(self, x: Value, array: Array) -> None:
        """Copy a value to an array."""
        if x in self.arrays:
            if self.arrays[x] != array:
                nests.copy(self.arrays[x], array)
        elif is_large(x):
            nests.fill(array, _constant(x, 1))
        else:
            array.write(self.register(x))

    def is_updated(self, array: Array) -> bool:
        """True if parts of an array's memory are written."""
        return any(
            m in self.shared and self.shared[m].memory == array.memory for m in self.sharing.updated
        )

    def new(self, dtype: np.dtype, extents: Sequence[int]) -> Array:
        """Take memory for an array."""
        assert self.memory is not None
        return self.memory.array(dtype, extents)


def _constant(x: Value, size: int) -> Value:
    source, fill = mlir.definition(x), mlir.splat(x)
    assert source is not None
    found = registers.constant(mlir.dense_to_numpy(source) if fill is None else fill)
    return registers.spread(found, size)
