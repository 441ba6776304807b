"""Reductions over sliding windows: pooling, and cumulative sums."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import bitwise, comparison, conversion, elementwise, shape, slicing
from irax_compiler.ops.attributes import I64S, PAIRS, from_operation
from irax_compiler.ops.computation import Computation, named
from irax_compiler.ops.core import (
    Axis,
    Linear,
    Tangent,
    dtype_of_places,
    form,
    full,
    full_like,
    only,
    working_dtype,
    zeros_like,
)
from irax_compiler.ops.indexing import gather_scatter
from irax_compiler.ops.links import Links, Use, along_window, windows
from irax_compiler.ops.reduction_builders import reduce_sum
from irax_compiler.ops.reductions import cumulative, reduce, window_shapes
from irax_compiler.ops.reductions.windows import Window
from irax_compiler.ops.registry import computed, register_class
from irax_compiler.ops.sharding_rule import Shape, ShardingRule, same_along
from irax_compiler.ops.sorting import sort
from irax_compiler.ops.structured import DefinedOp
from irax_compiler.ops.transformation import (
    Batching,
    Differentiation,
    Evaluation,
    Transposition,
)
from irax_compiler.sizes import at_least, is_symbolic

T = TypeVar("T")


def _computation(operation: Operation) -> str | Computation:
    if len(operation.operands) == 2:
        x, init = operation.operands
        combiner = reduce.find_combiner(operation)
        if combiner is not None and dtype_of(x) == dtype_of(init):
            return combiner
    return Computation.of(operation.regions[0].blocks[0])


def _window(operation: Operation) -> Window:
    def dims(name: str) -> tuple[int, ...]:
        there: Any = operation.attributes.get(name)
        return () if there is None else I64S.decode(there)

    padding: Any = operation.attributes.get("padding")
    return Window(
        dims("window_dimensions"),
        dims("window_strides"),
        dims("base_dilations"),
        dims("window_dilations"),
        () if padding is None else PAIRS.decode(padding),
    ).full()


_SMALL = 256
"""The elements of a window from which on it is not followed element by element."""


@register_class
@dataclass(frozen=True)
class ReduceWindow(DefinedOp):
    """Reduce each window of the first half of the operands, starting from the scalars in the second
    half.
    """

    name = "stablehlo.reduce_window"
    superlinear = True
    is_pure = True
    needs_whole = True
    reduces = True
    num_results: ClassVar[int] = -1
    computation: str | Computation = from_operation(_computation)
    """One of `reduce.COMBINERS`, of one array; or any computation, associative."""
    window: Window = from_operation(_window)

    @classmethod
    def flops(cls, operation: Operation) -> float:
        window, extents = _window(operation), shape_of(operation.operands[0])
        is_run = cumulative.run_of(window, extents) is not None
        each = 1 if is_run else prod(window.sizes) - 1
        return prod(shape_of(operation.results[0])) * each * computed(operation)

    def attributes(self):
        window = self.window
        return {
            "window_dimensions": I64S.encode(window.sizes),
            "window_strides": I64S.encode(window.strides),
            "base_dilations": I64S.encode(window.base_dilations),
            "window_dilations": I64S.encode(window.dilations),
            "padding": PAIRS.encode(window.padding),
        }

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        window = self.window
        along = zip(
            *(window.sizes, window.strides, window.base_dilations, window.padding), strict=True
        )
        kept = [d for d, of_one in enumerate(along) if of_one == (1, 1, 1, (0, 0))]
        parts = [d for d in range(len(operands[0])) if d not in kept]
        # Where a window holds a whole dimension, as in a cumulative sum, its type does not follow.
        whole = any(window.sizes[d] >= operands[0][d] for d in parts)
        return same_along(kept, operands, results, parts, stated=whole)

    def tells_by_definition(self, use: Use) -> bool:
        # Of several arrays, the places of the largest elements among them.
        return len(use.operands) > 2 and prod(self.window.sizes) < _SMALL

    def links(self, use: Use) -> Links:
        if use.number >= len(use.operands) // 2:
            return super().links(use)
        window, count = self.window, use.results[use.result]
        along = zip(
            *(use.shape, count, window.sizes, window.dilations),
            *(window.strides, window.base_dilations, window.padding),
            strict=True,
        )
        ranges = [
            along_window(n, m, np.arange(size) * dilation, stride, base, low)
            for n, m, size, dilation, stride, base, (low, _) in along
        ]
        return [windows(use.shape, count, ranges)]

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        half = len(operands) // 2
        count = self.window.count(shape_of(operands[0]))
        types = [mlir.tensor_type(count, dtype_of(init)) for init in operands[half:]]
        operation = mlir.emit(form(self)[0], operands, self.attributes(), types, regions=1)
        self._on_scalars([dtype_of(init) for init in operands[half:]]).fill(operation.regions[0])
        return tuple(operation.results)

    def _on_scalars(self, dtypes: Sequence[np.dtype]) -> Computation:
        if isinstance(self.computation, str):
            return named(self.computation, dtypes[0])
        return self.computation

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        """The elements of all windows, one after the other, as slices that are folded."""
        half = len(operands) // 2
        xs, inits = operands[:half], operands[half:]
        dtype = dtype_of(inits[0])
        wide = working_dtype(dtype)
        if isinstance(self.computation, str) and wide != dtype:
            widened = [conversion.convert(x, wide) for x in operands]
            return [conversion.convert(r, dtype) for r in self.define(widened)]
        extents = shape_of(xs[0])
        compute = self._on_scalars([dtype_of(init) for init in inits])
        padded = [
            self.window.pad()(conversion.convert(x, dtype_of(init)), init)
            for x, init in zip(xs, inits, strict=True)
        ]
        results = [shape.broadcast_scalar(i, self.window.count(extents)) for i in inits]
        if 0 in self.window.count(extents):
            return results
        run = cumulative.run_of(self.window, extents)
        if run is not None:
            wide_xs = [conversion.convert(x, dtype_of(i)) for x, i in zip(xs, inits, strict=True)]
            if cumulative.stays(compute.evaluate, inits):
                if is_symbolic(extents[run.dimension]):
                    return cumulative.accumulated_from(compute, inits, wide_xs, run)
            else:
                size = self.window.sizes[run.dimension]
                results = cumulative.of_padding(compute, inits, run, size, extents)
            return compute(*results, *cumulative.accumulated(compute, wide_xs, run))
        parts = (
            [slicing.slice_(x, start, end, self.window.strides) for x in padded]
            for start, end in self.window.places(extents)
        )
        same = (
            [shape.reshape(x, shape_of(y)) for x, y in zip(part, results, strict=True)]
            for part in parts
        )
        return compute(*results, *in_pairs(compute, same))

    # -- in NumPy --

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Sequence[np.ndarray]:
        arrays = [np.asarray(x) for x in operands]
        half = len(arrays) // 2
        xs, inits = arrays[:half], arrays[half:]
        extents, dtypes = xs[0].shape, [init.dtype for init in inits]
        fold = self._folding(dtypes)
        wide = [working_dtype(d) if isinstance(self.computation, str) else d for d in dtypes]
        run = cumulative.run_of(self.window, extents)
        if run is not None:
            size = self.window.sizes[run.dimension]
            rows = [x.astype(w, copy=False) for x, w in zip(xs, wide, strict=True)]
            starts = [init.astype(w) for init, w in zip(inits, wide, strict=True)]
            ufunc = reduce.COMBINERS.get(self.computation)  # pyright: ignore
            found = cumulative.in_numpy(fold, ufunc, rows, starts, run, size)
            return [y.astype(d, copy=False) for y, d in zip(found, dtypes, strict=True)]
        padded = [
            self.window.pad().evaluate(call, x.astype(w), init.astype(w))
            for x, init, w in zip(xs, inits, wide, strict=True)
        ]
        count = self.window.count(extents)
        results = [np.full(count, init.astype(w)) for init, w in zip(inits, wide, strict=True)]
        if 0 not in count:
            if isinstance(self.computation, str) and prod(self.window.sizes) > _FEW:
                folded: Sequence[np.ndarray] = [self._folded(self.computation, *padded)]
            else:
                cuts = (
                    tuple(map(slice, start, end, self.window.strides))
                    for start, end in self.window.places(extents)
                )
                folded = in_pairs(fold, ([x[cut] for x in padded] for cut in cuts))
            results = fold(*results, *folded)
        return [np.asarray(r).astype(d, copy=False) for r, d in zip(results, dtypes, strict=True)]

    def _folded(self, combiner: str, x: np.ndarray) -> np.ndarray:
        """The elements of all windows of a padded array, folded along one dimension after the
        other.
        """
        window, start = self.window, reduce.identity(combiner, x.dtype)
        for d, (size, stride, step) in enumerate(
            zip(window.sizes, window.strides, window.dilations, strict=True)
        ):
            windows = sliding_window_view(x, (size - 1) * step + 1, d)
            windows = windows[(slice(None),) * d + (slice(None, None, stride),)][..., ::step]
            x = reduce.fold(combiner, windows, (x.ndim,), np.asarray(start, x.dtype))
        return x

    def _folding(self, dtypes: Sequence[np.dtype]) -> Callable[..., Sequence[np.ndarray]]:
        if isinstance(self.computation, str):
            ufunc = reduce.COMBINERS[self.computation]
            return lambda x, y: [ufunc(x, y)]
        return self.computation.evaluate

    # -- derivatives --

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        direct = self._tangent(primals, tangents)
        if direct is None:
            results, found = super().jvp(transform, primals, tangents)
            return self._results(primals, results), found
        return self.build(primals), [direct]

    def _results(self, primals: Sequence[Value], defined: Sequence[Value]) -> Sequence[Value]:
        """Return the results: a cumulative reduction is built as it is, for its definition rounds
        in another order.
        """
        run = cumulative.run_of(self.window, shape_of(primals[0]))
        return defined if run is None else self.build(primals)

    def _tangent(self, primals: Sequence[Value], tangents: Sequence[Tangent]) -> Value | None:
        """The tangent of a sum, maximum or minimum; None for anything else."""
        if self.computation == "add":
            t, t_init = tangents
            x, init = primals
            return self.build([t or zeros_like(x), t_init or zeros_like(init)])[0]
        if self.computation in ("maximum", "minimum") and tangents[1] is None:
            return self._extremum_tangent(primals[0], primals[1], only([tangents[0]]))
        return None

    def _extremum_tangent(self, x: Value, init: Value, t: Value) -> Value:
        """The tangents of the extrema; 0 where the init value is beyond them."""
        assert isinstance(self.computation, str)
        better = (
            comparison.greater_equal if self.computation == "maximum" else comparison.less_equal
        )
        run = cumulative.run_of(self.window, shape_of(x))
        if run is None:
            extremum, place, there = first_of(x, init, self.window, better)
            found = chosen(t, place, there)
        else:
            neutral = reduce.identity(self.computation, dtype_of(x))
            (extremum,) = self.build([x, full((), neutral, dtype_of(x))])
            found = sort.take(t, _places_of_extrema(extremum, run), run.dimension)
        if reduce.is_identity(self.computation, init):
            return found
        bound = shape.broadcast_scalar(init, shape_of(found))
        return comparison.select(better(extremum, bound), found, zeros_like(found))

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        if self.computation != "add":
            return super().transpose(transform, cotangents, operands)
        x, init = operands
        ct = only(cotangents)
        ct_init = reduce_sum(ct, range(len(shape_of(ct))))
        return [
            self._spread(ct, shape_of(x)) if isinstance(x, Linear) else None,
            self._init_cotangent(ct, x, ct_init) if isinstance(init, Linear) else None,
        ]

    def _init_cotangent(self, ct: Value, x: Value | Linear, once: Value) -> Value:
        """The init value counts once for each window, and for each place that is padding."""
        ones = full(shape_of(x), 1, dtype_of(ct))
        covered = self.build([ones, full((), 0, dtype_of(ct))])[0]
        size = full_like(ct, prod(self.window.sizes))
        padding = elementwise.multiply(ct, elementwise.subtract(size, covered))
        rest = reduce_sum(padding, range(len(shape_of(ct))))
        return elementwise.add(once, rest)

    def _spread(self, ct: Value, array: Sequence[int]) -> Value:
        """The sum, for each element of the array, of the cotangents of the windows it is in."""
        window = self.window
        zero = full((), 0, dtype_of(ct))
        run = cumulative.run_of(window, array)
        if run is not None:
            back = cumulative.Run(run.dimension, not run.backwards)
            return ReduceWindow("add", back.window(array)).build([ct, zero])[0]
        padded = window.padded(array)
        if 0 in shape_of(ct) or 0 in array:
            return full(array, 0, dtype_of(ct))
        reach = tuple((n - 1) * d for n, d in zip(window.sizes, window.dilations, strict=True))
        interior, none = tuple(s - 1 for s in window.strides), (0,) * len(array)
        between = slicing.Pad(none, none, interior).result_shape(shape_of(ct))
        after = tuple(n - covered for n, covered in zip(padded, between, strict=True))
        wide = slicing.Pad(reach, after, interior)(ct, zero)
        whole = Window(window.sizes, dilations=window.dilations).full()
        (sums,) = ReduceWindow("add", whole).build([wide, zero])
        # Without what was padding, and what was put between.
        cut = slicing.Pad(
            tuple(-low for low, _ in window.padding),
            tuple(-high for _, high in window.padding),
            none,
        )(sums, zero)
        return slicing.slice_(cut, none, shape_of(cut), window.base_dilations)

    # -- batching --

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        moved = shape.reduced_with_lanes(transform.size, operands, axes)
        if moved is None:
            return super().batch(transform, operands, axes)
        results = replace(self, window=self.window.with_axis(0)).build(moved)
        return results, [0] * len(results)


_FEW = 64
"""The most elements of a window of which each is a slice of the array, in NumPy."""


def in_pairs(fold: Callable[..., Sequence[T]], parts: Iterable[Sequence[T]]) -> Sequence[T]:
    """Fold parts in their order, neighbours pairwise, so that rounding errors stay small."""
    stack: list[tuple[int, Sequence[T]]] = []
    for part in parts:
        size, folded = 1, part
        while stack and stack[-1][0] == size:
            folded = fold(*stack.pop()[1], *folded)
            size *= 2
        stack.append((size, folded))
    _, folded = stack.pop()
    while stack:
        folded = fold(*stack.pop()[1], *folded)
    return folded


def first_of(
    x: Value, init: Value, window: Window, better: Callable[[Value, Value], Value]
) -> tuple[Value, Value, Value]:
    """Return, for each window, the first of its best elements, its row-major index, and whether it
    has one that is not padding.
    """
    extents = shape_of(x)
    dtype, places = dtype_of(x), dtype_of_places(prod(extents))

    def pick(a: Value, i: Value, b: Value, j: Value) -> list[Value]:
        none = full((), -1, places)
        a_there, b_there = comparison.not_equal(i, none), comparison.not_equal(j, none)
        mine = bitwise.or_(bitwise.and_(a_there, better(a, b)), bitwise.not_(b_there))
        return [comparison.select(mine, a, b), comparison.select(mine, i, j)]

    numbers = shape.reshape(shape.Iota((prod(extents),), places, 0)(), extents)
    computation = Computation.build([dtype, places, dtype, places], pick)
    op = ReduceWindow(computation, window)
    best, place = op.build([x, numbers, init, full((), -1, places)])
    return best, place, comparison.greater_equal(place, full_like(place, 0))


def chosen(x: Value, place: Value, there: Value) -> Value:
    """The elements of an array at some places in row-major order; 0 where there is none."""
    rank, size = len(shape_of(place)), prod(shape_of(x))
    flat = shape.reshape(x, (size,))
    if not at_least(size, 1):  # windows of padding alone, where a gather needs an element
        flat = slicing.Pad((0,), (1,), (0,))(flat, full((), 0, dtype_of(x)))
    dims = window_shapes.WindowDims(collapsed_dims=(0,), index_map=(0,), index_vector_dim=rank)
    found = gather_scatter.Gather(dims, (1,), indices_are_sorted=False)(flat, place)
    return comparison.select(there, found, zeros_like(found))


def _places_of_extrema(extrema: Value, run: cumulative.Run) -> Value:
    """Return the indices along the dimension at which the extrema so far were first attained."""
    d, extents = run.dimension, shape_of(extrema)
    n = extents[d]
    numbers = sort.numbers_along(extrema, d)
    is_new = _is_new(extrema, numbers, run) if is_symbolic(n) else _is_new_of_some(extrema, run)
    combiner = "minimum" if run.backwards else "maximum"
    neutral = reduce.identity(combiner, dtype_of(numbers))
    found = comparison.select(is_new, numbers, full_like(numbers, neutral))
    op = ReduceWindow(combiner, run.window(extents))
    return op.build([found, full((), neutral, dtype_of(numbers))])[0]


def _is_new(extrema: Value, numbers: Value, run: cumulative.Run) -> Value:
    """True where an extremum differs from the one before, and for the first, if there is one."""
    d, n, none = run.dimension, shape_of(extrema)[run.dimension], [0] * len(shape_of(extrema))
    behind, ahead = list(none), list(none)
    behind[d], ahead[d] = (-1, 1) if run.backwards else (1, -1)
    pad = slicing.Pad(tuple(behind), tuple(ahead), tuple(none))
    before = pad(extrema, full((), 0, dtype_of(extrema)))
    is_first = comparison.equal(numbers, full_like(numbers, n - 1 if run.backwards else 0))
    changed = comparison.not_equal(extrema, before)
    return bitwise.or_(is_first, bitwise.and_(changed, comparison.equal(before, before)))


def _is_new_of_some(extrema: Value, run: cumulative.Run) -> Value:
    """True for the same ones, of a known number, without padding."""
    d, extents = run.dimension, shape_of(extrema)
    n = extents[d]
    ahead, behind = cumulative.cut(extrema, 0, n - 1, d), cumulative.cut(extrema, 1, n, d)
    before, here = (behind, ahead) if run.backwards else (ahead, behind)
    changed = bitwise.and_(comparison.not_equal(here, before), comparison.equal(before, before))
    true = full((*extents[:d], 1, *extents[d + 1 :]), True, np.dtype(np.bool_))
    parts = [changed, true] if run.backwards else [true, changed]
    return slicing.Concatenate(d)(*parts)
