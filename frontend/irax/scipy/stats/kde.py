"""Densities estimated from samples: the mean of normal densities around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import lax, random
from irax.core.array import Array
from irax.core.dtypes.promotion import promote_dtypes
from irax.core.dtypes.strictness import library_methods
from irax.nn import logsumexp
from irax.scipy import special
from irax.scipy.arguments import inexact
from irax.tree_util import register_pytree_node_class
from irax.typing import ArrayLike

_LOG_2_PI = float(np.log(2 * np.pi))


@register_pytree_node_class
@library_methods
class gaussian_kde:
    """A density estimated from samples; a pytree, so it goes through transformations.

    Args:
        dataset: samples along the last axis, shape (n,) or (d, n).
        bw_method: the bandwidth of the normal densities: "scott" (the default), "silverman", a
            factor, or a function that gives it, of the estimate.
        weights: the samples' weights, shape (n,); equal by default.

    Raises:
        NotImplementedError: complex samples.
        ValueError: fewer than two samples, or weights of another shape.

    >>> stats.gaussian_kde(jnp.array([0.0, 1.0]))(0.5).round(3)
    Array([0.466], dtype=float32)
    """

    neff: Any
    dataset: Any
    weights: Any
    covariance: Any
    inv_cov: Any

    def __init__(self, dataset: ArrayLike, bw_method: Any = None, weights: Any = None) -> None:
        (data,) = inexact("gaussian_kde", dataset)
        if data.dtype.kind == "c":
            raise NotImplementedError("gaussian_kde: complex samples are not supported")
        data = jnp.atleast_2d(data)
        if data.ndim > 2 or data.shape[1] < 2:
            raise ValueError(
                "gaussian_kde: dataset must be of shape (n,) or (d, n), with more than one sample; "
                f"got {data.shape}"
            )
        d, n = data.shape
        if weights is None:
            weights = jnp.full(n, 1 / n, data.dtype)
        else:
            data, weights = promote_dtypes(
                data, *inexact("gaussian_kde", weights), what="gaussian_kde"
            )
            if weights.shape != (n,):
                raise ValueError(
                    f"gaussian_kde: weights must be of shape ({n},), one for each sample; "
                    f"got {weights.shape}"
                )
            weights = weights / jnp.sum(weights)
        self.dataset, self.weights = data, weights
        self.neff = 1 / jnp.sum(jnp.square(weights))
        covariance = jnp.cov(data, bias=False, aweights=weights).reshape(d, d)
        factor = self._factor(bw_method, d)
        self.covariance = covariance * factor**2
        self.inv_cov = jnp.linalg.inv(covariance) / factor**2

    def _factor(self, bw_method: str | float | Callable[..., Any] | None, d: int) -> Any:
        if bw_method is None or bw_method == "scott":
            return jnp.power(self.neff, -1 / (d + 4))
        if bw_method == "silverman":
            return jnp.power(self.neff * (d + 2) / 4, -1 / (d + 4))
        if callable(bw_method):
            return bw_method(self)
        if isinstance(bw_method, str):
            raise ValueError(
                f"gaussian_kde: bw_method must be 'scott', 'silverman', a number or a function; "
                f"got {bw_method!r}"
            )
        return bw_method

    def tree_flatten(self) -> tuple[Sequence[Any], None]:
        """Return the arrays of the estimate."""
        return (self.neff, self.dataset, self.weights, self.covariance, self.inv_cov), None

    @classmethod
    def tree_unflatten(cls, aux_data: None, children: Sequence[Any]) -> gaussian_kde:
        """Make an estimate of its arrays."""
        made = object.__new__(cls)
        made.neff, made.dataset, made.weights, made.covariance, made.inv_cov = children
        return made

    @property
    def d(self) -> int:
        """The dimension of samples."""
        return self.dataset.shape[0]

    @property
    def n(self) -> int:
        """The number of samples."""
        return self.dataset.shape[1]

    def _points(self, what: str, points: ArrayLike) -> Array:
        (at,) = inexact(f"gaussian_kde.{what}", points)
        at = jnp.atleast_2d(at).astype(jnp.result_type(at, self.dataset))
        if at.shape[0] != self.d and at.shape == (1, self.d):
            at = at.reshape(self.d, 1)
        if at.ndim > 2 or at.shape[0] != self.d:
            raise ValueError(
                f"gaussian_kde.{what}: points must be of shape ({self.d}, m), as samples have "
                f"dimension {self.d}; got {at.shape}"
            )
        return at

    def evaluate(self, points: ArrayLike) -> Array:
        """Return the density at points of shape (d, m), or (m,) for d = 1; shape (m,)."""
        return jnp.exp(self.logpdf(points))

    def __call__(self, points: ArrayLike) -> Array:
        """Return the density at points; see `evaluate`."""
        return self.evaluate(points)

    def pdf(self, x: ArrayLike) -> Array:
        """Return the density at points; see `evaluate`."""
        return self.evaluate(x)

    def logpdf(self, x: ArrayLike) -> Array:
        """Return the logarithm of the density at points; see `evaluate`."""
        at = self._points("logpdf", x)
        logs = _log_normal(self.dataset, at, self.covariance)
        return logsumexp(logs, 0, lax.expand_dims(self.weights, (1,)))

    def integrate_gaussian(self, mean: ArrayLike, cov: ArrayLike) -> Array:
        """Return the integral of the density times a normal one."""
        center, spread = inexact("gaussian_kde.integrate_gaussian", mean, cov)
        center, spread = jnp.atleast_1d(center), jnp.atleast_2d(spread)
        if center.shape != (self.d,) or spread.shape != (self.d, self.d):
            raise ValueError(
                f"gaussian_kde.integrate_gaussian: expected a mean of shape ({self.d},) and a "
                f"covariance of shape ({self.d}, {self.d}); got {center.shape} and {spread.shape}"
            )
        logs = _log_normal(self.dataset, center.reshape(self.d, 1), self.covariance + spread)
        return jnp.sum(jnp.exp(logs[:, 0]) * self.weights)

    def integrate_box_1d(self, low: ArrayLike, high: ArrayLike) -> Array:
        """Return the probability between two numbers, for samples of dimension 1."""
        if self.d != 1:
            raise ValueError(
                f"gaussian_kde.integrate_box_1d: expected samples of dimension 1, got {self.d}"
            )
        width = jnp.sqrt(self.covariance[0, 0])
        ends = [
            special.ndtr((v - self.dataset[0]) / width)
            for v in (jnp.asarray(low), jnp.asarray(high))
        ]
        return jnp.sum(self.weights * (ends[1] - ends[0]))

    def integrate_box(self, low_bounds: Any, high_bounds: Any, maxpts: Any = None) -> Array:
        """Not supported: `integrate_box_1d` is, for samples of dimension 1."""
        raise NotImplementedError(
            "gaussian_kde.integrate_box is not supported; expected integrate_box_1d, for samples "
            "of dimension 1"
        )

    def integrate_kde(self, other: gaussian_kde) -> Array:
        """Return the integral of the product with another estimate of the same dimension."""
        if other.d != self.d:
            raise ValueError(
                f"gaussian_kde.integrate_kde: the dimensions {self.d} and {other.d} differ"
            )
        logs = _log_normal(self.dataset, other.dataset, self.covariance + other.covariance)
        return self.weights @ jnp.exp(logs) @ other.weights

    def resample(self, key: Any, shape: tuple[int, ...] = ()) -> Array:
        """Draw random numbers of the estimated density, shape (d, *shape)."""
        choice, noise = random.split(key)
        places = random.choice(choice, self.n, shape, p=self.weights)
        root = jnp.linalg.cholesky(self.covariance)
        steps = random.normal(noise, (self.d, *shape), self.dataset.dtype)
        return self.dataset[:, places] + jnp.tensordot(root, steps, 1)

    def set_bandwidth(self, bw_method: Any = None) -> None:
        """Not supported: an estimate does not change; make another one."""
        raise NotImplementedError(
            "gaussian_kde.set_bandwidth: an estimate does not change; make another one, "
            "gaussian_kde(dataset, bw_method)"
        )


def _log_normal(centers: Array, points: Array, covariance: Array) -> Array:
    """Logarithms of normal densities: (d, n) centers at (d, m) points, shape (n, m)."""
    root = jnp.linalg.cholesky(covariance)
    far, near = (
        lax.linalg.triangular_solve(root, x, left_side=True, lower=True) for x in (centers, points)
    )
    apart = far[:, :, None] - near[:, None, :]
    size = jnp.sum(jnp.log(jnp.diagonal(root))) + 0.5 * centers.shape[0] * _LOG_2_PI
    return -0.5 * jnp.sum(jnp.square(apart), 0) - size
