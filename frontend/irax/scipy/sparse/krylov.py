"""The iterations of the Krylov methods, on pytrees of arrays: cg, bicgstab, gmres.

Each takes a linear function, a right hand side, a starting point, tolerances, the most steps and a
preconditioner, and returns the solution it has found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import irax.numpy as jnp
from irax import lax, tree_util
from irax.core.array import Array
from irax.flatten_util import ravel_pytree

Operator = Callable[[Any], Any]


def cg(A: Operator, b: Any, x: Any, tol: float, atol: float, maxiter: int, M: Operator) -> Any:
    """Solve by conjugate gradients."""
    limit = _limit(b, tol, atol)

    def goes_on(state: Any) -> Array:
        _, r, _, _, k = state
        return (_square(r) > limit) & (k < maxiter)

    def step(state: Any) -> Any:
        x, r, gamma, p, k = state
        along = A(p)
        alpha = gamma / _dot(p, along)
        x, r = _add(x, alpha, p), _add(r, -alpha, along)
        z = M(r)
        after = _dot(r, z)
        return x, r, after, _add(z, after / gamma, p), k + 1

    r = _add(b, -1, A(x))
    z = M(r)
    return lax.while_loop(goes_on, step, (x, r, _dot(r, z), z, 0))[0]


def bicgstab(
    A: Operator, b: Any, x: Any, tol: float, atol: float, maxiter: int, M: Operator
) -> Any:
    """Solve by stabilized biconjugate gradients, with the first residual as shadow residual."""
    limit = _limit(b, tol, atol)
    first = _add(b, -1, A(x))

    def goes_on(state: Any) -> Array:
        _, r, *_, sound, k = state
        return (_square(r) > limit) & (k < maxiter) & sound

    def step(state: Any) -> Any:
        x, r, p, q, alpha, omega, rho, _, k = state
        rho_after = _dot(first, r)
        beta = rho_after / rho * alpha / omega
        p = _add(r, beta, _add(p, -omega, q))
        p_hat = M(p)
        q = A(p_hat)
        alpha = rho_after / _dot(first, q)
        s = _add(r, -alpha, q)
        s_hat = M(s)
        t = A(s_hat)
        length = _dot(t, t)
        # If s is zero already, the second half of the step does nothing.
        omega = jnp.where(length == 0, 0, _dot(t, s) / jnp.where(length == 0, 1, length))
        x = _add(_add(x, alpha, p_hat), omega, s_hat)
        sound = (omega != 0) & (rho_after != 0)
        return x, _add(s, -omega, t), p, q, alpha, omega, rho_after, sound, k + 1

    one = jnp.ones_like(_dot(first, first))
    zero = tree_util.tree_map(jnp.zeros_like, b)
    start = (x, first, zero, zero, one, one, one, jnp.array(True), 0)
    return lax.while_loop(goes_on, step, start)[0]


def gmres(
    A: Operator,
    b: Any,
    x: Any,
    tol: float,
    atol: float,
    maxiter: int,
    M: Operator,
    restart: int,
) -> Any:
    """Solve by generalized minimal residuals, restarted after `restart` products."""
    target, as_tree = ravel_pytree(M(b))
    dtype = target.dtype
    restart = min(restart, target.shape[0])

    def product(v: Array) -> Array:
        return ravel_pytree(M(A(as_tree(v))))[0]

    scale = jnp.sqrt(_square(b))
    relative = jnp.maximum(tol, atol / jnp.where(scale == 0, 1, scale))
    limit = relative * _norm(target)

    def goes_on(state: Any) -> Array:
        _, r, k = state
        return (_norm(r) > limit) & (k < maxiter)

    def step(state: Any) -> Any:
        x, r, k = state
        basis, h = _arnoldi(product, r, restart)
        q, upper = jnp.linalg.qr(h)
        # The space is smaller if a product was dependent on those before: upper has no pivot there.
        pivots = jnp.diagonal(upper)
        missing = jnp.abs(pivots) <= jnp.finfo(dtype).eps * jnp.max(jnp.abs(pivots))
        rhs = jnp.where(missing, 0, _norm(r) * q[0].conj())
        upper = jnp.where(missing[:, None] | missing, jnp.diag(missing.astype(dtype)), upper)
        y = lax.linalg.triangular_solve(upper, rhs[:, None], left_side=True)[:, 0]
        x = x + y @ basis[:restart]
        return x, target - product(x), k + 1

    start, _ = ravel_pytree(x)
    return as_tree(lax.while_loop(goes_on, step, (start, target - product(start), 0))[0])


def _arnoldi(product: Callable[[Array], Array], r: Array, steps: int) -> tuple[Array, Array]:
    """Return `steps + 1` orthonormal rows that span r and its products, and the product's matrix in
    that basis.
    """
    first = r / _norm(r)
    basis = jnp.zeros((steps + 1, r.shape[0]), r.dtype).at[0].set(first)

    def step(k: Array, state: Any) -> Any:
        basis, h = state
        v = product(basis[k])
        length = _norm(v)
        column = basis.conj() @ v
        v = v - column @ basis
        again = basis.conj() @ v  # the components in other directions that rounding has left
        v = v - again @ basis
        rest = _norm(v)
        is_new = rest > jnp.finfo(r.dtype).eps * length
        v = jnp.where(is_new, v / jnp.where(is_new, rest, 1), 0)
        column = (column + again).at[k + 1].set(jnp.where(is_new, rest, 0).astype(r.dtype))
        return basis.at[k + 1].set(v), h.at[:, k].set(column)

    h = jnp.zeros((steps + 1, steps), r.dtype)
    return lax.fori_loop(0, steps, step, (basis, h))


def _dot(x: Any, y: Any) -> Array:
    pairs = zip(tree_util.tree_leaves(x), tree_util.tree_leaves(y), strict=True)
    first, *others = [jnp.vdot(a, b) for a, b in pairs]
    return sum(others, first)


def _square(x: Any) -> Array:
    """Return the sum of squares of absolute values."""
    return jnp.real(_dot(x, x))


def _norm(v: Array) -> Array:
    return jnp.sqrt(_square(v))


def _add(x: Any, scale: Any, y: Any) -> Any:
    """Return x + scale * y, in x's dtypes."""
    return tree_util.tree_map(lambda a, b: (a + scale * b).astype(a.dtype), x, y)


def _limit(b: Any, tol: float, atol: float) -> Array:
    """Return the limit for the squared norm of the residual."""
    return jnp.maximum(tol**2 * _square(b), atol**2)
