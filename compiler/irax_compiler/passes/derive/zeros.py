"""Zeros: the elements of a value that are zero whatever the arguments are.

A value that is not known can have some: a mask times it, or it padded. What is multiplied by them
depends on nothing. Elements that a mask makes -inf, before a softmax, have exponentials that are
zero, so their places are followed, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from math import prod

import numpy as np

from irax_compiler.ops.core import Op, evaluated, no_calls
from irax_compiler.ops.links import Use

_LARGEST = 1 << 18
"""The most elements of matrices whose products' zeros are computed."""

Zeros = np.ndarray | None
"""True at the elements that are zero, or another number; None if none are known."""


def zeros_of_value(value: np.ndarray | None, number: float = 0) -> Zeros:
    """Return the zeros of an array that is known, or the places of another number."""
    if value is None or value.dtype.kind not in "fc":
        return None
    return _some(value == number)


def zeros_of_result(op: Op, use: Use, zeros: Sequence[Zeros]) -> Zeros:
    """Return the zeros of an op's result, for those of its operands."""
    shape = tuple(use.results[use.result])
    there = [x for x in zeros if x is not None]
    found = op.zeros(use, zeros)
    if found is not None:
        return _some(np.broadcast_to(found, shape))
    if not there or len(use.results) > 1:
        return None
    found = op.chosen(use, zeros)
    if found is not None:
        return _some(np.broadcast_to(found, shape))
    if op.elementwise:
        if op.is_product:
            found = reduce(np.logical_or, there)
        elif op.zero_with_first and zeros[0] is not None:
            found = zeros[0]
        elif len(there) == len(zeros) and _is_zero_at_zeros(op, len(zeros)):
            found = reduce(np.logical_and, there)
        else:
            return None
        found = np.broadcast_to(found, shape)
    elif op.moves:
        found = _moved(op, use, zeros)
    elif op.is_product and max(map(prod, (shape, *use.operands))) <= _LARGEST:
        found = _moved(op, replace(use, values=[None] * len(zeros)), zeros)
    else:
        return None
    return _some(found)


def masked_result(op: Op, use: Use, masked: Sequence[Zeros]) -> tuple[Zeros, Zeros]:
    """Return the places of -inf in an op's only result, for those of its operands, and the zeros
    that these make.
    """
    shape = tuple(use.results[0])
    there = [i for i, x in enumerate(masked) if x is not None]
    if not there or len(use.results) > 1:
        return None, None
    found = op.chosen(use, masked)
    if found is None and op.moves:
        found = _moved(op, use, masked)
    if found is None and op.elementwise:
        kept = [x for i in there if i in op.masked_with and (x := masked[i]) is not None]
        found = reduce(np.logical_or, kept) if kept else None
    if found is not None:
        return _some(np.broadcast_to(found, shape)), None
    operands = [
        value if places is None else np.where(places, -np.inf, np.nan)
        for places, value in zip(masked, use.values, strict=True)
    ]
    if not op.elementwise or any(x is None for x in operands):
        return None, None
    found = _evaluated(op, [np.asarray(x) for x in operands])
    return (None, None) if found is None else (_some(found == -np.inf), _some(found == 0))


def _some(places: np.ndarray) -> Zeros:
    return places if places.any() else None


def _is_zero_at_zeros(op: Op, count: int) -> bool:
    """True if an elementwise op of floats is zero where all operands are."""
    found = _evaluated(op, [np.zeros((), np.float64)] * count)
    return found is not None and bool(found == 0)


def _evaluated(op: Op, operands: Sequence[np.ndarray]) -> np.ndarray | None:
    try:
        with np.errstate(all="ignore"):
            return evaluated(op, no_calls, operands)[0]
    except (TypeError, ValueError):
        return None  # an op of other operands


def _moved(op: Op, use: Use, zeros: Sequence[Zeros]) -> np.ndarray:
    """Return the zeros of a result that are zero because operands are: the op is evaluated on ones
    in the place of elements that may not be zero. It moves them, or adds up products of them.
    """
    operands = []
    for zero, value, shape in zip(zeros, use.values, use.operands, strict=True):
        if zero is not None:
            operands.append((~zero).astype(np.float64))
        elif value is not None:
            operands.append(value if value.dtype.kind in "iub" else np.ones(tuple(shape)))
        else:
            operands.append(np.ones(tuple(shape)))
    return np.asarray(evaluated(op, no_calls, operands)[0]) == 0
