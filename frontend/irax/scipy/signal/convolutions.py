"""Convolutions and correlations of arrays of any dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import lax
from irax.core.array import Array
from irax.lax.arguments import canonical_axes
from irax.scipy.arguments import inexact, unsupported
from irax.typing import ArrayLike


def _check_mode(what: str, mode: str) -> None:
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"{what}: mode must be 'full', 'same' or 'valid', got {mode!r}")


def _operands(what: str, in1: ArrayLike, in2: ArrayLike) -> tuple[Array, Array]:
    x, y = inexact(what, in1, in2)
    if x.ndim != y.ndim or not x.ndim or not x.size or not y.size:
        raise ValueError(
            f"{what}: expected two arrays of one number of dimensions that are not empty, got "
            f"shapes {x.shape} and {y.shape}"
        )
    return x, y


def _ordered(what: str, x: Array, y: Array, axes: Sequence[int]) -> bool:
    """Return True if x is the smaller array in all dimensions, which slides along y for "valid"."""
    smaller = any(x.shape[d] < y.shape[d] for d in axes)
    if smaller and any(x.shape[d] > y.shape[d] for d in axes):
        raise ValueError(
            f"{what}: mode 'valid' needs one array that is not smaller in any dimension, got "
            f"shapes {x.shape} and {y.shape}"
        )
    return smaller


def _slid(x: Array, y: Array, pads: Sequence[tuple[int, int]], precision: Any) -> Array:
    result = lax.conv_general_dilated(
        x.reshape(1, 1, *x.shape),
        jnp.flip(y).reshape(1, 1, *y.shape),
        (1,) * x.ndim,
        pads,
        precision=precision,
    )
    return result.reshape(result.shape[2:])


def _convolved(what: str, x: Array, y: Array, mode: str, precision: Any) -> Array:
    _check_mode(what, mode)
    if mode == "valid" and _ordered(what, x, y, range(x.ndim)):
        x, y = y, x
    rest = [n - 1 for n in y.shape]
    pads = {
        "full": [(r, r) for r in rest],
        "same": [(r - r // 2, r // 2) for r in rest],
        "valid": [(0, 0) for _ in rest],
    }[mode]
    return _slid(x, y, pads, precision)


def convolve(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    method: str = "auto",
    precision: Any = None,
) -> Array:
    """Return the convolution of two arrays with the same number of dimensions.

    Args:
        in1: an array.
        in2: another one.
        mode: "full", "same" (the middle, in the shape of `in1`) or "valid" (no padding).
        method: "direct", "fft", or "auto", which is "direct".
        precision: of the products.

    Raises:
        ValueError: another mode or method, or shapes that do not go together.

    >>> irax.scipy.signal.convolve(irax.numpy.array([1.0, 2.0]), irax.numpy.array([1.0, 1.0]))
    Array([1., 3., 2.], dtype=float32)
    """
    if method not in ("auto", "direct", "fft"):
        raise ValueError(f"convolve: method must be 'auto', 'direct' or 'fft', got {method!r}")
    x, y = _operands("convolve", in1, in2)
    if method == "fft":
        return fftconvolve(x, y, mode)
    return _convolved("convolve", x, y, mode, precision)


def correlate(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    method: str = "auto",
    precision: Any = None,
) -> Array:
    """Return the correlation of two arrays: the convolution of the first with the second one
    reversed and conjugated; see `convolve`.

    Args:
        in1: an array.
        in2: an array of as many dimensions.
        mode: the part of the result: "full", "same" or "valid".
        method: "direct", "fft" or "auto".
        precision: of the products: see `irax.lax.Precision`.

    Raises:
        TypeError: `in1` or `in2` is not an array.
        ValueError: the numbers of dimensions differ, an array is empty, or there is no such mode or
            method.

    >>> irax.scipy.signal.correlate(irax.numpy.array([1.0, 2.0]), irax.numpy.array([0.0, 1.0]))
    Array([1., 2., 0.], dtype=float32)
    """
    if method not in ("auto", "direct", "fft"):
        raise ValueError(f"correlate: method must be 'auto', 'direct' or 'fft', got {method!r}")
    x, y = _operands("correlate", in1, in2)
    kernel = jnp.flip(jnp.conj(y))
    if method == "fft":
        return fftconvolve(x, kernel, mode)
    return _convolved("correlate", x, kernel, mode, precision)


def _in_the_plane(
    what: str,
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str,
    boundary: str,
    fillvalue: Any,
) -> tuple[Array, Array]:
    _check_mode(what, mode)
    unsupported(what, "boundary", boundary, "fill")
    unsupported(what, "fillvalue", fillvalue, 0)
    x, y = _operands(what, in1, in2)
    if x.ndim != 2:
        raise ValueError(f"{what}: expected arrays of two dimensions, got {x.shape} and {y.shape}")
    return x, y


def convolve2d(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> Array:
    """Return the convolution of two matrices, padded with 0; see `convolve`.

    Args:
        in1: a matrix.
        in2: another one.
        mode: the part of the result: "full", "same" or "valid".
        boundary: only "fill".
        fillvalue: only 0.
        precision: of the products: see `irax.lax.Precision`.

    Raises:
        NotImplementedError: another boundary or fillvalue.

    >>> irax.scipy.signal.convolve2d(irax.numpy.eye(2), irax.numpy.ones((1, 1)))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    x, y = _in_the_plane("convolve2d", in1, in2, mode, boundary, fillvalue)
    return _convolved("convolve2d", x, y, mode, precision)


