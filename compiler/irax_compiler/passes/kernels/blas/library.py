"""The functions of OpenBLAS, as executables call them.

A function is a static import: the program is linked against the library, which is loaded into the
process before the program. Arrays are addresses, which are numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Block, Type, Value
from irax_compiler.ops.fft import real_dtype
from irax_compiler.ops.registers import constant, index
from irax_compiler.passes.kernels.code.memory import store
from irax_compiler.passes.kernels.executables import address, declare_import, local_memory, long

LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
"""BLAS's letters for the dtypes it supports."""


class Cblas(IntEnum):
    """The enumerations of CBLAS's interface."""

    ROW_MAJOR = 101
    COLUMN_MAJOR = 102
    AS_IT_IS = 111
    TRANSPOSED = 112
    ADJOINT = 113
    UPPER = 121
    LOWER = 122
    NON_UNIT = 131
    UNIT = 132
    LEFT = 141
    RIGHT = 142


Operand = Value | Cblas | int | float | str
"""A value; a number of CBLAS's; an integer; a real number; or a letter."""


@dataclass
class Library:
    """The functions of OpenBLAS for one dtype, which are declared in a block when they are first
    called.
    """

    dtype: np.dtype
    block: Block
    declared: set[str] = field(default_factory=set)

    @property
    def letter(self) -> str:
        """BLAS's letter for the dtype."""
        return LETTERS[self.dtype.name]

    @property
    def real(self) -> Library:
        """The functions for the dtype of absolute values."""
        return replace(self, dtype=real_dtype(self.dtype))

    @property
    def element(self) -> Type:
        """The type of numbers."""
        return mlir.element_type(self.dtype)

    def call(
        self, function: str, *operands: Operand, returns: Type | None = None
    ) -> Sequence[Value]:
        """Call the function with this name in BLAS's or LAPACK's documentation."""
        name = f"scipy_{function}64_"
        values = [self._value(x) for x in operands]
        results = [] if returns is None else [returns]
        if name not in self.declared:
            self.declared.add(name)
            declare_import(self.block, name, [x.type for x in values], results)
        callee = {"callee": mlir.symbol(name)}
        return mlir.emit("func.call", values, callee, results).results

    def scalar(self, number: float) -> Value:
        """Return a number as BLAS takes it: complex ones by address."""
        if self.dtype.kind != "c":
            return self._value(float(number))
        memory = local_memory(2, self.real.element)
        for i, x in enumerate((number, 0)):
            store(self._value(float(x)), memory, index(i))
        return long(address(memory))

    def _value(self, x: Operand) -> Value:
        if isinstance(x, Value):
            return x
        if isinstance(x, float):
            return constant(np.asarray(x, self.real.dtype))
        if isinstance(x, str | Cblas):
            return constant(np.asarray(ord(x) if isinstance(x, str) else x, np.int32))
        return constant(np.asarray(x, np.int64))
