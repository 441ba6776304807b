"""Polynomials as vectors of coefficients, from the highest power down."""

from __future__ import annotations

from typing import Any

import numpy as np

from irax import dtypes, errors, lax
from irax.core.array import Array
from irax.core.dispatch import shortcut
from irax.core.dtypes.operands import as_arrays, inexact_dtype
from irax.core.dtypes.promotion import convert, promote_dtypes
from irax.lax.arguments import canonical_int
from irax.numpy import linalg
from irax.numpy.aggregates import reductions
from irax.numpy.elementwise.exponentials import sqrt
from irax.numpy.matrices import eye
from irax.numpy.ordering import argsort
from irax.numpy.products.contraction import dot, outer
from irax.numpy.products.convolution import convolve
from irax.numpy.searching import where
from irax.numpy.shapes.joining import concatenate
from irax.numpy.shapes.manipulation import atleast_1d
from irax.numpy.shapes.repetition import roll
from irax.numpy.ufuncs import abs, add, divide, multiply, negative, square, subtract
from irax.typing import ArrayLike
from irax_compiler.ops import numpy_call


def _vectors(name: str, *operands: ArrayLike) -> list[Array]:
    """The operands as vectors of one dtype; a number is a vector of one."""
    arrays = [atleast_1d(x) for x in promote_dtypes(*operands, what=name)]
    for x in arrays:
        if x.ndim != 1:
            raise ValueError(f"{name}: expected vectors of coefficients, got shape {x.shape}")
    return arrays


def _floats(*arrays: Array) -> list[Array]:
    return [convert(x, inexact_dtype(x.dtype), x.weak_type) for x in arrays]


def _padded(x: Array, size: int) -> Array:
    return lax.pad(x, np.zeros((), x.dtype), [(size - x.size, 0, 0)])


# ---- values --------------------------------------------------------------------------------------


def polyval(p: ArrayLike, x: ArrayLike, *, unroll: int | None = None) -> Array:
    """Evaluate the polynomial with coefficients p at x.

    Args:
        p: the coefficients; several polynomials lie along the first axis.
        x: an array, broadcast with the other axes of `p`.
        unroll: the number of steps in each step of the compiled loop; 16 by default.

    Raises:
        TypeError: `p` or `x` is not an array.
        ValueError: `p` is a scalar.

    >>> irax.numpy.polyval(irax.numpy.array([1, 2, 3]), 10)
    Array(123, dtype=int32)
    """
    steps = 16 if unroll is None else unroll
    coefficients, at = promote_dtypes(p, x, what="polyval")
    if not coefficients.ndim:
        raise ValueError("polyval: expected a vector of coefficients, got a scalar")
    shape = np.broadcast_shapes(coefficients.shape[1:], at.shape)
    op = numpy_call.NumpyCall("polyval", shape, at.dtype)
    weak = coefficients.weak_type and at.weak_type

    def formula(coefficients: Array, at: Array) -> Array:
        return _horner(coefficients, at, shape, steps)

    return shortcut(op, coefficients, at, formula=formula, weak_type=weak)


def _horner(coefficients: Array, at: Array, shape: tuple[int, ...], unroll: int) -> Array:
    start = lax.full(shape, 0, at.dtype)

    def step(so_far: Array, coefficient: Array) -> tuple[Array, None]:
        return add(multiply(so_far, at), coefficient), None

    if coefficients.shape[0] > unroll:
        return lax.scan(step, start, coefficients, unroll=unroll)[0]
    for i in range(coefficients.shape[0]):
        start, _ = step(start, lax.index_in_dim(coefficients, i, keepdims=False))
    return start


# ---- arithmetic ----------------------------------------------------------------------------------


def polyadd(a1: ArrayLike, a2: ArrayLike) -> Array:
    """Return the sum of two polynomials.

    Args:
        a1: a vector of coefficients, that of the highest power first.
        a2: another one.

    Raises:
        TypeError: `a1` or `a2` is not an array.
        ValueError: an array of more than one dimension.

    >>> irax.numpy.polyadd(irax.numpy.array([1, 2]), irax.numpy.array([5, 0, 0]))
    Array([5, 1, 2], dtype=int32)
    """
    x, y = _vectors("polyadd", a1, a2)
    size = max(x.size, y.size)
    return add(_padded(x, size), _padded(y, size))


