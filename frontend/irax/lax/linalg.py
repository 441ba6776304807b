"""irax.lax.linalg: factorizations of matrices, which are the last two dimensions of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from irax.array import Array
from irax.lax.arguments import array_of
from irax.tracing import bind
from irax.typing import ArrayLike
from irax_compiler.ops import householder, spectral
from irax_compiler.ops import linalg as ops
from irax_compiler.ops import lu as lu_ops

_KINDS = ("float32", "float64", "complex64", "complex128")


def _matrices(what: str, x: ArrayLike, square: bool = False) -> Array:
    array = array_of(f"lax.linalg.{what}", x)
    if array.dtype.name not in _KINDS:
        raise TypeError(
            f"lax.linalg.{what}: expected an array of {', '.join(_KINDS)}, got {array.dtype}"
        )
    if array.ndim < 2 or (square and array.shape[-1] != array.shape[-2]):
        kind = "square matrices" if square else "matrices"
        raise ValueError(
            f"lax.linalg.{what}: expected {kind} in the last two dimensions, got shape "
            f"{array.shape}"
        )
    return array


def _symmetrized(x: Array) -> Array:
    import irax.numpy as jnp

    return (x + jnp.conj(jnp.swapaxes(x, -1, -2))) / 2


def cholesky(x: ArrayLike, *, symmetrize_input: bool = True) -> Array:
    """The lower triangular matrices L with L L^H = x; nan where x is not positive definite.

    Args:
        x: Hermitian matrices [..., n, n], floats or complex.
        symmetrize_input: take the mean of x and its adjoint first; otherwise the lower triangle
            alone counts.

    Raises:
        TypeError, ValueError: not square matrices of floats or complex numbers.

    >>> irax.lax.linalg.cholesky(jnp.array([[4.0, 2.0], [2.0, 2.0]]))
    Array([[2., 0.],
           [1., 1.]], dtype=float32)
    """
    array = _matrices("cholesky", x, square=True)
    return bind(ops.Cholesky(True), _symmetrized(array) if symmetrize_input else array)


def triangular_solve(
    a: ArrayLike,
    b: ArrayLike,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Array:
    """The x with op(a) x = b (with `left_side`), or x op(a) = b.

    Args:
        a: matrices [..., n, n], of which one triangle counts.
        b: matrices [..., n, k] (or [..., k, n]) of the same batch and dtype, or vectors.
        left_side: on which side of x the triangle is.
        lower: which triangle of a counts.
        transpose_a: op transposes.
        conjugate_a: op conjugates.
        unit_diagonal: take the diagonal to be ones.

    Raises:
        TypeError, ValueError: shapes or dtypes that do not fit.

    >>> a = jnp.array([[2.0, 0.0], [1.0, 1.0]])
    >>> irax.lax.linalg.triangular_solve(a, jnp.array([[2.0], [3.0]]), left_side=True, lower=True)
    Array([[1.],
           [2.]], dtype=float32)
    """
    import irax.numpy as jnp

    first = _matrices("triangular_solve", a, square=True)
    second = array_of("lax.linalg.triangular_solve", b)
    vector = second.ndim == first.ndim - 1
    if vector:
        second = jnp.expand_dims(second, -1 if left_side else -2)
    along = second.shape[-2 if left_side else -1] if second.ndim >= 2 else None
    fits = second.shape[:-2] == first.shape[:-2] and along == first.shape[-1]
    if second.dtype != first.dtype or not fits:
        raise ValueError(
            f"lax.linalg.triangular_solve: a has type {first.aval} and b {second.aval}; expected "
            "one dtype, the same batch dimensions, and as many rows of b (columns, without "
            "left_side) as a has"
        )
    if conjugate_a and not transpose_a:
        first = jnp.conj(first)
    kind = "NO_TRANSPOSE"
    if transpose_a:
        kind = "ADJOINT" if conjugate_a and first.dtype.kind == "c" else "TRANSPOSE"
    op = ops.TriangularSolve(left_side, lower, unit_diagonal, kind)
    result = bind(op, first, second)
    return jnp.squeeze(result, -1 if left_side else -2) if vector else result


def lu(x: ArrayLike) -> tuple[Array, Array, Array]:
    """P x = L U: L (without its ones) and U in one matrix [..., m, n]; for each column the row that
    was exchanged with it, int32[..., k]; and the permutation of rows, int32[..., m].

    >>> irax.lax.linalg.lu(jnp.array([[1.0, 2.0], [2.0, 2.0]]))[1]
    Array([1, 1], dtype=int32)
    """
    factors, pivots, order = bind(lu_ops.Lu(), _matrices("lu", x))
    return factors, pivots, order


def qr(x: ArrayLike, *, full_matrices: bool = False) -> tuple[Array, Array]:
    """Q with orthonormal columns and the upper triangle R of x = Q R.

    Raises:
        NotImplementedError: `full_matrices` of matrices with more rows than columns.

    >>> q, r = irax.lax.linalg.qr(jnp.array([[3.0], [4.0]]))
    >>> abs(r)
    Array([[5.]], dtype=float32)
    """
    import irax.numpy as jnp

    array = _matrices("qr", x)
    m, n = array.shape[-2:]
    if full_matrices and m > n:
        raise NotImplementedError("lax.linalg.qr: full_matrices=True is not supported for m > n")
    if m >= n:
        q, r = bind(householder.Qr(full=False), array)
        return q, r
    q, r = bind(householder.Qr(full=False), array[..., :m])
    rest = jnp.matmul(jnp.conj(jnp.swapaxes(q, -1, -2)), array[..., m:])
    return q, jnp.concatenate([r, rest], -1)


def eigh(x: ArrayLike, *, lower: bool = True, symmetrize_input: bool = True) -> tuple[Array, Array]:
    """Orthonormal eigenvectors, as columns, and the eigenvalues of Hermitian matrices, ascending.

    The derivatives of eigenvectors of equal eigenvalues, which do not exist, are taken to be 0.

    >>> irax.lax.linalg.eigh(jnp.array([[2.0, 1.0], [1.0, 2.0]]))[1].round(5)
    Array([1., 3.], dtype=float32)
    """
    import irax.numpy as jnp

    array = _matrices("eigh", x, square=True)
    if symmetrize_input:
        array = _symmetrized(array)
    elif not lower:
        array = jnp.conj(jnp.swapaxes(array, -1, -2))
    vectors, values = bind(spectral.Eigh(vectors=True), array)
    return vectors, values


def svd(x: ArrayLike, *, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """U, the singular values s (descending) and V^H of x = U diag(s) V^H; s alone without
    `compute_uv`.

    Raises:
        NotImplementedError: `full_matrices` of matrices that are not square.

    >>> irax.lax.linalg.svd(jnp.array([[3.0], [4.0]]), compute_uv=False)
    Array([5.], dtype=float32)
    """
    array = _matrices("svd", x)
    if compute_uv and full_matrices and array.shape[-1] != array.shape[-2]:
        raise NotImplementedError(
            "lax.linalg.svd: full_matrices=True is supported for square matrices alone; pass "
            "full_matrices=False"
        )
    u, s, vh = bind(spectral.Svd(full=False, vectors=True), array)
    return (u, s, vh) if compute_uv else s


def lu_pivots_to_permutation(pivots: ArrayLike, permutation_size: int) -> Array:
    """The permutation of rows that exchanges, int32[..., k], come to.

    >>> irax.lax.linalg.lu_pivots_to_permutation(jnp.array([1, 1]), 3)
    Array([1, 0, 2], dtype=int32)
    """
    import irax.numpy as jnp

    array = array_of("lax.linalg.lu_pivots_to_permutation", pivots)
    batch = array.shape[:-1]
    order = jnp.broadcast_to(
        jnp.arange(permutation_size, dtype=np.int32), (*batch, permutation_size)
    )
    for k in range(array.shape[-1]):
        rows = jnp.arange(permutation_size)
        pivot = array[..., k : k + 1]
        other = jnp.take_along_axis(order, pivot, -1)
        mine = order[..., k : k + 1]
        order = jnp.where(rows == k, other, jnp.where(rows == pivot, mine, order))
    return order
