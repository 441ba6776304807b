"""irax.scipy.fft: cosine transforms of type 2 and their inverses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import lax
from irax.core.array import Array
from irax.lax.arguments import canonical_axes, canonical_axis, canonical_int
from irax.numpy.shapes.padding import resized
from irax.scipy.arguments import inexact, unsupported
from irax.typing import ArrayLike


def dct(
    x: ArrayLike, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Array:
    """Return the cosine transform: 2 sum(x[j] cos(pi k (2 j + 1) / (2 n))) over j, for each k.

    Args:
        x: numbers; of complex ones both parts are transformed.
        type: only 2.
        n: the length, to which the axis is truncated, or padded with 0.
        axis: the axis.
        norm: None or "backward"; "ortho" makes the transform orthogonal, and "forward" divides by
            2 n, where the others leave that to the inverse.

    Raises:
        NotImplementedError: another type.
        ValueError: another norm.

    >>> irax.scipy.fft.dct(irax.numpy.array([1.0, 1.0])).round(3)
    Array([4., 0.], dtype=float32)
    """
    return _transforms("dct", x, type, None if n is None else (n,), (axis,), norm)


def idct(
    x: ArrayLike, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Array:
    """Return the inverse of `dct`, of the same arguments.

    Args:
        x: an array.
        type: only 2.
        n: the length along the axis, which is cut, or filled with zeros.
        axis: the axis.
        norm: None or "backward", "ortho" or "forward".

    Raises:
        TypeError: `x` is not an array, or `axis` is not an int.
        ValueError: a length is less than 1, or there is no such axis or `norm`.
        NotImplementedError: another type.

    >>> irax.scipy.fft.idct(irax.numpy.array([4.0, 0.0])).round(3)
    Array([1., 1.], dtype=float32)
    """
    return _transforms("idct", x, type, None if n is None else (n,), (axis,), norm)


def dctn(
    x: ArrayLike,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """Return the cosine transform along several axes, all by default, to the lengths `s`; see
    `dct`.

    Args:
        x: an array.
        type: only 2.
        s: the lengths along the axes, which are cut, or filled with zeros.
        axes: the axes; all by default.
        norm: None or "backward", "ortho" or "forward".

    Raises:
        TypeError: `x` is not an array, or `axes` are not ints.
        ValueError: a length is less than 1, or there is no such axis or `norm`.
        NotImplementedError: another type.

    >>> irax.scipy.fft.dctn(irax.numpy.ones((1, 2))).round(3)
    Array([[8., 0.]], dtype=float32)
    """
    return _transforms("dctn", x, type, s, axes, norm)


def idctn(
    x: ArrayLike,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """Return the inverse of `dctn`, of the same arguments.

    Args:
        x: an array.
        type: only 2.
        s: the lengths along the axes, which are cut, or filled with zeros.
        axes: the axes; all by default.
        norm: None or "backward", "ortho" or "forward".

    Raises:
        TypeError: `x` is not an array, or `axes` are not ints.
        ValueError: a length is less than 1, or there is no such axis or `norm`.
        NotImplementedError: another type.

    >>> irax.scipy.fft.idctn(irax.numpy.array([[8.0, 0.0]])).round(3)
    Array([[1., 1.]], dtype=float32)
    """
    return _transforms("idctn", x, type, s, axes, norm)


def _transforms(
    what: str, x: ArrayLike, type: int, s: Any, axes: Sequence[int] | None, norm: str | None
) -> Array:
    unsupported(what, "type", type, 2)
    if norm not in (None, "backward", "ortho", "forward"):
        raise ValueError(f"{what}: norm must be 'backward', 'ortho' or 'forward', got {norm!r}")
    (array,) = inexact(what, x)
    if array.dtype.itemsize < 4:
        array = array.astype(np.float32)
    if array.dtype.kind == "c":
        parts = [_transforms(what, v, type, s, axes, norm) for v in (array.real, array.imag)]
        return lax.complex(*parts)
    if axes is None and s is not None:
        axes = range(array.ndim - len(s), array.ndim)
    places = canonical_axes(what, axes if axes is None else tuple(axes), array.ndim)
    given = [array.shape[a] for a in places] if s is None else s
    sizes = [canonical_int(what, "s", n) for n in given]
    if len(sizes) != len(places) or any(n < 1 for n in sizes):
        raise ValueError(f"{what}: expected a length of at least 1 for each axis, got {s}")
    step = _inverse if what.startswith("i") else _forward
    for axis, n in zip(places, sizes, strict=True):
        axis = canonical_axis(what, axis, array.ndim)
        array = jnp.moveaxis(step(jnp.moveaxis(resized(array, axis, n), axis, -1), norm), -1, axis)
    return array


def _turns(n: int, dtype: np.dtype[Any]) -> Array:
    """exp(-i pi k / (2 n)) for each k."""
    angle = np.pi * np.arange(n) / (2 * n)
    return lax.complex(jnp.asarray(np.cos(angle), dtype), jnp.asarray(-np.sin(angle), dtype))


def _scales(n: int, norm: str | None, dtype: np.dtype[Any]) -> Array:
    if norm == "ortho":
        scale = np.full(n, np.sqrt(2 / n))
        scale[0] = np.sqrt(1 / n)
    else:
        scale = np.full(n, 1 / n if norm == "forward" else 2.0)
    return jnp.asarray(scale, dtype)


def _forward(x: Array, norm: str | None) -> Array:
    """Transform the last axis by a Fourier transform: of elements 0, 2, 4 ... and then ... 5,
    3, 1.
    """
    n = x.shape[-1]
    mixed = jnp.concatenate([x[..., ::2], x[..., 1::2][..., ::-1]], -1)
    return (jnp.fft.fft(mixed) * _turns(n, x.dtype)).real * _scales(n, norm, x.dtype)


def _inverse(x: Array, norm: str | None) -> Array:
    n = x.shape[-1]
    x = x / _scales(n, norm, x.dtype)
    mirrored = jnp.concatenate([jnp.zeros_like(x[..., :1]), -x[..., :0:-1]], -1)
    mixed = jnp.fft.ifft(lax.complex(x, mirrored) * jnp.conj(_turns(n, x.dtype))).real
    first = (n + 1) // 2
    even, odd = mixed[..., :first], mixed[..., first:][..., ::-1]
    if n % 2:
        odd = jnp.concatenate([odd, even[..., :1]], -1)  # one more, which is dropped again
    pairs = jnp.stack([even, odd], -1)
    return pairs.reshape(*x.shape[:-1], 2 * first)[..., :n]


from irax.execution.replay import replay_functions as _replay_functions  # noqa: E402

_replay_functions(__name__)