def polysub(a1: ArrayLike, a2: ArrayLike) -> Array:
    """Return the difference of two polynomials.

    Args:
        a1: a vector of coefficients, that of the highest power first.
        a2: another one.

    Raises:
        TypeError: `a1` or `a2` is not an array.
        ValueError: an array of more than one dimension.

    >>> jnp.polysub(jnp.array([1, 2, 3]), jnp.array([1, 1]))
    Array([1, 1, 2], dtype=int32)
    """
    x, y = _vectors("polysub", a1, a2)
    size = max(x.size, y.size)
    return subtract(_padded(x, size), _padded(y, size))


def _trimmed(x: Array, name: str) -> Array:
    why = f"{name}: trim_leading_zeros needs the coefficients to know the shape of its result"
    places = np.flatnonzero(x.concrete(why, errors.ConcretizationTypeError))
    return x[places[0] if places.size else x.size - 1 :] if x.size else x


def polymul(a1: ArrayLike, a2: ArrayLike, *, trim_leading_zeros: bool = False) -> Array:
    """Return the product of two polynomials, as floats.

    Args:
        a1: a vector of coefficients.
        a2: likewise.
        trim_leading_zeros: True to drop zeros in front of both first; the coefficients must be
            known then.

    Raises:
        TypeError: `a1` or `a2` is not an array.
        ValueError: an array of more than one dimension.

    >>> irax.numpy.polymul(irax.numpy.array([1, 2]), irax.numpy.array([1, -2]))
    Array([ 1.,  0., -4.], dtype=float32)
    """
    x, y = _vectors("polymul", a1, a2)
    if trim_leading_zeros and (x.size > 1 or y.size > 1):
        x, y = _trimmed(x, "polymul"), _trimmed(y, "polymul")
    x, y = (v if v.size else lax.full((1,), 0, v.dtype) for v in (x, y))
    return convolve(x, y)


def polydiv(u: ArrayLike, v: ArrayLike, *, trim_leading_zeros: bool = False) -> tuple[Array, Array]:
    """Return the quotient and the remainder of two polynomials, as floats.

    Args:
        u: the dividend.
        v: the divisor; its first coefficient must not be 0.
        trim_leading_zeros: True to drop zeros in front of the remainder; the coefficients must
            be known then. Otherwise it is as long as `u`.

    Raises:
        TypeError: `u` or `v` is not an array.
        ValueError: an array of more than one dimension, or `v` is empty.

    >>> irax.numpy.polydiv(irax.numpy.array([1, 3, 2]), irax.numpy.array([1, 1]))
    (Array([1., 2.], dtype=float32), Array([0., 0., 0.], dtype=float32))
    """
    x, y = _floats(*_vectors("polydiv", u, v))
    if not y.size:
        raise ValueError("polydiv: the divisor has no coefficients")
    rest, shares = x, []
    for place in range(x.size - y.size + 1):
        share = divide(rest[place], y[0])
        shares.append(share)
        rest = rest.at[place : place + y.size].subtract(multiply(share, y))
        rest = rest.at[place].set(0)
    quotient = (
        lax.concatenate([s[None] for s in shares], 0) if shares else lax.full((1,), 0, x.dtype)
    )
    return quotient, _trimmed(rest, "polydiv") if trim_leading_zeros else rest


def polyder(p: ArrayLike, m: int = 1) -> Array:
    """Return the m-th derivative of a polynomial, as floats.

    Args:
        p: a vector of coefficients, that of the highest power first.
        m: how many times, from 0 on.

    Raises:
        TypeError: `p` is not an array, or `m` is not an int.
        ValueError: an array of more than one dimension, or `m` is negative.

    >>> irax.numpy.polyder(irax.numpy.array([1, 2, 3]))
    Array([2., 2.], dtype=float32)
    """
    (x,) = _floats(*_vectors("polyder", p))
    times = _order("polyder", m)
    if not times:
        return x
    powers = np.arange(x.size - 1, times - 1, -1)
    factors = np.prod([powers - i for i in range(times)], axis=0)
    return multiply(x[: powers.size], factors.astype(x.dtype))


