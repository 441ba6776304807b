"""Random functions, simplified: the values stay.

Numbers are small integers, infinities and nan, and one factor of a product was not computed, so
that arithmetic is exact in whatever order sums are added up.
"""

from collections.abc import Callable

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from irax_compiler import mlir
from irax_compiler.evaluate import Evaluator
from irax_compiler.mlir import InsertionPoint, Value, shape_of
from irax_compiler.ops import comparison, conversion, elementwise, reduction, shape
from irax_compiler.ops.core import full
from irax_compiler.ops.dot import DotDimensions, dot_general
from irax_compiler.ops.dynamic import DynamicSlice, DynamicUpdateSlice
from irax_compiler.pipeline import run_pipeline

F64 = np.dtype(np.float64)
NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, -3.0, np.inf, -np.inf, np.nan])
SIZES = st.sampled_from([2, 3, 1])
SHAPES = st.lists(SIZES, min_size=2, max_size=3).map(tuple)
Draw = Callable[..., object]


class Program:
    """A function under construction: its arguments, and all values so far."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.module = mlir.new_module()
        shapes = draw(st.lists(SHAPES, min_size=1, max_size=3))
        types = [mlir.tensor_type(s, F64) for s in shapes]
        self.function = mlir.new_function(self.module, "main", types, public=True)
        self.arguments = mlir.arguments(self.function)
        self.values = list(self.arguments)

    def value(self) -> Value:
        """The last value, mostly, so that long chains come about."""
        return self.draw(st.sampled_from([self.values[-1]] * 3 + self.values))

    def given(self, size: tuple[int, ...]) -> Value:
        """A constant, or an argument, of a shape."""
        fitting = [a for a in self.arguments if shape_of(a) == size]
        if fitting and self.draw(st.booleans()):
            return self.draw(st.sampled_from(fitting))
        return full(size, self.draw(NUMBERS), F64)

    def partner(self, x: Value) -> Value:
        """Any value of the shape of `x`."""
        fitting = [v for v in self.values if shape_of(v) == shape_of(x)]
        return self.draw(st.sampled_from([*fitting, self.given(shape_of(x))]))


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
    flat = (int(np.prod(shape_of(x))),)
    return shape.Reshape(p.draw(st.sampled_from([tuple(sizes), flat])))(x)


def broadcast(p: Program, x: Value) -> Value:
    sizes = shape_of(x)
    wide = [n if n > 1 else p.draw(SIZES) for n in sizes]
    wide += p.draw(st.lists(SIZES, max_size=2))
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
    y = p.given((*(shape_of(x)[d] for d in shared), p.draw(SIZES)))
    there = tuple(range(len(shared)))
    batching = p.draw(st.integers(0, len(shared)))
    x_dims, y_dims = tuple(shared), there
    dims = DotDimensions(x_dims[:batching], y_dims[:batching], x_dims[batching:], y_dims[batching:])
    if p.draw(st.booleans()):
        return dot_general(x, y, dims)
    return dot_general(y, x, dims.swapped)


def slice_(p: Program, x: Value) -> Value:
    bounds = [sorted(p.draw(st.tuples(st.integers(0, n), st.integers(0, n)))) for n in shape_of(x)]
    bounds = [
        (lo, hi) if lo < hi else (0, n) for (lo, hi), n in zip(bounds, shape_of(x), strict=True)
    ]
    strides = [p.draw(st.integers(1, 2)) for _ in bounds]
    return shape.Slice(tuple(b[0] for b in bounds), tuple(b[1] for b in bounds), tuple(strides))(x)


def pad(p: Program, x: Value) -> Value:
    low, high, interior = (tuple(p.draw(st.integers(0, 1)) for _ in shape_of(x)) for _ in range(3))
    cut = [
        -1 if n > 1 and p.draw(st.booleans()) else lo
        for n, lo in zip(shape_of(x), low, strict=True)
    ]
    return shape.Pad(tuple(cut), high, interior)(x, full((), p.draw(NUMBERS), F64))


def reverse(p: Program, x: Value) -> Value:
    dimensions = range(len(shape_of(x)))
    chosen = p.draw(st.sets(st.sampled_from(dimensions))) if dimensions else set()
    return shape.Reverse(tuple(sorted(chosen)))(x)


def dynamic_slice(p: Program, x: Value) -> Value:
    sizes = tuple(p.draw(st.integers(1, n)) for n in shape_of(x))
    i32 = np.dtype(np.int32)
    starts = [full((), p.draw(st.integers(-1, 3)), i32) for _ in sizes]
    part = DynamicSlice(sizes)(x, *starts)
    if p.draw(st.booleans()):
        return part
    return DynamicUpdateSlice()(p.given(shape_of(x)), part, *starts)


STEPS = [
    *(arithmetic, arithmetic, product, quotient, negate, negate, select, convert, transpose),
    *(reshape, broadcast, reduce, dot, slice_, pad, reverse, dynamic_slice),
]


@settings(max_examples=100)
@given(st.data())
def test_values_stay(data: st.DataObject):
    p = Program(data.draw)
    with InsertionPoint(mlir.body(p.function)), mlir.UNKNOWN:
        for _ in range(data.draw(st.integers(5, 16))):
            result = data.draw(st.sampled_from(STEPS))(p, p.value())
            if np.prod(shape_of(result)) < 300 and len(shape_of(result)) < 6:
                p.values.append(result)
    results = data.draw(st.lists(st.sampled_from(p.values), min_size=1, max_size=3))
    mlir.finish_function(p.function, [*results, p.values[-1]])
    p.module.operation.verify()
    arrays = [
        np.resize(np.array(data.draw(st.lists(NUMBERS, min_size=1, max_size=8)), F64), shape_of(a))
        for a in p.arguments
    ]
    before = Evaluator(p.module)("main", arrays)
    run_pipeline(p.module, "simplify")
    after = Evaluator(p.module)("main", arrays)
    for b, a in zip(before, after, strict=True):
        assert b.shape == a.shape
        np.testing.assert_array_equal(b, a)
    once = str(p.module)
    run_pipeline(p.module, "simplify")
    assert str(p.module) == once
