"""Products of matrices whose elements share scales in blocks, computed in wider floats."""

from __future__ import annotations

import numpy as np

from irax import dtypes, lax
from irax.array import Array
from irax.elementwise import as_arrays
from irax.typing import ArrayLike, DTypeLike


def scaled_matmul(
    lhs: ArrayLike,
    rhs: ArrayLike,
    lhs_scales: ArrayLike,
    rhs_scales: ArrayLike,
    preferred_element_type: DTypeLike = np.float32,
) -> Array:
    """lhs rhs^T for each batch, where both are multiplied by scales first.

    Args:
        lhs: of shape (B, M, K).
        rhs: of shape (B, N, K).
        lhs_scales: of shape (B, M, K / n): each element is for n neighbours.
        rhs_scales: of shape (B, N, K / n).
        preferred_element_type: the dtype that it is computed in, and of the result.

    Returns:
        An array of shape (B, M, N).

    Raises:
        ValueError: shapes that do not fit.

    >>> x = irax.numpy.ones((1, 2, 4))
    >>> irax.nn.scaled_matmul(x, x, x[..., :2] * 2, x[..., :2])
    Array([[[8., 8.],
            [8., 8.]]], dtype=float32)
    """
    what = "nn.scaled_matmul"
    x, y, x_scales, y_scales = as_arrays([lhs, rhs, lhs_scales, rhs_scales], what)
    if any(v.ndim != 3 for v in (x, y, x_scales, y_scales)):
        raise ValueError(
            f"{what}: all four operands must have 3 dimensions, got shapes {x.shape}, {y.shape}, "
            f"{x_scales.shape} and {y_scales.shape}"
        )
    if x.shape[0] != y.shape[0] or x.shape[2] != y.shape[2]:
        raise ValueError(
            f"{what}: lhs (B, M, K) and rhs (B, N, K) must agree in B and K, got shapes {x.shape} "
            f"and {y.shape}"
        )
    blocks = x_scales.shape[2]
    for name, v, scales in (("lhs", x, x_scales), ("rhs", y, y_scales)):
        fits = scales.shape == (*v.shape[:2], blocks) and blocks and v.shape[2] % blocks == 0
        if not fits:
            raise ValueError(
                f"{what}: {name}_scales must be of shape {v.shape[:2]} and a common part of "
                f"{v.shape[2]}, got {scales.shape}"
            )
    dtype = dtypes.requested_dtype(preferred_element_type, what)
    return lax.scaled_dot(
        x,
        y,
        lhs_scale=x_scales,
        rhs_scale=y_scales,
        dimension_numbers=(((2,), (2,)), ((0,), (0,))),
        preferred_element_type=dtype,
    )
