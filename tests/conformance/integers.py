"""Functions of integers and booleans as the specification defines them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.conformance.formats import Integer
from tests.conformance.functions import Free


def divide(x: int, y: int, to: Integer) -> Any:
    """The quotient without its fraction. Errors are left to the implementation; XLA has these."""
    if y == 0:
        return Free(to.wrapped(-1))
    quotient = abs(x) // abs(y)
    quotient = -quotient if (x < 0) != (y < 0) else quotient
    wrapped = to.wrapped(quotient)
    return wrapped if wrapped == quotient else Free(wrapped)


def remainder(x: int, y: int, to: Integer) -> Any:
    if y == 0:
        return Free(x)
    rest = abs(x) % abs(y)
    return -rest if x < 0 else rest


def power(x: int, y: int, to: Integer) -> Any:
    if y >= 0:
        size = pow(x, y, 1 << to.bits)
        return to.wrapped(size)
    if abs(x) == 1:
        return x if y % 2 else 1
    return Free(0)


def shift_left(x: int, y: int, to: Integer) -> Any:
    """x, shifted; by the width and more, zero is left."""
    return to.wrapped(x << y) if 0 <= y < to.bits else Free(0)


def shift_right_logical(x: int, y: int, to: Integer) -> Any:
    unsigned = x & ((1 << to.bits) - 1)
    return to.wrapped(unsigned >> y) if 0 <= y < to.bits else Free(0)


def shift_right_arithmetic(x: int, y: int, to: Integer) -> Any:
    bits = x & ((1 << to.bits) - 1)
    signed = bits - (1 << to.bits) if bits >> (to.bits - 1) else bits
    return (
        to.wrapped(signed >> y) if 0 <= y < to.bits else Free(to.wrapped(-1 if signed < 0 else 0))
    )


def sign(x: int, to: Integer) -> int:
    return (x > 0) - (x < 0)


BINARY: dict[str, Callable[[int, int, Integer], Any]] = {
    "stablehlo.add": lambda x, y, to: to.wrapped(x + y),
    "stablehlo.subtract": lambda x, y, to: to.wrapped(x - y),
    "stablehlo.multiply": lambda x, y, to: to.wrapped(x * y),
    "stablehlo.divide": divide,
    "stablehlo.remainder": remainder,
    "stablehlo.maximum": lambda x, y, to: max(x, y),
    "stablehlo.minimum": lambda x, y, to: min(x, y),
    "stablehlo.power": power,
    "stablehlo.and": lambda x, y, to: x & y,
    "stablehlo.or": lambda x, y, to: x | y,
    "stablehlo.xor": lambda x, y, to: x ^ y,
    "stablehlo.shift_left": shift_left,
    "stablehlo.shift_right_logical": shift_right_logical,
    "stablehlo.shift_right_arithmetic": shift_right_arithmetic,
    "chlo.mulhi": lambda x, y, to: to.wrapped((x * y) >> to.bits),
}
UNARY: dict[str, Callable[[int, Integer], Any]] = {
    "stablehlo.abs": lambda x, to: to.wrapped(abs(x)),
    "stablehlo.negate": lambda x, to: to.wrapped(-x),
    "stablehlo.sign": sign,
    "stablehlo.not": lambda x, to: to.wrapped(~x),
    "stablehlo.popcnt": lambda x, to: to.wrapped((x & ((1 << to.bits) - 1)).bit_count()),
    "stablehlo.count_leading_zeros": lambda x, to: to.wrapped(
        to.bits - (x & ((1 << to.bits) - 1)).bit_length()
    ),
}
SIGNED_ONLY = {"stablehlo.abs", "stablehlo.sign"}

OF_BOOLEANS: dict[str, Callable[[int, int], int]] = {
    "stablehlo.add": lambda x, y: x | y,
    "stablehlo.multiply": lambda x, y: x & y,
    "stablehlo.maximum": lambda x, y: x | y,
    "stablehlo.minimum": lambda x, y: x & y,
    "stablehlo.and": lambda x, y: x & y,
    "stablehlo.or": lambda x, y: x | y,
    "stablehlo.xor": lambda x, y: x ^ y,
}
