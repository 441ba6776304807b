"""Products summed over windows: convolution, of any layout, stride, dilation, padding and grouping.

Along one spatial dimension, with stride s, dilations a (of the left operand) and b (of the right):

    out[n, o, p] = sum over i, k of x[n, i, j] y[o, i, k]    where p s + k b = low + j a

The left operand x is the array that windows are taken of; the right operand y is the kernel. Both
transposes are convolutions, in which operands, result and parameters exchange roles. They need no
transposed arrays, for the order of dimensions is a parameter of the op.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, inexact, shape_of
from irax_compiler.ops import conversion, dot, shape, slicing
from irax_compiler.ops.attributes import I64, I64S, PAIRS, AttributeCodec, attribute, result_dtype
from irax_compiler.ops.core import Axis, Linear, Op, Tangent, no_calls, working_dtype
from irax_compiler.ops.linear import Bilinear
from irax_compiler.ops.links import Links, Pairs, Use, along_window, places, through, windows
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.sharding_rule import Shape, ShardingRule
from irax_compiler.ops.transformation import Batching, Evaluation
from irax_compiler.sizes import larger

Dimensions = tuple[int, ...]


@dataclass(frozen=True)
class ConvDimensions:
    """The dimension numbers of a convolution's operands and result.

    The spatial ones follow the two named ones, in the same order in all three.
    """

    lhs: Dimensions
    """Batch, feature, spatial."""
    rhs: Dimensions
    """Output feature, input feature, spatial."""
    out: Dimensions
    """Batch, feature, spatial."""


_LETTERS = ("bf", "oi", "bf")


def _encode_dimensions(dimensions: ConvDimensions) -> mlir.Attribute:
    def spell(places: Dimensions, letters: str) -> str:
        names = [*letters, *map(str, range(len(places) - 2))]
        return "[" + ", ".join(names[places.index(d)] for d in range(len(places))) + "]"

    sides = (dimensions.lhs, dimensions.rhs, dimensions.out)
    lhs, rhs, out = map(spell, sides, _LETTERS)
    return mlir.parse_attribute(f"#stablehlo.conv<{lhs}x{rhs}->{out}>")


@lru_cache(maxsize=4096)
def _decode_dimensions(attribute: mlir.Attribute) -> ConvDimensions:
    def places(spelled: str, letters: str) -> Dimensions:
        names = spelled.split(", ")
        return tuple(map(names.index, [*letters, *map(str, range(len(names) - 2))]))

    sides = re.findall(r"\[([^]]*)\]", mlir.attribute_text(attribute))
    return ConvDimensions(*map(places, sides, _LETTERS))


def _encode_flags(flags: Sequence[bool]) -> mlir.Attribute:
    return mlir.parse_attribute(
        "array<i1" + (": " if flags else "") + ", ".join(str(f).lower() for f in flags) + ">"
    )


_DIMENSIONS = AttributeCodec(_encode_dimensions, _decode_dimensions)
_FLAGS = AttributeCodec(_encode_flags, lambda a: tuple(map(bool, a)))


@register_class
@dataclass(frozen=True)
class Convolution(Bilinear):
    """Sums of the products of a kernel and the windows of an array.

    Rows of numbers have one for each spatial dimension.
    """

    name = "stablehlo.convolution"
    superlinear = True
    needs_whole = True
    reduces = True
    dimensions: ConvDimensions = attribute(_DIMENSIONS, "dimension_numbers")
    dtype: np.dtype = result_dtype()
    strides: tuple[int, ...] = attribute(I64S, "window_strides")
    """The distance between the starts of neighbouring windows."""
    padding: tuple[tuple[int, int], ...] = attribute(PAIRS)
    """The number of zeros before and after the array in each dimension; negative numbers crop it.
    """
    lhs_dilation: tuple[int, ...] = attribute(I64S)
    """The distance between neighbouring elements of the array; zeros are put between them."""
    rhs_dilation: tuple[int, ...] = attribute(I64S)
    """The distance between neighbouring elements of a window."""
    reversal: tuple[bool, ...] = attribute(_FLAGS, "window_reversal")
    """True to reverse the kernel, for each spatial dimension."""
    feature_group_count: int = attribute(I64, default=1)
    """Each group of input features makes its own group of output features."""
    batch_group_count: int = attribute(I64, default=1)
    """Each group of the batch makes its own group of output features."""
    precision: tuple[str, str] | None = attribute(dot.PRECISION, "precision_config")
    """DEFAULT, HIGH or HIGHEST for each operand."""

    @classmethod
    def flops(cls, operation: Operation) -> float:
        op = cls.read(operation)
        assert isinstance(op, Convolution)
        kernel = shape_of(operation.operands[1])
        depth = math.prod(kernel) / max(kernel[op.dimensions.rhs[0]], 1)
        return 2 * depth * math.prod(shape_of(operation.results[0]))

    @classmethod
    def read(cls, operation: Operation) -> Op:
        op = super().read(operation)
        assert isinstance(op, Convolution)
        rank = len(op.dimensions.lhs) - 2
        left_out = {
            "strides": (1,) * rank,
            "padding": ((0, 0),) * rank,
            "lhs_dilation": (1,) * rank,
            "rhs_dilation": (1,) * rank,
            "reversal": (False,) * rank,
        }
        stated = {key: v for key, v in left_out.items() if getattr(op, key) is None}
        return replace(op, **stated) if stated else op

    # -- shapes --

    def result_types(self, operands: Sequence[Value]):
        return [mlir.tensor_type(self.result_shape(*map(shape_of, operands)), self.dtype)]

    def result_shape(self, x: Sequence[int], y: Sequence[int]) -> tuple[int, ...]:
        """The result's shape for operands of these shapes."""
        dims = self.dimensions
        sizes = [x[dims.lhs[0]] // self.batch_group_count, y[dims.rhs[0]]]
        for d, (low, high) in enumerate(self.padding):
            n = dilated(x[dims.lhs[d + 2]], self.lhs_dilation[d]) + low + high
            window = dilated(y[dims.rhs[d + 2]], self.rhs_dilation[d])
            sizes.append(larger((n - window) // self.strides[d] + 1, 0))
        return _at(dims.out, sizes)

    # -- meaning --

    def evaluate(self, call: Evaluation, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        dims = self.dimensions
        sizes = self.result_shape(x.shape, y.shape)
        if 0 in (*sizes, *x.shape, *y.shape):
            return np.zeros(sizes, self.dtype)
        working = working_dtype(self.dtype)
        if inexact(working):
            working = dot.widest(x.dtype, y.dtype, self.dtype)
        x = x.astype(working, copy=False).transpose(dims.lhs[0], *dims.lhs[2:], dims.lhs[1])
        y = y.astype(working, copy=False).transpose(dims.rhs[0], *dims.rhs[2:], dims.rhs[1])
        y = np.flip(y, tuple(d + 1 for d, flag in enumerate(self.reversal) if flag))
        spread = self._spread(x)
        out = tuple(sizes[d] for d in dims.out[2:])
        windows = self._windows(spread, out, y.shape[1:-1])
        # A matrix for each group: [batch and place, element of the window], [the same, feature].
        groups = self.feature_group_count * self.batch_group_count
        batch = sizes[dims.out[0]]
        windows = windows.reshape(groups, batch * math.prod(out), -1)
        kernels = y.reshape(groups, y.shape[0] // groups, -1).transpose(0, 2, 1)
        pair = (windows[0], kernels[0]) if groups == 1 else (windows, kernels)
        product = dot.matmul(*pair)
        product = product.reshape(groups, batch, *out, -1)
        product = np.moveaxis(product, 0, -2).reshape(batch, *out, -1)
        product = product.transpose(np.argsort([dims.out[0], *dims.out[2:], dims.out[1]]))
        return product.astype(self.dtype, copy=False)

    def links(self, use: Use) -> Links:
        """Link the array by its windows, and by the elements of the kernel that are not zero."""
        dims = self.dimensions
        if use.number:
            return through([dims.rhs[0]], [dims.out[1]], use.shape, use.results[0])
        parts = self._taps(use)
        if len(parts) == 1 and parts[0][0].all() and self.batch_group_count == 1:
            return self._links_by_places(use, parts[0][1])
        extents = [use.shape[d] for d in dims.lhs]
        count = [use.results[0][d] for d in dims.out]
        found = []
        for linked, at in parts:
            ranges = [self._features(linked, extents, count), *self._ranges(use, at)]
            merged, counts = ((math.prod(n[:2]), *n[2:]) for n in (extents, count))
            found.append(windows(merged, counts, ranges))
        here = places(use.results[0]).transpose(dims.out).reshape(-1)
        there = places(use.shape).transpose(dims.lhs).reshape(-1)
        results = np.concatenate([here[pairs.results] for pairs in found])
        operands = np.concatenate([there[pairs.operands] for pairs in found])
        return [Pairs(results, operands, here.size)]

    def _links_by_places(self, use: Use, at: Sequence[np.ndarray]) -> Links:
        """Link the features of a group together, where the kernel links all of them."""
        dims, groups = self.dimensions, self.feature_group_count
        there = places(use.shape).transpose(dims.lhs)
        here = places(use.results[0]).transpose(dims.out)
        (batch, _, *extents), (_, _, *count) = there.shape, here.shape
        stacks = batch * groups
        there, here = there.reshape(stacks, -1, *extents), here.reshape(stacks, -1, *count)
        before, after = (
            np.broadcast_to(places((stacks, 1, *n)), x.shape).reshape(-1)
            for x, n in ((there, extents), (here, count))
        )
        every = np.arange(stacks)
        return [
            Pairs(before, there.reshape(-1), stacks * math.prod(extents)),
            windows((stacks, *extents), (stacks, *count), [(every, every), *self._ranges(use, at)]),
            Pairs(here.reshape(-1), after, here.size),
        ]

    def _ranges(self, use: Use, at: Sequence[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Pairs of windows and elements in each dimension, for some places of the kernel."""
        dims, ranges = self.dimensions, []
        for d, taps in enumerate(at):
            if self.reversal[d]:
                taps = use.operands[1][dims.rhs[d + 2]] - 1 - taps
            ranges.append(
                along_window(
                    use.shape[dims.lhs[d + 2]],
                    use.results[0][dims.out[d + 2]],
                    taps * self.rhs_dilation[d],
                    self.strides[d],
                    self.lhs_dilation[d],
                    self.padding[d][0],
                )
            )
        return ranges

    def _taps(self, use: Use) -> list[tuple[np.ndarray, list[np.ndarray]]]:
        """Parts of the kernel: which output and input features each links, and its places in each
        dimension. There is one part, unless some elements are known to be zero.
        """
        dims, kernel = self.dimensions, use.values[1]
        features, in_group, *taps = (use.operands[1][d] for d in dims.rhs)
        if kernel is None or (kernel != 0).all():
            return [(np.ones((features, in_group), bool), list(map(np.arange, taps)))]
        there = (kernel != 0).transpose(dims.rhs)
        return [(there[(..., *tap)], [np.array([t]) for t in tap]) for tap in np.ndindex(*taps)]

    def _features(
        self, linked: np.ndarray, extents: Sequence[int], count: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of places in batch and features, as one dimension, of the result and the array."""
        features, in_group = linked.shape
        out, inside = np.nonzero(linked)
        batch = np.arange(count[0])[:, None]
        group = out // max(features // self.feature_group_count, 1)
        batch_group = out // max(features // self.batch_group_count, 1)
        of_array = batch + batch_group * count[0]
        within = inside + (group * in_group if self.feature_group_count > 1 else 0)
        results, operands = batch * features + out, of_array * extents[1] + within
        return results.reshape(-1), operands.reshape(-1)

    def _spread(self, x: np.ndarray) -> np.ndarray:
        """[batch, *spatial, feature], padded and dilated."""
        low, high = zip(*self.padding, strict=True) if self.padding else ((), ())
        interior = tuple(a - 1 for a in self.lhs_dilation)
        if not any((*low, *high, *interior)):
            return x
        pad = slicing.Pad((0, *low, 0), (0, *high, 0), (0, *interior, 0))
        return pad.evaluate(no_calls, x, np.zeros((), x.dtype))

    def _windows(self, x: np.ndarray, out: Dimensions, window: Dimensions) -> np.ndarray:
        """A view of [batch, *spatial, feature] as [group, batch, *out, *window, feature].

        The features come last, so that a copy of it moves more than one element at a time.
        """
        groups = self.feature_group_count
        batch_groups = self.batch_group_count
        n, features = x.shape[0], x.shape[-1]
        along, step = x.strides[1:-1], x.strides[-1]
        if groups > 1:
            lead = (groups, n), (features // groups * step, x.strides[0])
        else:
            per_group = n // batch_groups
            lead = (batch_groups, per_group), (per_group * x.strides[0], x.strides[0])
        return np.lib.stride_tricks.as_strided(
            x,
            (*lead[0], *out, *window, features // groups),
            (
                *lead[1],
                *(s * n for s, n in zip(self.strides, along, strict=True)),
                *(b * n for b, n in zip(self.rhs_dilation, along, strict=True)),
                step,
            ),
            writeable=False,
        )

    # -- derivatives --

    def cotangent(self, number: int, ct: Value, x: Any, y: Any) -> Tangent:
        if 0 in (*shape_of(ct), *shape_of(x), *shape_of(y)):
            return None
        if number == 0:
            ct, y = _widened(ct, y)
            return conversion.convert(self._lhs_cotangent(ct, x, y), dtype_of(x))
        ct, x = _widened(ct, x)
        return conversion.convert(self._rhs_cotangent(ct, x, y), dtype_of(y))

    def _lhs_cotangent(self, ct: Value, x: Linear, y: Value) -> Value:
        """`ct` convolved with the kernel backwards, its input and output features exchanged.

        Stride and dilation of the left operand change places. Groups of the batch become groups of
        features, and the result's features are sorted back into the batch.
        """
        dims = self.dimensions
        groups = self.feature_group_count * self.batch_group_count
        # [(g, o), i] -> [o, (g, i)]
        y = _regrouped(y, dims.rhs[0], dims.rhs[1], groups)
        padding = []
        for d, (low, _) in enumerate(self.padding):
            window = dilated(shape_of(y)[dims.rhs[d + 2]], self.rhs_dilation[d])
            n = dilated(shape_of(x)[dims.lhs[d + 2]], self.lhs_dilation[d])
            have = dilated(shape_of(ct)[dims.out[d + 2]], self.strides[d])
            padding.append((window - 1 - low, n + low - have))
        op = replace(
            self,
            dimensions=ConvDimensions(
                dims.out, (dims.rhs[1], dims.rhs[0], *dims.rhs[2:]), dims.lhs
            ),
            dtype=dtype_of(y),
            strides=self.lhs_dilation,
            padding=tuple(padding),
            lhs_dilation=self.strides,
            reversal=tuple(not backwards for backwards in self.reversal),
            feature_group_count=groups,
            batch_group_count=1,
        )
        result = op(ct, y)
        if self.batch_group_count > 1:  # [n, (g, i)] -> [(g, n), i]
            result = _regrouped(result, dims.lhs[1], dims.lhs[0], groups)
        return result

    def _rhs_cotangent(self, ct: Value, x: Value, y: Linear) -> Value:
        """The left operand convolved with `ct`: batch and features have changed places in both.

        Stride and dilation of the right operand change places, and so do the two kinds of groups.
        """
        dims = self.dimensions
        padding = []
        for d, (low, _) in enumerate(self.padding):
            window = dilated(shape_of(ct)[dims.out[d + 2]], self.strides[d])
            n = dilated(shape_of(x)[dims.lhs[d + 2]], self.lhs_dilation[d])
            want = dilated(shape_of(y)[dims.rhs[d + 2]], self.rhs_dilation[d])
            padding.append((low, want + window - 1 - n - low))
        op = replace(
            self,
            dimensions=ConvDimensions(
                (dims.lhs[1], dims.lhs[0], *dims.lhs[2:]),
                (dims.out[1], dims.out[0], *dims.out[2:]),
                (dims.rhs[1], dims.rhs[0], *dims.rhs[2:]),
            ),
            dtype=dtype_of(x),
            strides=self.rhs_dilation,
            padding=tuple(padding),
            rhs_dilation=self.strides,
            reversal=(False,) * len(self.reversal),
            feature_group_count=self.batch_group_count,
            batch_group_count=self.feature_group_count,
        )
        backwards = [dims.rhs[d + 2] for d, flag in enumerate(self.reversal) if flag]
        result = op(x, ct)
        return slicing.Reverse(tuple(backwards))(result) if backwards else result

    # -- batching --

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        dims, (x, y), (result,) = (
            self.dimensions,
            map(_undivided, operands),
            map(_undivided, results),
        )
        batch, contracted, features = range(3)
        if self.batch_group_count == 1:
            x[dims.lhs[0]] = result[dims.out[0]] = batch
        if self.feature_group_count * self.batch_group_count == 1:
            x[dims.lhs[1]] = y[dims.rhs[1]] = contracted
            y[dims.rhs[0]] = result[dims.out[1]] = features
        spatial = range(3, len(x) + 1)
        for place, of_x, of_result in zip(spatial, dims.lhs[2:], dims.out[2:], strict=True):
            x[of_x] = result[of_result] = place
        return ShardingRule(
            (tuple(x), tuple(y)),
            (tuple(result),),
            {contracted: "add"},
            gathered=frozenset(spatial),
            stated=frozenset((contracted, features)),
        )

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        """The mapped axis becomes part of a dimension that is there already: of the batch, or of
        the output features, or, where both operands have one, of the groups.
        """
        x, y = operands
        x_axis, y_axis = axes
        dims, groups = self.dimensions, self.feature_group_count * self.batch_group_count
        if x_axis is not None and y_axis is not None:
            by_batch = self.batch_group_count > 1
            x = _merge(x, x_axis, dims.lhs[0 if by_batch else 1])
            y = _merge(y, y_axis, dims.rhs[0])
            counted = "batch_group_count" if by_batch else "feature_group_count"
            op = replace(self, **{counted: transform.size * groups})
            return _split(op(x, y), dims.out[1], transform.size)
        if x_axis is not None:
            x = _merge(x, x_axis, dims.lhs[0], self.batch_group_count)
            return _split(self(x, y), dims.out[0], transform.size)
        y = _merge(y, y_axis, dims.rhs[0], groups)
        return _split(self(x, y), dims.out[1], transform.size, groups)


# ---- sizes and dimensions ------------------------------------------------------------------------


def dilated(size: int, dilation: int) -> int:
    """Return the extent of `size` elements after dilation."""
    return size + larger(size - 1, 0) * (dilation - 1)


def _at(places: Dimensions, sizes: Sequence[int]) -> Dimensions:
    """The sizes in the order in which their dimensions lie."""
    found = dict(zip(places, sizes, strict=True))
    return tuple(found[d] for d in range(len(places)))


def _widened(x: Value, y: Value) -> tuple[Value, Value]:
    """Both in one dtype: a cotangent may have a wider one than the operands."""
    if dtype_of(x) == dtype_of(y):
        return x, y
    wide = dot.widest(dtype_of(x), dtype_of(y))
    return conversion.convert(x, wide), conversion.convert(y, wide)


def _regrouped(x: Value, source: int, destination: int, groups: int) -> Value:
    """Dimension `source` is [group, rest]: the groups become the outer part of `destination`."""
    if groups == 1:
        return x
    x = _fold(x, source, groups)
    return _merge(x, source, destination)


def _fold(x: Value, dimension: int, outer: int) -> Value:
    """Dimension `dimension` as two, of which the first has `outer` elements."""
    sizes = shape_of(x)
    rest = sizes[dimension] // outer
    return shape.reshape(x, (*sizes[:dimension], outer, rest, *sizes[dimension + 1 :]))


def _merge(x: Value, axis: Axis, dimension: int, outer: int = 1) -> Value:
    """Merge the dimension at `axis` into `dimension`, which is [outer, rest] without it and becomes
    [outer, axis, rest].
    """
    assert axis is not None
    place = dimension
    if outer > 1:
        x = _fold(x, dimension + (dimension >= axis), outer)
        axis += axis > dimension
        place += 1
    x = shape.move_axis(x, axis, place)
    sizes = shape_of(x)
    merged = math.prod(sizes[dimension : place + 2])
    return shape.reshape(x, (*sizes[:dimension], merged, *sizes[place + 2 :]))


def _split(
    x: Value, dimension: int, size: int, outer: int = 1
) -> tuple[Sequence[Value], Sequence[Axis]]:
    """The other way: `dimension`, which is [outer, size, rest], gives back the one of `size`."""
    if outer == 1:
        return [_fold(x, dimension, size)], [dimension]
    sizes = shape_of(x)
    rest = sizes[dimension] // (outer * size)
    before, after = sizes[:dimension], sizes[dimension + 1 :]
    x = shape.move_axis(
        shape.reshape(x, (*before, outer, size, rest, *after)), dimension + 1, dimension
    )
    return [shape.reshape(x, (*before, size, outer * rest, *after))], [dimension]


def _undivided(shape: Shape) -> list[int | None]:
    return [None] * len(shape)
