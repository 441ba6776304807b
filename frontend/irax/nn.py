"""irax.nn: the functions of neural networks.

Each takes arrays or numbers; integers become floats where the function does not keep them. A list
is a TypeError, as everywhere.
"""

from __future__ import annotations

import math

import numpy as np

import irax.numpy as jnp
from irax import dtypes, lax
from irax.array import Array
from irax.elementwise import as_arrays, convert, inexact_dtype
from irax.lax.arguments import canonical_axes, canonical_axis
from irax.numpy.reductions import masked
from irax.typing import ArrayLike, Axis, DTypeLike


def _inexact(name: str, x: ArrayLike) -> Array:
    (array,) = as_arrays([x], f"nn.{name}")
    return convert(array, inexact_dtype(array.dtype), array.weak_type)


# ---- activations ---------------------------------------------------------------------------------


def relu(x: ArrayLike) -> Array:
    """x where it is positive, otherwise 0; integers stay integers. Its derivative at 0 is 0.

    >>> irax.nn.relu(irax.numpy.array([-1.0, 2.0]))
    Array([0., 2.], dtype=float32)
    """
    (array,) = as_arrays([x], "nn.relu")
    return jnp.where(jnp.less_equal(array, 0), lax.full_like(array, 0), array)


def relu6(x: ArrayLike) -> Array:
    """x kept between 0 and 6; its derivative at both is 0."""
    array = _inexact("relu6", x)
    return jnp.where(jnp.less_equal(array, 0), 0, jnp.where(jnp.greater_equal(array, 6), 6, array))


def leaky_relu(x: ArrayLike, negative_slope: ArrayLike = 1e-2) -> Array:
    """x where it is at least 0, otherwise `negative_slope` x."""
    array = _inexact("leaky_relu", x)
    return jnp.where(jnp.greater_equal(array, 0), array, jnp.multiply(negative_slope, array))


def hard_tanh(x: ArrayLike) -> Array:
    """x kept between -1 and 1."""
    array = _inexact("hard_tanh", x)
    return jnp.where(jnp.greater(array, 1), 1, jnp.where(jnp.less(array, -1), -1, array))


