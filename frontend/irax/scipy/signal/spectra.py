"""Trends, and spectra of signals by Fourier transforms of their segments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax.core.array import Array
from irax.core.dtypes.operands import as_arrays, broadcast_shapes
from irax.core.dtypes.promotion import convert
from irax.lax.arguments import canonical_axis
from irax.scipy.arguments import from_lists, inexact, real_dtype
from irax.typing import ArrayLike
from irax_compiler.ops.scipy_modules import needed


def detrend(
    data: ArrayLike,
    axis: int = -1,
    type: str = "linear",
    bp: int | Sequence[int] | np.ndarray[Any, Any] = 0,
    overwrite_data: None = None,
) -> Array:
    """Subtract the trend of data along an axis: a line of least squares, or the mean.

    Args:
        data: an array.
        axis: the axis.
        type: "linear" or "constant".
        bp: for "linear", the indices at which one line ends and the next begins.
        overwrite_data: of no effect.

    Raises:
        ValueError: another type, or breaks outside of the data.

    >>> irax.scipy.signal.detrend(irax.numpy.array([1.0, 3.0]), type="constant")
    Array([-1.,  1.], dtype=float32)
    """
    if type not in ("linear", "constant", "l", "c"):
        raise ValueError(f"detrend: type must be 'linear' or 'constant', got {type!r}")
    (x,) = inexact("detrend", from_lists(data))
    if type in ("constant", "c"):
        return x - jnp.mean(x, axis, keepdims=True)
    along = canonical_axis("detrend", axis, x.ndim)
    n = x.shape[along]
    breaks = np.unique(np.concatenate([np.atleast_1d(bp), [0, n]]))
    if breaks[0] < 0 or breaks[-1] > n:
        raise ValueError(f"detrend: bp must be from 0 to {n}, the length of the data; got {bp}")
    x = jnp.moveaxis(x, along, -1)
    parts: list[Array] = []
    for start, stop in zip(breaks[:-1].tolist(), breaks[1:].tolist(), strict=True):
        piece = x[..., start:stop]
        rows = np.stack([np.ones(stop - start), np.arange(1, stop - start + 1) / (stop - start)])
        fit = np.eye(stop - start) - np.linalg.pinv(rows) @ rows
        parts.append(piece @ jnp.asarray(fit, x.dtype))
    return jnp.moveaxis(jnp.concatenate(parts, -1), -1, along)


def _is_name(window: Any) -> bool:
    first = window[:1] if isinstance(window, tuple) else (window,)
    return all(isinstance(x, str) for x in first)


_WINDOWS: dict[Any, Callable[[int], np.ndarray[Any, Any]]] = {
    "bartlett": np.bartlett,
    "blackman": np.blackman,
    "boxcar": np.ones,
    "hamming": np.hamming,
    "hann": np.hanning,
}
"""NumPy's windows, which are symmetric."""


def _window(what: str, window: Any, length: int) -> np.ndarray[Any, Any] | Array:
    """Return a periodic window: SciPy's of a name (and parameters), or a given array."""
    if not _is_name(window):
        (given,) = as_arrays([from_lists(window)], f"{what}: window")
        if given.ndim != 1 or given.size != length:
            raise ValueError(
                f"{what}: window must be a name or a vector of length nperseg={length}, got shape "
                f"{given.shape}"
            )
        return given
    if isinstance(window, str) and window in _WINDOWS:
        return _WINDOWS[window](length + 1)[:-1] if length > 1 else np.ones(1)
    try:
        return np.asarray(needed("signal", f"{what}: window={window!r}").get_window(window, length))
    except ValueError as error:
        raise ValueError(f"{what}: window={window!r}: {error}") from None


def _lengths(
    what: str, nperseg: int | None, noverlap: int | None, nfft: int | None, size: int
) -> tuple[int, int, int]:
    length = min(256 if nperseg is None else int(nperseg), size)
    if length < 1:
        raise ValueError(f"{what}: nperseg must be at least 1, got {nperseg}; data has {size}")
    overlap = length // 2 if noverlap is None else int(noverlap)
    transform = length if nfft is None else int(nfft)
    if not 0 <= overlap < length:
        raise ValueError(
            f"{what}: noverlap must be from 0 to nperseg - 1 = {length - 1}, got {overlap}"
        )
    if transform < length:
        raise ValueError(f"{what}: nfft must be at least nperseg={length}, got {transform}")
    return length, overlap, transform