def polyint(p: ArrayLike, m: int = 1, k: Any = None) -> Array:
    """Integrate a polynomial m times; as floats.

    Args:
        p: a vector of coefficients.
        m: the number of integrations.
        k: the constants, one for each time, or one for all; 0 by default.

    Raises:
        TypeError: `p` is not an array, or `m` is not an int.
        ValueError: an array of more than one dimension, `m` is negative, or `k` has another number
            of constants.

    >>> irax.numpy.polyint(irax.numpy.array([2, 2]), k=3)
    Array([1., 2., 3.], dtype=float32)
    """
    times = _order("polyint", m)
    constants = np.zeros(1) if k is None else np.asarray(k) if isinstance(k, list | tuple) else k
    x, added = _floats(*_vectors("polyint", p, convert(*_weak(constants))))
    if added.size not in (1, times):
        raise ValueError(f"polyint: expected one constant or {times}, got {added.size}")
    for time in range(times):
        powers = np.arange(x.size, 0, -1).astype(x.dtype)
        constant = added[time if added.size > 1 else 0]
        x = lax.concatenate([divide(x, powers), constant[None]], 0)
    return x


def _weak(constants: Any) -> tuple[Array, np.dtype[Any], bool]:
    """Constants, which take the dtype of the polynomial if they are Python numbers."""
    (array,) = as_arrays([constants], "polyint")
    return array, array.dtype, array.weak_type or isinstance(constants, np.ndarray)


def _order(name: str, m: int) -> int:
    times = canonical_int(name, "m", m)
    if times < 0:
        raise ValueError(f"{name}: m must be at least 0, got {m}")
    return times


# ---- zeros ---------------------------------------------------------------------------------------


def poly(seq_of_zeros: ArrayLike) -> Array:
    """Return the coefficients of the polynomial with these zeros, or of a matrix's characteristic
    one.

    Args:
        seq_of_zeros: a vector of zeros, or a square matrix.

    Returns:
        A vector of one more element, the first of which is 1: the highest power comes first.

    Raises:
        TypeError: not an array.
        ValueError: another shape.

    >>> irax.numpy.poly(irax.numpy.array([1, 2]))
    Array([ 1., -3.,  2.], dtype=float32)
    """
    (x,) = as_arrays([seq_of_zeros], "poly")
    (x,) = _floats(atleast_1d(x))
    if x.ndim == 2 and x.shape[0] == x.shape[1] and x.size:
        x = linalg.eigvals(x)
    elif x.ndim != 1:
        raise ValueError(f"poly: expected a vector or a square matrix, got shape {x.shape}")
    result = lax.full((1,), 1, x.dtype)
    for i in range(x.size):
        shifted = lax.pad(result, np.zeros((), x.dtype), [(1, 0, 0)])
        result = subtract(_grown(result), multiply(x[i], shifted))
    return result


def _grown(x: Array) -> Array:
    return lax.pad(x, np.zeros((), x.dtype), [(0, 1, 0)])


def roots(p: ArrayLike, *, strip_zeros: bool = True) -> Array:
    """Return the zeros of a polynomial, as complex numbers: the eigenvalues of its companion
    matrix.

    Args:
        p: a vector of coefficients.
        strip_zeros: True to drop coefficients 0 at both ends first, which must be known then.
            Without it there are as many zeros as the vector has elements but one: for each
            coefficient 0 in front, the last of them is nan.

    Raises:
        ConcretizationTypeError: traced coefficients with `strip_zeros`.

    >>> irax.numpy.roots(irax.numpy.array([1.0, -3.0, 2.0])).real.sort()
    Array([1., 2.], dtype=float32)
    """
    (x,) = _floats(*_vectors("roots", p))
    at_zero = 0
    if strip_zeros:
        why = "roots needs the coefficients to know how many there are; give strip_zeros=False"
        places = np.flatnonzero(x.concrete(why, errors.ConcretizationTypeError))
        if not places.size:
            return lax.full((0,), 0, _complex(x))
        at_zero = x.size - 1 - int(places[-1])
        x = x[int(places[0]) : int(places[-1]) + 1]
    if x.size < 2:
        return lax.full((at_zero,), 0, _complex(x))
    if strip_zeros:
        return concatenate([_eigenvalues(x), lax.full((at_zero,), 0, _complex(x))])
    return _roots_of_fewer(x)


def _eigenvalues(x: Array) -> Array:
    """The zeros of a polynomial whose first coefficient is not 0."""
    companion = convert(eye(x.size - 1, k=-1), x.dtype)
    return linalg.eigvals(companion.at[0].set(negative(divide(x[1:], x[0]))))


def _roots_of_fewer(x: Array) -> Array:
    """The zeros of a polynomial, and nan for each coefficient 0 in front.

    With these behind the others instead, it has as many zeros 0 more, which are left out.
    """
    leading = lax.argmax(x != 0, 0, np.int32)
    found = _eigenvalues(roll(x, -leading))
    falling = argsort(-abs(found), stable=True)
    is_left_out = np.arange(found.size) >= found.size - leading
    return where(is_left_out, complex(np.nan, np.nan), found[falling])


