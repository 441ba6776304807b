"""Distributions of vectors. Each is a class without instances, a namespace of its functions."""

from __future__ import annotations

from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import lax
from irax.core.array import Array
from irax.core.dtypes.promotion import promote_dtypes
from irax.scipy import special
from irax.scipy.arguments import inexact, unsupported
from irax.scipy.special.differences import poisson_loss, scaled_gammaln_difference
from irax.typing import ArrayLike

_LOG_2_PI = float(np.log(2 * np.pi))


class multivariate_normal:
    """The normal distribution of vectors."""

    @staticmethod
    def logpdf(x: ArrayLike, mean: ArrayLike, cov: ArrayLike, allow_singular: Any = None) -> Array:
        """Return the logarithm of the density at the vectors x.

        Args:
            x: shape (..., n).
            mean: shape (..., n), or a scalar.
            cov: covariances of shape (..., n, n), or a variance in each direction.
            allow_singular: not supported.

        >>> stats.multivariate_normal.logpdf(jnp.zeros(2), jnp.zeros(2), jnp.eye(2)).round(4)
        Array(-1.8379, dtype=float32)
        """
        what = "multivariate_normal.logpdf"
        unsupported(what, "allow_singular", allow_singular)
        at, center, covariance = inexact(what, x, mean, cov)
        apart = jnp.subtract(at, center)
        if not center.ndim and not covariance.ndim:
            return -0.5 * (jnp.square(apart) / covariance + _LOG_2_PI + jnp.log(covariance))
        n = center.shape[-1] if center.ndim else apart.shape[-1]
        if not covariance.ndim:
            distance = jnp.sum(jnp.square(apart), -1) / covariance
            return -0.5 * (distance + n * (_LOG_2_PI + jnp.log(covariance)))
        if covariance.ndim < 2 or covariance.shape[-2:] != (n, n):
            raise ValueError(
                f"{what}: cov must be a number or of shape (..., {n}, {n}) for a mean of shape "
                f"{center.shape}; got shape {covariance.shape}"
            )
        root = jnp.linalg.cholesky(covariance)
        batch = jnp.broadcast_shapes(apart.shape[:-1], root.shape[:-2])
        apart = jnp.broadcast_to(apart, (*batch, n))
        root = jnp.broadcast_to(root, (*batch, n, n))
        steps = lax.linalg.triangular_solve(
            root, lax.expand_dims(apart, (apart.ndim,)), left_side=True, lower=True
        )
        size = jnp.sum(jnp.log(jnp.diagonal(root, axis1=-2, axis2=-1)), -1)
        return -0.5 * (jnp.sum(jnp.square(steps), (-2, -1)) + n * _LOG_2_PI) - size

    @staticmethod
    def pdf(x: ArrayLike, mean: ArrayLike, cov: ArrayLike) -> Array:
        """Return the density at the vectors x; see `logpdf`."""
        return jnp.exp(multivariate_normal.logpdf(x, mean, cov))


def _dirichlet_logpdf(shares: Array, alpha: Array) -> Array:
    """Return the logarithm of the density at shares along the first axis.

    Where each of alpha is at least 1, alpha - 1 are counts of a multinomial distribution.
    """
    large = jnp.all(jnp.greater_equal(alpha, 1))
    counts = jnp.where(large, alpha - 1, 1.0)
    total = jnp.sum(counts, 0)
    losses = poisson_loss(counts, jnp.multiply(total, jnp.where(large, shares, 1.0)))
    steps = jnp.full_like(total, alpha.shape[0] - 1.0)
    found = poisson_loss(total, total) - jnp.sum(losses, 0) + steps * jnp.log1p(total)
    found = found + scaled_gammaln_difference(total + 1, steps)
    alpha, shares = jnp.where(large, 1.0, alpha), jnp.where(large, 1.0, shares)
    plain = jnp.sum(special.xlogy(alpha - 1, shares) - special.gammaln(alpha), 0)
    return jnp.where(large, found, plain + special.gammaln(jnp.sum(alpha, 0)))


class dirichlet:
    """The Dirichlet distribution, of shares that sum to 1."""

    @staticmethod
    def logpdf(x: ArrayLike, alpha: ArrayLike) -> Array:
        """Return the logarithm of the density at the vectors along the first axis of x.

        Args:
            x: shares, shape (n, ...); or (n - 1, ...): the last one is what remains to 1.
            alpha: concentrations, shape (n,).

        Returns:
            Shape (...); -inf where a share is negative, or they do not sum to 1.

        >>> stats.dirichlet.logpdf(jnp.array([0.5, 0.5]), jnp.array([1.0, 1.0]))
        Array(0., dtype=float32)
        """
        shares, alpha = inexact("dirichlet.logpdf", x, alpha)
        if alpha.ndim != 1:
            raise ValueError(
                f"dirichlet.logpdf: alpha must have one dimension, got shape {alpha.shape}"
            )
        n = alpha.shape[0]
        if not shares.ndim or shares.shape[0] not in (n, n - 1):
            raise ValueError(
                f"dirichlet.logpdf: x must have the first dimension {n - 1} or {n}, as alpha has "
                f"{n}; got shape {shares.shape}"
            )
        if shares.shape[0] == n - 1:
            rest = jnp.subtract(1, jnp.sum(shares, 0, keepdims=True))
            shares = jnp.concatenate([shares, rest])
        positive = jnp.all(jnp.greater_equal(shares, 0), 0)
        whole = jnp.less(jnp.abs(jnp.sum(shares, 0) - 1), 1e-6)
        total = _dirichlet_logpdf(shares, alpha.reshape(n, *[1] * (shares.ndim - 1)))
        return jnp.where(jnp.logical_and(positive, whole), total, -np.inf)

    @staticmethod
    def pdf(x: ArrayLike, alpha: ArrayLike) -> Array:
        """Return the density at the vectors along the first axis of x; see `logpdf`."""
        return jnp.exp(dirichlet.logpdf(x, alpha))


class multinomial:
    """The multinomial distribution: counts of outcomes of several kinds in n trials."""

    @staticmethod
    def logpmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
        """Return the logarithm of the probability of the counts x; -inf where they do not sum to n.

        Args:
            x: counts, shape (..., k).
            n: the number of trials.
            p: the probabilities of the kinds, shape (..., k).

        >>> stats.multinomial.logpmf(jnp.array([1, 0]), 1, jnp.array([1.0, 0.0]))
        Array(0., dtype=float32)
        """
        (p,) = inexact("multinomial.logpmf", p)
        counts, trials = (y.astype(p.dtype) for y in promote_dtypes(x, n, what="logpmf"))
        losses = poisson_loss(counts, jnp.multiply(lax.expand_dims(trials, (trials.ndim,)), p))
        total = poisson_loss(trials, trials) - jnp.sum(losses, -1)
        return jnp.where(jnp.equal(jnp.sum(counts, -1), trials), total, -np.inf)

    @staticmethod
    def pmf(x: ArrayLike, n: ArrayLike, p: ArrayLike) -> Array:
        """Return the probability of the counts x; see `logpmf`."""
        return jnp.exp(multinomial.logpmf(x, n, p))
