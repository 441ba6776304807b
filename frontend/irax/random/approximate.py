"""Gamma and Poisson numbers drawn without loops, as smooth functions of normal ones.

They are nearly of their distributions, as `method="approximate"` says, and the same as JAX's.

Chi-square quantiles are the cubes of Goldstein's polynomials ("Algorithm 451", 1973), which are
good from eight degrees of freedom on: a smaller `a` of the gamma distribution is drawn as a + 4,
and brought down by Stuart's products of uniform numbers ("Gamma-distributed products of independent
random variables", 1962). Poisson numbers invert the cumulative distribution: its sum up to a mean
of 7, beyond Peizer and Pratt's approximation by the normal distribution (1968).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import dtypes, lax
from irax.core.array import Array
from irax.core.dtypes.promotion import convert
from irax.core.dtypes.strictness import library
from irax.core.key_arrays import KeyArray
from irax.core.shardings.explicit_axes import layout_is_stated
from irax.random.continuous import exponential
from irax.random.keys import split_key
from irax.random.normals import normal
from irax_compiler.importing import import_module

_QUANTILES = (
    (1.0, -0.2237368, -0.01513904),
    (0.4713941, 0.02607083, -0.008986007),
    (0.0001348028, 0.01128186, 0.02277679),
    (-0.008553069, -0.01153761, -0.01323293),
    (0.00312558, 0.005169654, -0.006950356),
    (-0.0008426812, 0.00253001, 0.001060438),
    (0.00009780499, -0.001450117, 0.001565326),
)
"""Goldstein's coefficients: a row for each power of x / sqrt(n), in powers of 1 / n. The first is 1
as in JAX, for 1.0000886, so that numbers have the right mean where n is large."""
_STEPS = 4
"""By how much `a` is raised."""
_LARGE_MEAN = 7
"""From which mean on Poisson numbers are of the normal distribution."""
_COUNTS = 20
"""The number of counts, from 0 on, that are possible below that mean."""
_CORRECTION = 0.02
"""Peizer and Pratt's, of the place of a count."""


def _polynomial(x: Array, coefficients: Any) -> Any:
    """Return the sum of coefficients[k] x**k."""
    *others, found = coefficients
    for coefficient in reversed(others):
        found = found * x + coefficient
    return found


@library
@layout_is_stated()
def log_gammas(key: KeyArray, a: Array) -> Array:
    """Return the logarithms of gamma numbers, in the dtype of `a`, or float32 if it is narrower."""
    dtype = dtypes.promote_types(a.dtype, np.float32)
    a = convert(a, dtype)
    base_key, steps_key = split_key(key)
    raised = a + _STEPS
    n = 2 * raised
    x = normal(base_key, a.shape, dtype)
    rows = [_polynomial(1 / n, row) for row in _QUANTILES]
    root = jnp.maximum(_polynomial(x * lax.rsqrt(n), rows), dtypes.finfo(dtype).tiny)
    steps = jnp.arange(_STEPS, dtype=dtype).reshape((_STEPS,) + (1,) * a.ndim)
    logs = exponential(steps_key, (_STEPS, *a.shape), dtype) / (a[None] + steps)
    return jnp.log(raised) + 3 * jnp.log(root) - logs.sum(0)


@library
@layout_is_stated()
def poissons(key: KeyArray, mean: Array, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return Poisson numbers, whose means broadcast to the shape."""
    wide = dtype.itemsize > 4 or mean.dtype == np.float64
    mean = convert(mean, np.dtype(np.float64 if wide else np.float32))
    mean = jnp.reshape(mean, (1,) * (len(shape) - mean.ndim) + mean.shape)
    x = normal(key, shape, mean.dtype)
    counts = jnp.where(mean < _LARGE_MEAN, _counted(x, mean), _by_normal_distribution(x, mean))
    return convert(counts, dtype)


def _counted(x: Array, mean: Array) -> Array:
    """Return how many of the first counts are passed by the cumulative distribution of `x`."""
    probability = total = jnp.exp(-mean)
    place = import_module("irax.scipy.special.normal").ndtr(x)
    found = convert(total < place, x.dtype)
    for count in range(1, _COUNTS - 1):
        probability = probability * (mean / count)
        total = total + probability
        found = found + convert(total < place, x.dtype)
    return found


def _by_normal_distribution(x: Array, mean: Array) -> Array:
    """Return the least count whose place is not below `x`: one of three about that of Cornish and
    Fisher's expansion.
    """
    deviation = jnp.sqrt(mean)
    guess = mean + deviation * x - 2 / 3 + x * x / 6 + x * (1 - x * x) / (72 * deviation)
    count = jnp.ceil(guess + 0.6)

    def is_enough(count: Array) -> Array:
        place = jnp.where(count < 0, -np.inf, _place(jnp.maximum(count, 0), mean))
        return convert(place >= x, x.dtype)

    return jnp.maximum(count + 1 - is_enough(count) - is_enough(count - 1), 0)


def _place(count: Array, mean: Array) -> Array:
    """Return the normal number below which numbers are as probable as counts up to this one."""
    ratio = (count + 0.5) / mean
    off = ratio - 1
    is_near = jnp.abs(off) < 0.25
    series = jnp.zeros_like(off)
    for k in range(9, 0, -1):
        series = off * (2 * (-1) ** k / ((k + 1) * (k + 2)) + series)
    ratio, far = jnp.where(is_near, 2, ratio), jnp.where(is_near, 1, off)
    exact = (1 - ratio * ratio + 2 * ratio * jnp.log(ratio)) / (far * far)
    bend = jnp.where(is_near, series, exact)
    shift = count - mean + 2 / 3 + _CORRECTION / (count + 1)
    return shift * jnp.sqrt((1 + bend) / mean)
