"""Patterns for dot_general, which absorbs transposes of its operands and of its result, and is a
product of elements where it sums none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, shape_of
from irax_compiler.ops import conversion, elementwise, shape
from irax_compiler.ops.dot import DotDimensions, DotGeneral
from irax_compiler.ops.reductions.reduce import Reduce
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.matching import Made, made_by, made_for_one
from irax_compiler.passes.rewriting import read_as, rewrites
from irax_compiler.sizes import is_symbolic


@rewrites(DotGeneral)
def dot_of_transpose(op: DotGeneral, x: Value, y: Value) -> Value | None:
    """dot(transpose(x), y) -> dot(x, y) and dot(x, transpose(y)) -> dot(x, y), with the dimensions
    renumbered; where the operand's free dimensions, which the result has too, stay in order.
    """
    left, right = made_by(x, shape.Transpose), made_by(y, shape.Transpose)
    if left and in_order(left, op.dimensions.lhs_free(len(shape_of(x)))):
        return replace(op, dimensions=renumbered(op.dimensions, left))(left.operand, y)
    if right and in_order(right, op.dimensions.rhs_free(len(shape_of(y)))):
        dimensions = renumbered(op.dimensions.swapped, right).swapped
        return replace(op, dimensions=dimensions)(x, right.operand)
    return None


def in_order(transpose: Made[shape.Transpose], dimensions: tuple[int, ...]) -> bool:
    """True if some dimensions of a transpose's result come in the same order in its operand."""
    sources = [transpose.op.permutation[d] for d in dimensions]
    return sources == sorted(sources)


def renumbered(dimensions: DotDimensions, transpose: Made[shape.Transpose]) -> DotDimensions:
    """The dimensions for the left operand as it was before it was transposed."""
    order = transpose.op.permutation
    return replace(
        dimensions,
        lhs_batching=tuple(order[d] for d in dimensions.lhs_batching),
        lhs_contracting=tuple(order[d] for d in dimensions.lhs_contracting),
    )


@rewrites(DotGeneral.name)
def outer_product(operation: Operation) -> Value | None:
    """dot(x, y) -> broadcast(x) * broadcast(y), where each sum has one term, and the result is used
    element by element or reduced: its users can compute it, so that it is not stored.
    """
    op = read_as(DotGeneral, operation)
    if op is None or op.algorithm is not None:
        return None
    x, y = operation.operands
    summed = [shape_of(x)[d] for d in op.dimensions.lhs_contracting]
    users = mlir.users(operation.results[0])
    if any(is_symbolic(n) or n != 1 for n in summed) or not any(map(_computes, users)):
        return None
    extents = shape_of(operation.results[0])
    num_batching, rank = len(op.dimensions.lhs_batching), len(extents)
    end = num_batching + len(op.dimensions.lhs_free(len(shape_of(x))))
    factors = (
        (x, op.dimensions, range(end)),
        (y, op.dimensions.swapped, (*range(num_batching), *range(end, rank))),
    )

    def spread(x: Value, dimensions: DotDimensions, places: Sequence[int]) -> Value:
        order = (*dimensions.lhs_batching, *dimensions.lhs_free(len(shape_of(x))))
        x = shape.transpose(conversion.convert(x, op.dtype), (*order, *dimensions.lhs_contracting))
        x = shape.reshape(x, shape_of(x)[: len(order)])
        return shape.BroadcastInDim(extents, tuple(places))(x)

    return elementwise.multiply(*(spread(*factor) for factor in factors))


def _computes(user: Operation) -> bool:
    """True for an operation that can compute the elements of its operands itself."""
    return traits_of(user).elementwise or user.name == Reduce.name


@rewrites(shape.Transpose)
def transpose_of_dot(op: shape.Transpose, x: Value) -> Value | None:
    """transpose(dot(x, y)) -> dot(y, x), where the free dimensions change sides as a whole;
    batching dimensions may come in any order.
    """
    inner = made_for_one(x, DotGeneral)
    if inner is None:
        return None
    dot, (lhs, rhs) = inner.op, inner.operands
    num_batching, rank = len(dot.dimensions.lhs_batching), len(op.permutation)
    end = num_batching + len(dot.dimensions.lhs_free(len(shape_of(lhs))))
    batching, free = op.permutation[:num_batching], list(op.permutation[num_batching:])
    if any(d >= num_batching for d in batching):
        return None
    dimensions = replace(
        dot.dimensions,
        lhs_batching=tuple(dot.dimensions.lhs_batching[d] for d in batching),
        rhs_batching=tuple(dot.dimensions.rhs_batching[d] for d in batching),
    )
    dot = replace(dot, dimensions=dimensions)
    if free == [*range(num_batching, rank)]:
        return dot(lhs, rhs)
    if free == [*range(end, rank), *range(num_batching, end)]:
        return dot.swapped()(rhs, lhs)
    return None
