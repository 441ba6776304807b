"""Windows of an array, as features of a result, and convolutions with a kernel for each."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from irax.core.array import Array
from irax.lax.arguments import array_of
from irax.lax.contraction import PrecisionLike, dot_general
from irax.lax.convolution import (
    ConvDimensionsLike,
    conv_dimension_numbers,
    conv_general_dilated,
    counts,
    operands,
    sizes,
)
from irax.lax.structure import transpose
from irax.typing import ArrayLike, DTypeLike


def conv_general_dilated_patches(
    lhs: ArrayLike,
    filter_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvDimensionsLike = None,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """Return the windows of an array, each laid out along the feature dimension.

    Args:
        lhs: an array.
        filter_shape: the window's size in each spatial dimension.
        window_strides: as in `conv_general_dilated`, and so are the others but `filter_shape`.
        padding: zeros before and after each spatial dimension.
        lhs_dilation: how far apart the array's elements are put.
        rhs_dilation: how far apart in the array the elements are that a window has.
        dimension_numbers: which dimension is which.
        precision: how exactly the hardware is to multiply.
        preferred_element_type: the dtype of the result.

    Returns:
        The result of a convolution with `features * prod(filter_shape)` output features: for each
        feature of the array, the elements of the window in row-major order.

    Raises:
        TypeError, ValueError: as in `conv_general_dilated`.

    >>> x = irax.numpy.arange(4.0).reshape(1, 1, 4)
    >>> irax.lax.conv_general_dilated_patches(x, (2,), (1,), "VALID")
    Array([[[0., 1., 2.],
            [1., 2., 3.]]], dtype=float32)
    """
    what = "lax.conv_general_dilated_patches"
    x = array_of(what, lhs)
    window = counts(what, "filter_shape", filter_shape, x.ndim - 2)
    dims = conv_dimension_numbers(x.shape, (1,) * x.ndim, dimension_numbers)
    features, size = x.shape[dims.lhs_spec[1]], math.prod(window)
    # For each feature as many kernels as the window has elements: each takes one of them.
    kernels = np.tile(np.eye(size, dtype=x.dtype), (features, 1))
    kernels = kernels.reshape(features * size, 1, *window).transpose(np.argsort(dims.rhs_spec))
    return conv_general_dilated(
        x,
        kernels,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        dims,
        feature_group_count=max(features, 1),
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def conv_general_dilated_local(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    filter_shape: Sequence[int],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvDimensionsLike = None,
    precision: PrecisionLike = None,
) -> Array:
    """Convolve an array with a kernel of its own for every window.

    Args:
        lhs: an array.
        rhs: the kernels: their input features are `features * prod(filter_shape)`, in the order of
            `conv_general_dilated_patches`; their spatial dimensions are the result's.
        window_strides: as in `conv_general_dilated`, and so are the others but `filter_shape`.
        padding: zeros before and after each spatial dimension.
        filter_shape: the window's size in each spatial dimension.
        lhs_dilation: how far apart the array's elements are put.
        rhs_dilation: how far apart in the array the elements are that a window has.
        dimension_numbers: which dimension is which.
        precision: how exactly the hardware is to multiply.

    Raises:
        TypeError, ValueError: as in `conv_general_dilated`.

    >>> x, kernels = irax.numpy.ones((1, 2, 4)), irax.numpy.ones((5, 6, 2))
    >>> irax.lax.conv_general_dilated_local(x, kernels, (1,), "VALID", (3,)).shape
    (1, 5, 2)
    """
    what = "lax.conv_general_dilated_local"
    x, y = operands(what, lhs, rhs)
    dims = conv_dimension_numbers(x.shape, y.shape, dimension_numbers)
    patches = conv_general_dilated_patches(
        x, filter_shape, window_strides, padding, lhs_dilation, rhs_dilation, dims, precision
    )
    _, feature, *places = dims.out_spec
    _, taken, *kernel_places = dims.rhs_spec
    expected = sizes(patches.shape, (feature, *places))
    if sizes(y.shape, (taken, *kernel_places)) != expected:
        raise ValueError(
            f"{what}: rhs has shape {y.shape}: dimensions {(taken, *kernel_places)} must be "
            f"{expected}: elements of a window, and windows"
        )
    product = dot_general(
        patches, y, (((feature,), (taken,)), (tuple(places), tuple(kernel_places))), precision
    )
    return transpose(product, np.argsort([*places, dims.out_spec[0], feature]).tolist())
