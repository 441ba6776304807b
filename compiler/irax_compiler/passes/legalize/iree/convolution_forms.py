"""Convolutions in the forms for which IREE has fast kernels.

IREE has two such kernels, for arrays [batch, rows, columns, feature] and small windows: ordinary
convolutions, and depthwise ones. All other forms take ten to a hundred times as long. Convolutions
that cannot take one of these forms become matrix products of slices: one for each element of the
window, or one for each position of the result.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from irax_compiler import blas
from irax_compiler.importing import deferred
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import elementwise, shape, slicing
from irax_compiler.ops.conversion import Convert
from irax_compiler.ops.convolution import ConvDimensions, Convolution, dilated
from irax_compiler.ops.core import full
from irax_compiler.ops.dot import DotDimensions, DotGeneral
from irax_compiler.passes.legalize.iree.convolution import apart
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.matching import made_by
from irax_compiler.passes.rewriting import read_as
from irax_compiler.sizes import is_symbolic

if TYPE_CHECKING:
    from irax_compiler.passes.kernels.blas import tile_shapes
else:
    (tile_shapes,) = deferred("irax_compiler.passes.kernels.blas", "tile_shapes")

MOST_PRODUCTS = 64
"""The most products, each of which is compiled separately."""
MANY_FEATURES = 8
"""The least number of features for which products are fast."""

Dimensions = tuple[int, ...]


# ---- legalizations -------------------------------------------------------------------------------


@legalizes("stablehlo.convolution", kind="slow", of="IREE")
def convolution_with_small_result(operation: Operation) -> Sequence[Value] | None:
    """Compute a result smaller than the window, such as a kernel's gradient, by a matrix product
    for each of its elements: IREE takes forty times as long otherwise.
    """
    op = read_as(Convolution, operation)
    if op is None:
        return None
    out, window = _extents(op, operation)
    if out and (math.prod(out) >= math.prod(window) or math.prod(out) > MOST_PRODUCTS):
        return None
    x, y = operation.operands
    return [_product_for_each_place(op, x, y, out, window)]


@legalizes("stablehlo.convolution", kind="slow", of="IREE")
def convolution_of_dilated(operation: Operation) -> Sequence[Value] | None:
    """Split a convolution of a dilated array, such as the gradient of a strided one, so that it
    does not multiply with the zeros between elements.
    """
    op = read_as(Convolution, operation)
    if op is None or op.feature_group_count * op.batch_group_count > 1:
        return None
    if not any(a > 1 for a in op.lhs_dilation) or any(
        a > 1 and (stride, b) != (1, 1)
        for a, stride, b in zip(op.lhs_dilation, op.strides, op.rhs_dilation, strict=True)
    ):
        return None
    return [_with_features_last(op, operation, _between_elements)]


@legalizes("stablehlo.convolution", kind="slow", of="IREE")
def convolution_of_signals(operation: Operation) -> Sequence[Value] | None:
    """Convolve sequences and images of one feature with a small kernel of one by adding their
    multiples: IREE takes five to forty times as long otherwise.
    """
    op = read_as(Convolution, operation)
    if op is None or not op.strides or op.dtype not in tile_shapes.DTYPES:
        return None
    x, y = operation.operands
    features = [shape_of(y)[d] for d in op.dimensions.rhs[:2]]
    out, window = _extents(op, operation)
    elements = math.prod(window)
    if features != [1, 1] or op.batch_group_count > 1:
        return None
    if elements > MOST_PRODUCTS or math.prod(out) < elements:
        return None
    return [_sum_of_multiples(op, x, y, out, window)]


@legalizes("stablehlo.convolution", kind="slow", of="IREE", reproduction="convolution_by_elements")
def convolution_of_sequences(operation: Operation) -> Sequence[Value] | None:
    """Convolve sequences of float32 as images of one row, where irax has code of its own for these
    (see the pass blas): IREE takes three to ten times as long otherwise.
    """
    op = read_as(Convolution, operation)
    if op is None or len(op.strides) != 1 or blas.calls() is None:
        return None
    groups = op.feature_group_count * op.batch_group_count
    if groups > 1 or (*op.lhs_dilation, *op.rhs_dilation) != (1, 1):
        return None
    result, kernel = shape_of(operation.results[0]), shape_of(operation.operands[1])
    (window,) = _extents(op, operation)[1]
    operations = 2 * math.prod(result) * window * kernel[op.dimensions.rhs[1]]
    if not tile_shapes.pay_for_convolution(op.dtype, operations):
        return None
    return [_with_features_last(op, operation, _as_images)]


@legalizes("stablehlo.convolution", kind="slow", of="IREE")
def convolution_by_elements(operation: Operation) -> Sequence[Value] | None:
    """Compute grouped convolutions, and those of long sequences, by a matrix product for each
    element of the window: IREE takes three to ten times as long otherwise.
    """
    op = read_as(Convolution, operation)
    if op is None:
        return None
    x, y = operation.operands
    features, outputs = shape_of(x)[op.dimensions.lhs[1]], shape_of(y)[op.dimensions.rhs[0]]
    out, window = _extents(op, operation)
    groups = op.feature_group_count * op.batch_group_count
    alone = features == outputs == op.feature_group_count
    worth_it = len(out) == 1 and features >= MANY_FEATURES if groups == 1 else not alone
    if not worth_it or math.prod(window) > MOST_PRODUCTS:
        return None
    return [_product_for_each_element(op, x, y, out, window)]


@legalizes("stablehlo.convolution", kind="slow", of="IREE")
def convolution_of_another_layout(operation: Operation) -> Sequence[Value] | None:
    """Move features last. IREE takes forty times as long for other layouts, and would fuse the
    transposes back into the convolution.
    """
    op = read_as(Convolution, operation)
    if op is None or op.dimensions == _features_last(len(op.strides)):
        return None
    return [_with_features_last(op, operation, lambda op, x, y: op(x, y))]


@legalizes("stablehlo.convolution", kind="slow", of="IREE")
def convolution_of_volumes(operation: Operation) -> Sequence[Value] | None:
    """Sum over the window's first dimension, with the array's first one in the batch, for more than
    two spatial dimensions: IREE takes ten times as long otherwise.
    """
    op = read_as(Convolution, operation)
    if op is None or len(op.strides) < 3 or op.feature_group_count * op.batch_group_count > 1:
        return None
    out, window = _extents(op, operation)
    if op.dimensions != _features_last(len(out)) or window[0] > MOST_PRODUCTS:
        return None
    return [_sum_of_slices(op, *operation.operands)]


# ---- how it is done ------------------------------------------------------------------------------


def _as_images(op: Convolution, x: Value, y: Value) -> Value:
    """Build a convolution of sequences, with features last, as one of images of one row."""
    images = replace(
        op,
        dimensions=_features_last(2),
        strides=(1, *op.strides),
        padding=((0, 0), *op.padding),
        lhs_dilation=(1, 1),
        rhs_dilation=(1, 1),
        reversal=(False, *op.reversal),
    )
    n, length, features = shape_of(x)
    found = images(shape.reshape(x, (n, 1, length, features)), shape.reshape(y, (1, *shape_of(y))))
    n, _, length, features = shape_of(found)
    return shape.reshape(found, (n, length, features))


def as_products(op: Convolution, operation: Operation) -> Value:
    """Build a convolution of a kernel that is not reversed from products of matrices: one for each
    element of the window or of the result, whichever are fewer.
    """
    (result,) = operation.results
    if any(0 in shape_of(x) for x in (*operation.operands, result)):
        return full(shape_of(result), 0, op.dtype)
    x, y = operation.operands
    out, window = _extents(op, operation)
    is_small = math.prod(out) < math.prod(window)
    form = _product_for_each_place if is_small else _product_for_each_element
    return form(op, x, y, out, window)


def _extents(op: Convolution, operation: Operation) -> tuple[Dimensions, Dimensions]:
    """Return the spatial extents of the result and of the kernel."""
    out, y = shape_of(operation.results[0]), shape_of(operation.operands[1])
    dims = op.dimensions
    return tuple(out[d] for d in dims.out[2:]), tuple(y[d] for d in dims.rhs[2:])


def _features_last(rank: int) -> ConvDimensions:
    array = (0, rank + 1, *range(1, rank + 1))
    return ConvDimensions(array, (rank + 1, rank, *range(rank)), array)


def _order(places: Dimensions, wanted: Dimensions) -> list[int]:
    """Return the permutation from the given to the wanted order of dimensions."""
    source = dict(zip(wanted, places, strict=True))
    return [source[d] for d in range(len(wanted))]


def _moved(x: Value, places: Dimensions, wanted: Dimensions) -> Value:
    return x if places == wanted else apart(shape.transpose(x, _order(places, wanted)))


def _with_features_last(
    op: Convolution,
    operation: Operation,
    compute: Callable[[Convolution, Value, Value], Value],
) -> Value:
    """Compute a convolution with its features last, and return the result in the given layout."""
    dims, best = op.dimensions, _features_last(len(op.strides))
    x, y = operation.operands
    x, y = _moved(x, dims.lhs, best.lhs), _moved(y, dims.rhs, best.rhs)
    result = compute(replace(op, dimensions=best), x, y)
    if dims.out == best.out:
        return result
    return shape.transpose(apart(result), _order(best.out, dims.out))


def _between_elements(op: Convolution, x: Value, y: Value) -> Value:
    """Compute the results at the places between two elements of x as further features, then
    interleave them.

    Of place q = a t + r, of r < a, the window's element k is at element j of x where q + k =
    low + a j, or k = (low - r) + a (j - t): a kernel of every a-th element, for each r another.
    """
    rank = len(op.strides)
    out = op.result_shape(shape_of(x), shape_of(y))[1:-1]
    *window, inputs, outputs = shape_of(y)
    before, after, steps, padding = zip(
        *(
            _every(op.lhs_dilation[d], op.padding[d], window[d], shape_of(x)[d + 1], out[d])
            for d in range(rank)
        ),
        strict=True,
    )
    phases = op.lhs_dilation
    pad = slicing.Pad((*before, 0, 0), (*after, 0, 0), (0,) * (rank + 2))
    y = pad(y, full((), 0, dtype_of(y)))
    y = shape.reshape(y, (*itertools.chain(*zip(steps, phases, strict=True)), inputs, outputs))
    y = slicing.Reverse(tuple(range(1, 2 * rank, 2)))(y)
    order = [*range(0, 2 * rank, 2), 2 * rank, *range(1, 2 * rank, 2), 2 * rank + 1]
    y = shape.reshape(shape.transpose(y, order), (*steps, inputs, math.prod(phases) * outputs))
    dense = replace(op, padding=padding, lhs_dilation=(1,) * rank)
    result = apart(dense(x, apart(y)))
    n, *counts, _ = shape_of(result)
    result = shape.reshape(result, (n, *counts, *phases, outputs))
    order = [0, *itertools.chain(*((d + 1, d + 1 + rank) for d in range(rank))), 2 * rank + 1]
    spread = [count * a for count, a in zip(counts, phases, strict=True)]
    result = shape.reshape(shape.transpose(result, order), (n, *spread, outputs))
    ones = (1,) * (rank + 2)
    return slicing.slice_(result, (0,) * (rank + 2), (n, *out, outputs), ones)


def _every(
    a: int, padding: tuple[int, int], window: int, n: int, out: int
) -> tuple[int, int, int, tuple[int, int]]:
    """Return the parameters of `_between_elements` for one dimension: the zeros before and after
    the kernel, which make its length a multiple of `a`; the quotient; and the padding of x.
    """
    if a == 1:
        return 0, 0, window, padding
    low = padding[0]
    first, last = -(low // a), -((low - window + 1) // a)  # of j - t
    before, after = a - 1 - low - a * first, low + a * last - window + 1
    return before, after, last - first + 1, (-first, -(-out // a) + last - n)


def _product_for_each_place(
    op: Convolution, x: Value, y: Value, out: Dimensions, window: Dimensions
) -> Value:
    padding, rank = op.padding, len(out)
    extents = *window, *(shape_of(x)[d] for d in op.dimensions.lhs[2:])
    # Sums of products of single numbers, as of groups, read slices of one padded array in place.
    is_plain = (
        op.feature_group_count * op.batch_group_count == 1
        and all(n == 1 for n in op.lhs_dilation)
        and not any(n < 0 for ends in padding for n in ends)
        and not any(map(is_symbolic, extents))
    )
    if not is_plain:
        x, padding = _padded(op, x, range(rank)), ((0, 0),) * rank
    x, y = _arranged(op, x, y)
    sums = tuple(range(2, rank + 3)), tuple(range(1, rank + 2))
    dot = DotGeneral(DotDimensions((0,), (0,), *sums), op.dtype, op.precision, None)
    covered = tuple(map(dilated, window, op.rhs_dilation))
    totals = []
    for place in itertools.product(*map(range, out)):
        start = tuple(p * stride for p, stride in zip(place, op.strides, strict=True))
        total = dot(_padded_part(x, padding, start, covered, op.rhs_dilation), y)
        totals.append(shape.reshape(total, (1, *shape_of(total))))
    result = slicing.Concatenate(0)(*totals) if len(totals) > 1 else totals[0]
    result = shape.reshape(result, (*out, *shape_of(result)[1:]))
    return _joined(op, result, (rank + 1, rank, rank + 2, *range(rank)))


def _product_for_each_element(
    op: Convolution, x: Value, y: Value, out: Dimensions, window: Dimensions
) -> Value:
    rank = len(out)
    x, y = _arranged(op, _padded(op, x, range(rank)), y)
    groups, *_, inputs, outputs = shape_of(y)
    dot = DotGeneral(DotDimensions((0,), (0,), (rank + 2,), (1,)), op.dtype, op.precision, None)
    covered = tuple(map(dilated, out, op.strides))
    total = None
    for element in itertools.product(*map(range, window)):
        start = tuple(k * step for k, step in zip(element, op.rhs_dilation, strict=True))
        limit = (groups, *(k + 1 for k in element), inputs, outputs)
        kernel = slicing.slice_(y, (0, *element, 0, 0), limit, (1,) * len(limit))
        kernel = shape.reshape(kernel, (groups, inputs, outputs))
        term = dot(_part(x, start, covered, op.strides), kernel)
        total = term if total is None else elementwise.add(total, term)
    assert total is not None
    return _joined(op, total, (1, 0, rank + 2, *range(2, rank + 2)))


def _sum_of_multiples(
    op: Convolution, x: Value, y: Value, out: Dimensions, window: Dimensions
) -> Value:
    rank = len(out)
    best = _features_last(rank)
    # LLVM takes minutes for kernels that convert narrow factors of strided slices.
    y = apart(y) if made_by(y, Convert) else y
    x = shape.transpose(_padded(op, x, range(rank)), _order(op.dimensions.lhs, best.lhs))
    y = shape.transpose(y, _order(op.dimensions.rhs, best.rhs))
    n, *spatial, _ = shape_of(x)
    x, y = shape.reshape(x, (n, *spatial)), shape.reshape(y, (math.prod(window),))
    covered = tuple(map(dilated, out, op.strides))
    terms: list[Value] = []
    for k, element in enumerate(itertools.product(*map(range, window))):
        start = tuple(place * step for place, step in zip(element, op.rhs_dilation, strict=True))
        limit = (a + size for a, size in zip(start, covered, strict=True))
        part = slicing.slice_(x, (0, *start), (n, *limit), (1, *op.strides))
        factor = shape.reshape(slicing.slice_in_dim(y, k, k + 1, 0), ())
        terms.append(elementwise.multiply(part, shape.broadcast_scalar(factor, (n, *out))))
    total = shape.reshape(functools.reduce(elementwise.add, terms), (n, 1, 1, *out))
    return _joined(op, total, tuple(range(rank + 3)))


def _arranged(op: Convolution, x: Value, y: Value) -> tuple[Value, Value]:
    """Return the operands in another order: as [group, batch, *spatial, input] and as [group,
    *spatial, input, output].
    """
    dims, rank = op.dimensions, len(op.strides)
    groups = op.feature_group_count * op.batch_group_count
    best = _features_last(rank)
    arranged_x = shape.transpose(x, _order(dims.lhs, best.lhs))
    arranged_y = shape.transpose(y, _order(dims.rhs, best.rhs))
    n, *spatial, features = shape_of(arranged_x)
    if op.feature_group_count > 1:
        split = shape.reshape(arranged_x, (n, *spatial, groups, features // groups))
        arranged_x = shape.move_axis(split, rank + 1, 0)
    else:
        arranged_x = shape.reshape(arranged_x, (groups, n // groups, *spatial, features))
    *window, inputs, outputs = shape_of(arranged_y)
    split = shape.reshape(arranged_y, (*window, inputs, groups, outputs // groups))
    arranged_y = shape.move_axis(split, rank + 1, 0)
    return apart(arranged_x), apart(arranged_y)


def _padded(op: Convolution, x: Value, spatial: Sequence[int]) -> Value:
    """Pad and dilate some spatial dimensions."""
    low, high, interior = ([0] * len(shape_of(x)) for _ in range(3))
    for d in spatial:
        place = op.dimensions.lhs[d + 2]
        low[place], high[place] = op.padding[d]
        interior[place] = op.lhs_dilation[d] - 1
    if not any((*low, *high, *interior)):
        return x
    return slicing.Pad(tuple(low), tuple(high), tuple(interior))(x, full((), 0, dtype_of(x)))


def _part(x: Value, start: Dimensions, covered: Dimensions, strides: Dimensions) -> Value:
    """Slice the spatial dimensions of [group, batch, *spatial, feature]."""
    groups, n, *_, features = shape_of(x)
    limit = (a + size for a, size in zip(start, covered, strict=True))
    return slicing.slice_(x, (0, 0, *start, 0), (groups, n, *limit, features), (1, 1, *strides, 1))


def _padded_part(
    x: Value,
    padding: Sequence[Sequence[int]],
    start: Dimensions,
    covered: Dimensions,
    strides: Dimensions,
) -> Value:
    """Slice [group, batch, *spatial, feature] as if the spatial dimensions were padded: a padded
    copy would take as much memory again.
    """
    low, high, first, sizes = [], [], [], []
    for n, (before, _), at, size, step in zip(
        shape_of(x)[2:-1], padding, start, covered, strides, strict=True
    ):
        count, at = -(-size // step), at - before  # the first one is negative before the array
        above = min(count, max(0, -(at // step)))
        below = count - max(above, min(count, -(-(n - at) // step)))
        low.append(above)
        high.append(below)
        first.append(at + above * step if above < count else 0)
        sizes.append(dilated(count - above - below, step))
    part = _part(x, tuple(first), tuple(sizes), strides)
    if not any((*low, *high)):
        return part
    before, after = ((0, 0, *n, 0) for n in (low, high))
    pad = slicing.Pad(before, after, (0,) * len(shape_of(x)))
    return pad(part, full((), 0, dtype_of(x)))


def _joined(op: Convolution, x: Value, places: Dimensions) -> Value:
    """Merge groups and output features, in the layout of the result. `places` are the positions of
    batch, group, output feature and spatial dimensions.
    """
    batch, group, output, *spatial = places
    sources = dict(
        zip(op.dimensions.out, [(batch,), (group, output), *((s,) for s in spatial)], strict=True)
    )
    in_order = [sources[d] for d in range(len(sources))]
    sizes = shape_of(x)
    x = shape.transpose(x, [*itertools.chain(*in_order)])
    return shape.reshape(x, [math.prod(sizes[s] for s in source) for source in in_order])


def _sum_of_slices(op: Convolution, x: Value, y: Value) -> Value:
    """Return the sum of products of slices of [batch, *spatial, feature] with [*spatial, input,
    output].
    """
    rank = len(op.strides)
    if rank <= 2:
        return op(x, y)
    stride, step = op.strides[0], op.rhs_dilation[0]
    n, count, *out, outputs = op.result_shape(shape_of(x), shape_of(y))
    x = _padded(op, x, [0])
    rest = Convolution(
        _features_last(rank - 1),
        op.dtype,
        op.strides[1:],
        op.padding[1:],
        op.lhs_dilation[1:],
        op.rhs_dilation[1:],
        op.reversal[1:],
        1,
        1,
        op.precision,
    )
    (window, *kernel), (_, _, *sizes) = shape_of(y), shape_of(x)
    total = None
    for k in range(window):
        limit = (n, k * step + dilated(count, stride), *sizes)
        strides = (1, stride, *[1] * len(sizes))
        part = slicing.slice_(x, (0, k * step, *[0] * len(sizes)), limit, strides)
        part = shape.reshape(part, (n * count, *sizes))
        part_of_kernel = shape.reshape(slicing.slice_in_dim(y, k, k + 1, 0), kernel)
        term = _sum_of_slices(rest, part, part_of_kernel)
        total = term if total is None else elementwise.add(total, term)
    assert total is not None
    return shape.reshape(total, (n, count, *out, outputs))