def correlate2d(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> Array:
    """Return the correlation of two matrices, padded with 0; see `correlate`.

    Args:
        in1: a matrix.
        in2: another one.
        mode: the part of the result: "full", "same" or "valid".
        boundary: only "fill".
        fillvalue: only 0.
        precision: of the products: see `irax.lax.Precision`.

    Raises:
        NotImplementedError: another boundary or fillvalue.

    >>> irax.scipy.signal.correlate2d(irax.numpy.eye(2), irax.numpy.ones((1, 1)))
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """
    x, y = _in_the_plane("correlate2d", in1, in2, mode, boundary, fillvalue)
    if mode != "same":
        return correlate(x, y, mode, precision=precision)
    # Of two middles, SciPy takes the later one here, and the earlier one in `correlate`.
    pads = [((n - 1) // 2, n // 2) for n in y.shape]
    return _slid(x, jnp.flip(jnp.conj(y)), pads, precision)


def fftconvolve(
    in1: ArrayLike, in2: ArrayLike, mode: str = "full", axes: Sequence[int] | None = None
) -> Array:
    """Return the convolution of two arrays along axes, all by default, by Fourier transforms.

    Args:
        in1: an array.
        in2: another one, of as many dimensions; along other axes they broadcast.
        mode: "full", "same" (the middle, in the shape of `in1`) or "valid" (no padding).
        axes: the axes.

    Raises:
        TypeError: `in1` or `in2` is not an array.
        ValueError: the numbers of dimensions differ, an array is empty, or there is no such mode or
            axis.

    >>> x = irax.numpy.array([1.0, 2.0])
    >>> irax.scipy.signal.fftconvolve(x, irax.numpy.ones(2)).round(4)
    Array([1., 3., 2.], dtype=float32)
    """
    what = "fftconvolve"
    _check_mode(what, mode)
    x, y = inexact(what, in1, in2)
    if not x.ndim and not y.ndim:
        return x * y
    x, y = _operands(what, x, y)
    axes = axes if axes is None else tuple(np.atleast_1d(np.asarray(axes, int)).tolist())
    places = canonical_axes(what, axes, x.ndim)
    if not places:
        return x * y
    others = [d for d in range(x.ndim) if d not in places]
    if any(x.shape[d] != y.shape[d] and 1 not in (x.shape[d], y.shape[d]) for d in others):
        raise ValueError(
            f"{what}: shapes {x.shape} and {y.shape} must agree along the axes that are not in "
            f"axes={tuple(places)}"
        )
    if mode == "valid" and _ordered(what, x, y, places):
        x, y = y, x
    full = [x.shape[d] + y.shape[d] - 1 for d in places]
    if x.dtype.kind == "c":
        found = jnp.fft.ifftn(
            jnp.fft.fftn(x, full, places) * jnp.fft.fftn(y, full, places), full, places
        )
    else:
        product = jnp.fft.rfftn(x, full, places) * jnp.fft.rfftn(y, full, places)
        found = jnp.fft.irfftn(product, full, places)
    if mode == "full":
        return found
    for d, n in zip(places, full, strict=True):
        size = x.shape[d] if mode == "same" else x.shape[d] - y.shape[d] + 1
        start = (n - size) // 2
        found = lax.slice_in_dim(found, start, start + size, 1, d)
    return found
