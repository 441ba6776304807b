"""Small tables in vector registers, of which AVX-512 looks up 16 elements at a time.

Processors load the elements of a gather one by one. A permutation of two registers takes the time
of two of these loads.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irax_compiler import chips
from irax_compiler.mlir import Value
from irax_compiler.ops import registers
from irax_compiler.ops.registers import index
from irax_compiler.passes.kernels.code.intrinsics import call_intrinsic
from irax_compiler.passes.kernels.code.memory import load

LANES = 16
"""The elements of a register, of 4 bytes each."""
MOST = 128
"""The most elements of a table: with more, permutations take as long as loads."""


def fits(elements: int, itemsize: int) -> bool:
    """True if a table of so many elements is looked up in registers."""
    is_known = chips.vector_registers() is chips.AVX512
    return is_known and itemsize == 4 and elements <= MOST


def table_of(memory: Value, elements: int) -> list[Value]:
    """Load the registers of a table; the last one may have fewer elements, and zeros."""
    found = []
    for start in range(0, elements, LANES):
        inside = np.arange(start, start + LANES) < elements
        mask = None if inside.all() else registers.constant(inside)
        found.append(load(memory, index(start), LANES, mask))
    return found


def looked_up(table: Sequence[Value], places: Value) -> Value:
    """Return the elements of a table at a register of places, of int32, all within the table."""
    found = None
    for number in range(0, len(table), 2):
        pair = table[number], table[min(number + 1, len(table) - 1)]
        there = _permuted(*pair, places)
        if found is None:
            found = there
            continue
        is_there = registers.compare("GE", "i", places, registers.number(LANES * number, places))
        found = registers.select(is_there, there, found)
    assert found is not None
    return found


def _permuted(x: Value, y: Value, places: Value) -> Value:
    """Return the elements of two registers at places modulo the number of both."""
    name = "llvm.x86.avx512.vpermi2var.d.512"
    return call_intrinsic(name, [x, places, y], [x.type])[0]
