"""Lowerings of elementwise ops on complex numbers to operations on registers, which ops declare as
their `complex_lowering`. A complex number is a register of its real part and one of its imaginary
part; memory holds them in turns.
"""

from __future__ import annotations

from typing import NamedTuple

from irax_compiler.mlir import Value
from irax_compiler.ops import registers
from irax_compiler.ops.core import ComplexLowering
from irax_compiler.ops.registers import emit


class Parts(NamedTuple):
    """The registers of a complex number, or of a vector of such."""

    real: Value
    imag: Value


def each(name: str) -> ComplexLowering:
    """Return the lowering to an operation on real parts, and the same on imaginary parts."""
    return ComplexLowering(
        lambda *x: Parts(emit(name, *(z.real for z in x)), emit(name, *(z.imag for z in x)))
    )


def _product(x: Parts, y: Parts) -> Parts:
    ac, bd = emit("arith.mulf", x.real, y.real), emit("arith.mulf", x.imag, y.imag)
    ad, bc = emit("arith.mulf", x.real, y.imag), emit("arith.mulf", x.imag, y.real)
    return Parts(emit("arith.subf", ac, bd), emit("arith.addf", ad, bc))


def _select(condition: Value, x: Parts, y: Parts) -> Parts:
    return Parts(*(registers.select(condition, a, b) for a, b in zip(x, y, strict=True)))


PRODUCT = ComplexLowering(_product)
SELECT = ComplexLowering(_select)
COMPLEX = ComplexLowering(Parts)
REAL = ComplexLowering(lambda x: x.real)
IMAG = ComplexLowering(lambda x: x.imag)
