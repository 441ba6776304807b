"""Cumulative reductions along a dimension: sums, products, maxima, or any computation.

In the IR they are a `reduce_window` whose window at each index holds all elements up to it, or all
from it on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops import shape, slicing
from irax_compiler.ops.core import full
from irax_compiler.ops.loop_builders import fold_rows
from irax_compiler.ops.reductions import blocked
from irax_compiler.ops.reductions.windows import Window
from irax_compiler.sizes import at_least, is_symbolic, larger

Combine = Callable[..., Sequence[Value]]
"""Combines elements of each array with those that follow them."""
SHORT = 64
"""Elements in a row that are folded in one go."""
BLOCK = 16
"""Elements in each block of a longer row: few, so that reverse mode keeps few partial results."""


@dataclass(frozen=True)
class Run:
    """A direction: windows along `dimension` hold all elements so far, or all that follow."""

    dimension: int
    backwards: bool = False

    def window(self, extents: Sequence[int]) -> Window:
        """The windows over an array of some shape."""
        d, size = self.dimension, larger(extents[self.dimension], 1)
        padding = [(0, 0)] * len(extents)
        padding[d] = (0, size - 1) if self.backwards else (size - 1, 0)
        sizes = [1] * len(extents)
        sizes[d] = size
        return Window(tuple(sizes), padding=tuple(padding)).full()


def run_of(window: Window, extents: Sequence[int]) -> Run | None:
    """The direction of windows over an array of some shape; None for other windows."""
    wide = [d for d, n in enumerate(window.sizes) if not at_least(1, n)]
    if len(wide) != 1 or 0 in extents or not at_least(window.sizes[wide[0]], extents[wide[0]]):
        return None
    (d,) = wide
    beyond = window.sizes[d] - 1
    for backwards, pair in ((False, (beyond, 0)), (True, (0, beyond))):
        padding = [(0, 0)] * len(extents)
        padding[d] = pair
        if window == Window(window.sizes, padding=tuple(padding)).full():
            return Run(d, backwards)
    return None


def accumulated(combine: Combine, xs: Sequence[Value], run: Run) -> Sequence[Value]:
    """Builds the fold so far of arrays of one shape, by an associative computation."""
    if not run.backwards:
        return _accumulated(combine, xs, run.dimension)
    turn = slicing.Reverse((run.dimension,))
    return [turn(y) for y in _accumulated(combine, [turn(x) for x in xs], run.dimension)]


def accumulated_from(
    combine: Combine, inits: Sequence[Value], xs: Sequence[Value], run: Run
) -> Sequence[Value]:
    """Builds the same for arrays of a size that is not known, from init values on."""
    d, extents = run.dimension, shape_of(xs[0])
    starts = [shape.broadcast_scalar(i, (*extents[:d], *extents[d + 1 :])) for i in inits]
    turn = slicing.Reverse((d,) if run.backwards else ())
    return [turn(y) for y in _in_turn(combine, starts, [turn(x) for x in xs], d)]


def _accumulated(combine: Combine, xs: Sequence[Value], d: int) -> Sequence[Value]:
    extents = shape_of(xs[0])
    n = extents[d]
    if is_symbolic(n) and n:
        firsts = [shape.reshape(cut(x, 0, 1, d), (*extents[:d], *extents[d + 1 :])) for x in xs]
        rest = _in_turn(combine, firsts, [cut(x, 1, n, d) for x in xs], d)
        return [slicing.Concatenate(d)(cut(x, 0, 1, d), y) for x, y in zip(xs, rest, strict=True)]
    if n <= SHORT:
        return _by_doubling(combine, xs, d)
    # Within blocks, then over the blocks: each block is continued by the fold of those before it.
    size, count = BLOCK, -(-n // BLOCK)
    zeros = [0] * len(extents)
    missing = [*zeros[:d], count * size - n, *zeros[d + 1 :]]
    blocks = (*extents[:d], count, size, *extents[d + 1 :])
    padded = [
        shape.reshape(slicing.Pad(tuple(zeros), tuple(missing), tuple(zeros))(x, _zero(x)), blocks)
        for x in xs
    ]
    inner = _by_doubling(combine, padded, d + 1)
    one_each = (*extents[:d], count, *extents[d + 1 :])
    totals = [
        shape.reshape(slicing.slice_in_dim(y, size - 1, size, d + 1), one_each) for y in inner
    ]
    before = _accumulated(combine, [cut(t, 0, count - 1, d) for t in totals], d)
    axes = tuple(i for i in range(len(blocks)) if i != d + 1)
    rest = [cut(y, 1, count, d) for y in inner]
    spread = [shape.BroadcastInDim(shape_of(rest[0]), axes)(b) for b in before]
    continued = combine(*spread, *rest)
    whole = [
        slicing.Concatenate(d)(cut(y, 0, 1, d), c) for y, c in zip(inner, continued, strict=True)
    ]
    flat = (*extents[:d], count * size, *extents[d + 1 :])
    return [cut(shape.reshape(y, flat), 0, n, d) for y in whole]


def _in_turn(
    combine: Combine, starts: Sequence[Value], xs: Sequence[Value], d: int
) -> Sequence[Value]:
    """The fold so far, from `starts` on, one step after the other."""
    rows = fold_rows(combine, starts, [shape.move_axis(x, d, 0) for x in xs], keep=True)
    return [shape.move_axis(y, 0, d) for y in rows]


def _by_doubling(combine: Combine, xs: Sequence[Value], d: int) -> Sequence[Value]:
    """Each step joins runs that are twice as long as the last one's."""
    n, step = shape_of(xs[0])[d], 1
    while step < n:
        joined = combine(*(cut(x, 0, n - step, d) for x in xs), *(cut(x, step, n, d) for x in xs))
        xs = [
            slicing.Concatenate(d)(cut(x, 0, step, d), y) for x, y in zip(xs, joined, strict=True)
        ]
        step *= 2
    return xs


