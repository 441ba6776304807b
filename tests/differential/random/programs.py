"""A generator of random programs: functions of float64 arrays, of one operation after the other.
Their sizes may be symbolic, and one may be large.

Hypothesis draws them, so that what fails is made small.

    program = random_program(data.draw, EXACT)    a module whose @main it is
"""

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from hypothesis import strategies as st

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Value, shape_of
from irax_compiler.ops import comparison, conversion, elementwise, reduce_window, shape, slicing
from irax_compiler.ops.core import constant, full
from irax_compiler.ops.dot import DotDimensions, dot_general
from irax_compiler.ops.indexing import gather_scatter
from irax_compiler.ops.indexing.dynamic_slices import DynamicSlice, DynamicUpdateSlice
from irax_compiler.ops.reductions import cumulative, window_shapes
from irax_compiler.ops.reductions import reduce as reduction
from irax_compiler.ops.sorting import sort, top_k
from irax_compiler.ops.special import chlo_functions
from irax_compiler.sizes import is_symbolic, substituted, variables
from irax_compiler.sizes.comparison import bounds

F64 = np.dtype(np.float64)
KNOWN = (2, 3, 1)
Draw = Callable[..., object]
I32 = np.dtype(np.int32)
MOST_ELEMENTS, HIGHEST_RANK = 300, 5
LARGE = (6_000, 70_000)
"""Sizes of arrays that devices divide between threads."""
MOST_OF_LARGE = 250_000


class Program:
    """A function under construction: its arguments, and all values so far."""

    def __init__(
        self,
        draw: Draw,
        numbers: st.SearchStrategy[float],
        sizes: Sequence[int] = KNOWN,
        large: bool = False,
    ) -> None:
        self.draw = draw
        self.numbers = numbers
        self.sizes = st.sampled_from(sizes)
        self.module = mlir.new_module()
        shape = st.lists(self.sizes, min_size=2, max_size=3).map(tuple)
        shapes = draw(st.lists(shape, min_size=1, max_size=3))
        if len(sizes) > len(KNOWN):  # an argument tells what each variable is
            shapes.append(tuple(n for n in sizes if is_symbolic(n)))
        self.most = MOST_OF_LARGE if large else MOST_ELEMENTS
        if large:
            others = draw(st.lists(self.sizes, max_size=1))
            shapes.append(tuple(draw(st.permutations([draw(st.sampled_from(LARGE)), *others]))))
        types = [mlir.tensor_type(s, F64) for s in shapes]
        self.function = mlir.new_function(self.module, "main", types, public=True)
        self.arguments = mlir.arguments(self.function)
        self.values = list(self.arguments)

    @property
    def last(self) -> Value:
        """The last large value, where there is one."""
        large = [v for v in self.values if not is_small(shape_of(v), MOST_ELEMENTS)]
        return (large or self.values)[-1]

    def value(self) -> Value:
        """The last value, mostly, so that long chains come about."""
        return self.draw(st.sampled_from([self.last] * 3 + self.values))

    def given(self, size: tuple[int, ...]) -> Value:
        """A constant, or an argument, of a shape."""
        fitting = [a for a in self.arguments if shape_of(a) == size]
        if fitting and self.draw(st.booleans()):
            return self.draw(st.sampled_from(fitting))
        if not variables(size) and self.draw(st.booleans()):
            return constant(random_array(self.draw, size, self.numbers))
        return full(size, self.draw(self.numbers), F64)

    def partner(self, x: Value) -> Value:
        """Any value of the shape of `x`."""
        fitting = [v for v in self.values if shape_of(v) == shape_of(x)]
        return self.draw(st.sampled_from([*fitting, self.given(shape_of(x))]))


def least(n: int) -> int:
    """The least value of a size."""
    return int(max(bounds(n)[0], 0))


def is_one(n: int) -> bool:
    return not is_symbolic(n) and n == 1


def is_small(sizes: Sequence[int], most: int) -> bool:
    """True for a shape of fewer elements, where variables are about three."""
    env = dict.fromkeys(variables(sizes), 3)
    return prod(substituted(n, env) for n in sizes) < most


def random_array(
    draw: Draw, size: tuple[int, ...], numbers: st.SearchStrategy[float]
) -> np.ndarray:
    """An array of a few numbers in random order."""
    few = np.array(draw(st.lists(numbers, min_size=1, max_size=8)), F64)
    return np.random.default_rng(draw(st.integers(0, 2**32 - 1))).choice(few, size)


def arithmetic(p: Program, x: Value) -> Value:
    op = p.draw(
        st.sampled_from(
            [elementwise.add, elementwise.subtract, elementwise.maximum, elementwise.minimum]
        )
    )
    operands = p.draw(st.permutations([x, p.partner(x)]))
    return op(*operands)


def product(p: Program, x: Value) -> Value:
    return elementwise.multiply(*p.draw(st.permutations([x, p.given(shape_of(x))])))


def quotient(p: Program, x: Value) -> Value:
    return elementwise.divide(x, full(shape_of(x), p.draw(st.sampled_from([1, -1, 2])), F64))


def negate(p: Program, x: Value) -> Value:
    return elementwise.negate(x)


