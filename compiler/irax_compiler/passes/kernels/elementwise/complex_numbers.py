"""Complex numbers in registers: a register of real parts, and one of imaginary parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of
from irax_compiler.ops import registers
from irax_compiler.ops.complex_registers import Parts
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.kernels.code.shuffles import interleaved as in_turns
from irax_compiler.passes.kernels.code.shuffles import joined, picked

Register = Value | Parts


def is_complex(x: Value) -> bool:
    """True for a value of complex numbers."""
    return isinstance(x.type, mlir.RankedTensorType) and dtype_of(x).kind == "c"


def is_known(operation: Operation) -> bool:
    """True if an operation has complex operands or results, and a lowering."""
    values = [*operation.operands, *operation.results]
    return traits_of(operation).complex_lowering is not None and any(map(is_complex, values))


def is_part(operation: Operation) -> bool:
    """True for the real or the imaginary part of complex numbers."""
    return is_known(operation) and not is_complex(operation.results[0])


def apply(operation: Operation, operands: Sequence[Register], lanes: int) -> Register:
    """Build an operation on registers of `lanes` elements."""
    spread = [_spread(x, lanes) for x in operands]
    lowering = traits_of(operation).complex_lowering
    assert lowering is not None
    return lowering.build(*spread)


def register(x: Value, known: Mapping[Value, Register]) -> Register:
    """Return the register of a value, which may be a constant."""
    if x in known:
        return known[x]
    fill = mlir.splat(x)
    assert fill is not None
    if fill.dtype.kind != "c":
        return registers.constant(fill)
    return Parts(registers.constant(np.real(fill)), registers.constant(np.imag(fill)))


def separated(x: Value) -> Parts:
    """Return the parts of a vector as memory holds it: real and imaginary parts in turns."""
    places = np.arange(registers.size_of(x))
    return Parts(picked(x, places[::2]), picked(x, places[1::2]))


def interleaved(x: Parts, lanes: int) -> Value:
    """Return the vector that memory holds for parts."""
    real, imag = (registers.spread(part, lanes) for part in x)
    return joined([real, imag]) if lanes == 1 else in_turns(real, imag)


def _spread(x: Register, lanes: int) -> Register:
    if isinstance(x, Parts):
        return Parts(registers.spread(x.real, lanes), registers.spread(x.imag, lanes))
    return registers.spread(x, lanes)
