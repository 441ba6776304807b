"""Activation functions: element by element, and `glu`."""

from __future__ import annotations

import math

import irax.numpy as jnp
from irax import lax
from irax.core.array import Array
from irax.core.dtypes.operands import as_arrays
from irax.core.dtypes.promotion import apply, promote
from irax.lax.arguments import canonical_axis
from irax.nn.operands import inexact
from irax.numpy.tables import elementwise
from irax.typing import ArrayLike
from irax_compiler.ops.special.gelu import GeluShare
from irax_compiler.ops.special.normal import Ndtr


@elementwise
def relu(x: ArrayLike) -> Array:
    """Return x where it is positive, otherwise 0; integers stay integers. Its derivative at 0 is 0.

    >>> irax.nn.relu(irax.numpy.array([-1.0, 2.0]))
    Array([0., 2.], dtype=float32)
    """
    (array,) = as_arrays([x], "nn.relu")
    return jnp.where(jnp.less_equal(array, 0), lax.full_like(array, 0), array)


@elementwise
def relu6(x: ArrayLike) -> Array:
    """Clip x to [0, 6]; its derivative at both ends is 0.

    >>> irax.nn.relu6(jnp.array([-1.0, 2.0, 8.0]))
    Array([0., 2., 6.], dtype=float32)
    """
    array = inexact("relu6", x, weak=True)
    return jnp.where(jnp.less_equal(array, 0), 0, jnp.where(jnp.greater_equal(array, 6), 6, array))


@elementwise
def leaky_relu(x: ArrayLike, negative_slope: ArrayLike = 1e-2) -> Array:
    """Return x where it is at least 0, otherwise `negative_slope` x.

    >>> irax.nn.leaky_relu(jnp.array([-1.0, 2.0]))
    Array([-0.01,  2.  ], dtype=float32)
    """
    array = inexact("leaky_relu", x, weak=True)
    return jnp.where(jnp.greater_equal(array, 0), array, jnp.multiply(negative_slope, array))


@elementwise
def hard_tanh(x: ArrayLike) -> Array:
    """Clip x to [-1, 1].

    >>> irax.nn.hard_tanh(jnp.array([-2.0, 0.5, 2.0]))
    Array([-1. ,  0.5,  1. ], dtype=float32)
    """
    (array,) = as_arrays([x], "hard_tanh")
    return jnp.where(jnp.greater(array, 1), 1, jnp.where(jnp.less(array, -1), -1, array))


@elementwise
def sigmoid(x: ArrayLike) -> Array:
    """Return the logistic function, 1 / (1 + exp(-x)).

    >>> irax.nn.sigmoid(0.0)
    Array(0.5, dtype=float32, weak_type=True)
    """
    return lax.logistic(inexact("sigmoid", x))


