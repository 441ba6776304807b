"""Convolutions: products with a kernel, summed over windows of an array."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from irax import dtypes
from irax.config import config
from irax.core.array import Array
from irax.core.dimensions import size_of
from irax.core.dispatch import bind
from irax.execution.shardings.jit_shardings import takes_out_sharding
from irax.lax.accuracy import DotAlgorithmPreset
from irax.lax.arguments import adapted, array_of
from irax.lax.contraction import PrecisionLike, precision_pair
from irax.lax.structure import rev, transpose
from irax.typing import ArrayLike, DTypeLike
from irax_compiler.ops import convolution as ops
from irax_compiler.sizes import larger

Pads: TypeAlias = list[tuple[int, int]]


class ConvDimensionNumbers(NamedTuple):
    """The positions of the dimensions in each array: two that have names, then the spatial ones."""

    lhs_spec: Sequence[int]
    """The positions of batch, feature and spatial dimensions."""
    rhs_spec: Sequence[int]
    """The positions of output feature, input feature and spatial dimensions."""
    out_spec: Sequence[int]
    """The positions of batch, feature and spatial dimensions."""


ConvDimensionsLike: TypeAlias = ConvDimensionNumbers | tuple[str, str, str] | None
"""`ConvDimensionNumbers`; or their spelling, such as ("NHWC", "HWIO", "NHWC"); None: the order of
`ConvDimensionNumbers` itself, for images ("NCHW", "OIHW", "NCHW").
"""


# ---- dimensions and padding ----------------------------------------------------------------------


def conv_dimension_numbers(
    lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: ConvDimensionsLike
) -> ConvDimensionNumbers:
    """Return dimension numbers as `ConvDimensionNumbers`.

    Args:
        lhs_shape: the shape of the array.
        rhs_shape: the shape of the kernel.
        dimension_numbers: None, three strings, or `ConvDimensionNumbers`. In strings N is the
            batch, C a feature, O and I the kernel's output and input feature; any other letters
            are spatial dimensions, and come in the order they have for the kernel.

    Raises:
        TypeError: the shapes have different ranks, or fewer than two dimensions;
            `dimension_numbers` is none of these; or a string that has not one letter for each
            dimension, or lacks one.
        ValueError: a `ConvDimensionNumbers` that does not name each dimension once.

    >>> irax.lax.conv_dimension_numbers((1, 8, 3), (5, 3, 4), ("NWC", "WIO", "NWC")).rhs_spec
    (2, 1, 0)
    """
    what = "lax.conv_dimension_numbers"
    rank = len(lhs_shape)
    if rank != len(rhs_shape) or rank < 2:
        raise TypeError(
            f"{what}: lhs and rhs must have one rank, of at least 2, got shapes "
            f"{tuple(lhs_shape)} and {tuple(rhs_shape)}"
        )
    if dimension_numbers is None:
        return ConvDimensionNumbers(*[tuple(range(rank))] * 3)
    if not isinstance(dimension_numbers, tuple | list) or len(dimension_numbers) != 3:
        raise TypeError(
            f"{what}: dimension_numbers must be None, three strings such as ('NHWC', 'HWIO', "
            f"'NHWC'), or ConvDimensionNumbers, got {dimension_numbers!r}"
        )
    if all(isinstance(spec, str) for spec in dimension_numbers):
        lhs, rhs, out = (str(spec) for spec in dimension_numbers)
        return ConvDimensionNumbers(
            _places(what, lhs, "NC", rhs, rank),
            _places(what, rhs, "OI", rhs, rank),
            _places(what, out, "NC", rhs, rank),
        )
    numbers: Any = dimension_numbers
    specs = [tuple(map(operator.index, spec)) for spec in numbers]
    if any(sorted(spec) != list(range(rank)) for spec in specs):
        raise ValueError(
            f"{what}: dimension_numbers must name each of the {rank} dimensions once for lhs, rhs "
            f"and out, got {dimension_numbers!r}"
        )
    return ConvDimensionNumbers(*specs)


def _places(what: str, spec: str, named: str, kernel: str, rank: int) -> tuple[int, ...]:
    spatial = [letter for letter in kernel if letter not in "OI"]
    letters = [*named, *spatial]
    if len(spec) != rank or sorted(spec) != sorted(letters) or len(set(spec)) != rank:
        raise TypeError(
            f"{what}: dimension_numbers spell {spec!r}; expected {rank} different letters: "
            f"{named[0]}, {named[1]} and the spatial dimensions of the kernel, {kernel!r}"
        )
    return tuple(map(spec.index, letters))


def padtype_to_pads(
    in_shape: Sequence[int],
    window_shape: Sequence[int],
    window_strides: Sequence[int],
    padding: str,
) -> Pads:
    """Return the padding "SAME", "SAME_LOWER" or "VALID" as pairs of ints, for each dimension.

    "VALID" is no padding. "SAME" makes `ceil(size / stride)` windows, with the odd element of
    padding after, "SAME_LOWER" with it before.

    Args:
        in_shape: the sizes of the array.
        window_shape: the sizes of the window, dilation included.
        window_strides: the distance between starts of windows.
        padding: one of the three names, in letters of any case.

    Raises:
        RuntimeError: another name.
        TypeError: no name.

    >>> irax.lax.padtype_to_pads((6, 6), (3, 4), (1, 2), "SAME")
    [(1, 1), (1, 1)]
    """
    expected = "lax.padtype_to_pads: padding must be 'SAME', 'SAME_LOWER' or 'VALID', got"
    if not isinstance(padding, str):
        raise TypeError(f"{expected} {padding!r}")
    name = padding.upper()
    if name == "VALID":
        return [(0, 0)] * len(in_shape)
    if name not in ("SAME", "SAME_LOWER"):
        raise RuntimeError(f"{expected} {padding!r}")
    pads: Pads = []
    shapes = (map(size_of, shape) for shape in (in_shape, window_shape, window_strides))
    for n, window, stride in zip(*shapes, strict=True):
        count = -(-n // stride)
        total = larger((count - 1) * stride + window - n, 0)
        less, more = total // 2, total - total // 2
        pads.append((less, more) if name == "SAME" else (more, less))
    return pads


def _pads(what: str, padding: Any, rank: int) -> Pads:
    """Return padding as pairs of ints."""
    try:
        pads = [(size_of(low), size_of(high)) for low, high in padding]
    except (TypeError, ValueError):
        raise ValueError(
            f"{what}: padding must be 'SAME', 'SAME_LOWER', 'VALID' or a pair of ints (before, "
            f"after) for each spatial dimension, got {padding!r}"
        ) from None
    if len(pads) != rank:
        raise TypeError(
            f"{what}: padding must have a pair for each of the {rank} spatial dimensions, got "
            f"{padding!r}"
        )
    return pads


def counts(what: str, name: str, values: Any, rank: int) -> tuple[int, ...]:
    """Strides or dilations, one for each spatial dimension: 1 where they are None."""
    if values is None:
        return (1,) * rank
    try:
        found = tuple(map(operator.index, values))
    except TypeError:
        found = None
    if found is None or len(found) != rank or any(n < 1 for n in found):
        raise (TypeError if found is None else ValueError)(
            f"{what}: {name} must be an int of at least 1 for each of the {rank} spatial "
            f"dimensions, got {values!r}"
        )
    return found


def sizes(shape: Sequence[int], spec: Sequence[int]) -> tuple[int, ...]:
    """The sizes of the dimensions that a specification names, in its order."""
    return tuple(shape[d] for d in spec)


# ---- convolution ---------------------------------------------------------------------------------


@takes_out_sharding("lax.conv_general_dilated", sums=True)
def conv_general_dilated(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvDimensionsLike = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Convolve an array with a kernel: for each window of the array, the sum of products with it.

    The kernel is not reversed: in signal processing this is a correlation.

    Args:
        lhs: an array with a batch, a feature and any number of spatial dimensions.
        rhs: a kernel of the same dtype, with an output feature, an input feature and as many
            spatial dimensions.
        window_strides: the distance between starts of windows, for each spatial dimension.
        padding: zeros before and after each spatial dimension: pairs of ints, which may be
            negative, or "SAME", "SAME_LOWER" or "VALID" (see `padtype_to_pads`).
        lhs_dilation: the distance of the array's elements, with zeros between them.
        rhs_dilation: the distance in the array of the elements of a window.
        dimension_numbers: which dimension is which: see `conv_dimension_numbers`.
        feature_group_count: the number of groups that the input features fall into; each makes
            its own group of output features.
        batch_group_count: the number of groups that the batch falls into, likewise.
        precision: how exactly the hardware is to multiply.
        preferred_element_type: the dtype of the sums, and so of the result.
        out_sharding: a sharding or a `PartitionSpec` for the result.

    Returns:
        An array with a batch, a feature (as many as the kernel's output features) and the spatial
        dimensions: of each the number of windows.

    Raises:
        TypeError: different dtypes or ranks; padding of another length.
        ValueError: strides, dilations or padding of another form; numbers of features or groups
            that do not go together; an empty kernel.
        RuntimeError: a padding of another name.

    >>> image, kernel = irax.numpy.ones((1, 4, 4, 3)), irax.numpy.ones((3, 3, 3, 8))
    >>> numbers = ("NHWC", "HWIO", "NHWC")
    >>> irax.lax.conv_general_dilated(
    ...     image, kernel, (1, 1), "SAME", dimension_numbers=numbers
    ... ).shape
    (1, 4, 4, 8)
    """
    what = "lax.conv_general_dilated"
    x, y = operands(what, lhs, rhs)
    dims = conv_dimension_numbers(x.shape, y.shape, dimension_numbers)
    rank = x.ndim - 2
    strides = counts(what, "window_strides", window_strides, rank)
    x_dilation = counts(what, "lhs_dilation", lhs_dilation, rank)
    y_dilation = counts(what, "rhs_dilation", rhs_dilation, rank)
    window = sizes(y.shape, dims.rhs_spec)[2:]
    if 0 in window:
        raise ValueError(f"{what}: the kernel has no elements: rhs has shape {y.shape}")
    if isinstance(padding, str):
        if any(n > 1 for n in x_dilation):
            raise ValueError(
                f"{what}: padding={padding!r} says nothing of a dilated lhs: give the padding in "
                "numbers, or use lax.conv_transpose"
            )
        extents = tuple(map(ops.dilated, window, y_dilation))
        padding = padtype_to_pads(sizes(x.shape, dims.lhs_spec)[2:], extents, strides, padding)
    _check_groups(what, x, y, dims, feature_group_count, batch_group_count)
    dtype = x.dtype
    if preferred_element_type is not None:
        dtype = dtypes.requested_dtype(preferred_element_type, what)
        _check_preferred(what, x.dtype, dtype)
    op = ops.Convolution(
        ops.ConvDimensions(tuple(dims.lhs_spec), tuple(dims.rhs_spec), tuple(dims.out_spec)),
        dtype,
        strides,
        tuple(_pads(what, padding, rank)),
        x_dilation,
        y_dilation,
        (False,) * rank,
        operator.index(feature_group_count),
        operator.index(batch_group_count),
        precision_pair(what, _precision(precision)),
    )
    weak = x.weak_type and y.weak_type and preferred_element_type is None
    return bind(op, x, y, weak_type=weak)


