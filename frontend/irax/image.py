"""irax.image: resizing of images, and of arrays of any number of dimensions."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import dtypes, lax
from irax.core.array import Array, as_array
from irax.core.dtypes.operands import as_arrays, inexact_dtype
from irax.core.dtypes.promotion import convert
from irax.lax.arguments import canonical_axis, canonical_shape
from irax.scipy.arguments import real_dtype
from irax.typing import ArrayLike


class ResizeMethod(enum.Enum):
    """The methods of interpolation: by a kernel, or by the nearest element."""

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4
    CUBIC_PYTORCH = 5
    AREA = 6

    @staticmethod
    def from_string(s: str) -> ResizeMethod:
        """Return the method of a name.

        >>> irax.image.ResizeMethod.from_string("bilinear")
        <ResizeMethod.LINEAR: 1>
        """
        if s not in _NAMES:
            raise ValueError(
                f"ResizeMethod: there is no method {s!r}; expected {', '.join(map(repr, _NAMES))}"
            )
        return _NAMES[s]


_NAMES = {
    "nearest": ResizeMethod.NEAREST,
    **dict.fromkeys(("linear", "bilinear", "trilinear", "triangle"), ResizeMethod.LINEAR),
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
    **dict.fromkeys(("cubic", "bicubic", "tricubic"), ResizeMethod.CUBIC),
    **dict.fromkeys(
        ("cubic-pytorch", "bicubic-pytorch", "tricubic-pytorch"), ResizeMethod.CUBIC_PYTORCH
    ),
    "area": ResizeMethod.AREA,
}


def _method(what: str, method: Any) -> ResizeMethod:
    if isinstance(method, str):
        return ResizeMethod.from_string(method)
    if not isinstance(method, ResizeMethod):
        raise TypeError(
            f"{what}: method must be a name such as 'linear', or a ResizeMethod; got {method!r}"
        )
    return method


def _triangle(x: Array) -> Array:
    return jnp.maximum(0, 1 - x)


def _cubic(a: float) -> Callable[[Array], Array]:
    """Keys's kernel: two cubic pieces, of slope a at 1."""

    def kernel(x: Array) -> Array:
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
        return jnp.where(jnp.less(x, 1), near, jnp.where(jnp.less(x, 2), far, 0))

    return kernel


def _lanczos(radius: int) -> Callable[[Array], Array]:
    def kernel(x: Array) -> Array:
        return jnp.where(jnp.less(x, radius), jnp.sinc(x) * jnp.sinc(x / radius), 0)

    return kernel


_KERNELS = {
    ResizeMethod.LINEAR: _triangle,
    ResizeMethod.LANCZOS3: _lanczos(3),
    ResizeMethod.LANCZOS5: _lanczos(5),
    ResizeMethod.CUBIC: _cubic(-0.5),
    ResizeMethod.CUBIC_PYTORCH: _cubic(-0.75),
}


def resize(
    image: ArrayLike,
    shape: Sequence[int],
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = lax.Precision.HIGHEST,
) -> Array:
    """Resize an array to another shape of as many dimensions.

    Args:
        image: an array.
        shape: the new shape.
        method: "nearest", "linear", "cubic", "cubic-pytorch", "lanczos3", "lanczos5", "area" (the
            means of what elements cover), or a `ResizeMethod`.
        antialias: True if kernels are as wide as elements of the smaller array.
        precision: of the products.

    Returns:
        An array of floats; of the image's dtype for "nearest".

    Raises:
        ValueError: another method, or another number of dimensions.
        TypeError: a method that is neither a name nor a `ResizeMethod`.

    >>> irax.image.resize(irax.numpy.array([0.0, 1.0]), (4,), "linear")
    Array([0.  , 0.25, 0.75, 1.  ], dtype=float32)
    """
    (array,) = as_arrays([image], "resize")
    wanted = canonical_shape("resize", shape)
    if len(wanted) != array.ndim:
        raise ValueError(
            f"resize: shape must have {array.ndim} dimensions, as image has, got {wanted}"
        )
    method = _method("resize", method)
    changed = [d for d in range(array.ndim) if wanted[d] != array.shape[d]]
    if method is ResizeMethod.NEAREST:
        for d in changed:
            n, m = array.shape[d], wanted[d]
            places = np.floor((np.arange(m, dtype=np.float32) + np.float32(0.5)) * n / m)
            array = jnp.take(array, places.astype(np.int32), d)
        return array
    array = convert(array, inexact_dtype(array.dtype))
    for d in changed:
        n, m = array.shape[d], wanted[d]
        if method is ResizeMethod.AREA:
            weights = as_array(_shares(n, m).astype(real_dtype(array.dtype)))
        else:
            scale = as_array(np.asarray(m / n if n else 1.0, real_dtype(array.dtype)))
            weights = _weights(n, m, scale, jnp.zeros_like(scale), method, antialias)
        array = _applied(array, d, weights, precision)
    return array