@elementwise
def hard_sigmoid(x: ArrayLike) -> Array:
    """Return a piecewise linear sigmoid: relu6(x + 3) / 6.

    >>> irax.nn.hard_sigmoid(jnp.array([-4.0, 0.0, 4.0]))
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return jnp.divide(relu6(jnp.add(inexact("hard_sigmoid", x, weak=True), 3)), 6)


@elementwise
def silu(x: ArrayLike) -> Array:
    """Return x sigmoid(x).

    >>> irax.nn.silu(jnp.array([-1.0, 2.0])).round(3)
    Array([-0.269,  1.762], dtype=float32)
    """
    array = inexact("silu", x)
    return jnp.multiply(array, sigmoid(array))


swish = silu


@elementwise
def hard_silu(x: ArrayLike) -> Array:
    """Return x hard_sigmoid(x).

    >>> irax.nn.hard_silu(jnp.array([-4.0, 1.0, 4.0])).round(3)
    Array([-0.   ,  0.667,  4.   ], dtype=float32)
    """
    array = inexact("hard_silu", x, weak=True)
    return jnp.multiply(array, hard_sigmoid(array))


hard_swish = hard_silu


@elementwise
def softplus(x: ArrayLike) -> Array:
    """Return log(1 + exp(x)), without overflow; its derivative is sigmoid(x).

    >>> irax.nn.softplus(jnp.array([0.0, 100.0])).round(3)
    Array([  0.693, 100.   ], dtype=float32)
    """
    return jnp.logaddexp(inexact("softplus", x), 0)


@elementwise
def log_sigmoid(x: ArrayLike) -> Array:
    """Return log(sigmoid(x)), without underflow.

    >>> irax.nn.log_sigmoid(jnp.array([0.0, 2.0])).round(3)
    Array([-0.693, -0.127], dtype=float32)
    """
    return jnp.negative(softplus(jnp.negative(inexact("log_sigmoid", x))))


@elementwise
def soft_sign(x: ArrayLike) -> Array:
    """Return x / (1 + |x|).

    >>> irax.nn.soft_sign(jnp.array([-1.0, 3.0]))
    Array([-0.5 ,  0.75], dtype=float32)
    """
    array = inexact("soft_sign", x)
    size = jnp.abs(array)
    far = jnp.greater(size, 1)
    near = jnp.divide(array, jnp.add(size, 1))
    # Its derivatives cancel far from 0, and those of sign(x) / (1 + 1 / |x|) do not.
    inverse = jnp.divide(1, jnp.where(far, size, 1))
    return jnp.where(far, jnp.divide(jnp.sign(array), jnp.add(inverse, 1)), near)


def tanh(x: ArrayLike) -> Array:
    """Return the hyperbolic tangent.

    Args:
        x: an array, or a number.

    Returns:
        An array of the same shape.

    Raises:
        TypeError: not an array or a number.

    >>> irax.nn.tanh(jnp.array([0.0, 1.0])).round(3)
    Array([0.   , 0.762], dtype=float32)
    """
    return jnp.tanh(x)


@elementwise
def elu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """Return x where it is positive, otherwise `alpha` (exp(x) - 1).

    >>> irax.nn.elu(jnp.array([-1.0, 2.0])).round(3)
    Array([-0.632,  2.   ], dtype=float32)
    """
    array = inexact("elu", x, weak=True)
    positive = jnp.greater(array, 0)
    # The branch that is not chosen must not overflow, or its derivative would be nan.
    return jnp.where(positive, array, jnp.multiply(alpha, jnp.expm1(jnp.where(positive, 0, array))))


@elementwise
def celu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """Return x where it is positive, otherwise `alpha` (exp(x / alpha) - 1).

    >>> irax.nn.celu(jnp.array([-1.0, 2.0])).round(3)
    Array([-0.632,  2.   ], dtype=float32)
    """
    array = inexact("celu", x, weak=True)
    positive = jnp.greater(array, 0)
    below = jnp.divide(jnp.where(positive, 0, array), alpha)
    return jnp.where(positive, array, jnp.multiply(alpha, jnp.expm1(below)))


@elementwise
def selu(x: ArrayLike) -> Array:
    """The elu whose constants keep mean 0 and variance 1 (Klambauer et al., 2017).

    >>> irax.nn.selu(jnp.array([-1.0, 2.0])).round(3)
    Array([-1.111,  2.101], dtype=float32)
    """
    alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
    return jnp.multiply(scale, elu(x, alpha))


def gelu(x: ArrayLike, approximate: bool = True) -> Array:
    """Return x times the distribution function of the standard normal distribution at x.

    With `approximate`, it is computed by a formula with tanh that is up to 5e-4 off; otherwise by
    erf.

    Args:
        x: an array of floats, or a number.
        approximate: False for the exact function.

    Raises:
        TypeError: not an array or a number.

    >>> irax.nn.gelu(jnp.array([-1.0, 2.0])).round(3)
    Array([-0.159,  1.955], dtype=float32)
    """
    array = inexact("gelu", x).with_weak_type(False)
    if jnp.iscomplexobj(array):
        return _complex_gelu(array, approximate)
    share = apply(GeluShare() if approximate else Ndtr(), array, what="gelu")
    if approximate:
        share = jnp.where(jnp.less(array, 0), share, jnp.subtract(1, share))
    return jnp.multiply(array, share)


def _complex_gelu(array: Array, approximate: bool) -> Array:
    if not approximate:
        lax.erfc(array)  # which says that it takes real numbers
    # (1 + tanh(y)) / 2, which loses digits where it is small, is sigmoid(2 y).
    scale = math.sqrt(8 / math.pi)
    slope = jnp.add(jnp.multiply(0.044715 * scale, jnp.square(array)), scale)
    return jnp.multiply(array, sigmoid(jnp.multiply(array, slope)))


def glu(x: ArrayLike, axis: int = -1) -> Array:
    """Return the first half along an axis times the sigmoid of the second half.

    Args:
        x: an array of floats whose size along the axis is even.
        axis: the axis.

    Raises:
        ValueError: the axis has an odd size.

    >>> irax.nn.glu(jnp.array([1.0, 2.0, 0.0, 0.0]))
    Array([0.5, 1. ], dtype=float32)
    """
    array = inexact("glu", x)
    along = canonical_axis("nn.glu", axis, array.ndim)
    if array.shape[along] % 2:
        raise ValueError(f"nn.glu: axis {along} of shape {array.shape} must have an even size")
    first, second = jnp.split(array, 2, along)
    return jnp.multiply(first, sigmoid(second))


@elementwise
def mish(x: ArrayLike) -> Array:
    """Return x tanh(softplus(x)).

    >>> irax.nn.mish(0.0)
    Array(0., dtype=float32, weak_type=True)
    """
    array = inexact("mish", x)
    # tanh(log(1 + exp(x))) by e = exp(-|x|), of quotients whose derivatives do not cancel.
    e = jnp.exp(jnp.negative(jnp.where(jnp.less(array, 0), jnp.negative(array), array)))
    square = jnp.square(e)
    above = jnp.subtract(1, jnp.multiply(e, jnp.divide(e, jnp.add(jnp.add(square, e), 0.5))))
    share = jnp.add(square, jnp.multiply(2, e))
    below = jnp.divide(share, jnp.add(share, 2))
    return jnp.multiply(array, jnp.where(jnp.less(array, 0), below, above))


@elementwise
def squareplus(x: ArrayLike, b: ArrayLike = 4) -> Array:
    """Return (x + sqrt(x**2 + b)) / 2, a smooth relu; the larger `b`, the smoother.

    >>> irax.nn.squareplus(0.0)
    Array(1., dtype=float32, weak_type=True)
    """
    x, b = promote(inexact("squareplus", x, weak=True), b, what="nn.squareplus")
    finite = jnp.logical_not(jnp.isinf(x))  # nan has a derivative of nan
    limit, x = jnp.maximum(x, 0), jnp.where(finite, x, 1)
    # In units of `scale`, so that no square overflows.
    scale = lax.stop_gradient(jnp.maximum(jnp.abs(x), 1))
    square = jnp.add(jnp.square(jnp.divide(x, scale)), jnp.divide(jnp.divide(b, scale), scale))
    zero = jnp.equal(square, 0)
    root = jnp.where(zero, 0, jnp.sqrt(jnp.where(zero, 1, square)))
    root = jnp.multiply(scale, root)
    # The part above relu(x), as a quotient: the sum of x and the root cancels where x is negative,
    # and its derivatives do where x is positive.
    apart = jnp.add(root, jnp.abs(x))
    above = jnp.divide(jnp.divide(b, jnp.where(zero, 1, apart)), 2)
    return jnp.where(finite, jnp.where(jnp.less(x, 0), above, jnp.add(x, above)), limit)


@elementwise
def sparse_plus(x: ArrayLike) -> Array:
    """Return 0 up to -1, x from 1 on, and a parabola between: (x + 1)**2 / 4.

    >>> irax.nn.sparse_plus(irax.numpy.array([-2.0, 0.0, 2.0]))
    Array([0.  , 0.25, 2.  ], dtype=float32)
    """
    array = inexact("sparse_plus", x, weak=True)
    between = jnp.divide(jnp.square(jnp.add(jnp.clip(array, -1, 1), 1)), 4)
    return jnp.where(jnp.greater_equal(array, 1), array, between)


@elementwise
def sparse_sigmoid(x: ArrayLike) -> Array:
    """Return (x + 1) / 2 clipped to [0, 1]: the derivative of `sparse_plus`.

    >>> irax.nn.sparse_sigmoid(irax.numpy.array([-2.0, 0.0, 2.0]))
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return jnp.multiply(0.5, jnp.clip(jnp.add(inexact("sparse_sigmoid", x, weak=True), 1), 0, 2))


@elementwise
def log1mexp(x: ArrayLike) -> Array:
    """Return log(1 - exp(-x)) for positive x, without loss of digits; -inf at 0, nan below.

    Maechler, "Accurately computing log(1 - exp(-|a|))" (2012).

    >>> irax.nn.log1mexp(1e-20)
    Array(-46.0517, dtype=float32, weak_type=True)
    """
    array = inexact("log1mexp", x)
    small = jnp.less(array, math.log(2))
    # The branch that is not chosen gets an argument at which it has a derivative.
    near = jnp.log(jnp.negative(jnp.expm1(jnp.negative(jnp.where(small, array, 1)))))
    far = jnp.log1p(jnp.negative(jnp.exp(jnp.negative(jnp.where(small, 1, array)))))
    return jnp.where(small, near, far)


def identity(x: ArrayLike) -> Array:
    """Return the argument, as an array.

    Args:
        x: an array, or a number.

    Raises:
        TypeError: not an array or a number.

    >>> irax.nn.identity(2.0)
    Array(2., dtype=float32, weak_type=True)
    """
    (array,) = as_arrays([x], "nn.identity")
    return array