def _complex(x: Array) -> np.dtype[Any]:
    return np.result_type(x.dtype, np.complex64)


# ---- fits ----------------------------------------------------------------------------------------


def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> Array:
    """Return the Vandermonde matrix: a row for each number, with its powers from N - 1 down to 0.

    Args:
        x: a vector.
        N: the number of powers; as many as numbers by default.
        increasing: True for ascending powers.

    Raises:
        TypeError: `x` is not an array, or `N` is not an int.
        ValueError: `x` is not a vector, or `N` is negative.

    >>> irax.numpy.vander(irax.numpy.array([2, 3]), 3)
    Array([[4, 2, 1],
           [9, 3, 1]], dtype=int32)
    """
    (base,) = as_arrays([x], "vander")
    if base.ndim != 1:
        raise ValueError(f"vander: expected a vector, got shape {base.shape}")
    count = base.size if N is None else canonical_int("vander", "N", N)
    if count < 0:
        raise ValueError(f"vander: N must be at least 0, got {N}")
    columns = [lax.full_like(base, 1)]
    for _ in range(count - 1):
        columns.append(multiply(columns[-1], base))
    if not count:
        return lax.full((base.size, 0), 0, base.dtype)
    columns = [lax.expand_dims(c, (1,)) for c in columns]
    return lax.concatenate(columns if increasing else columns[::-1], 1)


def polyfit(
    x: ArrayLike,
    y: ArrayLike,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: ArrayLike | None = None,
    cov: bool | str = False,
) -> Any:
    """Fit a polynomial to points by least squares.

    Args:
        x: a vector, the positions of the points.
        y: their values: a vector, or a matrix with a column for each polynomial.
        deg: the degree.
        rcond: singular values smaller than this, relative to the largest, are taken for 0.
        full: True to return also the residuals, rank, singular values and rcond.
        w: weights, for the values, not their squares.
        cov: True to return also the covariance of the coefficients; "unscaled": where the
            weights are reciprocals of standard deviations.

    Raises:
        TypeError: not vectors, or of different lengths.
        ValueError: a negative degree, or too few points for a covariance.

    >>> points = irax.numpy.arange(4.0)
    >>> irax.numpy.polyfit(points, 2 * points + 1, 1).round(3)
    Array([2., 1.], dtype=float32)
    """
    at, values = _floats(*promote_dtypes(x, y, what="polyfit"))
    order = canonical_int("polyfit", "deg", deg) + 1
    if order < 1:
        raise ValueError(f"polyfit: deg must be at least 0, got {deg}")
    if at.ndim != 1 or not at.size or values.ndim not in (1, 2) or values.shape[0] != at.size:
        raise TypeError(
            "polyfit: expected a vector of points and as many values, got shapes "
            f"{at.shape} and {values.shape}"
        )
    if rcond is None:
        rcond = at.size * float(np.finfo(at.dtype).eps)
    matrix, right = vander(at, order), values
    if w is not None:
        (weights,) = as_arrays([w], "polyfit")
        dtypes.judge_dtypes(x, None if weights.dtype.kind in "iub" else weights)
        if weights.shape != at.shape:
            raise TypeError(f"polyfit: w has shape {weights.shape}; expected {at.shape}")
        weights = convert(weights, at.dtype)
        matrix = multiply(matrix, weights[:, None])
        right = multiply(right, weights[:, None] if right.ndim == 2 else weights)
    # Columns of one length, so that rcond means the same for all powers.
    scale = sqrt(reductions.sum(square(matrix), 0))
    matrix = divide(matrix, scale)
    solution, residuals, rank, singular = linalg.lstsq(matrix, right, rcond)
    coefficients = divide(solution, scale[:, None] if right.ndim == 2 else scale)
    if full:
        return coefficients, residuals, rank, singular, as_arrays([rcond], "polyfit")[0]
    if not cov:
        return coefficients
    base = divide(linalg.inv(dot(matrix.T, matrix)), outer(scale, scale))
    if cov != "unscaled":
        if at.size <= order:
            raise ValueError(
                f"polyfit: {at.size} points are too few for the covariance of {order} coefficients"
            )
        base = base if right.ndim == 1 else base[:, :, None]
        base = multiply(base, divide(residuals, at.size - order))
    elif right.ndim == 2:
        base = base[:, :, None]
    return coefficients, base
