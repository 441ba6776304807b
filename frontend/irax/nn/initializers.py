"""irax.nn.initializers: functions that make the weights of a layer from a key and a shape.

`zeros` and `ones` are initializers; the others make one, from options. The fan-in of weights is the
number of inputs of each output, the fan-out the other way round.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

import irax.numpy as jnp
from irax import dtypes, lax, random
from irax.core.array import Array
from irax.core.dtypes.promotion import convert
from irax.core.dtypes.strictness import library_methods
from irax.execution.shardings.jit_shardings import divided_results, takes_out_sharding
from irax.lax.arguments import canonical_axis, canonical_shape
from irax.random.keys import Key
from irax.typing import ArrayLike, DTypeLike, Shape

Axes = int | Sequence[int]


@runtime_checkable
class Initializer(Protocol):
    """A function that makes weights: `init(key, shape)`, in the initializer's dtype or another."""

    def __call__(
        self, key: Key, shape: Shape, dtype: DTypeLike | None = None, out_sharding: Any = None
    ) -> Array:
        """Return weights of a shape."""
        ...


def _dtype(what: str, *wanted: DTypeLike | None, kind: Any = np.inexact) -> np.dtype[Any]:
    """Return the first dtype that is given, or the default float; it must be of a kind."""
    given = next((d for d in wanted if d is not None), float)
    dtype = dtypes.requested_dtype(given, f"initializers.{what}")
    if not dtypes.issubdtype(dtype, kind):
        raise ValueError(f"initializers.{what}: dtype must be floating-point, got {dtype}")
    return dtype


@library_methods
class _Initializer:
    """An initializer of a function of key, shape and dtype."""

    def __init__(
        self, what: str, dtype: DTypeLike | None, make: Any, kind: Any = np.inexact
    ) -> None:
        self.what, self.dtype, self.make, self.kind = what, dtype, make, kind
        self.__name__ = "init"  # libraries show initializers by their names

    def __call__(
        self, key: Key, shape: Shape, dtype: DTypeLike | None = None, out_sharding: Any = None
    ) -> Array:
        what = f"initializers.{self.what}"
        found = _dtype(self.what, dtype, self.dtype, kind=self.kind)
        result = self.make(key, canonical_shape(what, shape), found)
        return result if out_sharding is None else divided_results(what, out_sharding, result)

    def __repr__(self) -> str:
        return f"<initializer {self.what}>"


@takes_out_sharding("initializers.zeros")
def zeros(
    key: Key, shape: Shape, dtype: DTypeLike | None = None, out_sharding: Any = None
) -> Array:
    """Return weights that are 0.

    Args:
        key: a key, of no effect.
        shape: the shape of the weights.
        dtype: the dtype, float32 by default.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `shape` is not a shape, or `dtype` not a dtype.

    >>> irax.nn.initializers.zeros(irax.random.key(0), (2,))
    Array([0., 0.], dtype=float32)
    """
    return jnp.zeros(shape, float if dtype is None else dtype)


@takes_out_sharding("initializers.ones")
def ones(key: Key, shape: Shape, dtype: DTypeLike | None = None, out_sharding: Any = None) -> Array:
    """Return weights that are 1.

    Args:
        key: a key, of no effect.
        shape: the shape of the weights.
        dtype: the dtype, float32 by default.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Raises:
        TypeError: `shape` is not a shape, or `dtype` not a dtype.

    >>> irax.nn.initializers.ones(irax.random.key(0), (2,))
    Array([1., 1.], dtype=float32)
    """
    return jnp.ones(shape, float if dtype is None else dtype)


