"""Householder reflections I - tau v v^H, packed as LAPACK writes Q: v below the diagonal."""

from __future__ import annotations

from irax.core.array import Array
from irax.core.dispatch import bind
from irax.core.dtypes.strictness import library
from irax.lax import structure
from irax.lax.arguments import array_of
from irax.lax.linalg import matrices as m
from irax.typing import ArrayLike
from irax_compiler.ops.linalg import householder


def householder_product(a: ArrayLike, taus: ArrayLike) -> Array:
    """Return the first n columns of the product of k Householder reflections.

    Args:
        a: matrices [..., m, n], m >= n >= k, with the reflections below their diagonals.
        taus: the reflections' factors [..., k].

    Raises:
        ValueError: shapes that do not fit.

    >>> irax.lax.linalg.householder_product(jnp.array([[1.0], [0.0]]), jnp.array([2.0]))
    Array([[-1.],
           [ 0.]], dtype=float32)
    """
    array, factors = m.matrices("householder_product", a), _factors("householder_product", a, taus)
    rows, columns = array.shape[-2:]
    if not rows >= columns >= factors.shape[-1]:
        raise ValueError(
            "lax.linalg.householder_product: expected m >= n >= k, got a of shape "
            f"{array.shape} and taus of shape {factors.shape}"
        )
    return bind(householder.HouseholderProduct(), array, factors)


def ormqr(
    a: ArrayLike, taus: ArrayLike, c: ArrayLike, *, left: bool = True, transpose: bool = False
) -> Array:
    """Multiply by Q, the product of k Householder reflections.

    Args:
        a: matrices [..., m, k] with the reflections below their diagonals.
        taus: the reflections' factors [..., k].
        c: matrices [..., m, n] (without `left` [..., n, m]).
        left: Q is the left factor, not the right one.
        transpose: take the adjoint of Q.

    Raises:
        TypeError: `a` or `c` is not an array of floats or complex numbers, or has fewer than two
            dimensions.
        ValueError: the shapes do not fit.

    >>> c = jnp.array([[3.0], [4.0]])
    >>> irax.lax.linalg.ormqr(jnp.array([[1.0], [0.0]]), jnp.array([2.0]), c)
    Array([[-3.],
           [ 4.]], dtype=float32)
    """
    array, factors = m.matrices("ormqr", a), _factors("ormqr", a, taus)
    other = m.matrices("ormqr", c)
    rows, columns = array.shape[-2:]
    if rows < columns or other.shape[-2 if left else -1] != rows:
        raise ValueError(
            f"lax.linalg.ormqr: a of shape {array.shape} reflects vectors of {rows} elements; got "
            f"c of shape {other.shape}"
        )
    further = structure.full((*array.shape[:-1], rows - columns), 0, array.dtype)
    q = householder_product(structure.concatenate([array, further], array.ndim - 1), factors)
    q = m.adjoint(q) if transpose else q
    return q @ other if left else other @ q


def hessenberg(a: ArrayLike) -> list[Array]:
    """The matrix H of a = Q H Q^H that is zero below its first subdiagonal, with the reflections
    that Q is made of in place of these zeros; and their factors.

    Args:
        a: matrices [..., n, n].

    Returns:
        [..., n, n] and [..., n - 1].

    Raises:
        TypeError: not an array of floats or complex numbers, or fewer than two dimensions.
        ValueError: the last two dimensions differ.

    >>> irax.lax.linalg.hessenberg(jnp.eye(2))[1]
    Array([0.], dtype=float32)
    """
    packed, taus = m.factors(householder.Hessenberg(), m.matrices("hessenberg", a, square=True))
    return [packed, taus]


@library
def tridiagonal(a: ArrayLike, *, lower: bool = True) -> list[Array]:
    """The tridiagonal form T of Hermitian matrices a = Q T Q^H.

    Args:
        a: matrices [..., n, n].
        lower: which triangle counts, and in which the reflections are written.

    Returns:
        `a` with T and the reflections in that triangle; the diagonal of T, [..., n], and its
        off-diagonal, [..., n - 1], both real; the factors of the reflections, [..., n - 1].

    Raises:
        TypeError: not an array of floats or complex numbers, or fewer than two dimensions.
        ValueError: the last two dimensions differ.

    >>> irax.lax.linalg.tridiagonal(jnp.array([[2.0, 1.0], [1.0, 2.0]]))[1]
    Array([2., 2.], dtype=float32)
    """
    array = m.matrices("tridiagonal", a, square=True)
    if not lower:  # read from the end, it is the lower one
        packed, diagonal, beside, taus = tridiagonal(array[..., ::-1, ::-1])
        turned = [diagonal[..., ::-1], beside[..., ::-1], taus[..., ::-1]]
        return [packed[..., ::-1, ::-1], *turned]
    below = m.lower(array, -1)
    diagonal = m.real_part(m.diagonal(array))
    spread = m.identity(array.shape[-1], array.dtype) * diagonal[..., None, :]
    packed, taus = hessenberg(below + m.adjoint(below) + spread)
    diagonal, beside = (m.real_part(m.diagonal(packed, k)) for k in (0, -1))
    return [m.lower(packed) + m.upper(array, 1), diagonal, beside, taus]


def _factors(what: str, a: ArrayLike, taus: ArrayLike) -> Array:
    array, factors = array_of(f"lax.linalg.{what}", a), array_of(f"lax.linalg.{what}", taus)
    if factors.dtype != array.dtype or factors.shape[:-1] != array.shape[:-2] or not factors.ndim:
        raise ValueError(
            f"lax.linalg.{what}: expected taus [..., k] of the dtype and the batch of a, got a "
            f"{array.dtype}{list(array.shape)} and taus {factors.dtype}{list(factors.shape)}"
        )
    return factors
