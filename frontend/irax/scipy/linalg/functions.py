"""Functions of square matrices: the exponential, the square root, and any other."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, factorial
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import lax
from irax.core.array import Array
from irax.core.dtypes.strictness import library
from irax.lax.linalg.matrices import adjoint
from irax.numpy.linalg.factored import inexact, square
from irax.scipy.linalg.factorizations import schur
from irax.scipy.linalg.solutions import by_columns, solve_sylvester
from irax.transforms.autodiff import jvp
from irax.transforms.custom_jvp import custom_jvp
from irax.typing import ArrayLike

_ORDERS = {4: (7, 3.925724783138660), 8: (13, 5.371920351148152)}
"""The order of the fraction, and the norm up to which it is exact, by the bytes of a float (N. J.
Higham, The scaling and squaring method for the matrix exponential revisited, 2005)."""


def expm(A: ArrayLike, *, upper_triangular: bool = False, max_squarings: float = 16) -> Array:
    """Return the exponential of square matrices: a fraction of polynomials of A / 2^s, squared s
    times.

    Args:
        A: matrices [..., n, n].
        upper_triangular: True if they are upper triangular.
        max_squarings: one less than the largest s, any number. Matrices of larger norm have the
            result nan.

    Raises:
        ValueError: no square matrices.

    >>> irax.scipy.linalg.expm(jnp.array([[0.0, 1.0], [0.0, 0.0]]))
    Array([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    (x,) = inexact("expm", A)
    square("expm", x)
    if not x.size:
        return x
    order, limit = _ORDERS[x.real.dtype.itemsize]
    size = lax.stop_gradient(jnp.max(jnp.sum(jnp.abs(x), -2), -1))
    steps = ceil(max_squarings) + 1
    halves = np.ldexp(1.0, -np.arange(steps + 2)).astype(size.dtype)
    squarings = jnp.sum(size[..., None] * halves[:-1] > limit, -1)
    scale = jnp.asarray(halves)[squarings]
    result = _fraction(x * scale[..., None, None], order, upper_triangular)

    def squared(k: Any, r: Array) -> Array:
        wanted = k < squarings
        return lax.cond(
            jnp.any(wanted),
            lambda: jnp.where(wanted[..., None, None], jnp.matmul(r, r), r),
            lambda: r,
        )

    result = lax.fori_loop(0, steps, squared, result)
    return jnp.where((squarings <= max_squarings + 1)[..., None, None], result, jnp.nan)


def _fraction(x: Array, order: int, upper_triangular: bool) -> Array:
    """Return Padé's approximant of the exponential."""
    numbers = range(order + 1)
    terms = [factorial(2 * order - k) / (factorial(k) * factorial(order - k)) for k in numbers]
    second = jnp.matmul(x, x)
    fourth = jnp.matmul(second, second)
    sixth = jnp.matmul(fourth, second)
    powers = [jnp.eye(x.shape[-1], dtype=x.dtype), second, fourth, sixth]

    def polynomial(terms: list[float]) -> Array:
        """Evaluate a polynomial of even powers, by products of those up to the sixth."""
        result = terms[0] * powers[0]
        for term, power in zip(terms[1:4], powers[1:], strict=True):
            result = result + term * power
        return result + jnp.matmul(sixth, polynomial([0.0, *terms[4:]])) if terms[4:] else result

    odd, even = jnp.matmul(x, polynomial(terms[1::2])), polynomial(terms[::2])
    if upper_triangular:
        return lax.linalg.triangular_solve(even - odd, even + odd, left_side=True)
    return jnp.linalg.solve(even - odd, even + odd)


def expm_frechet(
    A: ArrayLike, E: ArrayLike, *, method: str | None = None, compute_expm: bool = True
) -> Any:
    """Return the exponential of A and its derivative in the direction of E; the derivative alone
    without `compute_expm`.

    Args:
        A: matrices [..., n, n].
        E: matrices of the same shape.
        method: a hint.
        compute_expm: True to return the exponential as well.

    Raises:
        ValueError: shapes that do not fit.

    >>> zero, one = jnp.zeros((1, 1)), jnp.ones((1, 1))
    >>> irax.scipy.linalg.expm_frechet(zero, one, compute_expm=False)
    Array([[1.]], dtype=float32)
    """
    del method
    x, direction = inexact("expm_frechet", A, E)
    if square("expm_frechet", x).shape != direction.shape:
        raise ValueError(
            f"expm_frechet: expected A and E of one shape, got {x.shape} and {direction.shape}"
        )
    value, slope = jvp(expm, (x,), (direction,))
    return (value, slope) if compute_expm else slope


# ---- by Schur's form -----------------------------------------------------------------------------


def sqrtm(A: ArrayLike, blocksize: int = 1) -> Array:
    """Return the square root of a matrix [n, n], complex. It runs on the CPU alone.

    Args:
        A: a matrix without negative eigenvalues, if the root is to have a derivative.
        blocksize: 1.

    Raises:
        NotImplementedError: another block size.
        ValueError: no square matrix.

    >>> irax.scipy.linalg.sqrtm(jnp.array([[4.0, 0.0], [0.0, 9.0]])).real
    Array([[2., 0.],
           [0., 3.]], dtype=float32)
    """
    if blocksize != 1:
        raise NotImplementedError(f"sqrtm: blocksize must be 1, got {blocksize}")
    return _sqrtm(_one_complex("sqrtm", A))


def _one_complex(what: str, a: ArrayLike) -> Array:
    (x,) = inexact(what, a)
    if square(what, x).ndim != 2:
        raise ValueError(f"{what}: expected one matrix [n, n], got shape {x.shape}; see irax.vmap")
    return x.astype(jnp.result_type(x.dtype, jnp.complex64))


@custom_jvp
def _sqrtm(x: Array) -> Array:
    t, z = schur(x)
    roots = jnp.diag(jnp.sqrt(jnp.diagonal(t)))
    before, identity = jnp.arange(len(t)), jnp.eye(len(t), dtype=t.dtype)

    def column(j: Any, r: Array) -> tuple[Array, Array]:
        """Solve R R = T for one column of R above the diagonal."""
        return r + roots + roots[j, j] * identity, jnp.where(before < j, t[:, j], 0)

    above = by_columns(column, t)
    return jnp.matmul(z, jnp.matmul(above + roots, adjoint(z)))


@_sqrtm.defjvp
@library
def _sqrtm_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    root = _sqrtm(*primals)
    return root, solve_sylvester(root, root, tangents[0], tol=0)


def funm(A: ArrayLike, func: Callable[[Array], Array], disp: bool = True) -> Any:
    """Apply a function to a matrix [n, n], given as a function of eigenvalues (B. Parlett, 1976);
    complex. It runs on the CPU alone, and has no derivative.

    Args:
        A: a matrix, whose eigenvalues should lie apart.
        func: takes and gives an array of complex numbers.
        disp: True to return the result alone; otherwise also an estimate of its relative error.

    Raises:
        ValueError: no square matrix.

    >>> irax.scipy.linalg.funm(jnp.array([[4.0, 0.0], [0.0, 9.0]]), jnp.sqrt).real
    Array([[2., 0.],
           [0., 3.]], dtype=float32)
    """
    t, z = schur(_one_complex("funm", A))
    eigenvalues = jnp.diagonal(t)
    values = jnp.diag(func(eigenvalues))
    before, identity = jnp.arange(len(t)), jnp.eye(len(t), dtype=t.dtype)

    def column(j: Any, f: Array) -> tuple[Array, Array]:
        """F T = T F, of the rows above the diagonal of F."""
        known = jnp.where(before < j, t[:, j], 0)
        return t - t[j, j] * identity, jnp.matmul(f + values, known) - known * values[j, j]

    above = by_columns(column, t)
    result = jnp.matmul(z, jnp.matmul(above + values, adjoint(z)))
    if disp:
        return result
    eps = jnp.finfo(t.dtype).eps
    gaps = jnp.abs(eigenvalues[:, None] - eigenvalues)
    gap = jnp.min(jnp.where(gaps == 0, 1, gaps))
    error = eps / gap * jnp.linalg.matrix_norm(jnp.triu(t, 1), ord=1)
    return result, jnp.minimum(1, jnp.maximum(eps, error))