_SUMS = ("ii", "ui", "uu", "ff", "cc", "if", "uf")
"""Kinds of dtypes, and of those that sums of their products may have."""


def _check_preferred(what: str, of: np.dtype[Any], dtype: np.dtype[Any]) -> None:
    """Raise TypeError where sums would lose digits, or signs."""
    kinds = ["f" if dtypes.issubdtype(d, np.floating) else d.kind for d in (of, dtype)]
    holds = dtype.itemsize >= of.itemsize and "".join(kinds) in _SUMS
    if not holds and of != np.bool_:
        raise TypeError(
            f"{what}: preferred_element_type={dtype} does not hold the sums of products of {of}: "
            "expected a dtype of the same kind, or for integers a floating-point one, that is not "
            "narrower"
        )


def _precision(precision: PrecisionLike) -> PrecisionLike:
    """Return the precision, or the default one. Convolutions have no algorithms to choose from."""
    if precision is not None:
        return precision
    default = config.default_matmul_precision
    return None if default in DotAlgorithmPreset.__members__ else default


def operands(what: str, lhs: ArrayLike, rhs: ArrayLike) -> tuple[Array, Array]:
    """Array and kernel; TypeError where their dtypes differ."""
    x, y = array_of(what, lhs), array_of(what, rhs)
    if x.dtype != y.dtype:
        dtype = dtypes.result_type(x, y)
        x, y = adapted(x, dtype), adapted(y, dtype)
    if x.dtype != y.dtype:
        raise TypeError(
            f"{what}: lhs has dtype {x.dtype} and rhs {y.dtype}; expected one dtype: convert with "
            "lax.convert_element_type"
        )
    return x, y


