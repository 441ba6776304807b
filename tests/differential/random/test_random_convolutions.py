"""Random programs of small float64 convolutions, under first and second derivatives: IREE against
the evaluator.

What is summed is a function of the convolution, of whose factors one may be one number throughout,
and a function of its operands.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.differential.random.programs import F64, Draw
from tests.differential.random.test_random_programs import (
    NUMBERS,
    Arrays,
    compare_on_device,
    drawn_like,
    examples,
    kept,
)

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Value, dtype_of, shape_of
from irax_compiler.ops import elementwise
from irax_compiler.ops.convolution import ConvDimensions, Convolution
from irax_compiler.ops.core import full
from irax_compiler.ops.reductions.reduce import Reduce
from irax_compiler.pipeline import run_pipeline
from irax_runtime.iree.cpu import cpu

SIZES = st.integers(1, 3)
DERIVATIVES = {
    "main": "simplify",
    "main.vjp": "vjp{func=main},simplify,prune",
    "main.vjp.jvp": "vjp{func=main},jvp{func=main.vjp},simplify,prune",
    "main.jvp.vjp": "jvp{func=main},vjp{func=main.jvp},simplify,prune",
}


def random_convolution(draw: Draw) -> tuple[Convolution, tuple[int, ...], tuple[int, ...]]:
    """A convolution, with the shapes of its operands."""
    rank = draw(st.integers(1, 2))
    orders = [tuple(draw(st.permutations(range(rank + 2)))) for _ in range(3)]
    groups, batch_groups = draw(st.sampled_from([(1, 1), (1, 1), (2, 1), (1, 2)]))
    batch, inputs, outputs = (draw(SIZES) for _ in range(3))
    strides, lhs_dilation, rhs_dilation = (
        tuple(draw(st.integers(1, 2)) for _ in range(rank)) for _ in range(3)
    )
    windows = [draw(SIZES) for _ in range(rank)]
    sizes = [draw(st.integers(n, 4)) for n in windows]
    padding = tuple(
        (draw(st.integers(0, 2)) + (n - 1) * b, draw(st.integers(0, 2)))
        for n, b in zip(windows, rhs_dilation, strict=True)
    )
    op = Convolution(
        ConvDimensions(*orders),
        F64,
        strides,
        padding,
        lhs_dilation,
        rhs_dilation,
        tuple(draw(st.booleans()) for _ in range(rank)),
        groups,
        batch_groups,
        None,
    )
    x = [batch * batch_groups, inputs * groups, *sizes]
    y = [outputs * groups * batch_groups, inputs, *windows]
    return op, _placed(orders[0], x), _placed(orders[1], y)


def _placed(order: tuple[int, ...], sizes: list[int]) -> tuple[int, ...]:
    found = [0] * len(sizes)
    for place, size in zip(order, sizes, strict=True):
        found[place] = size
    return tuple(found)


def random_function(draw: Draw, x: Value) -> Value:
    """A function of an array, with numbers and with itself."""
    binary = st.sampled_from([elementwise.multiply, elementwise.add, elementwise.maximum])
    unary = st.sampled_from([elementwise.tanh, elementwise.floor, elementwise.sine])
    for _ in range(draw(st.integers(0, 2))):
        if draw(st.booleans()):
            x = draw(unary)(x)
        else:
            x = draw(binary)(x, x if draw(st.booleans()) else _filled(draw, x))
    return x


def quotient(x: Value, a: Value) -> Value:
    """The remainder of a number, which is as large as half of each element and more."""
    half = full(shape_of(x), 0.5, dtype_of(x))
    return elementwise.remainder(a, elementwise.add(elementwise.abs(x), half))


def total(x: Value) -> Value:
    return Reduce("add", tuple(range(len(shape_of(x)))))(x, full((), 0, dtype_of(x)))


def random_case(draw: Draw) -> tuple[mlir.Module, Arrays]:
    """A module with @main, a sum, and arguments for it."""
    op, *shapes = random_convolution(draw)
    module = mlir.new_module()
    types = [mlir.tensor_type(shape, F64) for shape in shapes]
    function = mlir.new_function(module, "main", types, public=True)
    with InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
        x, y = mlir.arguments(function)
        filled = draw(st.sampled_from([None, None, 0, 1]))
        factors = [_filled(draw, a) if i == filled else a for i, a in enumerate((x, y))]
        product = random_function(draw, op(*factors))
        other = x if draw(st.booleans()) else y
        if draw(st.booleans()):
            other = quotient(other, _filled(draw, other))
        other = random_function(draw, other)
        results = [elementwise.add(total(product), total(other))]
        results += [product, other][: draw(st.integers(0, 2))]
    mlir.finish_function(function, results)
    module.operation.verify()
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return module, [rng.uniform(-2, 2, shape) for shape in shapes]


def _filled(draw: Draw, x: Value) -> Value:
    return full(shape_of(x), draw(NUMBERS), dtype_of(x))


@examples(8)
@given(st.data())
@pytest.mark.slow
def test_convolutions_agree_with_the_evaluator(data: st.DataObject):
    module, x = random_case(data.draw)
    with kept(module, "convolution"):
        name, passes = data.draw(st.sampled_from(list(DERIVATIVES.items())))
        run_pipeline(module, passes)
        arguments = mlir.arguments(mlir.functions(module)[name])
        given = [np.zeros(shape_of(a)) for a in arguments[len(x) :]]
        inputs = [*x, *drawn_like(data, given)]
        compare_on_device(cpu(), module, name, inputs)