def scale_and_translate(
    image: ArrayLike,
    shape: Sequence[int],
    spatial_dims: Sequence[int],
    scale: ArrayLike,
    translation: ArrayLike,
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = lax.Precision.HIGHEST,
) -> Array:
    """Scale and translate an array: the value at x + 0.5 moves to (x + 0.5) scale + translation.

    Args:
        image: an array.
        shape: the shape of the result, of as many dimensions; values from outside are 0.
        spatial_dims: the dimensions that are stretched and moved.
        scale: the factors, one for each of them.
        translation: the translations, one for each of them.
        method: a kernel, as in `resize`: not "nearest", nor "area".
        antialias: True if kernels are as wide as elements of the smaller array.
        precision: of the products.

    Raises:
        ValueError: another method, other shapes, or a dimension that is named twice.
        TypeError: a method that is neither a name nor a `ResizeMethod`.

    >>> x = irax.numpy.array([1.0, 2.0])
    >>> move = irax.numpy.array([1.0])
    >>> irax.image.scale_and_translate(x, (3,), (0,), move, move, "linear")
    Array([0., 1., 2.], dtype=float32)
    """
    what = "scale_and_translate"
    array, scales, moves = as_arrays([image, scale, translation], what)
    wanted = canonical_shape(what, shape)
    if len(wanted) != array.ndim:
        raise ValueError(
            f"{what}: shape must have {array.ndim} dimensions, as image has, got {wanted}"
        )
    method = _method(what, method)
    if method not in _KERNELS:
        raise ValueError(f"{what}: method must be one of a kernel, got {method.name.lower()!r}")
    places = [canonical_axis(what, d, array.ndim) for d in spatial_dims]
    if len(set(places)) < len(places):
        raise ValueError(
            f"{what}: spatial_dims must name each dimension once, got {tuple(spatial_dims)}"
        )
    for name, numbers in (("scale", scales), ("translation", moves)):
        if numbers.shape != (len(places),):
            raise ValueError(
                f"{what}: {name} must have shape ({len(places)},), a number for each of "
                f"spatial_dims; got {numbers.shape}"
            )
    for d, n in enumerate(wanted):
        if d not in places and n != array.shape[d]:
            raise ValueError(
                f"{what}: shape {wanted} differs from that of image, {array.shape}, in dimension "
                f"{d}, which is not in spatial_dims={tuple(spatial_dims)}"
            )
    array = convert(array, inexact_dtype(array.dtype))
    real = real_dtype(array.dtype)
    scales, moves = convert(scales, real), convert(moves, real)
    for i, d in enumerate(places):
        sizes = array.shape[d], wanted[d]
        weights = _weights(*sizes, scales[i], moves[i], method, antialias)
        array = _applied(array, d, weights, precision)
    return array


def _weights(
    n: int, m: int, scale: Array, move: Array, method: ResizeMethod, antialias: bool
) -> Array:
    """Return the weights of n elements in each of m, of shape (n, m)."""
    if method is ResizeMethod.CUBIC_PYTORCH and antialias:
        method = ResizeMethod.CUBIC  # as PyTorch has it
    # What PyTorch's kernel would take from outside is taken from the outermost elements.
    margin = 4 if method is ResizeMethod.CUBIC_PYTORCH else 0
    inverse = 1 / scale
    width = jnp.maximum(inverse, 1) if antialias else 1
    whole = jnp.arange(m, dtype=scale.dtype)
    centers = (whole + 0.5) * inverse - move * inverse - 0.5
    centers = jnp.clip(centers, -2, n + 1) if margin else centers
    places = jnp.arange(-margin, n + margin).astype(scale.dtype)
    weights = _KERNELS[method](jnp.abs(centers[None, :] - places[:, None]) / width)
    if margin:
        element = np.clip(np.arange(-margin, n + margin), 0, n - 1)
        return jnp.zeros((n, m), weights.dtype).at[element].add(weights)
    total = jnp.sum(weights, 0, keepdims=True)
    some = jnp.greater(jnp.abs(total), 1000 * float(dtypes.finfo(np.float32).eps))
    weights = jnp.where(some, weights / jnp.where(some, total, 1), 0)
    inside = jnp.logical_and(jnp.greater_equal(centers, -0.5), jnp.less_equal(centers, n - 0.5))
    return jnp.where(inside[None, :], weights, 0)


def _shares(n: int, m: int) -> np.ndarray[Any, Any]:
    """Return the share of each of m elements that each of n covers, of shape (n, m)."""
    size = n / m
    start = np.arange(m) * size
    low, high = np.arange(n)[:, None], np.arange(1, n + 1)[:, None]
    covered = np.minimum(high, start + size) - np.maximum(low, start)
    return np.maximum(covered, 0) / size


def _applied(x: Array, d: int, weights: Array, precision: Any) -> Array:
    product = jnp.tensordot(x, convert(weights, x.dtype), ((d,), (0,)), precision=precision)
    return jnp.moveaxis(product, -1, d)


from irax.execution.replay import replay_functions as _replay_functions  # noqa: E402

_replay_functions(__name__)
