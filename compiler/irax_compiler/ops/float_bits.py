"""Derivatives of what goes through the bits of floats.

Some functions read a float's bits as an integer, choose or mask them, and read the result as a
float again: so does a flush of subnormal numbers to zero, `frexp`, or `copysign`. The integers that
hold a float's bits are followed from operation to operation, each of which says in its trait
`float_bits` what becomes of them. Bits that come back as they were, or that were chosen, have the
float's tangent. Where just the sign and the exponent were changed, y is x times a power of two, and
its tangent is that times the tangent of x. Elsewhere the derivative is lost: it is zero, with a
mark in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, is_inexact, shape_of
from irax_compiler.ops import comparison, conversion, elementwise, shape
from irax_compiler.ops.bitcast import BitcastConvert
from irax_compiler.ops.core import Bits, Op, Tangent, full_like, zeros_like
from irax_compiler.ops.marks import lost_derivative, stop_gradient
from irax_compiler.ops.reduction_builders import reduce_sum
from irax_compiler.ops.registry import traits_of
from irax_compiler.ops.structured import StructuredOp


@dataclass(frozen=True)
class Held:
    """The float that an integer holds the bits of, or the mantissa, or something else of."""

    tangent: Value
    """The float's tangent."""
    source: Value
    """The float; of the integer's shape, like its tangent, unless the derivative is lost."""
    is_whole: bool = True
    """True if the bits are the float's; else just the mantissa is."""
    is_lost: bool = False
    """True if the integer depends on the float in another way."""

    @property
    def mantissa(self) -> int:
        """The number of bits of the mantissa."""
        return int(ml_dtypes.finfo(dtype_of(self.source)).nmant)

    def is_lost_in(self, result: Value) -> bool:
        """True if the tangent of a float that has these bits does not follow from them."""
        return self.is_lost or dtype_of(self.source) != dtype_of(result)

    def tangent_of(self, result: Value) -> Value:
        """Return the tangent of a float that has these bits."""
        dtype = dtype_of(result)
        if self.is_lost_in(result):
            gone = lost_derivative(self.tangent)
            total = reduce_sum(gone, tuple(range(len(shape_of(gone)))))
            return shape.broadcast_scalar(conversion.convert(total, dtype), shape_of(result))
        if self.is_whole:
            return self.tangent
        ratio = stop_gradient(elementwise.divide(result, self.source))  # a step function
        zero, one = zeros_like(result), full_like(result, 1)
        # Of zero and what is not finite, a power of two cannot be told: it is taken as 1.
        usual = comparison.select(elementwise.is_finite(ratio), ratio, one)
        ratio = comparison.select(comparison.equal(self.source, zero), one, usual)
        return elementwise.multiply(self.tangent, ratio)


def of_results(
    op: Op,
    operands: Sequence[Value],
    held: Sequence[Held | None],
    tangents: Sequence[Tangent],
    results: Sequence[Value],
) -> list[Held | None]:
    """For each result of an operation, what it holds; of a float, only where it comes from the
    integers that hold something.

    Args:
        op: the operation's op.
        operands: its operands.
        held: what operands hold that are integers.
        tangents: those of operands that are floats.
        results: the results.
    """
    if op.float_bits is Bits.READ:
        return [_read(operands[0], held[0], tangents[0], results[0])]
    there = [h for h in held if h is not None]
    if not there:
        return [None] * len(results)
    lost = replace(there[0], is_lost=True)
    makes_floats = op.elementwise or isinstance(op, StructuredOp)
    return [
        None
        if dtype_of(r) == np.bool_ or (is_inexact(r) and not makes_floats)
        else lost
        if is_inexact(r) or len(results) > 1 or any(h.is_lost for h in there)
        else _of_integer(op, operands, held, r, lost)
        for r in results
    ]


def _read(x: Value, held: Held | None, tangent: Tangent, result: Value) -> Held | None:
    """The bits of an operand, as another type."""
    if is_inexact(x):
        held = None if tangent is None else Held(tangent, x)
    if held is None:
        return None
    same = shape_of(x) == shape_of(result)
    return held if same else replace(held, is_lost=True)


