"""Bitwise operations on integers and booleans. They have no derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.ops import meanings, registers
from irax_compiler.ops.core import ArrayType, Bits, Widened
from irax_compiler.ops.elementwise import Elementwise, binary, unary
from irax_compiler.ops.registry import register


def _bits(x: np.ndarray) -> np.ndarray:
    """The elements' bits as unsigned integers."""
    if mlir.is_narrow_integer(x.dtype):  # of whose bytes NumPy leaves the rest unused
        return x.astype(np.int8).view(np.uint8) & (2 ** mlir.width(x.dtype) - 1)
    return x.view(np.dtype(f"u{x.dtype.itemsize}"))


def _shift_right_logical(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    # A negative amount is a large one.
    return np.right_shift(_bits(x), _bits(y)).astype(x.dtype)


def _shift_right_arithmetic(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if mlir.is_narrow_integer(x.dtype):
        bits, sign = _bits(x), mlir.width(x.dtype) - 1
        extended = bits.astype(np.int16) - (bits >> sign << sign + 1)
        return (np.right_shift(extended, _bits(y)) & 2 ** (sign + 1) - 1).astype(x.dtype)
    signed = np.dtype(f"i{x.dtype.itemsize}")
    return np.right_shift(x.view(signed), y.view(signed)).view(x.dtype)


def _count_leading_zeros(x: np.ndarray) -> np.ndarray:
    unsigned, width = _bits(x), mlir.width(x.dtype)
    count = np.full(x.shape, width)
    for bit in range(width):
        count = np.where(unsigned >> bit, width - 1 - bit, count)
    return count.astype(x.dtype)


def _multiply_high(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    width = mlir.width(x.dtype)
    wide = np.dtype(np.int64) if width < 32 else np.dtype(object)  # of any number of bits
    return ((x.astype(wide) * y.astype(wide)) >> width).astype(x.dtype)


class _LogicalShift(Elementwise):
    def prepared(self, *operands: ArrayType) -> Callable[..., Any]:
        return np.right_shift if operands[0].dtype.kind == "u" else self.function


and_ = binary(
    "and",
    np.bitwise_and,
    commutative=True,
    identity=meanings.all_bits,
    float_bits=Bits.MASKED,
    scalar_lowering=registers.by_kind(i="arith.andi"),
    widened=Widened.SAME,
)
or_ = binary(
    "or",
    np.bitwise_or,
    commutative=True,
    identity=meanings.zero,
    float_bits=Bits.JOINED,
    scalar_lowering=registers.by_kind(i="arith.ori"),
    widened=Widened.SAME,
)
xor = binary(
    "xor",
    np.bitwise_xor,
    commutative=True,
    identity=meanings.zero,
    float_bits=Bits.JOINED,
    scalar_lowering=registers.by_kind(i="arith.xori"),
    widened=Widened.SAME,
)
not_ = unary("not", np.invert, scalar_lowering=registers.NOT)
shift_left = binary(
    "shift_left",
    np.left_shift,
    identity=meanings.zero,
    float_bits=Bits.SHIFTED_LEFT,
    scalar_lowering=registers.SHIFT_LEFT,
)
shift_right_arithmetic = binary(
    "shift_right_arithmetic",
    _shift_right_arithmetic,
    identity=meanings.zero,
    float_bits=Bits.SHIFTED_RIGHT,
    scalar_lowering=registers.SHIFT_RIGHT_ARITHMETIC,
    widen=False,
    widened=Widened.LOW_BITS_OF_SIGNED,
)
shift_right_logical = register(
    _LogicalShift(
        "stablehlo.shift_right_logical",
        _shift_right_logical,
        widen=False,
        identity=meanings.zero,
        float_bits=Bits.SHIFTED_RIGHT,
        scalar_lowering=registers.SHIFT_RIGHT_LOGICAL,
        widened=Widened.LOW_BITS_OF_UNSIGNED,
    )
)
popcnt = register(
    Elementwise(
        "stablehlo.popcnt",
        lambda x: np.bitwise_count(_bits(x)).astype(x.dtype),
        widen=False,
        scalar_lowering=registers.by_kind(i="math.ctpop"),
        widened=Widened.LOW_BITS_OF_UNSIGNED,
    )
)
count_leading_zeros = register(
    Elementwise(
        "stablehlo.count_leading_zeros",
        _count_leading_zeros,
        widen=False,
        scalar_lowering=registers.by_kind(i="math.ctlz"),
        widened=Widened.LOW_BITS_OF_UNSIGNED,
    )
)
multiply_high = binary(
    "mulhi",
    _multiply_high,
    dialect="chlo",
    widen=False,
    commutative=True,
    short=False,
    widened=Widened.OTHER,
)
"""The upper half of the product's bits."""