def constant(value: ArrayLike, dtype: DTypeLike | None = None) -> Initializer:
    """Return an initializer of weights that are a value, which broadcasts to their shape.

    Args:
        value: a number, or an array.
        dtype: the dtype of weights by default.

    Returns:
        A function of a key, a shape and a dtype.

    >>> irax.nn.initializers.constant(7)(irax.random.key(0), (2,))
    Array([7., 7.], dtype=float32)
    """

    def make(key: Key, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        return jnp.full(shape, value, dtype=dtype)

    return _Initializer("constant", dtype, make, kind=np.generic)


def uniform(scale: ArrayLike = 1e-2, dtype: DTypeLike | None = None) -> Initializer:
    """Return an initializer of weights that are uniformly distributed in [0, scale).

    Args:
        scale: the upper bound.
        dtype: the dtype of weights by default.

    Returns:
        A function of a key, a shape and a dtype.

    >>> irax.nn.initializers.uniform(10.0)(irax.random.key(0), (2,)).shape
    (2,)
    """

    def make(key: Key, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        return random.uniform(key, shape, dtype) * jnp.asarray(scale, dtype)

    return _Initializer("uniform", dtype, make)


def normal(stddev: ArrayLike = 1e-2, dtype: DTypeLike | None = None) -> Initializer:
    """Return an initializer of weights of the normal distribution with mean 0.

    Args:
        stddev: the standard deviation.
        dtype: the dtype of weights by default.

    Returns:
        A function of a key, a shape and a dtype.

    >>> irax.nn.initializers.normal(5.0)(irax.random.key(0), (2,)).shape
    (2,)
    """

    def make(key: Key, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        return random.normal(key, shape, dtype) * jnp.asarray(stddev, dtype)

    return _Initializer("normal", dtype, make)


def truncated_normal(
    stddev: ArrayLike = 1e-2,
    dtype: DTypeLike | None = None,
    lower: ArrayLike = -2.0,
    upper: ArrayLike = 2.0,
) -> Initializer:
    """Return an initializer of normal weights, truncated at `lower` and `upper` standard
    deviations.

    `stddev` is that of the distribution before it is restricted.

    Args:
        stddev: the standard deviation.
        dtype: the dtype of weights by default.
        lower: the lower bound, in standard deviations.
        upper: the upper bound, in standard deviations.

    Returns:
        A function of a key, a shape and a dtype.

    >>> irax.nn.initializers.truncated_normal(5.0)(irax.random.key(0), (2,)).shape
    (2,)
    """

    def make(key: Key, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        weights = random.truncated_normal(key, lower, upper, shape, dtype)
        return weights * jnp.asarray(stddev, dtype)

    return _Initializer("truncated_normal", dtype, make)


# ---- variance scaling ----------------------------------------------------------------------------


def variance_scaling(
    scale: float,
    mode: str,
    distribution: str,
    in_axis: Axes = -2,
    out_axis: Axes = -1,
    batch_axis: Axes = (),
    dtype: DTypeLike | None = None,
) -> Initializer:
    """Return an initializer of weights with mean 0 and variance scale / n, n a count of
    connections.

    Args:
        scale: of the variance.
        mode: the count n: "fan_in", "fan_out", their mean "fan_avg" or "fan_geo_avg".
        distribution: "truncated_normal" (at two standard deviations), "normal" or "uniform".
        in_axis: the axis or axes of inputs.
        out_axis: the axis or axes of outputs.
        batch_axis: axes that are neither. All others are of a receptive field, that of a
            convolution's kernel, which counts for both fans.
        dtype: the dtype of weights by default.

    Raises:
        ValueError: another mode or distribution; by the initializer: fewer than two dimensions.

    >>> init = irax.nn.initializers.variance_scaling(1.0, "fan_avg", "uniform")
    >>> init(irax.random.key(0), (2, 3)).shape
    (2, 3)
    """
    if mode not in _MODES:
        raise ValueError(
            f"variance_scaling: mode must be one of {', '.join(map(repr, _MODES))}, got {mode!r}"
        )
    if distribution not in _DISTRIBUTIONS:
        raise ValueError(
            "variance_scaling: distribution must be one of "
            f"{', '.join(map(repr, _DISTRIBUTIONS))}, got {distribution!r}"
        )

    def make(key: Key, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        connections = _MODES[mode](*_fans(shape, in_axis, out_axis, batch_axis))
        variance = jnp.asarray(scale / connections, dtype)
        return _DISTRIBUTIONS[distribution](key, shape, dtype, variance)

    return _Initializer("variance_scaling", dtype, make)


def _fans(
    shape: tuple[int, ...], in_axis: Axes, out_axis: Axes, batch_axis: Axes
) -> tuple[float, float]:
    """Fan-in and fan-out of weights of a shape."""
    what = "variance_scaling"
    if in_axis == -2 and len(shape) < 2:
        raise ValueError(
            f"{what}: shape {shape} has no axis of inputs -2: give two dimensions, or in_axis"
        )
    sizes = [
        math.prod(shape[canonical_axis(what, a, len(shape))] for a in np.atleast_1d(axes).tolist())
        for axes in (in_axis, out_axis, batch_axis)
    ]
    if 0 in sizes:
        raise ValueError(f"{what}: shape {shape} has inputs, outputs or a batch of size 0")
    field = math.prod(shape) / math.prod(sizes)
    return sizes[0] * field, sizes[1] * field


_MODES = {
    "fan_in": lambda fan_in, fan_out: fan_in,
    "fan_out": lambda fan_in, fan_out: fan_out,
    "fan_avg": lambda fan_in, fan_out: (fan_in + fan_out) / 2,
    "fan_geo_avg": lambda fan_in, fan_out: math.sqrt(fan_in * fan_out),
}


def _of_normal(key: Key, shape: tuple[int, ...], dtype: np.dtype[Any], variance: Array) -> Array:
    return random.normal(key, shape, dtype) * jnp.sqrt(variance)


def _of_truncated_normal(
    key: Key, shape: tuple[int, ...], dtype: np.dtype[Any], variance: Array
) -> Array:
    """Return truncated normal weights, divided by the standard deviation that truncation leaves."""
    if dtypes.issubdtype(dtype, np.floating):
        density = math.exp(-2) / math.sqrt(2 * math.pi)
        left = math.sqrt(1 - 4 * density / math.erf(math.sqrt(2)))
        stddev = jnp.sqrt(variance) / np.array(left, dtype)
        return random.truncated_normal(key, -2, 2, shape, dtype) * stddev
    left = 0.9531116438049121  # JAX's, so that weights are the same; 0.962 would be right
    weights = _complex_truncated_normal(key, 2, shape, dtype)
    return weights * (jnp.sqrt(variance) / np.array(left, dtype))


def _of_uniform(key: Key, shape: tuple[int, ...], dtype: np.dtype[Any], variance: Array) -> Array:
    """Return uniform weights: in an interval, or in a disk if the dtype is complex."""
    if dtypes.issubdtype(dtype, np.floating):
        return random.uniform(key, shape, dtype, -1) * jnp.sqrt(3 * variance)
    return _complex_uniform(key, shape, dtype) * jnp.sqrt(variance)


# These two have JAX's names: libraries import them.
def _complex_truncated_normal(
    key: Key, upper: float, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Array:
    """Return complex normal numbers whose absolute value is below `upper`."""

    def radius(u: Array) -> Array:
        return jnp.sqrt(-jnp.log1p(np.array(math.expm1(-(upper**2)), u.dtype) * u))

    return _of_polar(key, shape, dtype, radius)


def _complex_uniform(key: Key, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return complex numbers from a disk about 0, of variance 1."""
    return _of_polar(key, shape, dtype, lambda u: jnp.sqrt(2 * u))


def _of_polar(key: Key, shape: tuple[int, ...], dtype: np.dtype[Any], radius: Any) -> Array:
    """Return complex numbers of random angles, with radii that `radius` makes of
    uniform numbers.
    """
    real = np.finfo(dtype).dtype
    radius_key, angle_key = random.split(key)
    size = radius(random.uniform(radius_key, shape, real))
    angle = np.array(2 * math.pi, real) * random.uniform(angle_key, shape, real)
    return lax.complex(size * jnp.cos(angle), size * jnp.sin(angle))


_DISTRIBUTIONS = {
    "truncated_normal": _of_truncated_normal,
    "normal": _of_normal,
    "uniform": _of_uniform,
}


class Family(Protocol):
    """A function that makes initializers."""

    def __call__(
        self,
        in_axis: Axes = -2,
        out_axis: Axes = -1,
        batch_axis: Axes = (),
        dtype: DTypeLike | None = None,
    ) -> Initializer: ...


def _family(name: str, scale: float, mode: str, distribution: str, source: str) -> Family:
    """A function that makes initializers of variance scaling with fixed options."""

    def make(
        in_axis: Axes = -2,
        out_axis: Axes = -1,
        batch_axis: Axes = (),
        dtype: DTypeLike | None = None,
    ) -> Initializer:
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"""`variance_scaling` with scale {scale}, mode "{mode}" and distribution
    "{distribution}": {source}.

    Args:
        in_axis: the axis or axes of inputs.
        out_axis: the axis or axes of outputs.
        batch_axis: axes that are neither, nor of a convolution's window.
        dtype: the dtype of weights by default.

    Returns:
        A function of a key, a shape and a dtype.

    Raises:
        ValueError: by the initializer: fewer than two dimensions.

    >>> irax.nn.initializers.{name}()(irax.random.key(0), (2, 3)).shape
    (2, 3)
    """
    return make


_GLOROT = "Glorot and Bengio (2010)"
_LECUN = "LeCun et al. (1998)"
_HE = "He et al. (2015), for layers with relu"
glorot_uniform: Family = _family("glorot_uniform", 1.0, "fan_avg", "uniform", _GLOROT)
glorot_normal: Family = _family("glorot_normal", 1.0, "fan_avg", "truncated_normal", _GLOROT)
lecun_uniform: Family = _family("lecun_uniform", 1.0, "fan_in", "uniform", _LECUN)
lecun_normal: Family = _family("lecun_normal", 1.0, "fan_in", "truncated_normal", _LECUN)
he_uniform: Family = _family("he_uniform", 2.0, "fan_in", "uniform", _HE)
he_normal: Family = _family("he_normal", 2.0, "fan_in", "truncated_normal", _HE)
xavier_uniform: Family = glorot_uniform
xavier_normal: Family = glorot_normal
kaiming_uniform: Family = he_uniform
kaiming_normal: Family = he_normal


# ---- orthogonal ----------------------------------------------------------------------------------


def orthogonal(
    scale: ArrayLike = 1.0, column_axis: int = -1, dtype: DTypeLike | None = None
) -> Initializer:
    """Return an initializer of a uniformly distributed orthogonal matrix, times a scale.

    Args:
        scale: a factor.
        column_axis: the axis of columns; all others together are the rows. The shorter of rows and
            columns are orthonormal.
        dtype: the dtype of weights by default.

    Raises:
        ValueError: by the initializer: fewer than two dimensions.

    >>> irax.nn.initializers.orthogonal()(irax.random.key(0), (2, 3)).shape
    (2, 3)
    """
    make = functools.partial(_orthogonal, scale, column_axis)
    return _Initializer("orthogonal", dtype, make)


def _orthogonal(
    scale: ArrayLike, column_axis: int, key: Key, shape: tuple[int, ...], dtype: np.dtype[Any]
) -> Array:
    what = "initializers.orthogonal"
    if len(shape) < 2:
        raise ValueError(f"{what}: the shape must have two dimensions or more, got {shape}")
    if 0 in shape:
        return jnp.zeros(shape, dtype)
    along = canonical_axis(what, column_axis, len(shape))
    columns = shape[along]
    others = (*shape[:along], *shape[along + 1 :])
    matrix = random.orthogonal(key, math.prod(others), (), dtype, columns)
    placed = jnp.moveaxis(jnp.reshape(matrix, (*others, columns)), -1, along)
    return convert(jnp.asarray(scale), dtype) * placed


def delta_orthogonal(
    scale: ArrayLike = 1.0, column_axis: int = -1, dtype: DTypeLike | None = None
) -> Initializer:
    """Return an initializer of kernels that are an orthogonal matrix in the middle, and 0
    elsewhere.

    Args:
        scale: a factor.
        column_axis: of the matrix, the last two dimensions: see `orthogonal`.
        dtype: the dtype of weights by default.

    Raises:
        ValueError: by the initializer: not 3 to 5 dimensions, or more inputs (the last dimension
            but one) than outputs (the last one).

    Xiao et al., "Dynamical isometry and a mean field theory of CNNs" (2018).

    >>> irax.nn.initializers.delta_orthogonal()(irax.random.key(0), (3, 2, 2))[0]
    Array([[0., 0.],
           [0., 0.]], dtype=float32)
    """
    what = "initializers.delta_orthogonal"

    def make(key: Key, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        if len(shape) not in (3, 4, 5):
            raise ValueError(f"{what}: the shape must have 3, 4 or 5 dimensions, got {shape}")
        if shape[-1] < shape[-2]:
            raise ValueError(
                f"{what}: there must be as many outputs as inputs, or more: got shape {shape} with "
                f"{shape[-2]} inputs and {shape[-1]} outputs"
            )
        matrix = _orthogonal(scale, column_axis, key, shape[-2:], dtype)
        middle = tuple((n - 1) // 2 for n in shape[:-2])
        return jnp.zeros(shape, dtype).at[middle].set(matrix)

    return _Initializer("delta_orthogonal", dtype, make)