def _of_integer(
    op: Op, operands: Sequence[Value], held: Sequence[Held | None], result: Value, lost: Held
) -> Held | None:
    """Return what an integer result holds, where no operand has lost its float."""
    if op.moves or op.float_bits is Bits.MOVED:
        return _moved(op, operands, held, lost)
    if op.float_bits is Bits.CONVERTED:
        same = dtype_of(result).itemsize == dtype_of(operands[0]).itemsize
        return held[0] if same else lost
    there = [h for h in held if h is not None]
    if len(operands) != 2 or len(there) != 1:
        return lost
    (one,) = there
    other = operands[0] if held[0] is None else operands[1]
    low = (1 << one.mantissa) - 1
    number = _number(other)
    if op.float_bits is Bits.MASKED and number is not None:
        if not number & low:
            return None
        return replace(one, is_whole=False) if number & low == low else lost
    if op.float_bits is Bits.JOINED and (op.commutative or held[0] is not None):
        if _is_at_most_one(other):  # the next float, or that before
            return one
        return replace(one, is_whole=False) if _has_no_low_bits(other, low) else lost
    if op.float_bits is Bits.SHIFTED_RIGHT and held[0] is not None and number is not None:
        return None if number >= one.mantissa else lost
    return lost


def _moved(
    op: Op, operands: Sequence[Value], held: Sequence[Held | None], lost: Held
) -> Held | None:
    """The tangents moved as the bits are, with zeros where operands hold no float's."""
    there = [h for h in held if h is not None]
    numbers = [i for i, h in enumerate(held) if h is not None]
    dtypes = {dtype_of(h.source) for h in there}
    if not op.is_linear_in(numbers):  # they are places, of which there is no derivative
        return lost
    if len(dtypes) > 1:
        return lost
    (dtype,) = dtypes
    moving = range(len(operands)) if op.linear_in is None else op.linear_in
    sources, tangents = list(operands), list(operands)
    for i in moving:
        one = held[i]
        sources[i] = (
            BitcastConvert(shape_of(operands[i]), dtype)(operands[i]) if one is None else one.source
        )
        tangents[i] = zeros_like(sources[i]) if one is None else one.tangent
    return Held(op(*tangents), op(*sources), all(h.is_whole for h in there))


def _number(x: Value) -> int | None:
    """The integer that the bits of all elements of a constant are; None for another value."""
    found = mlir.splat(x)
    if found is not None and dtype_of(x).kind != "c":
        is_integer = dtype_of(x).kind in "iub"
        return int(found if is_integer else found.view(f"u{found.dtype.itemsize}"))
    operation = mlir.definition(x)
    if operation is None or not traits_of(operation).stretches:
        return None
    return _number(operation.operands[0])


def _is_at_most_one(x: Value) -> bool:
    """True if the elements of an array are known to be -1, 0 or 1."""
    number = _number(x)
    if number is not None:
        return abs(number) <= 1
    operation = mlir.definition(x)
    if operation is None or traits_of(operation).float_bits is not Bits.MOVED:
        return False
    return all(_is_at_most_one(v) for v in operation.operands if dtype_of(v) != np.bool_)


def _has_no_low_bits(x: Value, low: int) -> bool:
    """True if some bits of an integer are known to be zero."""
    number = _number(x)
    if number is not None:
        return not number & low
    operation = mlir.definition(x)
    if operation is None:
        return False
    traits, operands = traits_of(operation), list(operation.operands)
    if traits.float_bits is Bits.SHIFTED_LEFT:
        number = _number(operands[1])
        return number is not None and low >> number == 0
    integers = [v for v in operands if dtype_of(v) != np.bool_]
    found = [_has_no_low_bits(v, low) for v in integers]
    if traits.float_bits is Bits.MASKED:
        return any(found)
    if traits.float_bits in (Bits.JOINED, Bits.MOVED) or traits.stretches:
        return all(found)
    return False
