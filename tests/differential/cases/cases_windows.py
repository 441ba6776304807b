"""Windows that slide over arrays, against plain loops."""

from collections.abc import Callable
from itertools import product

import ml_dtypes
import numpy as np
from tests.differential.harness import Case, Operand, f64, fixed, i32, of

from irax_compiler.ops import comparison, elementwise
from irax_compiler.ops.computation import Computation, named
from irax_compiler.ops.reduce_window import ReduceWindow, Window
from irax_compiler.ops.reductions.windows import Pairs
from irax_compiler.ops.select_and_scatter import SelectAndScatter

F64 = np.dtype(np.float64)
FOLDS: dict[str, Callable] = {
    "add": lambda a, b: a + b,
    "multiply": lambda a, b: a * b,
    "maximum": max,
    "minimum": min,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
}


def padded(x: np.ndarray, init, window: Window) -> np.ndarray:
    """An array dilated and padded, element by element."""
    window = window.full()
    out = np.full(window.padded(x.shape), init, object)
    for place in np.ndindex(*x.shape):
        moved = [
            p * b + low
            for p, b, (low, _) in zip(place, window.base_dilations, window.padding, strict=True)
        ]
        if all(0 <= m < n for m, n in zip(moved, out.shape, strict=True)):
            out[tuple(moved)] = x[place].item()
    return out


def windows_of(x: np.ndarray, init, window: Window):
    """For each window its place, and the elements in it with their places in the padded array."""
    window = window.full()
    array = padded(x, init, window)
    for place in np.ndindex(*window.count(x.shape)):
        inside = [
            tuple(
                p * s + o * d
                for p, s, o, d in zip(place, window.strides, offset, window.dilations, strict=True)
            )
            for offset in product(*map(range, window.sizes))
        ]
        yield place, [(i, array[i]) for i in inside]


def fold(name: str, combiner: str, x: Operand, init, window: Window, **options) -> Case:
    def reference(x, start):
        results = np.empty(window.full().count(x.shape), object)
        for place, elements in windows_of(x, start.item(), window):
            results[place] = start.item()
            for _, element in elements:
                results[place] = FOLDS[combiner](results[place], element)
        return results

    if not isinstance(init, Operand):
        init = fixed(init, x.dtype)
    options.setdefault("wrt", [0])
    op = ReduceWindow(combiner, window.full())
    return Case(name, op, [x, init], reference, **options)


def pool(sizes, strides=(), padding: Pairs = (), base=(), dilations=()) -> Window:
    return Window(sizes, strides, base, dilations, padding)


def along(size: int) -> Window:
    """A window of all elements so far in rows."""
    return pool((1, size), padding=((0, 0), (size - 1, 0)))


MIXED = pool((2, 3), (2, 1), ((1, 0), (0, 2)), (1, 2), (2, 1))
NEGATIVE = pool((2, 2), (1, 2), ((-1, 1), (2, -1)))
BY_THREES = pool((1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (0, 1), (0, 0)))

SUM_AND_MAXIMUM = Computation.build(
    [F64] * 4, lambda a, b, x, y: [elementwise.add(a, x), elementwise.maximum(b, y)]
)


def sum_and_maximum(x, y, a, b):
    window = pool((2,))
    sums, best = np.empty(4), np.empty(4)
    for (i,), elements in windows_of(x, a.item(), window):
        sums[i] = a + sum(e for _, e in elements)
    for (i,), elements in windows_of(y, b.item(), window):
        best[i] = max(b, *(e for _, e in elements))
    return sums, best


def select_and_scatter(name: str, x: Operand, window: Window, **options) -> Case:
    window = window.full()
    count = window.count(x.shape)
    select = Computation.build([x.dtype] * 2, lambda a, b: [comparison.greater_equal(a, b)])

    def reference(x, source, init):
        low = [p[0] for p in window.padding]
        result = np.full(x.shape, init.item(), object)
        for place, elements in windows_of(x, None, window):
            there = [(i, e) for i, e in elements if e is not None]
            best = max(there, key=lambda pair: pair[1])[0]
            result[tuple(b - n for b, n in zip(best, low, strict=True))] += source[place].item()
        return result

    op = SelectAndScatter(select, named("add", x.dtype), window)
    source = of(x.dtype, *count)
    return Case(name, op, [x, source, fixed(0, x.dtype)], reference, wrt=[1], **options)


TIED = [1, 3, 3, 2, 5, 5]
TIES = Operand((4, 6), F64, lambda rng: rng.integers(0, 3, (4, 6)))