def select(p: Program, x: Value) -> Value:
    predicate = comparison.less(x, p.partner(x))
    return comparison.select(predicate, p.partner(x), p.partner(x))


def convert(p: Program, x: Value) -> Value:
    return conversion.convert(conversion.convert(x, np.dtype(np.complex128)), F64)


def transpose(p: Program, x: Value) -> Value:
    order = p.draw(st.permutations(range(len(shape_of(x)))))
    return shape.Transpose(tuple(order))(x)


def reshape(p: Program, x: Value) -> Value:
    sizes = p.draw(st.permutations([*shape_of(x), 1]))
    flat = (prod(shape_of(x)),)
    return shape.Reshape(p.draw(st.sampled_from([tuple(sizes), flat])))(x)


def broadcast(p: Program, x: Value) -> Value:
    sizes = shape_of(x)
    wide = [p.draw(p.sizes) if is_one(n) else n for n in sizes]
    wide += p.draw(st.lists(p.sizes, max_size=2))
    places = p.draw(st.permutations(range(len(wide))))[: len(sizes)]
    result = [0] * len(wide)
    rest = [d for d in range(len(wide)) if d not in places]
    for d, n in zip([*places, *rest], wide, strict=True):
        result[d] = n
    return shape.BroadcastInDim(tuple(result), tuple(places))(x)


def reduce(p: Program, x: Value) -> Value:
    dimensions = p.draw(st.sets(st.sampled_from(range(len(shape_of(x)))))) if shape_of(x) else set()
    if p.draw(st.booleans()):
        minus_infinity = full((), -np.inf, F64)
        return reduction.Reduce("maximum", tuple(sorted(dimensions)))(x, minus_infinity)
    init = full((), p.draw(st.sampled_from([0.0, 0.0, 1.0])), F64)
    return reduction.Reduce("add", tuple(sorted(dimensions)))(x, init)


def dot(p: Program, x: Value) -> Value:
    rank = len(shape_of(x))
    kept = p.draw(st.integers(0, rank))
    order = p.draw(st.permutations(range(rank)))
    shared = order[kept:]
    y = p.given((*(shape_of(x)[d] for d in shared), p.draw(p.sizes)))
    there = tuple(range(len(shared)))
    batching = p.draw(st.integers(0, len(shared)))
    x_dims, y_dims = tuple(shared), there
    dims = DotDimensions(x_dims[:batching], y_dims[:batching], x_dims[batching:], y_dims[batching:])
    if p.draw(st.booleans()):
        return dot_general(x, y, dims)
    return dot_general(y, x, dims.swapped)


def slice_(p: Program, x: Value) -> Value:
    sizes = [least(n) for n in shape_of(x)]
    ends = [sorted(p.draw(st.tuples(st.integers(0, n), st.integers(0, n)))) for n in sizes]
    places = [
        (lo, n - (m - hi)) if lo < hi else (0, n)
        for (lo, hi), n, m in zip(ends, shape_of(x), sizes, strict=True)
    ]
    strides = [p.draw(st.integers(1, 2)) for _ in places]
    starts, limits = (tuple(ends) for ends in zip(*places, strict=True))
    return slicing.Slice(starts, limits, tuple(strides))(x)


def pad(p: Program, x: Value) -> Value:
    low, high, interior = (tuple(p.draw(st.integers(0, 1)) for _ in shape_of(x)) for _ in range(3))
    cut = [
        -1 if least(n) > 1 and p.draw(st.booleans()) else lo
        for n, lo in zip(shape_of(x), low, strict=True)
    ]
    return slicing.Pad(tuple(cut), high, interior)(x, full((), p.draw(p.numbers), F64))


def reverse(p: Program, x: Value) -> Value:
    dimensions = range(len(shape_of(x)))
    chosen = p.draw(st.sets(st.sampled_from(dimensions))) if dimensions else set()
    return slicing.Reverse(tuple(sorted(chosen)))(x)


def dynamic_slice(p: Program, x: Value) -> Value:
    sizes = tuple(p.draw(st.integers(min(1, n), n)) if n == least(n) else n for n in shape_of(x))
    starts = [full((), p.draw(st.integers(-1, 3)), I32) for _ in sizes]
    part = DynamicSlice(sizes)(x, *starts)
    if p.draw(st.booleans()):
        return part
    return DynamicUpdateSlice()(p.given(shape_of(x)), part, *starts)


def concatenate(p: Program, x: Value) -> Value:
    dimension = p.draw(st.sampled_from(range(len(shape_of(x)))))
    return slicing.Concatenate(dimension)(x, p.partner(x), x)


def row_indices(p: Program, x: Value) -> tuple[Value, window_shapes.WindowDims]:
    """Numbers of rows, some of which there are not, and how rows lie in an array."""
    rows = shape_of(x)[0]
    numbers = p.draw(st.lists(st.integers(-1, least(rows)), min_size=1, max_size=4))
    rank = len(shape_of(x))
    dims = window_shapes.WindowDims(
        window_dims=tuple(range(1, rank)), collapsed_dims=(0,), index_map=(0,), index_vector_dim=1
    )
    return constant(np.array(numbers, np.int32)[:, None]), dims


