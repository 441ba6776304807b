"""Legalizations of complex numbers: IREE can neither fill memory with 128-bit elements nor bitcast
them, and pads few of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import (
    barrier,
    bitcast,
    comparison,
    conversion,
    elementwise,
    fft,
    shape,
    slicing,
)
from irax_compiler.ops.core import constant, full
from irax_compiler.ops.reduce_window import ReduceWindow
from irax_compiler.ops.reductions.reduce import Reduce, is_identity
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.passes.kernels.partial_sums import LONG
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.rewriting import read_as


@legalizes(
    "stablehlo.constant", kind="bug", of="IREE", fatal="the compiler of IREE 3.13.0 divides by zero"
)
def constant_of_complex128(operation: Operation) -> Sequence[Value] | None:
    """Build constants of complex128 from their parts: IREE's compiler divides by zero on them."""
    if dtype_of(operation.results[0]) != np.complex128:
        return None
    value = mlir.dense_to_numpy(operation)
    return [elementwise.complex_(constant(np.real(value)), constant(np.imag(value)))]


@legalizes("stablehlo.complex", kind="bug", of="IREE")
def complex128_of_constants(operation: Operation) -> Sequence[Value] | None:
    """Put a barrier behind constants of complex128. IREE's constant folding uses one part for both
    where the constant is transposed for a product, and cannot fill memory with equal elements:
    these have no barrier where they are part of a kernel.
    """
    parts = list(operation.operands)
    if dtype_of(parts[0]) != np.float64:
        return None
    (made,) = operation.results
    in_kernels = all(_is_in_kernel(made, use.owner.operation) for use in made.uses)
    if in_kernels and all(mlir.splat(x) is not None for x in parts):
        return None
    if not _follow_from_constants(parts):
        return None
    return [elementwise.complex_(*barrier.barrier.build(parts))]


def _is_in_kernel(constant: Value, user: Operation) -> bool:
    """True if a constant becomes part of the kernel of a user. Products get arrays, and so do
    choices by a single boolean, which IREE makes outside of kernels in loops.
    """
    traits = traits_of(user)
    if user.name == comparison.select.name and not shape_of(user.operands[0]):
        return not shape_of(constant)
    return traits.elementwise or (traits.reduces and not shape_of(constant))


def _follow_from_constants(values: Sequence[Value]) -> bool:
    seen: set[Value] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        operation = mlir.definition(value)
        if operation is None or operation.regions:
            return False
        if value not in seen:
            seen.add(value)
            pending.extend(operation.operands)
    return True


@legalizes("stablehlo.reduce_window", kind="missing", of="IREE")
def windows_of_dilated_complex(operation: Operation) -> Sequence[Value] | None:
    """Dilate an array of complex128 before its windows: IREE cannot fill memory with such
    numbers.
    """
    op = read_as(ReduceWindow, operation)
    x, init = operation.operands[0], operation.operands[-1]
    if op is None or dtype_of(x) != np.complex128 or len(operation.operands) > 2:
        return None
    window = op.window.full()
    if all(n == 1 for n in window.base_dilations):
        return None
    bare = replace(window, base_dilations=(), padding=()).full()
    return replace(op, window=bare).build([window.pad()(x, init), init])


@legalizes(
    "stablehlo.pad", kind="missing", of="IREE", fatal="the compiler of IREE 3.13.0 ends the process"
)
def pad_of_complex(operation: Operation) -> Sequence[Value] | None:
    """Pad complex numbers by parts: IREE refuses to pad complex128, and crashes where it fuses a
    padded complex64 with users of its parts.
    """
    if dtype_of(operation.results[0]).kind != "c":
        return None
    op = read(operation)
    assert isinstance(op, slicing.Pad)
    parts = [
        op(*(part(x) for x in operation.operands)) for part in (elementwise.real, elementwise.imag)
    ]
    return [elementwise.complex_(*parts)]


@legalizes(
    "stablehlo.dynamic_update_slice",
    kind="missing",
    of="IREE",
    fatal="IREE 3.13.0 refuses a constant of its own; unverified, it ends the process",
)
def update_of_complex_splat(operation: Operation) -> Sequence[Value] | None:
    """Put a barrier behind equal complex numbers that are updated. IREE makes the update a pad, and
    cannot state its fill value.
    """
    x, *others = operation.operands
    if dtype_of(x).kind != "c" or mlir.splat(x) is None:
        return None
    op = read(operation)
    assert op is not None
    return op.build([*barrier.barrier.build([x]), *others])


@legalizes(
    "stablehlo.bitcast_convert",
    kind="bug",
    of=("IREE", "XLA"),
    fatal="the compilers of IREE 3.13.0 and jaxlib 0.10.2 end the process",
)
def bitcast_of_complex(operation: Operation) -> Sequence[Value] | None:
    """Bitcast complex numbers by parts: IREE's compiler crashes on them."""
    (x,) = operation.operands
    source, target = dtype_of(x), dtype_of(operation.results[0])
    if source.kind != "c":
        return None
    if source == target:
        return [x]
    column = (*shape_of(x), 1)
    both = slicing.Concatenate(len(column) - 1)(
        shape.reshape(elementwise.real(x), column), shape.reshape(elementwise.imag(x), column)
    )
    extents = shape_of(operation.results[0])
    bits = bitcast.BitcastConvert((*extents, 2), fft.real_dtype(target))(both)
    last = len(extents)
    parts = (shape.reshape(slicing.slice_in_dim(bits, i, i + 1, last), extents) for i in (0, 1))
    return [elementwise.complex_(*parts)]


@legalizes("stablehlo.convert", kind="bug", of="IREE")
def convert_of_complex(operation: Operation) -> Sequence[Value] | None:
    """Convert the real part of a complex number to a real dtype: IREE converts it otherwise than
    real numbers.
    """
    (x,) = operation.operands
    target = dtype_of(operation.results[0])
    if dtype_of(x).kind != "c" or target.kind == "c":
        return None
    return [conversion.convert(elementwise.real(x), target)]


@legalizes("stablehlo.reduce", kind="bug", of="IREE")
def sum_of_complex(operation: Operation) -> Sequence[Value] | None:
    """Add up the real and the imaginary parts of many complex numbers, which the pass `reductions`
    makes kernels: IREE adds the numbers one by one, which loses digits.
    """
    op, result = read_as(Reduce, operation), operation.results[0]
    if op is None or op.combiner != "add" or dtype_of(result).kind != "c":
        return None
    x, init = operation.operands
    if prod(shape_of(x)[d] for d in op.dimensions) <= LONG:
        return None
    parts = [part(x) for part in (elementwise.real, elementwise.imag)]
    sums = [op(part, full((), 0, dtype_of(part))) for part in parts]
    total = elementwise.complex_(*sums)
    if is_identity("add", init):
        return [total]
    return [elementwise.add(total, shape.broadcast_scalar(init, shape_of(total)))]