def _check_groups(
    what: str, x: Array, y: Array, dims: ConvDimensionNumbers, features: int, batches: int
) -> None:
    batch, in_features = sizes(x.shape, dims.lhs_spec)[:2]
    out_features, per_group = sizes(y.shape, dims.rhs_spec)[:2]
    for name, count in (("feature_group_count", features), ("batch_group_count", batches)):
        if operator.index(count) < 1:
            raise ValueError(f"{what}: {name} must be at least 1, got {count}")
        if out_features % count:
            raise ValueError(
                f"{what}: {name}={count} does not divide the {out_features} output features of "
                f"rhs, shape {y.shape}"
            )
    if features > 1 and batches > 1:
        raise ValueError(
            f"{what}: feature_group_count={features} and batch_group_count={batches}: one of them "
            "must be 1"
        )
    if batch % batches:
        raise ValueError(
            f"{what}: batch_group_count={batches} does not divide the batch of {batch} of lhs, "
            f"shape {x.shape}"
        )
    if in_features != per_group * features:
        raise ValueError(
            f"{what}: lhs, shape {x.shape}, has {in_features} features; the kernel, shape "
            f"{y.shape}, takes {per_group} in each of feature_group_count={features} groups. "
            f"dimension_numbers say which dimensions these are: {tuple(dims)}"
        )


