"""Patterns for negation. Differentiation leaves negations inside products; the patterns move each
to a sum, a constant or another negation, where it cancels.
"""

from __future__ import annotations

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, inexact, is_inexact
from irax_compiler.ops import conversion, dot, elementwise, shape
from irax_compiler.ops.core import full_like
from irax_compiler.ops.elementwise import Elementwise
from irax_compiler.ops.reductions import reduce
from irax_compiler.passes.matching import (
    Made,
    is_full_of,
    made,
    made_by,
    made_for_one,
)
from irax_compiler.passes.rewriting import rewrites


@rewrites(elementwise.negate)
def negate_of_negate(op: Elementwise, x: Value) -> Value | None:
    """-(-x) -> x, also where the inner sign was handed on: -((-x) * y) -> x * y."""
    return without_sign(x)


@rewrites(elementwise.negate)
def negate_of_constant_factor(op: Elementwise, x: Value) -> Value | None:
    """-(x * c) -> x * -c, -(x / c) -> x / -c, -(c / x) -> -c / x for a constant c."""
    product = made_for_one(x, elementwise.multiply) or made_for_one(x, elementwise.divide)
    if product is None or not is_inexact(x):
        return None
    for i, factor in enumerate(product.operands):
        c = mlir.splat(factor)
        if c is not None:
            operands = list(product.operands)
            operands[i] = full_like(factor, -c)
            return product.rebuild(operands)
    return None


@rewrites(elementwise.multiply, elementwise.divide)
def times_minus_one(op: Elementwise, x: Value, y: Value) -> Value | None:
    """x * -1 -> -x, x / -1 -> -x. Not for complex numbers: inf * (-1 + 0i) holds a nan."""
    if dtype_of(x).kind == "c":
        return None
    if is_full_of(y, -1):
        return elementwise.negate(x)
    return elementwise.negate(y) if op is elementwise.multiply and is_full_of(x, -1) else None


@rewrites(elementwise.subtract)
def subtract_from_zero(op: Elementwise, x: Value, y: Value) -> Value | None:
    """0 - x -> -x. Of integers: that of a float would make -0.0 of 0.0, and XLA keeps it."""
    return elementwise.negate(y) if dtype_of(x).kind == "i" and is_full_of(x, 0) else None


@rewrites(elementwise.add)
def add_of_negate(op: Elementwise, x: Value, y: Value) -> Value | None:
    """x + (-y) -> x - y and (-x) + y -> y - x."""
    for a, b in ((x, y), (y, x)):
        positive = without_sign(b)
        if positive is not None:
            return elementwise.subtract(a, positive)
    return None


@rewrites(elementwise.subtract)
def subtract_of_negate(op: Elementwise, x: Value, y: Value) -> Value | None:
    """x - (-y) -> x + y."""
    positive = without_sign(y)
    return None if positive is None else elementwise.add(x, positive)


@rewrites(elementwise.multiply, elementwise.divide)
def product_of_negates(op: Elementwise, x: Value, y: Value) -> Value | None:
    """(-x) * (-y) -> x * y, (-x) / (-y) -> x / y."""
    p, q = made_by(x, elementwise.negate), made_by(y, elementwise.negate)
    return op(p.operand, q.operand) if p and q and is_inexact(x) else None


@rewrites(reduce.Reduce)
def sum_of_negate(op: reduce.Reduce, x: Value, init: Value) -> Value | None:
    """sum(-x) -> -sum(x), which negates fewer elements."""
    negation = made_for_one(x, elementwise.negate)
    if negation and is_sum(op, init):
        return elementwise.negate(op(negation.operand, init))
    return None


SIGNED_OPERANDS = {
    elementwise.multiply.name: (0, 1),
    elementwise.divide.name: (0, 1),
    dot.DotGeneral.name: (0, 1),
    conversion.Convert.name: (0,),
    reduce.Reduce.name: (0,),
    shape.BroadcastInDim.name: (0,),
    shape.Reshape.name: (0,),
    shape.Transpose.name: (0,),
}
"""The ops of floats that hand on the sign of some operands."""

MAX_DEPTH = 8
"""The most ops through which a negation is searched."""


def without_sign(x: Value, depth: int = MAX_DEPTH) -> Value | None:
    """-x, where x is a negation or depends on one by ops that hand the sign on; else None.

    These ops are done again without it, and so must be there for x alone.
    """
    operation = mlir.definition(x)
    if operation is None:
        return None
    if operation.name == elementwise.negate.name:
        return operation.operands[0]
    if depth == 0 or operation.name not in SIGNED_OPERANDS or mlir.num_uses(x) > 1:
        return None
    maker = made(operation)
    if not propagates_sign(maker, x):
        return None
    for i in SIGNED_OPERANDS[operation.name]:
        positive = without_sign(maker.operands[i], depth - 1)
        if positive is not None:
            operands = list(maker.operands)
            operands[i] = positive
            return maker.rebuild(operands)
    return None


def propagates_sign(maker: Made, x: Value) -> bool:
    """True if negating the operand negates the result. For integers it may not: -MIN is MIN, so
    -(MIN / 2) is not (-MIN) / 2.
    """
    if not inexact(dtype_of(x)) or not inexact(dtype_of(maker.operand)):
        return False
    return not isinstance(maker.op, reduce.Reduce) or is_sum(maker.op, maker.operands[1])


def is_sum(op: reduce.Reduce, init: Value) -> bool:
    """True for a reduction that adds up from zero."""
    return op.combiner == "add" and is_inexact(init) and is_full_of(init, 0)
