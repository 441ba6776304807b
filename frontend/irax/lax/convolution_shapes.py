"""The shapes of convolutions."""

from __future__ import annotations

from collections.abc import Sequence

from irax.lax.convolution import (
    ConvDimensionsLike,
    conv_dimension_numbers,
    padtype_to_pads,
    sizes,
)

Pads = str | Sequence[tuple[int, int]]
Shape = tuple[int, ...]


def conv_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    strides: Sequence[int],
    pads: Pads,
    batch_group_count: int = 1,
) -> Shape:
    """Return the shape of a convolution in the order batch, feature, spatial dimensions.

    Args:
        lhs_shape: batch, feature, spatial dimensions.
        rhs_shape: output feature, input feature, spatial dimensions.
        strides: for each spatial dimension.
        pads: a pair for each spatial dimension, or "SAME", "SAME_LOWER" or "VALID".
        batch_group_count: as in `conv_general_dilated`.

    Raises:
        TypeError: a number of strides or pads that does not fit.

    >>> irax.lax.conv_shape_tuple((1, 3, 8, 8), (4, 3, 3, 3), (1, 1), "VALID")
    (1, 4, 6, 6)
    """
    what = "lax.conv_shape_tuple"
    spatial, window = tuple(lhs_shape[2:]), tuple(rhs_shape[2:])
    if isinstance(pads, str):
        pads = padtype_to_pads(spatial, window, strides, pads)
    if not len(spatial) == len(window) == len(strides) == len(pads):
        raise TypeError(
            f"{what}: got {len(strides)} strides and {len(pads)} pads for shapes "
            f"{tuple(lhs_shape)} and {tuple(rhs_shape)}; expected one for each spatial dimension"
        )
    counts = (
        max(0, (n + low + high - size) // stride + 1)
        for n, size, stride, (low, high) in zip(spatial, window, strides, pads, strict=True)
    )
    return (lhs_shape[0] // batch_group_count, rhs_shape[0], *counts)


def conv_general_permutations(
    dimension_numbers: ConvDimensionsLike,
) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    """Return the positions of the dimensions of array, kernel and result, ordered as in
    `conv_shape_tuple`.

    Args:
        dimension_numbers: three strings, as `conv_dimension_numbers` takes.

    Returns:
        Three tuples of ints.

    Raises:
        TypeError: not three strings of one length.

    >>> irax.lax.conv_general_permutations(("NHWC", "HWIO", "NHWC"))
    ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    """
    rank = len(dimension_numbers[0]) if dimension_numbers is not None else 4
    lhs, rhs, out = conv_dimension_numbers((1,) * rank, (1,) * rank, dimension_numbers)
    return lhs, rhs, out


def conv_general_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: Pads,
    dimension_numbers: ConvDimensionsLike,
) -> Shape:
    """Return the shape of `conv_general_dilated` without dilations.

    Args:
        lhs_shape: the shape of the array.
        rhs_shape: the shape of the kernel.
        window_strides: an int for each spatial dimension.
        padding: "SAME", "VALID", or a pair of ints for each spatial dimension.
        dimension_numbers: as for `conv_dimension_numbers`.

    Raises:
        TypeError: shapes or strides that are not ints.
        RuntimeError: another name of a padding.

    >>> irax.lax.conv_general_shape_tuple(
    ...     (1, 8, 8, 3), (3, 3, 3, 4), (1, 1), "SAME", ("NHWC", "HWIO", "NHWC")
    ... )
    (1, 8, 8, 4)
    """
    dims = conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers)
    lhs, rhs = sizes(lhs_shape, dims.lhs_spec), sizes(rhs_shape, dims.rhs_spec)
    return _in_place(conv_shape_tuple(lhs, rhs, window_strides, padding), dims.out_spec)


def conv_transpose_shape_tuple(
    lhs_shape: Sequence[int],
    rhs_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str,
    dimension_numbers: ConvDimensionsLike,
) -> Shape:
    """Return the shape of `conv_transpose`.

    Args:
        lhs_shape: the shape of the array.
        rhs_shape: the shape of the kernel.
        window_strides: an int for each spatial dimension.
        padding: "SAME", "VALID", or a pair of ints for each spatial dimension.
        dimension_numbers: as for `conv_dimension_numbers`.

    Raises:
        TypeError: shapes that are not tuples of ints.
        ValueError: not one stride for each spatial dimension.

    >>> irax.lax.conv_transpose_shape_tuple(
    ...     (1, 8, 8, 3), (3, 3, 3, 4), (2, 2), "SAME", ("NHWC", "HWIO", "NHWC")
    ... )
    (1, 16, 16, 4)
    """
    dims = conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers)
    lhs, rhs = sizes(lhs_shape, dims.lhs_spec), sizes(rhs_shape, dims.rhs_spec)
    grown = (
        n * stride if padding.upper() != "VALID" else n * stride + max(size - stride, 0)
        for n, size, stride in zip(lhs[2:], rhs[2:], window_strides, strict=True)
    )
    return _in_place((lhs[0], rhs[0], *grown), dims.out_spec)


def _in_place(shape: Sequence[int], spec: Sequence[int]) -> Shape:
    """Return sizes permuted to the positions of a specification."""
    found = [0] * len(shape)
    for place, n in zip(spec, shape, strict=True):
        found[place] = n
    return tuple(found)