def conv(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: str,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """`conv_general_dilated` without dilation, of the order NCHW and OIHW.

    Args:
        lhs: an array [N, C, spatial dimensions].
        rhs: the kernel [O, C, spatial dimensions], of the same dtype.
        window_strides: an int for each spatial dimension.
        padding: "SAME", "VALID", or a pair of ints for each spatial dimension.
        precision: how exactly the hardware is to multiply.
        preferred_element_type: the dtype of the result.

    Raises:
        TypeError: `lhs` and `rhs` are not arrays of one dtype whose shapes fit.
        ValueError: a stride that is not positive, or there is no such padding or precision.

    >>> irax.lax.conv(irax.numpy.ones((1, 2, 5)), irax.numpy.ones((3, 2, 2)), (1,), "VALID").shape
    (1, 3, 4)
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def conv_with_general_padding(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    lhs_dilation: Sequence[int] | None,
    rhs_dilation: Sequence[int] | None,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
) -> Array:
    """`conv_general_dilated` of the order NCHW and OIHW.

    Args:
        lhs: an array [N, C, spatial dimensions].
        rhs: the kernel [O, C, spatial dimensions], of the same dtype.
        window_strides: an int for each spatial dimension.
        padding: "SAME", "VALID", or a pair of ints for each spatial dimension.
        lhs_dilation: the distance of the array's elements, an int for each spatial dimension; None
            for 1.
        rhs_dilation: the distance of the kernel's elements, an int for each spatial dimension; None
            for 1.
        precision: how exactly the hardware is to multiply.
        preferred_element_type: the dtype of the result.

    Raises:
        TypeError: `lhs` and `rhs` are not arrays of one dtype whose shapes fit.
        ValueError: a stride that is not positive, or there is no such padding or precision.

    >>> irax.lax.conv_with_general_padding(*[jnp.ones((1, 1, 4))] * 2, (1,), [(0, 0)], None, None)
    Array([[[4.]]], dtype=float32)
    """
    return conv_general_dilated(
        lhs,
        rhs,
        window_strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


# ---- transposed ----------------------------------------------------------------------------------


def conv_transpose(
    lhs: ArrayLike,
    rhs: ArrayLike,
    strides: Sequence[int],
    padding: str | Sequence[tuple[int, int]],
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: ConvDimensionsLike = None,
    transpose_kernel: bool = False,
    precision: PrecisionLike = None,
    preferred_element_type: DTypeLike | None = None,
    use_consistent_padding: bool = False,
) -> Array:
    """Convolve an array whose elements are put `strides` apart: a transposed convolution.

    Args:
        lhs: an array.
        rhs: a kernel.
        strides: how many windows there are for each element, for each spatial dimension.
        padding: "SAME" (the result is `strides` times as large) or "VALID" (every window that
            meets an element): what undoes a convolution of that padding. Or pairs of ints.
        rhs_dilation: as in `conv_general_dilated`.
        dimension_numbers: likewise; None is ("NHWC", "HWIO", "NHWC"), with one (H) to three
            (H, W, D) spatial dimensions, or none.
        transpose_kernel: reverses the kernel and exchanges its input and output features, which
            makes of a convolution's kernel that of its gradient.
        precision: how exactly the hardware is to multiply.
        preferred_element_type: the dtype of the sums, and so of the result.
        use_consistent_padding: pairs of ints are the padding of the convolution that is undone,
            not that of the dilated array.

    Raises:
        TypeError, ValueError: as in `conv_general_dilated`.

    >>> x, kernel = irax.numpy.ones((1, 4, 3)), irax.numpy.ones((2, 3, 5))
    >>> irax.lax.conv_transpose(x, kernel, (2,), "SAME").shape
    (1, 8, 5)
    """
    what = "lax.conv_transpose"
    x, y = operands(what, lhs, rhs)
    rank = x.ndim - 2
    if dimension_numbers is None:
        spatial = ["", "H", "HW", "HWD"]
        if not 0 <= rank < len(spatial):
            raise ValueError(
                f"{what}: lhs has shape {x.shape}: without dimension_numbers it must have 2 to 5 "
                "dimensions"
            )
        channels_last = f"N{spatial[rank]}C"
        dimension_numbers = (channels_last, f"{spatial[rank]}IO", channels_last)
    dims = conv_dimension_numbers(x.shape, y.shape, dimension_numbers)
    steps = counts(what, "strides", strides, rank)
    dilation = counts(what, "rhs_dilation", rhs_dilation, rank)
    window = map(ops.dilated, sizes(y.shape, dims.rhs_spec)[2:], dilation)
    if isinstance(padding, str):
        pads = [_transposed_pads(what, k, s, padding) for k, s in zip(window, steps, strict=True)]
    else:
        pads = _pads(what, padding, rank)
        if use_consistent_padding:
            pads = [
                (k - 1 - low, k - 1 - high) for k, (low, high) in zip(window, pads, strict=True)
            ]
    if transpose_kernel:
        out_place, in_place, *spatial_places = dims.rhs_spec
        order = list(range(y.ndim))
        order[out_place], order[in_place] = in_place, out_place
        y = transpose(rev(y, spatial_places), order)
    return conv_general_dilated(
        x,
        y,
        (1,) * rank,
        pads,
        steps,
        dilation,
        dims,
        precision=precision,
        preferred_element_type=preferred_element_type,
    )


def _transposed_pads(what: str, window: int, stride: int, padding: str) -> tuple[int, int]:
    """Return the padding, before and after, for which n elements that are `stride` apart have n *
    stride windows ("SAME"), or all windows that meet an element, and no fewer ("VALID").
    """
    match padding.upper():
        case "SAME":
            total = window + stride - 2
            before = window - 1 if stride > window - 1 else -(-total // 2)
        case "VALID":
            total = window + stride - 2 + max(window - stride, 0)
            before = window - 1
        case _:
            raise RuntimeError(
                f"{what}: padding must be 'SAME', 'VALID' or a pair of ints for each spatial "
                f"dimension, got {padding!r}"
            )
    return before, total - before
