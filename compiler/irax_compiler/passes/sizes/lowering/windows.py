"""Windows of arrays of symbolic size: IREE pads these arrays for convolutions, and does not crop
them; for reductions it does neither.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value
from irax_compiler.ops.convolution import Convolution
from irax_compiler.ops.reduce_window import ReduceWindow
from irax_compiler.ops.slicing import Pad
from irax_compiler.passes.sizes.lowering.lowering import Lowering, NotDynamic, anonymous
from irax_compiler.passes.sizes.lowering.moves import padded, part
from irax_compiler.passes.sizes.lowering.scans import scan_of, scanned
from irax_compiler.sizes import is_symbolic


def _convolution(of: Lowering, op: Convolution, operands: list[Value], type_: Any) -> Value:
    """The convolution of the array without what negative padding takes away."""
    x, kernel = operands
    if any(n < 0 for pair in op.padding for n in pair):
        if any(n != 1 for n in op.lhs_dilation):
            raise NotDynamic("a convolution of a dilated array that is cropped")
        extents = list(of.shape(x))
        offsets = [0] * len(extents)
        for d, (low, high) in zip(op.dimensions.lhs[2:], op.padding, strict=True):
            offsets[d] = max(-low, 0)
            extents[d] += min(low, 0) + min(high, 0)
        x = part(of, x, offsets, extents, anonymous(extents, x.type.element_type))
        padding = tuple((max(low, 0), max(high, 0)) for low, high in op.padding)
        op = replace(op, padding=padding)
    return mlir.emit(op.name, [x, kernel], op.attributes(), [type_]).results[0]


def _reduction(of: Lowering, op: ReduceWindow, operands: list[Value], type_: Any) -> Value:
    """The reduction of windows of the array that was padded with the initial value before."""
    x, init = operands
    run = scan_of(op, operands, of.shape(x))
    if run is not None:
        return scanned(of, op, x, run, type_)
    window = op.window
    wide, shape = x, window.padded(of.shape(x))
    if window.pad() != _no_padding(len(shape)):
        type_of_wide = anonymous(shape, x.type.element_type)
        wide = padded(of, window.pad(), [x, init], shape, type_of_wide)
    ones, zeros = (1,) * len(shape), ((0, 0),) * len(shape)
    alone = replace(op, window=replace(window, base_dilations=ones, padding=zeros))
    (found,) = mlir.clone(of.operation, {x: wide, init: init})
    made: Any = found.owner
    for name, attribute in alone.attributes().items():
        made.attributes[name] = attribute
    return found


def _no_padding(rank: int) -> Pad:
    zeros = (0,) * rank
    return Pad(zeros, zeros, zeros)


def is_lowered(op: ReduceWindow, operation: Operation) -> bool:
    """True for windows of one array that is padded and not cropped, whose size is known, and for
    scans.
    """
    operands, window = list(operation.operands), op.window
    if scan_of(op, operands, mlir.shape_of(operands[0])) is not None:
        return True
    sizes = (*window.sizes, *(n for pair in window.padding for n in pair))
    is_known = all(not is_symbolic(n) and n >= 0 for n in sizes)
    return is_known and len(operation.results) == 1


LOWERINGS: dict[type, Callable[[Lowering, Any, list[Value], Any], Value]] = {
    Convolution: _convolution,
    ReduceWindow: _reduction,
}
