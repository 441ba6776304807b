"""irax.numpy.fft: discrete Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod, sqrt
from typing import Any

import numpy as np

from irax import dtypes
from irax.core.array import Array
from irax.core.dtypes.operands import as_arrays, inexact_dtype
from irax.core.dtypes.promotion import convert
from irax.lax import fourier
from irax.lax.arguments import canonical_axes, canonical_axis, canonical_int, documented
from irax.numpy import creation
from irax.numpy.elementwise import complex_parts
from irax.numpy.shapes import manipulation, padding, repetition
from irax.numpy.signatures import Transform, TransformOfAny, TransformOfTwo
from irax.typing import ArrayLike

_NORMS = ("backward", "ortho", "forward")
_ONE_AXIS = """

Args:
    a: an array.
    n: the number of elements to transform; the axis is cut, or filled with zeros.
    axis: the axis to transform; the last by default.
    norm: which of the two directions divides by n: "backward" (the default), "forward", or
        "ortho", where both divide by its square root.

Raises:
    TypeError: not an array or a number.
    ValueError: complex numbers for a transform of real ones, no such axis or norm, or `n` is
        below 1."""
_AXES = """

Args:
    a: an array.
    s: the number of elements along each axis; axes are cut, or filled with zeros.
    axes: {} axes to transform; {} by default.
    norm: which of the two directions divides by the number of elements: "backward" (the default),
        "forward", or "ortho", where both divide by its square root.

