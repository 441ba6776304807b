"""The pattern for sums of arrays of which each is zero outside of a part, as derivatives of slices
are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import pairwise

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import elementwise, slicing
from irax_compiler.ops.core import full
from irax_compiler.passes.rewriting import rewrites
from irax_compiler.passes.simplify.matching import is_full_of, made_by
from irax_compiler.sizes import is_symbolic

MOST = 64
"""The most terms of a sum that are looked at."""

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
    padded = {x: place for x in terms if (place := _place(x)) is not None}
    for d in sorted({d for d, _ in padded.values()}):
        parts: dict[Part, list[Value]] = {}
        for x, (dimension, part) in padded.items():
            if dimension == d:
                parts.setdefault(part, []).append(x)
        count = sum(map(len, parts.values()))
        if count < 2 or any(a + n > b for (a, n), (b, _) in pairwise(sorted(parts))):
            continue
        joined = _joined(parts, d, shape_of(result))
        rest = [x for x in terms if x not in padded or padded[x][0] != d]
        return [_sum([joined, *rest])]
    return None


def _is_term(x: Value) -> bool:
    """True for a value that is a term of a larger sum, and used for nothing else."""
    users = [use.owner.operation for use in x.uses]
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


def _place(x: Value) -> tuple[int, Part] | None:
    """Return the dimension along which zeros are around an array, and its place there."""
    pad = made_by(x, slicing.Pad)
    if pad is None or not is_full_of(pad.operands[1], 0):
        return None
    low, high = pad.op.edge_padding_low, pad.op.edge_padding_high
    around = [d for d, ends in enumerate(zip(low, high, strict=True)) if ends != (0, 0)]
    if len(around) != 1 or any(pad.op.interior_padding) or min(*low, *high) < 0:
        return None
    (d,) = around
    return d, (low[d], shape_of(pad.operand)[d])


def _joined(parts: dict[Part, list[Value]], d: int, extents: Sequence[int]) -> Value:
    """Build an array of its parts along a dimension, with zeros between them."""
    pieces: list[Value] = []
    end = 0
    for start, size in sorted(parts):
        pieces += _zeros(start - end, d, extents, parts)
        pieces.append(_sum(_inside(parts[start, size])))
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


def _inside(padded: Sequence[Value]) -> Iterator[Value]:
    for x in padded:
        pad = made_by(x, slicing.Pad)
        assert pad is not None
        yield pad.operand


def _sum(terms: Iterable[Value]) -> Value:
    return reduce(elementwise.add, terms)