CASES = [
    fold("sum-pool", "add", f64(4, 6), 0, pool((2, 2), (2, 2))),
    fold("sum-pool-overlapping", "add", f64(4, 6), 0, pool((2, 3), (1, 2), ((1, 1), (0, 1)))),
    fold("sum-pool-mixed", "add", f64(5, 4), 0, MIXED),
    fold("sum-pool-negative", "add", f64(4, 6), 0, NEGATIVE),
    fold("sum-pool-from-init", "add", f64(5, 4), f64(), MIXED, wrt=[0, 1]),
    fold("max-pool", "maximum", f64(4, 6), -np.inf, pool((2, 2), (2, 2))),
    fold("max-pool-mixed", "maximum", f64(5, 4), -np.inf, MIXED),
    fold("max-pool-images", "maximum", f64(2, 5, 6, 2), -np.inf, BY_THREES),
    fold("max-pool-above-init", "maximum", f64(4, 6), -9, pool((3, 3))),
    fold("min-pool-negative", "minimum", f64(4, 6), np.inf, NEGATIVE, differentiable=False),
    fold("product-pool", "multiply", f64(4, 6), 1, pool((2, 2), (1, 2), ((1, 0), (0, 0)))),
    fold("cumulative-sum", "add", f64(3, 5), 0, pool((1, 5), padding=((0, 0), (4, 0)))),
    fold("cumulative-sum-back", "add", f64(5, 3), 0, pool((5, 1), padding=((0, 4), (0, 0)))),
    fold("cumulative-maximum", "maximum", f64(5), -np.inf, pool((5,), padding=((4, 0),))),
    fold("moving-sum", "add", f64(5), 0, pool((3,), padding=((2, 0),))),
    fold("one-window-of-more", "add", f64(2, 4, 3), 0, pool((1, 3, 1), (1, 2, 1))),
    fold("max-pool-below-init", "maximum", f64(4, 6), 0.3, pool((2, 2))),
    fold("cumulative-sum-from-init", "add", f64(3, 5), f64(), along(5), wrt=[0, 1]),
    fold("cumulative-sum-long", "add", f64(2, 150), 0, along(150)),
    fold("cumulative-sum-wider", "add", f64(2, 4), 0, along(6)),
    fold("cumulative-product", "multiply", f64(2, 5), 1, along(5)),
    fold(
        "cumulative-product-zeros",
        "multiply",
        fixed([2.0, 0, 3, 0, 1]),
        1,
        pool((5,), padding=((4, 0),)),
    ),
    fold(
        "cumulative-product-long",
        "multiply",
        f64(150, low=0.9, high=1.1),
        1,
        pool((150,), padding=((149, 0),)),
    ),
    fold("cumulative-product-back", "multiply", f64(70), 1.5, pool((70,), padding=((0, 69),))),
    fold(
        "cumulative-minimum-back",
        "minimum",
        f64(2, 5),
        np.inf,
        pool((1, 5), padding=((0, 0), (0, 4))),
    ),
    fold(
        "cumulative-maximum-below-init",
        "maximum",
        f64(5, 2),
        0.3,
        pool((5, 1), padding=((4, 0), (0, 0))),
    ),
    fold(
        "cumulative-maximum-ties", "maximum", fixed(TIED, "i4"), -9, pool((6,), padding=((5, 0),))
    ),
    fold(
        "cumulative-sum-bf16",
        "add",
        fixed(np.ones(600), ml_dtypes.bfloat16),
        0,
        pool((600,), padding=((599, 0),)),
        tolerance=1e-2,
    ),
    fold("cumulative-sum-i8", "add", of("i1", 300), 0, pool((300,), padding=((0, 299),))),
    fold(
        "cumulative-and", "and", of(np.bool_, 3, 70), True, pool((1, 70), padding=((0, 0), (69, 0)))
    ),
    fold(
        "cumulative-or-u8",
        "or",
        of("u1", 4, 3, low=0, high=255),
        0,
        pool((4, 1), padding=((0, 3), (0, 0))),
    ),
    fold("cumulative-sum-c128", "add", of("c16", 70), 0, pool((70,), padding=((69, 0),))),
    fold("cumulative-maximum-u16", "maximum", of("u2", 5), 0, pool((5,), padding=((4, 0),))),
    fold("cumulative-minimum-u32", "minimum", of("u4", 70), 9, pool((70,), padding=((0, 69),))),
    fold("no-windows", "add", f64(2), 0, pool((3,))),
    fold("of-nothing", "add", f64(0, 2), 1.5, pool((1, 2), padding=((1, 1), (0, 0)))),
    fold("max-pool-of-nothing", "maximum", f64(0, 3), -9, pool((3, 2), padding=((1, 2), (0, 0)))),
    fold("sum-pool-i32", "add", i32(4, 6), 0, MIXED),
    fold("sum-pool-bf16", "add", fixed(np.ones(1000), ml_dtypes.bfloat16), 0, pool((1000,))),
    fold("max-pool-bf16", "maximum", of(ml_dtypes.bfloat16, 9), -np.inf, pool((3,))),
    fold("or-pool", "or", of(np.bool_, 4, 6), False, pool((2, 2))),
    fold("and-pool", "and", of(np.bool_, 4, 6), True, pool((2, 2))),
    Case(
        "pool-of-two",
        ReduceWindow(SUM_AND_MAXIMUM, pool((2,)).full()),
        [f64(5), f64(5), f64(), fixed(-np.inf)],
        sum_and_maximum,
        wrt=[0, 1, 2],
    ),
    Case(
        "cumulative-pair",
        ReduceWindow(SUM_AND_MAXIMUM, pool((80,), padding=((0, 79),)).full()),
        [f64(80), f64(80), f64(), fixed(-np.inf)],
        lambda x, y, a, b: (
            a * np.arange(1, 81) + np.cumsum(x[::-1])[::-1],
            np.maximum.accumulate(y[::-1])[::-1],
        ),
        wrt=[0, 1, 2],
    ),
    select_and_scatter("select-and-scatter-left-over", f64(2, 4, 6), pool((1, 3, 1), (1, 2, 1))),
    select_and_scatter("select-and-scatter", f64(4, 6), pool((2, 2), (2, 2))),
    select_and_scatter("select-and-scatter-ties", TIES, pool((2, 2), (2, 2))),
    select_and_scatter(
        "select-and-scatter-overlapping", f64(5, 6), pool((3, 3), (2, 2), ((1, 1), (0, 1)))
    ),
    select_and_scatter("select-and-scatter-of-one", f64(4, 3), pool((3, 1), (2, 1))),
    select_and_scatter("select-and-scatter-f32", of(np.float32, 5, 6), pool((3, 3), (2, 2))),
    select_and_scatter("select-and-scatter-i32", i32(5, 6), pool((3, 3), (2, 2))),
]