Raises:
    TypeError: not an array or a number.
    ValueError: complex numbers for a transform of real ones, no such axis or norm, or a number
        below 1."""


def _scale(what: str, norm: str | None, sizes: Sequence[int], inverse: bool) -> float:
    """Return the factor of a transform for `norm`; an inverse one has 1/n already."""
    if norm is not None and norm not in _NORMS:
        raise ValueError(f"{what}: norm must be None, {', '.join(map(repr, _NORMS))}, got {norm!r}")
    n = prod(sizes)
    if norm == "ortho":
        return sqrt(n) if inverse else 1 / sqrt(n)
    if norm == "forward":
        return float(n) if inverse else 1 / n
    return 1.0


def _transform(what: str, kind: str, a: ArrayLike, s: Any, axes: Any, norm: str | None) -> Array:
    (x,) = as_arrays([a], what)
    dtype = inexact_dtype(x.dtype)
    if kind == "RFFT" and dtype.kind == "c":
        raise ValueError(f"{what}: expected real numbers, got {x.dtype}")
    single = dtype.itemsize <= (8 if dtype.kind == "c" else 4)
    if kind == "RFFT":
        wide = np.float32 if single else np.float64
    else:
        wide = np.complex64 if single else np.complex128
    x = convert(x, np.dtype(wide))
    if axes is None:
        axes = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    places = canonical_axes(what, tuple(axes), x.ndim)
    sizes = (
        [x.shape[d] for d in places] if s is None else [canonical_int(what, "a size", n) for n in s]
    )
    if not places:
        return x
    if s is None and kind == "IRFFT":
        sizes[-1] = 2 * (sizes[-1] - 1)
    if len(sizes) != len(places):
        raise ValueError(f"{what}: s has {len(sizes)} sizes for {len(places)} axes")
    whole = s is None and kind in ("FFT", "IFFT")
    if any(n < 1 for n in sizes) and not (whole and x.size == 0):
        raise ValueError(f"{what}: invalid number of data points {min(sizes)}; expected at least 1")
    _scale(what, norm, (), inverse=False)
    if not x.size and whole:
        return x
    for i, (d, n) in enumerate(zip(places, sizes, strict=True)):
        last = kind == "IRFFT" and i == len(places) - 1
        x = padding.resized(x, d, n // 2 + 1 if last else n)
    inverse = kind in ("IFFT", "IRFFT")
    factor = _scale(what, norm, sizes, inverse)
    x = _along(x, kind, places, sizes)
    return x if factor == 1 else x * np.asarray(factor, x.real.dtype)


MOST_AXES = 3
"""The most dimensions of one transform of `lax.fft`."""


def _along(x: Array, kind: str, places: Sequence[int], sizes: Sequence[int]) -> Array:
    """Apply a transform to any number of dimensions, a few at a time; the real ones are last."""
    plain = {"RFFT": "FFT", "IRFFT": "IFFT"}.get(kind, kind)
    most = MOST_AXES if len(set(places)) == len(places) else 1
    steps = [(places[:-most], sizes[:-most], plain)] if places[:-most] else []
    last = (places[-most:], sizes[-most:], kind)
    for axes, lengths, one in [last, *steps] if kind == "RFFT" else [*steps, last]:
        if len(axes) > most:
            x = _along(x, one, axes, lengths)
            continue
        order = range(-len(axes), 0)
        turned = manipulation.moveaxis(x, axes, order)
        x = manipulation.moveaxis(fourier.fft(turned, one, lengths), order, axes)
    return x


def _of_one(name: str, kind: str, doc: str) -> Transform:
    def function(
        a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None
    ) -> Array:
        _check_axis(f"fft.{name}", axis)
        return _transform(f"fft.{name}", kind, a, None if n is None else (n,), (axis,), norm)

    return documented(function, name, doc + _ONE_AXIS, "irax.numpy.fft")


def _check_axis(what: str, axis: Any) -> None:
    if isinstance(axis, tuple | list):
        raise ValueError(f"{what}: expected one axis, got {axis}; {what}n takes several")


def _of_two(name: str, kind: str, doc: str) -> TransformOfTwo:
    def function(
        a: ArrayLike,
        s: Sequence[int] | None = None,
        axes: Sequence[int] = (-2, -1),
        norm: str | None = None,
    ) -> Array:
        if len(axes) != 2:
            raise ValueError(f"fft.{name}: expected two axes, got {axes}; fftn takes any number")
        return _transform(f"fft.{name}", kind, a, s, axes, norm)

    return documented(function, name, doc + _AXES.format("two", "the last two"), "irax.numpy.fft")


def _of_any(name: str, kind: str, doc: str) -> TransformOfAny:
    def function(
        a: ArrayLike,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str | None = None,
    ) -> Array:
        return _transform(f"fft.{name}", kind, a, s, axes, norm)

    return documented(function, name, doc + _AXES.format("the", "all"), "irax.numpy.fft")


fft: Transform = _of_one("fft", "FFT", "The discrete Fourier transform along an axis.")
ifft: Transform = _of_one("ifft", "IFFT", "The inverse of `fft`.")
rfft: Transform = _of_one(
    "rfft", "RFFT", "The Fourier transform of real numbers: the first n // 2 + 1 frequencies."
)
irfft: Transform = _of_one("irfft", "IRFFT", "The inverse of `rfft`: n real numbers.")
fft2: TransformOfTwo = _of_two("fft2", "FFT", "The transform along two axes.")
ifft2: TransformOfTwo = _of_two("ifft2", "IFFT", "The inverse of `fft2`.")
rfft2: TransformOfTwo = _of_two("rfft2", "RFFT", "The transform of real numbers along two axes.")
irfft2: TransformOfTwo = _of_two("irfft2", "IRFFT", "The inverse of `rfft2`.")
fftn: TransformOfAny = _of_any("fftn", "FFT", "The transform along several axes, by default all.")
ifftn: TransformOfAny = _of_any("ifftn", "IFFT", "The inverse of `fftn`.")
rfftn: TransformOfAny = _of_any(
    "rfftn", "RFFT", "The transform of real numbers along several axes."
)
irfftn: TransformOfAny = _of_any("irfftn", "IRFFT", "The inverse of `rfftn`.")

_OTHER = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def hfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """Return the real Fourier transform of a Hermitian-symmetric signal, given its first half.

    Args:
        a: an array of floats or complex numbers.
        n: the number of elements of the result; 2 (m - 1) by default, where m is the size of the
            axis.
        axis: the axis.
        norm: which of the two directions divides by n: "backward" (the default), "forward", or
            "ortho", where both divide by its square root.

    Returns:
        Floats.

    Raises:
        TypeError: `a` is not an array, or `axis` is not an int.
        ValueError: there is no such axis, `n` is less than 1, or there is no such `norm`.

    >>> jnp.fft.hfft(jnp.array([1.0, 2.0, 3.0]))
    Array([ 8., -2.,  0., -2.], dtype=float32)
    """
    _check_axis("fft.hfft", axis)
    _scale("fft.hfft", norm, (1,), inverse=False)
    return irfft(complex_parts.conjugate(a), n, axis, _OTHER[norm])


def ihfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of `hfft`.

    Args:
        a: an array of real numbers.
        n: the number of elements to transform; the axis is cut, or filled with zeros.
        axis: the axis.
        norm: which of the two directions divides by n: "backward" (the default), "forward", or
            "ortho", where both divide by its square root.

    Returns:
        Complex numbers: n // 2 + 1 along the axis.

    Raises:
        TypeError: `a` is not an array, or `axis` is not an int.
        ValueError: complex numbers, there is no such axis, `n` is less than 1, or there is no such
            `norm`.

    >>> jnp.fft.ihfft(jnp.array([1.0, 1.0, 1.0, 1.0]))
    Array([1.-0.j, 0.-0.j, 0.-0.j], dtype=complex64)
    """
    _check_axis("fft.ihfft", axis)
    _scale("fft.ihfft", norm, (1,), inverse=True)
    return complex_parts.conjugate(rfft(a, n, axis, _OTHER[norm]))


