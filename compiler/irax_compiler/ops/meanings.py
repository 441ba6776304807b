"""Elementwise functions for NumPy where it has none with the exact semantics, and the identity
elements of ops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from irax_compiler.mlir import inexact


def complex_of(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    dtype = np.complex64 if x.dtype == np.float32 else np.complex128
    result = np.empty(np.broadcast(x, y).shape, dtype)
    result.real, result.imag = x, y
    return result


def divide(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype.kind == "c":
        return _complex_quotient(x, y)
    if x.dtype.kind not in "iu":
        return np.divide(x, y)
    # Integers round to zero; x / 0 is -1 (all bits set), as on XLA.
    safe = np.where(y == 0, np.ones_like(y), y)
    quotient = np.floor_divide(x, safe)
    quotient += ((np.remainder(x, safe) != 0) & ((x < 0) != (safe < 0))).astype(quotient.dtype)
    return np.where(y == 0, np.array(-1).astype(quotient.dtype), quotient)


def _complex_quotient(x: Any, y: Any) -> np.ndarray:
    """Return NumPy's quotient, but infinite / finite is infinite and finite / infinite is zero, as
    in C and XLA, where NumPy has nan.
    """
    found: Any = np.divide(x, y)
    fades = np.isinf(y) & np.isfinite(x)
    swells = np.isinf(x) & np.isfinite(y) & np.isnan(found.real) & np.isnan(found.imag)
    if not (fades | swells).any():
        return found
    (a, b), (c, d) = ((x.real, x.imag), (y.real, y.imag))
    a, b = (np.where(swells, _direction(part), part) for part in (a, b))
    c, d = (np.where(fades, _direction(part), part) for part in (c, d))
    size = np.where(swells, np.inf, 0).astype(a.dtype)
    limit = complex_of(size * (a * c + b * d), size * (b * c - a * d))
    return np.where(fades | swells, limit, found)


def _direction(x: np.ndarray) -> np.ndarray:
    """Return 1 for infinite numbers, 0 for others, with their signs."""
    return np.copysign(np.isinf(x).astype(x.dtype), x)


def remainder(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype.kind not in "iu":
        return np.fmod(x, y)
    return np.where(y == 0, x, np.fmod(x, np.where(y == 0, np.ones_like(y), y)))


def power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype.kind not in "iu":
        if x.dtype.kind != "c" and y.size and y.flat[0] == 0.5:
            # NumPy takes the square root for a single exponent, which differs in -0 and -inf.
            x = np.where((y == 0.5) & ((x == 0) | (x == -np.inf)), np.abs(x), x)
        return np.power(x, y)
    positive = np.power(x, np.maximum(y, 0))
    # x ** -n is 0 but for x = 1 and x = -1, where it is x ** n.
    inverse = np.where((x == 1) | (x == -1), np.power(x, y & 1), np.zeros_like(positive))
    return np.where(y < 0, inverse, positive)


def round_away_from_zero(x: np.ndarray) -> np.ndarray:
    truncated = np.trunc(x)
    further = np.abs(x - truncated) >= 0.5
    return np.where(further, truncated + np.copysign(1, x), truncated)


def sign(x: np.ndarray) -> np.ndarray:
    if x.dtype.kind != "c":
        return np.where(x == 0, x, np.sign(x))  # sign(-0.0) is -0.0
    # NumPy divides by a size that may overflow.
    is_large = np.isfinite(x) & np.isinf(np.abs(x))
    directions = np.where(x == 0, np.zeros_like(x), np.sign(np.where(is_large, x / 4, x)))
    return np.where(np.isnan(x), x.dtype.type(complex(np.nan, np.nan)), directions)


def exponential_minus_one(x: np.ndarray) -> np.ndarray:
    if x.dtype.kind != "c":
        return np.expm1(x)
    # NumPy's is nan where a part is infinite. exp(a + bi) - 1, where cos(b) - 1 has to be exact:
    a, b = np.real(x), np.imag(x)
    less = 0 - 2 * np.square(np.sin(b / 2))
    real = np.where(a == -np.inf, -1, np.expm1(a) * (1 + less) + less)
    imag = np.where((b == 0) | ((a == -np.inf) & ~np.isfinite(b)), b * 0, np.exp(a) * np.sin(b))
    endless = (a == np.inf) & ~np.isfinite(b)
    return complex_of(np.where(endless, a, real), np.where(a == -np.inf, np.nan_to_num(imag), imag))


def extremum(
    choose: np.ufunc, of_zeros: Callable[..., Any], compare: np.ufunc
) -> Callable[..., Any]:
    """Maximum or minimum with 0.0 larger than -0.0, which NumPy leaves open. Of complex numbers, x
    if `compare` holds for the parts that decide, else y: nan is not propagated, as in JAX.
    """

    def evaluate(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if x.dtype.kind == "c":
            tied = np.real(x) == np.real(y)
            by_imag, by_real = (compare(part(x), part(y)) for part in (np.imag, np.real))
            return np.where(np.where(tied, by_imag, by_real), x, y)
        chosen = choose(x, y)
        if x.dtype.kind == "f" and np.count_nonzero(chosen) != chosen.size:
            tied = (x == 0) & (y == 0)
            if tied.any():
                return np.where(tied, of_zeros(x, y), chosen)
        return chosen

    return evaluate


def of_complex64(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, but of complex64 by that of complex128: NumPy's own loses digits."""

    def evaluate(x: np.ndarray) -> np.ndarray:
        if x.dtype != np.complex64:
            return function(x)
        return function(x.astype(np.complex128)).astype(np.complex64)

    return evaluate