def cut(x: Value, start: int, limit: int, d: int) -> Value:
    return slicing.slice_in_dim(x, start, limit, d)


def _zero(x: Value) -> Value:
    return full((), 0, dtype_of(x))


def of_padding(
    combine: Combine, inits: Sequence[Value], run: Run, size: int, extents: Sequence[int]
) -> Sequence[Value]:
    """Return the contribution of the init values to windows of a given size: they occur once for
    each element of padding, and once more.
    """
    times = _accumulated(combine, [shape.broadcast_scalar(i, (size,)) for i in inits], 0)
    n = extents[run.dimension]
    if not run.backwards:
        times = [slicing.Reverse((0,))(cut(t, size - n, size, 0)) for t in times]
    else:
        times = [cut(t, size - n, size, 0) for t in times]
    return [shape.BroadcastInDim(tuple(extents), (run.dimension,))(t) for t in times]


def stays(evaluate: Callable[..., Sequence[np.ndarray]], inits: Sequence[Value]) -> bool:
    """True if the init values are known and do not change when combined with themselves."""
    values = [mlir.splat(init) for init in inits]
    known = [v for v in values if v is not None]
    if len(known) < len(values):
        return False
    with np.errstate(all="ignore"):
        folded = evaluate(*known, *known)
    return all(np.array_equal(a, b) for a, b in zip(folded, known, strict=True))


# ---- in NumPy ------------------------------------------------------------------------------------


Arrays = Sequence[np.ndarray]


def in_numpy(
    fold: Callable[..., Arrays], ufunc: Any, xs: Arrays, inits: Arrays, run: Run, size: int
) -> Arrays:
    """The fold so far of arrays of one shape, in windows of some size. `ufunc` does the same as
    `fold`, if there is one.
    """
    found = _so_far(fold, ufunc, xs, run)
    starts = [np.full(size, init) for init in inits]
    if not all(map(np.array_equal, fold(*inits, *inits), inits)):
        starts = _so_far(fold, ufunc, starts, Run(0))  # what is padding counts
    n = xs[0].shape[run.dimension]
    turn = 1 if run.backwards else -1
    beside = [n if d == run.dimension else 1 for d in range(xs[0].ndim)]
    shaped = (s[size - n :][::turn].reshape(beside) for s in starts)
    return fold(*(np.broadcast_to(s, xs[0].shape) for s in shaped), *found)


def _so_far(fold: Callable[..., Arrays], ufunc: Any, xs: Arrays, run: Run) -> Arrays:
    turn = -1 if run.backwards else 1
    rows = [np.moveaxis(x, run.dimension, -1)[..., ::turn] for x in xs]
    if ufunc is np.add:
        rows = [blocked.running(x, -1 % x.ndim) for x in rows]
    elif ufunc is not None:
        rows = [ufunc.accumulate(x, -1) for x in rows]
    else:
        step = 1
        while step < rows[0].shape[-1]:
            joined = fold(*(x[..., :-step] for x in rows), *(x[..., step:] for x in rows))
            pairs = zip(rows, joined, strict=True)
            rows = [np.concatenate([x[..., :step], y], -1) for x, y in pairs]
            step *= 2
    return [np.moveaxis(x[..., ::turn], -1, run.dimension) for x in rows]