def sigmoid(x: ArrayLike) -> Array:
    """1 / (1 + exp(-x)).

    >>> irax.nn.sigmoid(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return lax.logistic(_inexact("sigmoid", x))


def hard_sigmoid(x: ArrayLike) -> Array:
    """A sigmoid of straight pieces: relu6(x + 3) / 6."""
    return jnp.divide(relu6(jnp.add(_inexact("hard_sigmoid", x), 3)), 6)


def silu(x: ArrayLike) -> Array:
    """x sigmoid(x)."""
    array = _inexact("silu", x)
    return jnp.multiply(array, sigmoid(array))


swish = silu


def hard_silu(x: ArrayLike) -> Array:
    """x hard_sigmoid(x)."""
    array = _inexact("hard_silu", x)
    return jnp.multiply(array, hard_sigmoid(array))


hard_swish = hard_silu


def softplus(x: ArrayLike) -> Array:
    """log(1 + exp(x)), without overflow; its derivative is sigmoid(x)."""
    return jnp.logaddexp(_inexact("softplus", x), 0)


def log_sigmoid(x: ArrayLike) -> Array:
    """log(sigmoid(x)), without underflow."""
    return jnp.negative(softplus(jnp.negative(_inexact("log_sigmoid", x))))


def soft_sign(x: ArrayLike) -> Array:
    """x / (1 + |x|)."""
    array = _inexact("soft_sign", x)
    return jnp.divide(array, jnp.add(jnp.abs(array), 1))


def tanh(x: ArrayLike) -> Array:
    """The hyperbolic tangent."""
    return jnp.tanh(x)


def elu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """x where it is positive, otherwise `alpha` (exp(x) - 1)."""
    array = _inexact("elu", x)
    positive = jnp.greater(array, 0)
    # What is not chosen must not overflow, or its derivative would be nan.
    return jnp.where(positive, array, jnp.multiply(alpha, jnp.expm1(jnp.where(positive, 0, array))))


def celu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """x where it is positive, otherwise `alpha` (exp(x / alpha) - 1)."""
    return jnp.multiply(alpha, elu(jnp.divide(_inexact("celu", x), alpha)))


def selu(x: ArrayLike) -> Array:
    """The elu whose constants keep mean 0 and variance 1 (Klambauer et al., 2017)."""
    alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
    return jnp.multiply(scale, elu(x, alpha))


def gelu(x: ArrayLike, approximate: bool = True) -> Array:
    """x times the share of a normal distribution that is below x.

    With `approximate`, by a formula with tanh that is up to 5e-4 off; otherwise by erf.
    """
    array = _inexact("gelu", x)
    if approximate:
        inner = jnp.add(array, jnp.multiply(0.044715, jnp.power(array, 3)))
        share = jnp.tanh(jnp.multiply(math.sqrt(2 / math.pi), inner))
        return jnp.multiply(jnp.multiply(array, 0.5), jnp.add(share, 1))
    share = lax.erfc(jnp.multiply(array, -math.sqrt(0.5)))
    return jnp.multiply(jnp.multiply(array, 0.5), share)


def glu(x: ArrayLike, axis: int = -1) -> Array:
    """The first half along an axis times the sigmoid of the second half.

    Raises:
        ValueError: the axis has an odd size.
    """
    array = _inexact("glu", x)
    along = canonical_axis("nn.glu", axis, array.ndim)
    if array.shape[along] % 2:
        raise ValueError(f"nn.glu: axis {along} of shape {array.shape} must have an even size")
    first, second = jnp.split(array, 2, along)
    return jnp.multiply(first, sigmoid(second))


# ---- over axes -----------------------------------------------------------------------------------


def _largest(x: Array, axes: tuple[int, ...]) -> Array:
    """The largest elements, axes kept, as constants: what is computed does not depend on them."""
    largest = lax.stop_gradient(lax.reduce_max(x, axes))
    return lax.expand_dims(largest, axes)


def logsumexp(
    a: ArrayLike,
    axis: Axis = None,
    b: ArrayLike | None = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: ArrayLike | None = None,
) -> Array | tuple[Array, Array]:
    """log(sum(b exp(a))) over axes, without overflow; its derivative is the softmax.

    Args:
        a: an array.
        axis: the axis or axes; all by default.
        b: weights, 1 by default.
        keepdims: whether the result keeps those axes, with size 1.
        return_sign: whether to return the logarithm of the absolute sum, and the sign of the sum.
        where: which elements take part.

    >>> irax.nn.logsumexp(irax.numpy.array([1000.0, 1000.0]))
    Array(1000.6932, dtype=float32)
    """
    x = _inexact("logsumexp", a)
    if b is not None:
        x, weights = jnp.broadcast_arrays(x, _inexact("logsumexp", b))
        x = jnp.where(jnp.equal(weights, 0), -np.inf, x)
    x = masked("nn.logsumexp", x, where, -np.inf)
    axes = canonical_axes("nn.logsumexp", axis, x.ndim)
    shift = _largest(x, axes)
    shift = jnp.where(jnp.isfinite(shift), shift, 0)  # nothing becomes inf - inf
    terms = jnp.exp(jnp.subtract(x, shift))
    if b is not None:
        terms = jnp.multiply(terms, weights)  # pyright: ignore[reportPossiblyUnboundVariable]
    total = jnp.sum(terms, axes, keepdims=keepdims)
    shift = shift if keepdims else lax.squeeze(shift, axes)
    if return_sign:
        return jnp.add(jnp.log(jnp.abs(total)), shift), jnp.sign(total)
    return jnp.add(jnp.log(total), shift)


def softmax(x: ArrayLike, axis: Axis = -1, where: ArrayLike | None = None) -> Array:
    """exp(x) divided by its sum over axes, without overflow.

    Args:
        x: an array.
        axis: the axis or axes.
        where: which elements take part; the others are 0.

    >>> irax.nn.softmax(irax.numpy.array([0.0, 0.0]))
    Array([0.5, 0.5], dtype=float32)
    """
    array = masked("nn.softmax", _inexact("softmax", x), where, -np.inf)
    axes = canonical_axes("nn.softmax", axis, array.ndim)
    terms = jnp.exp(jnp.subtract(array, _largest(array, axes)))
    result = jnp.divide(terms, jnp.sum(terms, axes, keepdims=True))
    return masked("nn.softmax", result, where, 0)


def log_softmax(x: ArrayLike, axis: Axis = -1, where: ArrayLike | None = None) -> Array:
    """log(softmax(x)), without underflow; what does not take part is -inf.

    >>> irax.nn.log_softmax(irax.numpy.array([0.0, 1000.0]))
    Array([-1000.,     0.], dtype=float32)
    """
    array = masked("nn.log_softmax", _inexact("log_softmax", x), where, -np.inf)
    axes = canonical_axes("nn.log_softmax", axis, array.ndim)
    shifted = jnp.subtract(array, _largest(array, axes))
    total = jnp.sum(jnp.exp(shifted), axes, keepdims=True)
    return masked("nn.log_softmax", jnp.subtract(shifted, jnp.log(total)), where, -np.inf)


def standardize(
    x: ArrayLike,
    axis: Axis = -1,
    mean: ArrayLike | None = None,
    variance: ArrayLike | None = None,
    epsilon: ArrayLike = 1e-5,
    where: ArrayLike | None = None,
) -> Array:
    """x less its mean, divided by sqrt(variance + epsilon), over axes.

    Args:
        x: an array.
        axis: the axis or axes.
        mean: to be used instead of that of `x`.
        variance: likewise.
        epsilon: keeps the divisor away from 0.
        where: which elements take part in mean and variance.
    """
    array = _inexact("standardize", x)
    if mean is None:
        mean = jnp.mean(array, axis, keepdims=True, where=where)
    centred = jnp.subtract(array, mean)
    if variance is None:
        variance = jnp.mean(jnp.square(centred), axis, keepdims=True, where=where)
    return jnp.multiply(centred, lax.rsqrt(_inexact("standardize", jnp.add(variance, epsilon))))


def one_hot(
    x: ArrayLike, num_classes: int, *, dtype: DTypeLike | None = None, axis: int = -1
) -> Array:
    """For each element n, a vector of zeros with a one at place n; all zeros if there is none.

    Args:
        x: integers.
        num_classes: the length of the vectors.
        dtype: of the result; the default float.
        axis: the axis of the result along which the vectors lie.

    >>> irax.nn.one_hot(irax.numpy.array([0, 2]), 3)
    Array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)
    """
    (numbers,) = as_arrays([x], "nn.one_hot")
    along = canonical_axis("nn.one_hot", axis, numbers.ndim + 1)
    column = lax.expand_dims(numbers, (along,))
    sizes = [num_classes if d == along else 1 for d in range(column.ndim)]
    places = lax.broadcasted_iota(dtypes.default_int(), sizes, along)
    wanted = dtypes.requested_dtype(float if dtype is None else dtype, "nn.one_hot")
    return convert(jnp.equal(column, places), wanted)