def log_plus_one(x: np.ndarray) -> np.ndarray:
    if x.dtype.kind != "c":
        return np.log1p(x)
    # NumPy's is log(1 + x), which loses small numbers, and the size of the largest.
    a, b = (part.astype(np.float64) for part in (np.real(x), np.imag(x)))
    logs = np.log(complex_of(1 + a, b))
    is_near = (np.abs(a) < 0.5) & (np.abs(b) < 0.5)
    a, b = (np.where(is_near, part, 0) for part in (a, b))
    size = np.where(is_near, np.log1p(a * (a + 2) + b * b) / 2, np.real(logs))
    return complex_of(size, np.imag(logs)).astype(x.dtype)


def atan2(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    if y.dtype.kind != "c":
        return np.arctan2(y, x)
    return (-1j * np.log((x + 1j * y) / np.sqrt(x * x + y * y))).astype(y.dtype)


def cbrt(x: np.ndarray) -> np.ndarray:
    """The principal root of complex numbers."""
    if x.dtype.kind != "c":
        return np.cbrt(x)
    return np.where(x == 0, x, np.power(x, x.dtype.type(1 / 3)))


def logistic(x: np.ndarray) -> np.ndarray:
    return np.reciprocal(1 + np.exp(-x))


# ---- identities ----------------------------------------------------------------------------------


def zero(dtype: np.dtype) -> Any:
    return 0


def one(dtype: np.dtype) -> Any:
    return 1


def all_bits(dtype: np.dtype) -> Any:
    return np.invert(np.zeros((), dtype))


def least(dtype: np.dtype) -> Any:
    """The number that no other is below."""
    if dtype == np.bool_:
        return False
    if _has_infinities(dtype):
        return complex(-np.inf, -np.inf) if dtype.kind == "c" else -np.inf
    return ml_dtypes.finfo(dtype).min if inexact(dtype) else ml_dtypes.iinfo(dtype).min


def most(dtype: np.dtype) -> Any:
    """The number that no other is above."""
    if dtype == np.bool_:
        return True
    if _has_infinities(dtype):
        return complex(np.inf, np.inf) if dtype.kind == "c" else np.inf
    return ml_dtypes.finfo(dtype).max if inexact(dtype) else ml_dtypes.iinfo(dtype).max


def _has_infinities(dtype: np.dtype) -> bool:
    """True if the dtype is a float dtype with infinities; some 8-bit floats have none."""
    return inexact(dtype) and not np.isnan(np.asarray(np.inf).astype(dtype))
