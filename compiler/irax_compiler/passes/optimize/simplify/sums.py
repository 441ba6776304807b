"""Patterns for sums of arrays of which some are zero outside of a part, as derivatives of slices
are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from math import prod

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import conversion, elementwise, shape, slicing
from irax_compiler.ops.core import full
from irax_compiler.ops.indexing.dynamic_slices import DynamicSlice, DynamicUpdateSlice
from irax_compiler.passes.matching import is_full_of, made_by, made_for_one
from irax_compiler.passes.rewriting import rewrites
from irax_compiler.sizes import is_symbolic

MOST = 64
"""The most terms of a sum that are looked at."""
FEW = 32
"""The most elements that are added at once as fast as one of them: a few vectors."""

_ADD = "stablehlo.add"

Part = tuple[int, int]
"""The first place of a part along a dimension, and its extent."""


@rewrites(_ADD)
def sum_of_parts(operation: Operation) -> Sequence[Value] | None:
    """pad(x) + pad(y) + z -> concatenate(x, y) + z, where these are other parts of an array, and
    -> pad(x + y) + z, where they are the same.
    """
    (result,) = operation.results
    if _is_term(result) or dtype_of(result).kind == "b" or any(map(is_symbolic, shape_of(result))):
        return None
    terms = list(_terms(operation))
    for d in range(len(shape_of(result))):
        parts: dict[Part, list[Value]] = {}
        rest: list[Value] = []
        for x in terms:
            found = _part(x, d)
            (rest if found is None else parts.setdefault(found, [])).append(x)
        is_apart = all(a + n <= b for (a, n), (b, _) in pairwise(sorted(parts)))
        if len(terms) - len(rest) > 1 and is_apart:
            return [_sum([_joined(parts, d, shape_of(result)), *rest])]
    return None


@rewrites(elementwise.add)
def sum_with_update_of_zeros(op: elementwise.Elementwise, x: Value, y: Value) -> Value | None:
    """x + dynamic_update_slice(0, y, i) -> dynamic_update_slice(x, x[i] + y, i), where y is at most
    half of a large array. Of either sign of zero, as `neutral_operand` is.
    """
    for array, term in ((x, y), (y, x)):
        update = made_for_one(term, DynamicUpdateSlice)
        if update is None or not is_full_of(update.operand, 0):
            continue
        _, part, *starts = update.operands
        extents = shape_of(array)
        if any(map(is_symbolic, extents)):
            continue
        if prod(extents) <= FEW or 2 * prod(shape_of(part)) > prod(extents):
            continue
        old = DynamicSlice(shape_of(part))(array, *starts)
        return update.rebuild([array, op(old, part), *starts])
    return None


@rewrites(conversion.Convert)
def convert_of_update_of_zeros(op: conversion.Convert, x: Value) -> Value | None:
    """convert(dynamic_update_slice(0, y, i)) -> dynamic_update_slice(0, convert(y), i)."""
    update = made_for_one(x, DynamicUpdateSlice)
    if update is None or not is_full_of(update.operand, 0) or any(map(is_symbolic, shape_of(x))):
        return None
    _, part, *starts = update.operands
    return update.rebuild([full(shape_of(x), 0, op.dtype), op(part), *starts])


def _is_term(x: Value) -> bool:
    """True for a value that is a term of a larger sum, and used for nothing else."""
    users = mlir.users(x)
    return len(users) == 1 and users[0].name == _ADD


def _terms(operation: Operation) -> Iterator[Value]:
    """Yield the terms of a sum, as far as nothing else uses the sums of some."""
    pending, count = list(operation.operands)[::-1], 2
    while pending:
        x = pending.pop()
        source = mlir.definition(x)
        if source is None or source.name != _ADD or not _is_term(x) or count == MOST:
            yield x
        else:
            pending += list(source.operands)[::-1]
            count += 1


def _part(x: Value, d: int) -> Part | None:
    """Return the part of an array that is not padded with zeros along a dimension, if it is."""
    pad = made_by(x, slicing.Pad)
    if pad is None or not is_full_of(pad.operands[1], 0):
        return None
    low, high = pad.op.edge_padding_low, pad.op.edge_padding_high
    if any(pad.op.interior_padding) or min(*low, *high) < 0 or (low[d], high[d]) == (0, 0):
        return None
    return low[d], shape_of(pad.operand)[d]


def _inside(x: Value, d: int) -> Value:
    """Return what is padded along a dimension; it may be padded along others."""
    pad = made_by(x, slicing.Pad)
    assert pad is not None
    low, high = (
        tuple(0 if i == d else n for i, n in enumerate(ends))
        for ends in (pad.op.edge_padding_low, pad.op.edge_padding_high)
    )
    if not any((*low, *high)):
        return pad.operand
    return replace(pad.op, edge_padding_low=low, edge_padding_high=high)(*pad.operands)


def _joined(parts: dict[Part, list[Value]], d: int, extents: Sequence[int]) -> Value:
    """Build an array of its parts along a dimension, with zeros between them."""
    pieces: list[Value] = []
    end = 0
    for start, size in sorted(parts):
        pieces += _zeros(start - end, d, extents, parts)
        pieces.append(_sum(_inside(x, d) for x in parts[start, size]))
        end = start + size
    pieces += _zeros(extents[d] - end, d, extents, parts)
    return slicing.Concatenate(d)(*pieces) if len(pieces) > 1 else pieces[0]


def _zeros(
    size: int, d: int, extents: Sequence[int], parts: dict[Part, list[Value]]
) -> list[Value]:
    if size == 0:
        return []
    (x, *_), *_ = parts.values()
    return [full((*extents[:d], size, *extents[d + 1 :]), 0, dtype_of(x))]


def _sum(terms: Iterable[Value]) -> Value:
    return reduce(_plus, terms)


def _plus(x: Value, y: Value) -> Value:
    """x + y, of reshaped arrays before they are reshaped, in the shape of what computed them."""
    first, second = made_by(x, shape.Reshape), made_by(y, shape.Reshape)
    if first is None or second is None or first.operand.type != second.operand.type:
        return elementwise.add(x, y)
    return first.op(elementwise.add(first.operand, second.operand))
