"""Legalizations of floating-point conversions and functions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import ml_dtypes
import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, inexact, shape_of
from irax_compiler.ops import barrier, bitcast, clamp, comparison, conversion, elementwise
from irax_compiler.ops.core import full, full_like
from irax_compiler.ops.elementwise import Elementwise
from irax_compiler.ops.formula import Number, function, polynomial, where
from irax_compiler.ops.registry import read
from irax_compiler.passes.legalize.float_codes import neighbour
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.legalize.numerics.scalar_formulas import by_scalars


@legalizes("stablehlo.convert", kind="missing", of="IREE")
def convert_of_counter(operation: Operation) -> Sequence[Value] | None:
    """Convert a loop counter on the device: IREE keeps it in its virtual machine, which converts
    integers to no float dtype but float32.
    """
    (x,) = operation.operands
    target = dtype_of(operation.results[0])
    if shape_of(x) or inexact(dtype_of(x)) or not inexact(target) or target == np.float32:
        return None
    return [conversion.Convert(target)(*barrier.barrier.build([x]))]


@legalizes("stablehlo.convert", kind="bug", of="IREE")
def unsigned_counter(operation: Operation) -> Sequence[Value] | None:
    """Convert a signed loop counter to an unsigned dtype by way of the signed one of its width: the
    conversion in IREE's virtual machine does not verify.
    """
    (x,) = operation.operands
    target = dtype_of(operation.results[0])
    if shape_of(x) or dtype_of(x).kind != "i" or target.kind != "u":
        return None
    signed = np.dtype(f"i{target.itemsize}")
    converted = x if dtype_of(x) == signed else conversion.Convert(signed)(x)
    return [bitcast.BitcastConvert((), target)(converted)]


@legalizes("stablehlo.convert", kind="bug", of="IREE")
def saturating_convert(operation: Operation) -> Sequence[Value] | None:
    """Saturate conversions of floats to integers, with 0 for nan: IREE's results are arbitrary out
    of range.
    """
    (x,) = operation.operands
    source, target = dtype_of(x), dtype_of(operation.results[0])
    if not inexact(source) or source.kind == "c" or target.kind not in "iu":
        return None
    low, high = _representable_bounds(source, target)
    inside = clamp.clamp(full((), low, source), x, full((), high, source))
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
    """Return the smallest and the largest number that both dtypes represent."""
    info, finfo = np.iinfo(target), ml_dtypes.finfo(source)
    bounds = []
    for limit in (info.min, info.max):
        nearest = np.clip(float(limit), float(finfo.min), float(finfo.max)).astype(source)
        if abs(int(nearest)) > abs(limit):
            nearest = np.nextafter(nearest, source.type(0))
        bounds.append(nearest)
    return bounds[0], bounds[1]


@legalizes(clamp.Clamp, kind="slow", of="IREE")
def clamp_by_choices(_: clamp.Clamp, low: Value, x: Value, high: Value) -> Value | None:
    """Clamp floats by comparisons, which become one instruction for each bound: IREE looks for nan
    besides, in three. A bound of zero is left to IREE, since a comparison does not tell -0 from it.
    """
    bounds = [mlir.splat(low), mlir.splat(high)]
    if dtype_of(x) not in (np.float32, np.float64) or any(
        bound is None or bound == 0 or np.isnan(bound) for bound in bounds
    ):
        return None
    least, most = bounds
    number = Number(x)
    at_least = where(number < least, least, number)
    return where(at_least > most, most, at_least).value


@legalizes("stablehlo.round_nearest_even", kind="slow", of="IREE")
def rounding_by_addition(operation: Operation) -> Sequence[Value] | None:
    """Round floats by an addition: IREE tests and masks bits, in twice the time."""
    (x,) = operation.operands
    return [by_scalars(_rounded, x)] if dtype_of(x) in (np.float32, np.float64) else None


def _rounded(x: Number) -> Number:
    """Add a number from which on all floats are whole, and subtract it again."""
    info, bits = np.finfo(x.dtype), np.dtype(f"u{x.dtype.itemsize}")
    size, all_whole = abs(x), 2.0**info.nmant
    sign = x.bits(bits) & (1 << (info.bits - 1))
    rounded = (((size + all_whole) - all_whole).bits(bits) | sign).bits(x.dtype)
    return where(size < all_whole, rounded, x)


@legalizes(
    "stablehlo.atan2",
    "stablehlo.cbrt",
    "stablehlo.cosine",
    "stablehlo.power",
    "stablehlo.sine",
    "stablehlo.tan",
    kind="bug",
    of="IREE",
)
def narrow_function(operation: Operation) -> Sequence[Value] | None:
    """Compute functions of float16 and bfloat16 in float32, which has legalizations for IREE's
    errors in all three.
    """
    dtype = dtype_of(operation.results[0])
    if not inexact(dtype) or dtype.itemsize > 2:
        return None
    float32 = np.dtype(np.float32)
    wide = read(operation).build([conversion.convert(x, float32) for x in operation.operands])
    return [conversion.convert(wide[0], dtype)]


@legalizes(Elementwise, kind="missing", of=("StableHLO", "IREE"))
def float8_function(op: Elementwise, *operands: Value) -> Sequence[Value] | None:
    """Compute functions of 8-bit floats in float32, neighbours by their bytes: IREE supports few of
    them, and CHLO's expansions none.
    """
    dtype, float32 = dtype_of(operands[0]), np.dtype(np.float32)
    if not inexact(dtype) or dtype.itemsize > 1:
        return None
    if op.name == "chlo.next_after":
        first, other = (Number(x).bits(np.uint8) for x in operands)
        return [neighbour(first, other, dtype).bits(dtype).value]
    wide = op(*(conversion.convert(x, float32) for x in operands))
    return [conversion.convert(wide, dtype) if dtype_of(wide) == float32 else wide]


@legalizes("stablehlo.reduce_precision", kind="bug", of=("StableHLO", "IREE"))
def float8_of_less_precision(operation: Operation) -> Sequence[Value] | None:
    """Reduce the precision of 8-bit floats in float32: IREE takes those of the largest exponent,
    where most of these dtypes have numbers, for infinities.
    """
    (x,) = operation.operands
    dtype = dtype_of(x)
    if dtype.itemsize > 1:
        return None
    (found,) = read(operation).build([conversion.convert(x, np.dtype(np.float32))])
    return [conversion.convert(found, dtype)]


@legalizes("stablehlo.log_plus_one", kind="bug", of="IREE")
def log_plus_one_of_doubles(operation: Operation) -> Sequence[Value] | None:
    """Compute log1p of float64 accurately: IREE computes log(1 + x), which is 0 for x = 1e-17."""
    (x,) = map(Number, operation.operands)
    if x.dtype != np.float64:
        return None
    # What 1 + x lost, log(1 + x) lacks in the same proportion.
    sum_ = x + 1
    kept = sum_ - 1
    result = function(elementwise.log, sum_) * (x / kept)
    result = where(kept.equals(0), x, result)
    return [where(x.equals(np.inf), x, result).value]


@legalizes("stablehlo.log_plus_one", kind="bug", of="IREE")
def log_plus_one_of_singles(operation: Operation) -> Sequence[Value] | None:
    """Compute log1p of narrower floats accurately: for SPIR-V, IREE computes log(1 + x), of which
    three digits are right for x = 1e-4. Drivers simplify (1 + x) - 1, so it is a series here.
    """
    (operand,) = operation.operands
    dtype = dtype_of(operand)
    if not inexact(dtype) or dtype.kind == "c" or dtype.itemsize > 4:
        return None
    x = Number(operand).to(np.float32)
    s = x / (x + 2)  # log(1 + x) is 2 s (1 + s**2 / 3 + s**4 / 5 + ...)
    series = polynomial(s * s, [1 / n for n in range(1, 13, 2)])
    near = x * (series / (x * 0.5 + 1))
    found = where(abs(x) < 0.375, near, function(elementwise.log, x + 1))
    return [found.to(dtype).value]


@legalizes("stablehlo.exponential_minus_one", kind="bug", of="IREE")
def exponential_minus_one_of_doubles(operation: Operation) -> Sequence[Value] | None:
    """Compute expm1 of float64 accurately: IREE computes exp(x) - 1, which is 0 for x = 1e-17."""
    (x,) = map(Number, operation.operands)
    if x.dtype != np.float64:
        return None
    power = function(elementwise.exponential, x)
    less = power - 1
    # What `less` lost, log(power) lacks in the same proportion.
    result = where(less.equals(0), x, less * (x / function(elementwise.log, power)))
    return [where(abs(x) < 1.0, result, less).value]
