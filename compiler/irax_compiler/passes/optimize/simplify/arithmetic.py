"""Patterns for arithmetic on identity and absorbing elements, for select, and for conversions."""

from __future__ import annotations

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, inexact, shape_of
from irax_compiler.ops import bitwise, comparison, conversion, elementwise
from irax_compiler.ops.core import full, zeros_like
from irax_compiler.ops.elementwise import Elementwise
from irax_compiler.ops.reductions import reduce
from irax_compiler.passes.matching import is_full_of, made_by
from irax_compiler.passes.rewriting import rewrites

# ---- neutral and absorbing elements --------------------------------------------------------------


@rewrites(Elementwise)
def neutral_operand(op: Elementwise, *operands: Value) -> Value | None:
    """x + 0, x - 0, x * 1, x / 1, x ** 1, max(x, -inf), x & ~0, x << 0, ... -> x.

    Of either sign of zero, as in XLA: -0.0 + 0.0 becomes -0.0, where IEEE 754 says 0.0.
    """
    if op.identity is None:
        return None
    x, y = operands
    element = op.identity(dtype_of(x))
    if is_full_of(y, element):
        return x
    return y if op.commutative and is_full_of(x, element) else None


@rewrites(elementwise.multiply, bitwise.and_, bitwise.or_)
def absorbing_operand(op: Elementwise, x: Value, y: Value) -> Value | None:
    """x * 0 -> 0, x & 0 -> 0, x | ~0 -> ~0. Not for floats: nan * 0 and inf * 0 are nan."""
    dtype = dtype_of(x)
    if inexact(dtype):
        return None
    element = reduce.identity("and", dtype) if op is bitwise.or_ else 0
    if is_full_of(x, element):
        return x
    return y if is_full_of(y, element) else None


@rewrites(bitwise.xor)
def xor_of_the_same(op: Elementwise, x: Value, y: Value) -> Value | None:
    """x ^ x -> 0, (x ^ y) ^ x -> y. IREE folds one of a long chain at a time, and gives up."""
    if x == y:
        return zeros_like(x)
    for inner, other in ((x, y), (y, x)):
        source = made_by(inner, bitwise.xor)
        if source and other in source.operands:
            first, second = source.operands
            return second if other == first else first
    return None


@rewrites(elementwise.maximum, elementwise.minimum, bitwise.and_, bitwise.or_)
def idempotent_of_the_same(op: Elementwise, x: Value, y: Value) -> Value | None:
    """max(x, x) -> x, min(x, x) -> x, x & x -> x, x | x -> x."""
    return x if x == y else None


@rewrites(comparison.Compare)
def compare_with_itself(op: comparison.Compare, x: Value, y: Value) -> Value | None:
    """x < x -> False, x <= x -> True, ...; of floats, which may be nan, only x < x and x > x."""
    direction = op.comparison_direction
    if x != y or (inexact(dtype_of(x)) and direction not in ("LT", "GT")):
        return None
    return full(shape_of(x), direction in ("EQ", "LE", "GE"), np.dtype(np.bool_))


# ---- select --------------------------------------------------------------------------------------


@rewrites(comparison.select)
def select_of_one_value(op: comparison.Select, p: Value, x: Value, y: Value) -> Value | None:
    """select(true, x, y) -> x, select(false, x, y) -> y, select(p, x, x) -> x."""
    if x == y:
        return x
    predicate = mlir.splat(p)
    return None if predicate is None else (x if predicate else y)


@rewrites(comparison.select)
def select_by_negation(op: comparison.Select, p: Value, x: Value, y: Value) -> Value | None:
    """select(not p, x, y) -> select(p, y, x)."""
    negation = made_by(p, bitwise.not_)
    return op(negation.operand, y, x) if negation else None


@rewrites(comparison.select)
def select_of_select(op: comparison.Select, p: Value, x: Value, y: Value) -> Value | None:
    """select(p, select(p, x, _), y) -> select(p, x, y), and so on the other side."""
    inner_x, inner_y = made_by(x, comparison.select), made_by(y, comparison.select)
    if inner_x and inner_x.operand == p:
        return op(p, inner_x.operands[1], y)
    if inner_y and inner_y.operand == p:
        return op(p, x, inner_y.operands[2])
    return None


# ---- convert -------------------------------------------------------------------------------------


@rewrites(conversion.Convert)
def convert_to_same(op: conversion.Convert, x: Value) -> Value | None:
    """convert(x) -> x, where x has that dtype already."""
    return x if dtype_of(x) == op.dtype else None


@rewrites(conversion.Convert)
def convert_of_exact_convert(op: conversion.Convert, x: Value) -> Value | None:
    """convert(convert(x)) -> convert(x), where the inner one loses nothing."""
    inner = made_by(x, conversion.Convert)
    if inner and is_lossless(dtype_of(inner.operand), dtype_of(x)):
        return conversion.convert(inner.operand, op.dtype)
    return None


@rewrites(elementwise.real, elementwise.imag)
def part_of_real(op: Elementwise, x: Value) -> Value | None:
    """real(x) -> x, imag(x) -> 0, where x is real."""
    if dtype_of(x).kind == "c":
        return None
    return x if op is elementwise.real else zeros_like(x)


def is_lossless(source: np.dtype, target: np.dtype) -> bool:
    """True if each value of one dtype is a value of the other, of the same kind."""
    if source == np.bool_ or source == target:
        return True
    same_kind = inexact(source) == inexact(target)
    # ml_dtypes takes 8-bit floats for each other's subsets, which they are not.
    is_wider = source.itemsize < target.itemsize
    return same_kind and is_wider and np.can_cast(source, target, "safe")
