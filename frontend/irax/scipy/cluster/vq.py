"""irax.scipy.cluster.vq: quantization of vectors."""

from __future__ import annotations

import irax.numpy as jnp
from irax.core.array import Array
from irax.core.dtypes.strictness import library
from irax.scipy.arguments import inexact
from irax.typing import ArrayLike


@library
def vq(obs: ArrayLike, code_book: ArrayLike, check_finite: bool = True) -> tuple[Array, Array]:
    """Return the index of the nearest code of each observation, and its distance.

    Args:
        obs: observations, shape (m, n) or (m,).
        code_book: codes, shape (k, n) or (k,).
        check_finite: of no effect.

    Returns:
        Integers of shape (m,), and distances of shape (m,).

    Raises:
        ValueError: other shapes.

    >>> [v.tolist() for v in vq(irax.numpy.array([1.0, 9.0]), irax.numpy.array([0.0, 8.0]))]
    [[0, 1], [1.0, 1.0]]
    """
    points, codes = inexact("vq", obs, code_book)
    if points.ndim != codes.ndim or points.ndim not in (1, 2):
        raise ValueError(
            "vq: obs and code_book must both have one dimension or both two, got shapes "
            f"{points.shape} and {codes.shape}"
        )
    if points.ndim == 1:
        points, codes = points[:, None], codes[:, None]
    if points.shape[1] != codes.shape[1]:
        raise ValueError(
            "vq: observations and codes must be of one length, got shapes "
            f"{points.shape} and {codes.shape}"
        )
    distances = jnp.linalg.norm(points[:, None, :] - codes[None, :, :], axis=-1)
    return jnp.argmin(distances, -1), jnp.min(distances, -1)