def fftfreq(n: int, d: ArrayLike = 1.0, *, dtype: Any = None, device: Any = None) -> Array:
    """Return the frequencies of `fft`'s n results, for samples that are `d` apart.

    Args:
        n: the number of samples.
        d: the distance between two samples.
        dtype: a dtype of floats, float32 by default.
        device: the device to put it on.

    Returns:
        A vector of n floats.

    Raises:
        TypeError: `n` is not an int, or `dtype` not a dtype.
        ValueError: `d` is not a number, but an array.

    >>> jnp.fft.fftfreq(4)
    Array([ 0.  ,  0.25, -0.5 , -0.25], dtype=float32)
    """
    return _frequencies("fftfreq", np.fft.fftfreq, n, d, dtype, device)


def rfftfreq(n: int, d: ArrayLike = 1.0, *, dtype: Any = None, device: Any = None) -> Array:
    """Return the frequencies of `rfft`'s results, for n samples that are `d` apart.

    Args:
        n: the number of samples.
        d: the distance between two samples.
        dtype: a dtype of floats, float32 by default.
        device: the device to put it on.

    Returns:
        A vector of n // 2 + 1 floats.

    Raises:
        TypeError: `n` is not an int, or `dtype` not a dtype.
        ValueError: `d` is not a number, but an array.

    >>> jnp.fft.rfftfreq(4, 0.5)
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return _frequencies("rfftfreq", np.fft.rfftfreq, n, d, dtype, device)


def _frequencies(
    name: str, made: Callable[[int], Any], n: int, d: Any, dtype: Any, device: Any
) -> Array:
    if np.ndim(n):
        raise ValueError(f"fft.{name}: n must be an int, got {n!r}")
    n = canonical_int(f"fft.{name}", "n", n)
    if np.ndim(d):
        raise ValueError(f"fft.{name}: d must be a number, got {d!r}")
    wanted = dtypes.requested_dtype(float if dtype is None else dtype, name)
    wide = wanted if wanted.kind == "f" else dtypes.requested_dtype(float, name)
    numbers = made(n) if n else np.zeros(0 if made is np.fft.fftfreq else 1)
    return convert(creation.asarray(numbers.astype(wide), device=device) / d, wanted)


def _shifted(what: str, x: ArrayLike, axes: Any, forward: bool) -> Array:
    (array,) = as_arrays([x], what)
    given = axes if isinstance(axes, tuple | list) else canonical_axes(what, axes, array.ndim)
    places = [canonical_axis(what, axis, array.ndim) for axis in given]
    steps = [array.shape[d] // 2 * (1 if forward else -1) for d in places]
    return repetition.roll(array, steps, tuple(places))


def fftshift(x: ArrayLike, axes: Any = None) -> Array:
    """Move the frequency 0 to the middle of the axes, by default all.

    Args:
        x: an array.
        axes: an int, or a tuple of ints.

    Raises:
        TypeError: `x` is not an array, or `axes` are not ints.
        ValueError: there is no such axis.

    >>> jnp.fft.fftshift(jnp.array([0, 1, 2, -2, -1]))
    Array([-2, -1,  0,  1,  2], dtype=int32)
    """
    return _shifted("fft.fftshift", x, axes, forward=True)


def ifftshift(x: ArrayLike, axes: Any = None) -> Array:
    """The inverse of `fftshift`.

    Args:
        x: an array.
        axes: an int, or a tuple of ints.

    Raises:
        TypeError: `x` is not an array, or `axes` are not ints.
        ValueError: there is no such axis.

    >>> jnp.fft.ifftshift(jnp.array([-2, -1, 0, 1, 2]))
    Array([ 0,  1,  2, -2, -1], dtype=int32)
    """
    return _shifted("fft.ifftshift", x, axes, forward=False)


from irax.execution.replay import replay_functions as _replay_functions  # noqa: E402

_replay_functions(__name__)
