"""Zeros: the elements of a value that are zero whatever the arguments are.

A value that is not known can have some: a mask times it, or it padded. What is multiplied by them
depends on nothing.
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
"""True at the elements that are zero; None if none are known."""


def zeros_of_value(value: np.ndarray | None) -> Zeros:
    """Return the zeros of an array that is known."""
    if value is None or value.dtype.kind not in "fc":
        return None
    found = value == 0
    return found if found.any() else None


def zeros_of_result(op: Op, use: Use, zeros: Sequence[Zeros]) -> Zeros:
    """Return the zeros of an op's result, for those of its operands."""
    shape = tuple(use.results[use.result])
    there = [x for x in zeros if x is not None]
    found = op.zeros(use, zeros)
    if found is not None:
        return np.broadcast_to(found, shape) if found.any() else None
    if not there or len(use.results) > 1:
        return None
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
    return found if found is not None and found.any() else None


def _is_zero_at_zeros(op: Op, count: int) -> bool:
    """True if an elementwise op of floats is zero where all operands are."""
    zero = np.zeros((), np.float64)
    try:
        with np.errstate(all="ignore"):
            (found,) = evaluated(op, no_calls, [zero] * count)
    except (TypeError, ValueError):
        return False  # an op of other operands
    return bool(found == 0)


def _moved(op: Op, use: Use, zeros: Sequence[Zeros]) -> Zeros:
    """The zeros moved as the elements are: of operands that have none, elements are ones. A sum of
    products of these is zero if all products are.
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
