"""Special matrices, made of some elements or of a size."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import dtypes
from irax.core.array import Array
from irax.core.dtypes.operands import as_arrays, judge_ranks
from irax.lax.arguments import canonical_int
from irax.numpy.linalg.factored import inexact
from irax.typing import ArrayLike, DTypeLike

# ---- of given elements ---------------------------------------------------------------------------


def block_diag(*arrs: ArrayLike) -> Array:
    """Return a matrix with blocks on its diagonal, zeros elsewhere.

    Args:
        *arrs: matrices; vectors are rows, numbers blocks of one element.

    Raises:
        ValueError: arrays of more than two dimensions.

    >>> irax.scipy.linalg.block_diag(jnp.ones((1, 2)), 3.0)
    Array([[1., 1., 0.],
           [0., 0., 3.]], dtype=float32)
    """
    blocks = as_arrays(list(arrs), "block_diag") if arrs else [jnp.zeros((1, 0))]
    for i, x in enumerate(blocks):
        if x.ndim > 2:
            raise ValueError(
                f"block_diag: argument {i} has shape {x.shape}; expected at most 2 dimensions"
            )
    dtype = jnp.result_type(*blocks)
    blocks = [jnp.atleast_2d(x).astype(dtype) for x in blocks]
    width = sum(x.shape[1] for x in blocks)
    rows, before = [], 0
    for x in blocks:
        rows.append(jnp.pad(x, ((0, 0), (before, width - before - x.shape[1]))))
        before += x.shape[1]
    return jnp.concatenate(rows)


def _vectors(what: str, *operands: ArrayLike | None) -> list[Array]:
    given = as_arrays([x for x in operands if x is not None], what)
    dtypes.judge_dtypes(*given)
    return [jnp.atleast_1d(x) for x in given]


def _joined(c: Array, r: Array) -> Array:
    """Join arrays along the last axis, with batches broadcast."""
    batch = np.broadcast_shapes(c.shape[:-1], r.shape[:-1])
    parts = [jnp.broadcast_to(x, (*batch, x.shape[-1])) for x in (c, r)]
    return jnp.concatenate(parts, -1)


def toeplitz(c: ArrayLike, r: ArrayLike | None = None) -> Array:
    """Return Toeplitz matrices, whose diagonals are constant.

    Args:
        c: the first column [..., m].
        r: the first row [..., n], without its first element, which counts as c's; the conjugate of
            c by default.

    Raises:
        TypeError: `c` or `r` is not an array.

    >>> irax.scipy.linalg.toeplitz(jnp.array([1, 2]), jnp.array([9, 3, 4]))
    Array([[1, 3, 4],
           [2, 1, 3]], dtype=int32)
    """
    column, *others = _vectors("toeplitz", c, r)
    judge_ranks([column, *others], "toeplitz", core=[1] * (1 + len(others)))
    row = others[0] if others else jnp.conj(column)
    m, n = column.shape[-1], row.shape[-1]
    elements = _joined(row[..., :0:-1], column)
    return elements[..., max(n - 1, 0) + np.arange(m)[:, None] - np.arange(n)]


def hankel(c: ArrayLike, r: ArrayLike | None = None) -> Array:
    """Return Hankel matrices, whose antidiagonals are constant.

    Args:
        c: the first column [..., m].
        r: the last row [..., n], without its first element, which counts as c's last; zeros by
            default.

    Raises:
        TypeError: `c` or `r` is not an array.

    >>> irax.scipy.linalg.hankel(jnp.array([1, 2]), jnp.array([9, 3, 4]))
    Array([[1, 2, 3],
           [2, 3, 4]], dtype=int32)
    """
    column, *others = _vectors("hankel", c, r)
    row = others[0] if others else jnp.zeros_like(column)
    elements = _joined(column, row[..., 1:])
    return elements[..., np.arange(column.shape[-1])[:, None] + np.arange(row.shape[-1])]


def circulant(c: ArrayLike) -> Array:
    """Return circulant matrices: each column is the one before, rolled down by one.

    Args:
        c: the first columns [..., n].

    Returns:
        Matrices [..., n, n].

    Raises:
        TypeError: not an array.

    >>> irax.scipy.linalg.circulant(jnp.array([1, 2, 3]))
    Array([[1, 3, 2],
           [2, 1, 3],
           [3, 2, 1]], dtype=int32)
    """
    (x,) = _vectors("circulant", c)
    n = x.shape[-1]
    return x[..., (np.arange(n)[:, None] - np.arange(n)) % max(n, 1)]


def companion(a: ArrayLike) -> Array:
    """The matrices [..., n - 1, n - 1] whose characteristic polynomials have coefficients a
    [..., n], from the highest power on.

    Args:
        a: the coefficients.

    Raises:
        ValueError: fewer than two coefficients.

    >>> irax.scipy.linalg.companion(jnp.array([1.0, -10.0, 31.0]))
    Array([[ 10., -31.],
           [  1.,   0.]], dtype=float32)
    """
    (x,) = inexact("companion", jnp.atleast_1d(a))
    n = x.shape[-1]
    if n < 2:
        raise ValueError(f"companion: expected at least two coefficients, got shape {x.shape}")
    first = (-x[..., 1:] / x[..., :1])[..., None, :]
    below = jnp.eye(n - 2, n - 1, dtype=x.dtype)
    below = jnp.broadcast_to(below, (*x.shape[:-1], n - 2, n - 1))
    return jnp.concatenate([first, below], -2)


def convolution_matrix(a: ArrayLike, n: int, mode: str = "full") -> Array:
    """Return the matrices that convolve vectors of n elements with a.

    Args:
        a: vectors [..., m].
        n: the number of columns.
        mode: the part of the convolution: "full", "same" or "valid" (see `convolve`).

    Raises:
        ValueError: another mode, or no columns.

    >>> irax.scipy.linalg.convolution_matrix(jnp.array([1, 2]), 2)
    Array([[1, 0],
           [2, 1],
           [0, 2]], dtype=int32)
    """
    x = as_arrays([a], "convolution_matrix")[0]
    if not x.ndim:
        raise ValueError("convolution_matrix: expected vectors [..., m], got a scalar")
    m, n = x.shape[-1], canonical_int("convolution_matrix", "n", n)
    if n <= 0 or not m:
        raise ValueError(
            f"convolution_matrix: expected n > 0 and elements, got n={n} and {x.shape}"
        )
    if mode not in ("full", "same", "valid"):
        raise ValueError(
            f"convolution_matrix: mode must be 'full', 'same' or 'valid', got {mode!r}"
        )
    rows = {"full": m + n - 1, "same": max(m, n), "valid": max(m, n) - min(m, n) + 1}[mode]
    first = 0 if mode == "full" else (min(m, n) - 1 if mode == "valid" else (min(m, n) - 1) // 2)
    place = first + np.arange(rows)[:, None] - np.arange(n)
    inside = (place >= 0) & (place < m)
    return jnp.where(inside, x[..., np.where(inside, place, 0)], np.zeros((), x.dtype))


def fiedler(a: ArrayLike) -> Array:
    """Return Fiedler matrices: the absolute differences of all pairs of elements of vectors.

    Args:
        a: vectors [..., n].

    Returns:
        Matrices [..., n, n].

    Raises:
        TypeError: not an array of numbers.

    >>> irax.scipy.linalg.fiedler(jnp.array([1, 4]))
    Array([[0, 3],
           [3, 0]], dtype=int32)
    """
    (x,) = _vectors("fiedler", a)
    return jnp.abs(x[..., :, None] - x[..., None, :])


def fiedler_companion(a: ArrayLike) -> Array:
    """Return companion matrices as `companion`, but with five nonzero diagonals.

    Args:
        a: the coefficients, a vector.

    Raises:
        ValueError: no coefficients.

    >>> irax.scipy.linalg.fiedler_companion(jnp.array([1.0, 2.0, 3.0]))
    Array([[-2., -3.],
           [ 1.,  0.]], dtype=float32)
    """
    (x,) = inexact("fiedler_companion", jnp.atleast_1d(a))
    n = x.shape[-1] - 1
    if n < 0:
        raise ValueError(f"fiedler_companion: a has no coefficients, its shape is {x.shape}")
    if n == 0:
        return jnp.zeros((*x.shape[:-1], 0, 0), x.dtype)
    coefficients = -x[..., 1:] / x[..., :1]
    # The positions of the coefficients, and of the ones.
    which, ones = np.full((n, n), -1), np.zeros((n, n), bool)
    which[0, 0] = 0
    for k in range(1, n):
        which[(k, k - 1) if k % 2 == 0 else (k - 1, k)] = k
    for k in range(0, n - 2, 2):
        ones[k, k + 2] = True
    for k in range(1, n - 2, 2):
        ones[k + 2, k] = True
    if n > 1:
        ones[1, 0] = True
    found = jnp.where(which >= 0, coefficients[..., np.maximum(which, 0)], 0)
    return jnp.where(ones, 1, found).astype(x.dtype)


def leslie(f: ArrayLike, s: ArrayLike) -> Array:
    """Return Leslie matrices, which take a population of n ages to the next generation.

    Args:
        f: the number of births to each age, [..., n].
        s: the share of each age that survives, [..., n - 1].

    Raises:
        ValueError: sizes that do not fit.

    >>> irax.scipy.linalg.leslie(jnp.array([1.0, 2.0]), jnp.array([0.5]))
    Array([[1. , 2. ],
           [0.5, 0. ]], dtype=float32)
    """
    births, survival = _vectors("leslie", f, s)
    judge_ranks([births, survival], "leslie", core=[1, 1])
    n = births.shape[-1]
    if survival.shape[-1] != n - 1 or n < 2:
        raise ValueError(
            f"leslie: expected f [..., n] and s [..., n - 1], got shapes {births.shape} and "
            f"{survival.shape}"
        )
    dtype = jnp.result_type(births, survival)
    below = jnp.eye(n - 1, n, dtype=dtype) * survival[..., :, None]
    batch = np.broadcast_shapes(births.shape[:-1], survival.shape[:-1])
    first = jnp.broadcast_to(births.astype(dtype)[..., None, :], (*batch, 1, n))
    return jnp.concatenate([first, jnp.broadcast_to(below, (*batch, n - 1, n))], -2)


# ---- of a size -----------------------------------------------------------------------------------


def _numbers(matrix: Any) -> Array:
    """Return floats in their default dtype."""
    return jnp.asarray(np.asarray(matrix, np.float64), dtype=float)


def _table(n: int, element: Callable[[int, int], float]) -> np.ndarray[Any, Any]:
    """Return the n x n matrix of a function of rows and columns."""
    rows = [[float(element(i, j)) for j in range(n)] for i in range(n)]
    return np.array(rows, np.float64).reshape(n, n)


def dft(n: int, scale: str | None = None, *, dtype: DTypeLike | None = None) -> Array:
    """Return the matrix of the discrete Fourier transform of n elements.

    Args:
        n: the size.
        scale: "sqrtn" or "n": divide by that.
        dtype: complex64 or complex128.

    Raises:
        ValueError: another scale or dtype.

    >>> irax.scipy.linalg.dft(2).real
    Array([[ 1.,  1.],
           [ 1., -1.]], dtype=float32)
    """
    n = _size("dft", n)
    wanted = dtypes.requested_dtype(complex if dtype is None else dtype, "dft")
    if wanted.kind != "c":
        raise ValueError(f"dft: dtype must be complex64 or complex128, got {wanted}")
    size = max(n, 1)
    factors = {None: 1.0, "sqrtn": size**-0.5, "n": 1 / size}
    if scale not in factors:
        raise ValueError(f"dft: scale must be None, 'sqrtn' or 'n', got {scale!r}")
    powers = np.outer(np.arange(n), np.arange(n)) % size
    matrix = factors[scale] * np.exp(-2j * np.pi * powers / size)
    return jnp.asarray(matrix, dtype=wanted)


def hadamard(n: int, dtype: DTypeLike = int) -> Array:
    """Return a Hadamard matrix, of ones and minus ones with orthogonal rows.

    Args:
        n: the number of rows and columns, a power of 2.
        dtype: the dtype of the result.

    Raises:
        ValueError: n is no power of 2.

    >>> irax.scipy.linalg.hadamard(2)
    Array([[ 1,  1],
           [ 1, -1]], dtype=int32)
    """
    n = _size("hadamard", n)
    if n < 1 or n & (n - 1):
        raise ValueError(f"hadamard: n must be a power of 2, got {n}")
    matrix = np.ones((1, 1), np.int64)
    while len(matrix) < n:
        matrix = np.kron(np.array([[1, 1], [1, -1]]), matrix)
    return jnp.asarray(matrix, dtype=float if dtype is None else dtype)


def helmert(n: int, full: bool = False) -> Array:
    """Return a Helmert matrix, with orthonormal rows, the first (left out, but for `full`)
    constant.

    Args:
        n: the number of columns.
        full: True for n rows, False for the n - 1 after the constant one.

    Raises:
        ValueError: n is not positive.

    >>> irax.scipy.linalg.helmert(2).round(3)
    Array([[ 0.707, -0.707]], dtype=float32)
    """
    n = _size("helmert", n)
    if n < 1:
        raise ValueError(f"helmert: n must be positive, got {n}")
    matrix = np.tril(np.ones((n, n)), -1) - np.diag(np.arange(n))
    matrix[:1] = 1
    matrix /= np.sqrt((matrix**2).sum(1, keepdims=True))
    return _numbers(matrix if full else matrix[1:])


def hilbert(n: int) -> Array:
    """Return the Hilbert matrix, of 1 / (i + j - 1).

    Args:
        n: the number of rows and columns.

    Raises:
        TypeError: `n` is not an int.

    >>> irax.scipy.linalg.hilbert(2).round(3)
    Array([[1.   , 0.5  ],
           [0.5  , 0.333]], dtype=float32)
    """
    numbers = np.arange(_size("hilbert", n))
    return _numbers(1 / (1.0 + numbers[:, None] + numbers))


def invhilbert(n: int) -> Array:
    """Return the inverse of `hilbert`, which has integers.

    Args:
        n: the number of rows and columns.

    Raises:
        TypeError: `n` is not an int.

    >>> irax.scipy.linalg.invhilbert(2)
    Array([[ 4., -6.],
           [-6., 12.]], dtype=float32)
    """
    n = _size("invhilbert", n)

    def element(i: int, j: int) -> float:
        size = (i + j + 1) * comb(n + i, n - j - 1) * comb(n + j, n - i - 1) * comb(i + j, i) ** 2
        return float(-size if (i + j) % 2 else size)

    return _numbers(_table(n, element))


def _size(what: str, n: Any) -> int:
    """Return the size of a matrix, which is empty where n is negative."""
    return max(canonical_int(what, "n", n), 0)


_KINDS = ("symmetric", "lower", "upper")


def pascal(n: int, kind: str | None = None) -> Array:
    """Return the matrix of Pascal's triangle.

    Args:
        n: the size.
        kind: "symmetric" (the default), "lower" or "upper".

    Raises:
        ValueError: another kind.

    >>> irax.scipy.linalg.pascal(3)
    Array([[1., 1., 1.],
           [1., 2., 3.],
           [1., 3., 6.]], dtype=float32)
    """
    return _pascal("pascal", n, kind, lambda lower: (lower, lower.T))


def invpascal(n: int, kind: str | None = None) -> Array:
    """Return the inverse of `pascal`, which has integers.

    Args:
        n: the number of rows and columns.
        kind: "symmetric" (the default), "lower" or "upper": the matrix that is inverted.

    Raises:
        TypeError: `n` is not an int.
        ValueError: there is no such kind.

    >>> irax.scipy.linalg.invpascal(2)
    Array([[ 2., -1.],
           [-1.,  1.]], dtype=float32)
    """

    def inverted(lower: Any) -> tuple[Any, Any]:
        numbers = np.arange(len(lower))
        lower = lower * (-1.0) ** (numbers[:, None] + numbers)
        return lower, lower.T

    return _pascal("invpascal", n, kind, inverted)


def _pascal(what: str, n: int, kind: str | None, factors: Any) -> Array:
    kind = "symmetric" if kind is None else kind
    if kind not in _KINDS:
        raise ValueError(f"{what}: kind must be one of {', '.join(_KINDS)}, got {kind!r}")
    lower, upper = factors(_table(_size(what, n), comb))
    if kind == "symmetric":
        return _numbers(lower @ upper if what == "pascal" else upper @ lower)
    return _numbers(lower if kind == "lower" else upper)
