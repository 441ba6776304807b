"""Cures for floating-point conversions and functions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import ml_dtypes
import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of, inexact
from irax_compiler.ops import comparison, conversion
from irax_compiler.ops.core import full, full_like
from irax_compiler.passes.legalize.cure import cure


@cure("stablehlo.convert")
def saturating_convert(operation: Operation) -> Sequence[Value] | None:
    """IREE converts floats that an integer type cannot hold to arbitrary integers; they are to
    become its largest or smallest value, and nan 0.
    """
    (x,) = operation.operands
    source, target = dtype_of(x), dtype_of(operation.results[0])
    if not inexact(source) or source.kind == "c" or target.kind not in "iu":
        return None
    low, high = _representable_bounds(source, target)
    inside = comparison.clamp(full((), low, source), x, full((), high, source))
    result = conversion.Convert(target)(inside)
    info = np.iinfo(target)
    for bound, limit, beyond in (
        (low, info.min, comparison.less),
        (high, info.max, comparison.greater),
    ):
        if int(bound) != limit:
            is_beyond = beyond(x, full_like(x, bound))
            result = comparison.select(is_beyond, full_like(result, limit), result)
    return [comparison.select(comparison.equal(x, x), result, full_like(result, 0))]


@cache
def _representable_bounds(source: np.dtype, target: np.dtype) -> tuple[np.generic, np.generic]:
    """The smallest and the largest number that both dtypes hold."""
    info, finfo = np.iinfo(target), ml_dtypes.finfo(source)
    bounds = []
    for limit in (info.min, info.max):
        nearest = np.clip(float(limit), float(finfo.min), float(finfo.max)).astype(source)
        if abs(int(nearest)) > abs(limit):
            nearest = np.nextafter(nearest, source.type(0))
        bounds.append(nearest)
    return bounds[0], bounds[1]
