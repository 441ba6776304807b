"""Linear equations, solved by products with the matrix alone: cg, bicgstab, gmres.

The matrix is a function (or an array), vectors are pytrees of arrays. The solvers iterate; their
derivatives are those of the solution (see `irax.lax.custom_linear_solve`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import dtypes, lax, tree_util
from irax.core.array import Array, as_array
from irax.core.dtypes.promotion import convert
from irax.core.dtypes.strictness import library
from irax.scipy.sparse import krylov


@library
def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[Any, None]:
    """Solve A x = b, for a positive definite A, by conjugate gradients.

    Args:
        A: a square matrix, a linear function from pytrees like `b` to such, or any object that is
            multiplied by `A @ x`; Hermitian and positive definite.
        b: the right hand side: a pytree of inexact arrays.
        x0: the starting point; zero by default.
        tol: it ends when the residual is at most `max(tol * |b|, atol)`.
        atol: see `tol`.
        maxiter: the most steps; 10 times the number of unknowns by default.
        M: an approximation of A's inverse, a matrix or a linear function.

    Returns:
        `(x, None)`: the solution; None stands for SciPy's information on convergence.

    Raises:
        TypeError: A or M is neither a function nor anything that `@` takes, or b has no arrays.
        ValueError: A or M is not square, or x0 is not like b.

    >>> a = jnp.array([[2.0, 1.0], [1.0, 3.0]])
    >>> x, _ = irax.scipy.sparse.linalg.cg(a, jnp.ones(2))
    >>> jnp.allclose(a @ x, 1.0)
    Array(True, dtype=bool)
    """
    return _solve("cg", krylov.cg, A, b, x0, tol, atol, maxiter, M, symmetric=True)


@library
def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[Any, None]:
    """Solve A x = b by stabilized biconjugate gradients. Arguments and results are those of `cg`,
    but that A need not be symmetric.

    Args:
        A: a function of pytrees like `b`, which must be linear, or a square matrix.
        b: the right-hand side, an array or a pytree of arrays.
        x0: where to begin; zeros by default.
        tol: the tolerance, relative to the norm of `b`.
        atol: the absolute tolerance of the residual.
        maxiter: the most steps; 10 times the number of unknowns by default.
        M: an approximation of the inverse of `A`, of the same kind.

    Raises:
        TypeError: `A` is neither a function nor an array, or `b` or `x0` is not an array.
        ValueError: `A` is not square, or `x0` has another shape than `b`.

    >>> a = jnp.array([[2.0, 1.0], [0.0, 3.0]])
    >>> x, _ = irax.scipy.sparse.linalg.bicgstab(a, jnp.ones(2))
    >>> jnp.allclose(a @ x, 1.0)
    Array(True, dtype=bool)
    """
    return _solve("bicgstab", krylov.bicgstab, A, b, x0, tol, atol, maxiter, M)


@library
def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    restart: int = 20,
    maxiter: int | None = None,
    M: Any = None,
    solve_method: str = "batched",
) -> tuple[Any, Array]:
    """Solve A x = b by generalized minimal residuals. Arguments are those of `cg`, but that A need
    not be symmetric.

    Args:
        A: a square matrix, or a linear function.
        b: the right hand side.
        x0: the starting point.
        tol: it ends when the residual, after `M`, is at most `max(tol, atol / |b|) * |M b|`.
        atol: see `tol`.
        restart: the dimension of the Krylov space before a restart.
        maxiter: the most restarts.
        M: an approximation of A's inverse.
        solve_method: "batched" or "incremental": accepted for JAX's sake, without effect.

    Returns:
        `(x, info)`: the solution, and 0, or -1 if it has nan. 0 does not say that it converged.

    Raises:
        ValueError: `restart` is not positive, or no such `solve_method`.

    >>> a = jnp.array([[2.0, 1.0], [0.0, 3.0]])
    >>> x, _ = irax.scipy.sparse.linalg.gmres(a, jnp.ones(2))
    >>> jnp.allclose(a @ x, 1.0)
    Array(True, dtype=bool)
    """
    if solve_method not in ("batched", "incremental"):
        raise ValueError(
            f"gmres: solve_method must be 'batched' or 'incremental', got {solve_method!r}"
        )
    if not isinstance(restart, int | np.integer) or restart < 1:
        raise ValueError(f"gmres: restart must be a positive int, got {restart!r}")
    method = functools.partial(krylov.gmres, restart=int(restart))
    x, _ = _solve("gmres", method, A, b, x0, tol, atol, maxiter, M)
    has_nan = [jnp.isnan(leaf).any() for leaf in tree_util.tree_leaves(x)]
    return x, jnp.where(jnp.stack(has_nan).any(), -1, 0)


def _solve(
    what: str,
    method: Callable[..., Any],
    A: Any,
    b: Any,
    x0: Any,
    tol: float,
    atol: float,
    maxiter: int | None,
    M: Any,
    symmetric: bool = False,
) -> tuple[Any, None]:
    if not tree_util.tree_leaves(b):
        raise TypeError(f"{what}: b must be an array or a pytree of arrays, got {b!r}")
    weak = tree_util.tree_map(lambda x: as_array(x, f"{what}: b").weak_type, b)
    b = tree_util.tree_map(lambda x: _inexact(what, x), b)
    x0 = tree_util.tree_map(jnp.zeros_like, b) if x0 is None else tree_util.tree_map(as_array, x0)
    if tree_util.tree_structure(x0) != tree_util.tree_structure(b):
        error = tree_util.structure_error(tree_util.tree_structure(b), x0, "b", "x0")
        raise ValueError(f"{what}: {error}")
    for x, y in zip(tree_util.tree_leaves(x0), tree_util.tree_leaves(b), strict=True):
        dtypes.judge_dtypes(x, y)
        if x.shape != y.shape:
            raise ValueError(
                f"{what}: x0 has an array of shape {x.shape}; expected {y.shape}, as b"
            )
    x0 = tree_util.tree_map(lambda x, like: x.astype(like.dtype), x0, b)
    matvec = _as_function(what, "A", A)
    if maxiter is None:
        maxiter = 10 * sum(x.size for x in tree_util.tree_leaves(b))
    precondition = (lambda x: x) if M is None else _as_function(what, "M", M)

    def solve(matvec: Callable[[Any], Any], b: Any) -> Any:
        return method(matvec, b, x0, tol, atol, maxiter, precondition)

    # A Hermitian matrix is its own transpose only if it is real.
    real = all(x.dtype.kind != "c" for x in tree_util.tree_leaves(b))
    x = lax.custom_linear_solve(matvec, b, solve, solve, symmetric=symmetric and real)
    return tree_util.tree_map(lambda x, is_weak: x.with_weak_type(is_weak), x, weak), None


def _inexact(what: str, x: Any) -> Array:
    array = as_array(x, f"{what}: b")
    if dtypes.issubdtype(array.dtype, np.inexact):
        return convert(array, array.dtype)
    return array.astype(dtypes.result_type(array, 0.0))


def _as_function(what: str, name: str, operator: Any) -> Callable[[Any], Any]:
    if callable(operator):
        return operator
    if isinstance(operator, np.ndarray) or not hasattr(operator, "__matmul__"):
        operator = as_array(operator, f"{what}: {name}")
    shape = getattr(operator, "shape", (1, 1))
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(
            f"{what}: {name} must be a function or a square matrix, got one of shape {shape}"
        )
    return lambda x: operator @ x