def gather_rows(p: Program, x: Value) -> Value:
    indices, dims = row_indices(p, x)
    return gather_scatter.Gather(dims, (1, *shape_of(x)[1:]), indices_are_sorted=False)(x, indices)


def scatter_rows(p: Program, x: Value) -> Value:
    indices, dims = row_indices(p, x)
    updates = p.given((shape_of(indices)[0], *shape_of(x)[1:]))
    combiner = p.draw(st.sampled_from(["add", "maximum", "minimum"]))
    return gather_scatter.Scatter(combiner, dims, False, False)(x, indices, updates)


def sorted_(p: Program, x: Value) -> Value:
    dimension = p.draw(st.sampled_from(range(len(shape_of(x)))))
    order = sort.Order(1, p.draw(st.sampled_from(["LT", "GT"])))
    return sort.Sort(dimension, True, order).build([x, p.partner(x)])[p.draw(st.integers(0, 1))]


def largest(p: Program, x: Value) -> Value:
    size = shape_of(x)[-1]
    return top_k.TopK(p.draw(st.integers(min(1, least(size)), least(size)))).build([x])[0]


IDENTITIES = {"add": 0, "multiply": 1, "maximum": -np.inf, "minimum": np.inf}


def cumulative_(p: Program, x: Value) -> Value:
    combiners = list(IDENTITIES)
    if not is_small(shape_of(x), MOST_ELEMENTS):
        combiners.remove("multiply")  # it overflows
    combiner = p.draw(st.sampled_from(combiners))
    dimension = p.draw(st.sampled_from(range(len(shape_of(x)))))
    window = cumulative.Run(dimension, p.draw(st.booleans())).window(shape_of(x))
    init = full((), IDENTITIES[combiner], F64)
    return reduce_window.ReduceWindow(combiner, window).build([x, init])[0]


def pool(p: Program, x: Value) -> Value:
    combiner = p.draw(st.sampled_from(list(IDENTITIES)))
    sizes, strides, padding = (
        tuple(p.draw(st.integers(low, high)) for _ in shape_of(x))
        for low, high in ((1, 3), (1, 2), (0, 1))
    )
    pairs = tuple(
        (max(0, n - least(m), q if n > 1 else 0), 0)
        for n, m, q in zip(sizes, shape_of(x), padding, strict=True)
    )
    window = reduce_window.Window(sizes, strides, padding=pairs).full()
    init = full((), 0 if combiner in ("maximum", "minimum") else IDENTITIES[combiner], F64)
    return reduce_window.ReduceWindow(combiner, window).build([x, init])[0]


def smooth(p: Program, x: Value) -> Value:
    op = p.draw(
        st.sampled_from(
            [
                elementwise.sine,
                elementwise.tanh,
                elementwise.logistic,
                chlo_functions.erf,
                chlo_functions.asinh,
                chlo_functions.atan,
            ]
        )
    )
    return op(x)


def product_of_two(p: Program, x: Value) -> Value:
    return elementwise.multiply(x, p.partner(x))


Step = Callable[[Program, Value], Value]

EXACT: Sequence[Step] = [
    *(arithmetic, arithmetic, product, quotient, negate, negate, select, convert, transpose),
    *(reshape, broadcast, reduce, dot, slice_, pad, reverse, dynamic_slice),
]
"""Steps whose results, of small integers, are exact in whatever order sums are added up."""

ROUNDED: Sequence[Step] = [
    *(arithmetic, product_of_two, smooth, smooth, quotient, negate, select, transpose, reshape),
    *(broadcast, reduce, dot, slice_, pad, reverse, dynamic_slice, concatenate, gather_rows),
    *(scatter_rows, sorted_, largest, cumulative_, pool),
]
"""Steps of all kinds."""


def random_program(
    draw: Draw,
    steps: Sequence[Step],
    numbers: st.SearchStrategy[float],
    most: int = 16,
    sizes: Sequence[int] = KNOWN,
    large: bool = False,
) -> mlir.Module:
    """A module with @main, of 5 to `most` steps, of arrays of some sizes, and a large one too."""
    p = Program(draw, numbers, sizes, large)
    with InsertionPoint(mlir.body(p.function)), mlir.UNKNOWN:
        if draw(st.booleans()):  # so that some operations are on constants alone
            p.values.append(p.given(shape_of(p.last)))
        for _ in range(draw(st.integers(5, most))):
            result = draw(st.sampled_from(steps))(p, p.value())
            size = shape_of(result)
            if is_small(size, p.most) and 0 < len(size) <= HIGHEST_RANK:
                p.values.append(result)
    results = draw(st.lists(st.sampled_from(p.values), min_size=1, max_size=3))
    mlir.finish_function(p.function, [*results, p.last])
    p.module.operation.verify()
    return p.module


def random_arguments(
    draw: Draw, module: mlir.Module, numbers: st.SearchStrategy[float]
) -> list[np.ndarray]:
    """Arguments for @main."""
    arguments = mlir.arguments(mlir.functions(module)["main"])
    return [random_array(draw, shape_of(a), numbers) for a in arguments]