def _segments(x: Array, length: int, overlap: int) -> Array:
    """Cut the last axis into segments: of shape (..., number of segments, length)."""
    starts = np.arange(0, x.shape[-1] - length + 1, length - overlap)
    return x[..., starts[:, None] + np.arange(length)]


def _transformed(x: Array, window: Array, trend: Any, nfft: int, onesided: bool) -> Array:
    if trend is not None and trend is not False:
        is_name = isinstance(trend, str | bool)
        x = detrend(x, type=str(trend)) if is_name else trend(x)
    x = x * window
    if onesided:
        return jnp.fft.rfft(x, nfft)
    return jnp.fft.fft(x, nfft)


def _frequencies(nfft: int, fs: Any, onesided: bool, dtype: Any) -> Array:
    numbers = np.fft.rfftfreq(nfft) if onesided else np.fft.fftfreq(nfft)
    return jnp.asarray(numbers, dtype) * fs


def csd(
    x: ArrayLike,
    y: ArrayLike | None,
    fs: ArrayLike = 1.0,
    window: str = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: str = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """Return the cross spectral density of two signals, by Welch's method: the mean over segments.

    Args:
        x: a signal along an axis.
        y: another one, whose other axes broadcast with those of x; the shorter one is filled up
            with zeros. None is x.
        fs: the sampling frequency.
        window: a name that `scipy.signal.get_window` knows, a tuple of a name and parameters such
            as `("kaiser", 8.0)`, or an array.
        nperseg: the length of segments; by default that of a window that is an array, or 256.
        noverlap: how much they overlap, by half by default.
        nfft: the length of transforms, `nperseg` by default.
        detrend: "constant", "linear", False or None, or a function of segments.
        return_onesided: True to return only frequencies of at least 0; not for complex signals.
        scaling: "density" or "spectrum".
        axis: the axis.
        average: "mean" or "median".

    Returns:
        Frequencies, and the densities at them, along the axis.

    Raises:
        TypeError: `x` or `y` is not an array, or `axis` is not an int.
        ValueError: there is no such axis, window, scaling or average.

    >>> irax.scipy.signal.csd(irax.numpy.ones(8), None, nperseg=4)[0]
    Array([0.  , 0.25, 0.5 ], dtype=float32)
    """
    return _density(
        "csd", x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis,
        average,
    )  # fmt: skip


def welch(
    x: ArrayLike,
    fs: ArrayLike = 1.0,
    window: str = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: str = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """Return the power spectral density of a signal, by Welch's method: `csd` of the signal with
    itself.

    Args:
        x: the signal, along the axis.
        fs: the number of samples per unit of time.
        window: the name of a window, a pair of a name and a parameter, or its values.
        nperseg: the length of a segment.
        noverlap: the number of samples that neighbouring segments share; half of them by default.
        nfft: the length of the transforms, by default that of a segment.
        detrend: "constant", "linear", a function of segments, or False.
        return_onesided: True for the frequencies from 0 on, of real signals.
        scaling: "density" or "spectrum".
        axis: the axis of time.
        average: how segments are averaged, "mean" or "median".

    Returns:
        The frequencies, and the density at each.

    Raises:
        TypeError: `x` is not an array, or `axis` is not an int.
        ValueError: there is no such axis, window, scaling or average.

    >>> irax.scipy.signal.welch(irax.numpy.ones(8), nperseg=4)[0]
    Array([0.  , 0.25, 0.5 ], dtype=float32)
    """
    frequencies, density = _density(
        "welch", x, None, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling,
        axis, average,
    )  # fmt: skip
    return frequencies, density.real


def _density(
    what: str,
    x: ArrayLike,
    y: ArrayLike | None,
    fs: Any,
    window: Any,
    nperseg: int | None,
    noverlap: int | None,
    nfft: int | None,
    trend: Any,
    onesided: bool,
    scaling: str,
    axis: int,
    average: str,
) -> tuple[Array, Array]:
    if scaling not in ("density", "spectrum"):
        raise ValueError(f"{what}: scaling must be 'density' or 'spectrum', got {scaling!r}")
    if average not in ("mean", "median"):
        raise ValueError(f"{what}: average must be 'mean' or 'median', got {average!r}")
    first, second = _together(what, x, x if y is None else y, axis)
    if not first.size:
        empty = jnp.moveaxis(first, -1, axis)
        return empty, empty
    if nperseg is None and not _is_name(window):
        nperseg = np.size(window)
    length, overlap, transform = _lengths(what, nperseg, noverlap, nfft, first.shape[-1])
    onesided = onesided and first.dtype.kind != "c"
    real = real_dtype(first.dtype)
    weights = jnp.asarray(_window(what, window, length), real)
    spectra = [
        _transformed(_segments(v, length, overlap), weights, trend, transform, onesided)
        for v in (first, second)
    ]
    product = jnp.conj(spectra[0]) * spectra[1]
    if scaling == "density":
        product = product / (fs * jnp.sum(jnp.square(weights)))
    else:
        product = product / jnp.square(jnp.sum(weights))
    if onesided:  # frequencies below 0 are counted with those above
        last = None if transform % 2 else -1
        product = product.at[..., 1:last].multiply(2)
    if average == "median":
        count = product.shape[-2]
        odd = 2 * np.arange(1, (count - 1) // 2 + 1)
        bias = 1 + np.sum(1 / (odd + 1) - 1 / odd)
        parts = [jnp.median(v, -2) / bias for v in (product.real, product.imag)]
        product = parts[0] + 1j * parts[1]
    else:
        product = jnp.mean(product, -2)
    frequencies = _frequencies(transform, fs, onesided, real)
    density = product.real if y is None else product
    return frequencies, jnp.moveaxis(density, -1, axis)


def _together(what: str, x: ArrayLike, y: ArrayLike, axis: int) -> list[Array]:
    """Return two signals along the last axis, of one dtype and length, others broadcast."""
    signals = [jnp.moveaxis(v, canonical_axis(what, axis, v.ndim), -1) for v in inexact(what, x, y)]
    length = max(v.shape[-1] for v in signals)
    shape = broadcast_shapes(*(v.shape[:-1] for v in signals), what=what)
    widths = [[(0, 0)] * (v.ndim - 1) + [(0, length - v.shape[-1])] for v in signals]
    padded = map(jnp.pad, signals, widths)
    return [jnp.broadcast_to(v, (*shape, length)) for v in padded]


_EXTENSIONS = {
    "zeros": {"mode": "constant"},
    "even": {"mode": "reflect"},
    "odd": {"mode": "reflect", "reflect_type": "odd"},
    "constant": {"mode": "edge"},
}


def stft(
    x: ArrayLike,
    fs: ArrayLike = 1.0,
    window: str = "hann",
    nperseg: int = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
) -> tuple[Array, Array, Array]:
    """Return the short-time Fourier transform: transforms of a signal's segments.

    Args:
        x: a signal along an axis.
        fs: the sampling frequency.
        window: as in `csd`.
        nperseg: the length of segments.
        noverlap: how much they overlap, by half by default.
        nfft: the length of transforms, `nperseg` by default.
        detrend: False or None, "constant", "linear", or a function of segments.
        return_onesided: True to return only frequencies of at least 0; not for complex signals.
        boundary: the extension of the signal at both ends by half a segment: "zeros", "even",
            "odd", "constant" or None.
        padded: True to fill it up with zeros to whole segments.
        axis: the axis.

    Returns:
        Frequencies, times, and the transforms: with frequencies in the place of the axis, and times
        as the last one.

    Raises:
        TypeError: `x` is not an array, or `axis` is not an int.
        ValueError: there is no such axis, window or boundary.

    >>> irax.scipy.signal.stft(irax.numpy.ones(8), nperseg=4)[1]
    Array([0., 2., 4., 6., 8.], dtype=float32)
    """
    what = "stft"
    if boundary is not None and boundary not in _EXTENSIONS:
        listed = ", ".join(map(repr, _EXTENSIONS))
        raise ValueError(f"{what}: boundary must be {listed} or None, got {boundary!r}")
    (signal,) = inexact(what, x)
    along = canonical_axis(what, axis, signal.ndim)
    if not signal.size:
        return signal, signal, convert(signal, np.result_type(signal.dtype, np.complex64))
    signal = jnp.moveaxis(signal, along, -1)
    length, overlap, transform = _lengths(what, nperseg, noverlap, nfft, signal.shape[-1])
    widths = [(0, 0)] * (signal.ndim - 1)
    if boundary is not None:
        sides = (length // 2, length // 2)
        signal = jnp.pad(signal, [*widths, sides], **_EXTENSIONS[boundary])
    if padded:
        rest = -(signal.shape[-1] - length) % (length - overlap) % length
        signal = jnp.pad(signal, [*widths, (0, rest)])
    onesided = return_onesided and signal.dtype.kind != "c"
    real = real_dtype(signal.dtype)
    weights = jnp.asarray(_window(what, window, length), real)
    parts = _segments(signal, length, overlap)
    found = _transformed(parts, weights, detrend, transform, onesided) / jnp.sum(weights)
    first = 0 if boundary is not None else length / 2
    times = (np.arange(parts.shape[-2]) * (length - overlap) + first).astype(real)
    frequencies = _frequencies(transform, fs, onesided, real)
    found = jnp.moveaxis(found, -1, along)
    return frequencies, jnp.asarray(times) / fs, found


def istft(
    Zxx: ArrayLike,
    fs: ArrayLike = 1.0,
    window: str = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
) -> tuple[Array, Array]:
    """Return the signal whose segments have these transforms: the inverse of `stft`.

    Args:
        Zxx: the transforms.
        fs: the sampling frequency.
        window: as in `csd`.
        nperseg: the length of segments; by default that which the transforms have.
        noverlap: how much they overlap, by half by default.
        nfft: the length of transforms.
        input_onesided: True if the transforms have only frequencies of at least 0.
        boundary: True to cut off half a segment at both ends.
        time_axis: the axis of times.
        freq_axis: the axis of frequencies.

    Returns:
        Times, and the signal along the axis of times.

    Raises:
        TypeError: `Zxx` is not an array, or an axis is not an int.
        ValueError: fewer than two dimensions, or there is no such axis or window.

    >>> x = irax.numpy.arange(8.0)
    >>> irax.scipy.signal.istft(irax.scipy.signal.stft(x, nperseg=4)[2])[1].round(3)
    Array([0., 1., 2., 3., 4., 5., 6., 7.], dtype=float32)
    """
    what = "istft"
    (parts,) = as_arrays([Zxx], what)
    if parts.ndim < 2:
        raise ValueError(f"{what}: Zxx must have two dimensions at least, got {parts.shape}")
    kind = np.result_type(parts.dtype, np.complex64)
    parts = convert(parts, kind)
    parts = jnp.moveaxis(parts, (time_axis, freq_axis), (-2, -1))
    count = parts.shape[-1]
    full = 2 * (count - 1) if input_onesided else count
    length = full if nperseg is None else int(nperseg)
    if nfft is None:
        transform = full + 1 if input_onesided and length == full + 1 else full
    else:
        transform = int(nfft)
    length, overlap, transform = _lengths(what, length, noverlap, transform, length)
    inverse = jnp.fft.irfft if input_onesided else jnp.fft.ifft
    pieces = inverse(parts, transform)[..., :length]
    real = real_dtype(kind)
    weights = jnp.asarray(_window(what, window, length), real)
    step, number = length - overlap, parts.shape[-2]
    size = length + (number - 1) * step
    places = np.arange(number)[:, None] * step + np.arange(length)
    pieces = pieces * weights * jnp.sum(weights)
    total = jnp.zeros((*pieces.shape[:-2], size), pieces.dtype).at[..., places].add(pieces)
    squares = jnp.broadcast_to(jnp.square(weights), (number, length))
    norm = jnp.zeros(size, real).at[places].add(squares)
    signal = total / jnp.where(jnp.greater(norm, 1e-10), norm, 1)
    if boundary:
        signal = signal[..., length // 2 : size - length // 2]
    times = jnp.arange(signal.shape[-1]).astype(real) / fs
    time, frequency = (canonical_axis(what, a, parts.ndim) for a in (time_axis, freq_axis))
    return times, jnp.moveaxis(signal, -1, time - (frequency < time))
