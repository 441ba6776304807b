"""Fourier transforms over the last dimensions."""

from __future__ import annotations

import enum
from collections.abc import Sequence

import numpy as np

from irax import dtypes
from irax.core.array import Array
from irax.core.dimensions import size_of
from irax.core.dispatch import bind
from irax.core.dtypes.promotion import convert
from irax.lax.arguments import array_of
from irax.typing import ArrayLike
from irax_compiler.ops.fft import Fft


class FftType(enum.Enum):
    """The kind of a Fourier transform: of complex or of real numbers, or the inverse of one."""

    FFT = 0
    IFFT = 1
    RFFT = 2
    IRFFT = 3


def fft(x: ArrayLike, fft_type: FftType | str, fft_lengths: Sequence[int]) -> Array:
    """Return the Fourier transform over the last `len(fft_lengths)` dimensions, at most 3.

    Args:
        x: complex numbers, or, for RFFT, real ones; others become such.
        fft_type: one of `FftType`, or its name.
        fft_lengths: the sizes of these dimensions, of the result for IRFFT. An empty sequence
            leaves the array as it is.

    Raises:
        ValueError: complex numbers for RFFT, or lengths that are not those of the array.

    >>> irax.lax.fft(jnp.ones(4), "RFFT", (4,))
    Array([4.+0.j, 0.+0.j, 0.+0.j], dtype=complex64)
    """
    array = array_of("lax.fft", x)
    kind = fft_type.name if isinstance(fft_type, FftType) else str(fft_type).upper()
    if kind not in FftType.__members__:
        raise ValueError(
            f"lax.fft: fft_type must be one of {', '.join(FftType.__members__)}, got {fft_type!r}"
        )
    lengths = tuple(map(size_of, fft_lengths))
    if kind == "RFFT" and dtypes.issubdtype(array.dtype, np.complexfloating):
        raise ValueError(f"lax.fft: RFFT takes real numbers, got {array.dtype}")
    least = np.float32 if kind == "RFFT" else np.complex64
    array = convert(array, dtypes.promote_types(array.dtype, least))
    if not lengths:
        return array
    given = array.shape[array.ndim - len(lengths) :] if len(lengths) <= array.ndim else ()
    expected = (*lengths[:-1], lengths[-1] // 2 + 1) if kind == "IRFFT" else lengths
    if not 1 <= len(lengths) <= 3 or tuple(given) != tuple(expected):
        raise ValueError(
            f"lax.fft: fft_lengths={lengths} are not those of an array of shape {array.shape}; "
            "expected 1 to 3, the sizes of its last dimensions"
        )
    return bind(Fft(kind, lengths), array)
