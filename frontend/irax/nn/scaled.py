"""Products of arrays whose elements share scales in blocks, computed in wider floats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import irax.numpy as jnp
from irax import dtypes, lax
from irax.core.array import Array
from irax.core.dtypes.operands import as_arrays
from irax.core.dtypes.promotion import convert
from irax.lax.arguments import canonical_axis
from irax.nn.operands import inexact
from irax.typing import ArrayLike, DTypeLike

F32 = np.dtype(np.float32)


def scaled_matmul(
    lhs: ArrayLike,
    rhs: ArrayLike,
    lhs_scales: ArrayLike,
    rhs_scales: ArrayLike,
    preferred_element_type: DTypeLike = np.float32,
) -> Array:
    """Return lhs rhs^T for each batch, where both are multiplied by scales first.

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


@dataclass(frozen=True, eq=False)
class BlockScaleConfig:
    """A configuration of rounding: of blocks of elements that share a scale.

    Attributes:
        mode: "mxfp8" or "nvfp4".
        block_size: the number of elements that share a scale.
        data_type: the dtype that elements are rounded to.
        scale_type: the dtype that scales are rounded to.
        global_scale: a scale that all elements share, or None.
        infer_only: True if it is not for training; without effect.
    """

    mode: str
    block_size: int
    data_type: DTypeLike
    scale_type: DTypeLike
    global_scale: Array | None
    infer_only: bool


def get_scaled_dot_general_config(mode: str, global_scale: Any = None) -> BlockScaleConfig:
    """Return the configuration of a mode, for `scaled_dot_general`.

    Args:
        mode: "mxfp8" (blocks of 32 float8_e4m3fn, scales that are powers of 2) or "nvfp4" (blocks
            of 16 float4_e2m1fn, scales that are float8_e4m3fn).
        global_scale: for "nvfp4", a scale that all elements share; 1 by default.

    Raises:
        ValueError: another mode.

    >>> irax.nn.get_scaled_dot_general_config("mxfp8").block_size
    32
    """
    if mode == "mxfp8":
        types = dtypes.float8_e4m3fn, dtypes.float8_e8m0fnu
        return BlockScaleConfig(mode, 32, *types, None, False)
    if mode == "nvfp4":
        types = dtypes.float4_e2m1fn, dtypes.float8_e4m3fn
        shared = jnp.ones((1,), F32) if global_scale is None else jnp.asarray(global_scale, F32)
        return BlockScaleConfig(mode, 16, *types, shared, False)
    raise ValueError(
        f"nn.get_scaled_dot_general_config: mode must be 'mxfp8' or 'nvfp4', got {mode!r}"
    )


def scaled_dot_general(
    lhs: ArrayLike,
    rhs: ArrayLike,
    dimension_numbers: Any,
    preferred_element_type: DTypeLike = np.float32,
    configs: Sequence[BlockScaleConfig] | None = None,
    implementation: None = None,
) -> Array:
    """Return `lax.dot_general` of operands that are rounded in blocks along the contracting
    dimension.

    The derivative is that of the product of the rounded operands, as if rounding had derivative 1;
    cotangents are not rounded.

    Args:
        lhs: an array.
        rhs: an array.
        dimension_numbers: as for `dot_general`, with one contracting dimension if there are
            configs.
        preferred_element_type: the dtype that it is computed in, and of the result.
        configs: those of `lhs` and `rhs`, as from `get_scaled_dot_general_config`; a third one, of
            cotangents, is ignored. None rounds nothing.
        implementation: only None.

    Raises:
        ValueError: fewer configs, or a contracting dimension that blocks do not divide.
        NotImplementedError: an implementation, or several contracting dimensions.

    >>> config = irax.nn.get_scaled_dot_general_config("mxfp8")
    >>> x = irax.numpy.full((1, 32), 1.03)
    >>> irax.nn.scaled_dot_general(x, x, (((1,), (1,)), ((), ())), configs=[config] * 3)
    Array([[32.]], dtype=float32)
    """
    what = "nn.scaled_dot_general"
    if implementation is not None:
        raise NotImplementedError(f"{what}: implementation={implementation!r} is not supported")
    x, y = inexact("scaled_dot_general", lhs), inexact("scaled_dot_general", rhs)
    dtype = dtypes.requested_dtype(preferred_element_type, what)
    if configs is not None:
        if len(configs) < 2:
            raise ValueError(f"{what}: configs must be those of lhs and rhs, got {len(configs)}")
        (x_axes, y_axes), _ = dimension_numbers
        if len(x_axes) != 1 or len(y_axes) != 1:
            raise NotImplementedError(
                f"{what}: with configs there must be one contracting dimension, got {x_axes} of "
                f"lhs and {y_axes} of rhs"
            )
        x, y = _rounded(what, x, x_axes[0], configs[0]), _rounded(what, y, y_axes[0], configs[1])
    return lax.dot_general(
        convert(x, dtype), convert(y, dtype), dimension_numbers, preferred_element_type=dtype
    )


def _rounded(what: str, x: Array, axis: int, config: BlockScaleConfig) -> Array:
    """Return an array, in float32, with blocks along an axis rounded as configured."""
    axis = canonical_axis(what, axis, x.ndim)
    size = x.shape[axis]
    if not size or size % config.block_size:
        raise ValueError(
            f"{what}: the contracting dimension, of size {size}, must be a multiple of the block "
            f"size, {config.block_size}"
        )
    wide = convert(x, F32)
    blocks = jnp.reshape(
        jnp.moveaxis(lax.stop_gradient(wide), axis, -1),
        (*x.shape[:axis], *x.shape[axis + 1 :], -1, config.block_size),
    )
    shared = 1 if config.global_scale is None else config.global_scale
    blocks = blocks / shared
    limit = np.float32(448 if config.mode == "mxfp8" else 6)  # the largest of the data type
    scales = jnp.max(jnp.abs(blocks), axis=-1, keepdims=True) / limit
    scales = _power_of_2(scales) if config.mode == "mxfp8" else _as_e4m3(scales)
    scaled = jnp.clip(blocks / jnp.where(scales == 0, 1, scales), -limit, limit)
    found = _as_e4m3(scaled) if config.mode == "mxfp8" else _as_e2m1(scaled)
    found = jnp.reshape(found * scales * shared, (*blocks.shape[:-2], size))
    return wide + lax.stop_gradient(jnp.moveaxis(found, -1, axis) - wide)


def _power_of_2(x: Array) -> Array:
    """Return the next power of 2 that is not less, among the normal numbers."""
    bits = lax.bitcast_convert_type(x, np.uint32)
    exponent = (bits + np.uint32(0x7FFFFF)) >> np.uint32(23)
    exponent = jnp.clip(exponent, np.uint32(1), np.uint32(254))
    return lax.bitcast_convert_type(exponent << np.uint32(23), F32)


def _as_e4m3(x: Array) -> Array:
    """Return numbers rounded to float8_e4m3fn."""
    narrow = convert(jnp.clip(x, -448, 448), np.dtype(dtypes.float8_e4m3fn))
    return convert(narrow, F32)


def _as_e2m1(x: Array) -> Array:
    """Return numbers rounded to float4_e2m1fn, which compiled programs do not have: 0, 1/2, 1, 3/2,
    2, 3, 4, 6.
    """
    size = jnp.abs(x)
    step = jnp.where(size < 2, np.float32(0.5), jnp.where(size < 4, np.float32(1), np.float32(2)))
    return jnp.round(x / step) * step
