"""The pass partial-sums, which adds up many numbers in blocks where IREE's code does.

IREE adds the terms of a sum one by one, or one vector of them after another: a sum of a million
numbers of float32 loses three digits and more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value, dtype_of, inexact, shape_of
from irax_compiler.ops import shape, slicing
from irax_compiler.ops.core import Op, full
from irax_compiler.ops.dot import DotDimensions, DotGeneral
from irax_compiler.ops.reductions import cumulative
from irax_compiler.ops.reductions.reduce import Reduce
from irax_compiler.ops.reductions.variadic_reduce import VariadicReduce
from irax_compiler.passes.core import Pass, outside_kernels, register_pass
from irax_compiler.passes.rewriting import read_as
from irax_compiler.sizes import is_symbolic

LONG = 1024
"""The most terms that are added one by one."""
BLOCK = 128
"""About as many of more terms are a block."""
DEEP, PART = 8192, 512
"""The most products of numbers that are added one after another, by vectors; of more, so many are a
block."""


@register_pass
@dataclass
class PartialSums(Pass):
    """Divides sums, and products of matrices, into sums of blocks and sums of these, if they have
    so many terms that rounding errors would be large otherwise. Comes after the passes that make
    kernels of sums, which do that themselves.
    """

    name: ClassVar[str] = "partial-sums"

    def run(self, module: Module) -> bool | None:
        sums = [o for o in outside_kernels(module) if o.name in (Reduce.name, DotGeneral.name)]
        for operation in sums:
            with InsertionPoint(operation), operation.location:
                results = _in_parts(operation)
            if results is not None:
                mlir.replace(operation, results)
        return bool(sums)


def _in_parts(operation: Operation) -> Sequence[Value] | None:
    op, operands = read_as(Op, operation), list(operation.operands)
    if any(is_symbolic(n) for x in operands for n in shape_of(x)):
        return None
    if not any(inexact(dtype_of(x)) for x in operation.results):
        return None
    if isinstance(op, DotGeneral):
        return _product(op, *operands)
    if isinstance(op, Reduce) and op.combiner == "add":
        x, init = operands
        if dtype_of(x).kind == "c":
            return None  # `sum_of_complex` has made sums of real numbers of long ones
        return _folded(op, [x], [init], [full((), 0, dtype_of(x))])
    if isinstance(op, VariadicReduce) and _adds(op):
        inits = operands[len(operands) // 2 :]
        if cumulative.stays(op.computation.evaluate, inits):
            return _folded(op, operands[: len(inits)], inits, inits)
    return None


def _adds(op: VariadicReduce) -> bool:
    """True if partial results are rounded, as those of a maximum are not."""
    return any(f"stablehlo.{name} " in op.computation.text for name in ("add", "multiply"))


# ---- sums ----------------------------------------------------------------------------------------


def _folded(
    op: Reduce | VariadicReduce,
    xs: Sequence[Value],
    inits: Sequence[Value],
    neutral: Sequence[Value],
) -> Sequence[Value] | None:
    """Reduce blocks first; None if there are few elements."""
    sizes, dimensions = shape_of(xs[0]), op.dimensions
    total = prod(sizes[d] for d in dimensions)
    if total <= LONG or prod(sizes) == 0:
        return None
    longest = max(dimensions, key=lambda d: sizes[d])
    others = tuple(d for d in dimensions if d != longest)
    rest = total // sizes[longest]
    if rest >= BLOCK:  # the others are a block
        inner = _reduce(op, others, xs, neutral)
    else:
        size = divisor_near(sizes[longest], BLOCK // rest)
        blocks = [in_blocks(x, longest, size, y) for x, y in zip(xs, neutral, strict=True)]
        inside = (*(d + (d > longest) for d in others), longest + 1)
        inner = _reduce(op, inside, blocks, neutral)
    remaining = (longest - sum(d < longest for d in others),)
    return _reduce(op, remaining, inner, neutral, inits)


def _reduce(
    op: Reduce | VariadicReduce,
    dimensions: Sequence[int],
    xs: Sequence[Value],
    neutral: Sequence[Value],
    inits: Sequence[Value] | None = None,
) -> Sequence[Value]:
    """Reduce arrays, in blocks if there are many elements, from init values on."""
    moved = replace(op, dimensions=tuple(sorted(dimensions)))
    inits = neutral if inits is None else inits
    found = _folded(moved, xs, inits, neutral)
    return moved.build([*xs, *inits]) if found is None else found


def in_blocks(x: Value, dimension: int, size: int, filler: Value) -> Value:
    """Split a dimension in two: blocks, of which the last one is filled up, and the place within a
    block.
    """
    extents = shape_of(x)
    n = extents[dimension]
    count = -(-n // size)
    zeros = [0] * len(extents)
    missing = [*zeros[:dimension], count * size - n, *zeros[dimension + 1 :]]
    if any(missing):
        x = slicing.Pad(tuple(zeros), tuple(missing), tuple(zeros))(x, filler)
    return shape.reshape(x, (*extents[:dimension], count, size, *extents[dimension + 1 :]))


def divisor_near(n: int, about: int) -> int:
    """Return a divisor of `n` from a number to its double, or that number if there is none."""
    return next((m for m in range(about, 2 * about) if n % m == 0), about)


# ---- products ------------------------------------------------------------------------------------


def _product(op: DotGeneral, x: Value, y: Value) -> Sequence[Value] | None:
    """Multiply blocks of the longest dimension that is summed over; None if it is short."""
    dims, sizes = op.dimensions, shape_of(x)
    total = prod(sizes[d] for d in dims.lhs_contracting)
    if total <= DEEP:
        return None
    parts = products_of_blocks(op, x, y, PART, divisor_near)
    zero = full((), 0, dtype_of(parts))
    return _reduce(Reduce("add", (0,)), (0,), [parts], [zero])


def products_of_blocks(
    op: DotGeneral, x: Value, y: Value, terms: int, near: Callable[[int, int], int] | None = None
) -> Value:
    """Multiply blocks of the longest dimension that is summed over, each of so many terms. The
    product of each is at an index of the first dimension. `near` chooses the size of blocks for a
    dimension's size and the one that is asked for.
    """
    dims, sizes = op.dimensions, shape_of(x)
    number = max(range(len(dims.lhs_contracting)), key=lambda i: sizes[dims.lhs_contracting[i]])
    a, b = dims.lhs_contracting[number], dims.rhs_contracting[number]
    rest = prod(sizes[d] for d in dims.lhs_contracting if d != a)
    size = max(terms // rest, 1)
    if near is not None:
        size = near(sizes[a], size)
    blocks = [in_blocks(v, d, size, full((), 0, dtype_of(v))) for v, d in ((x, a), (y, b))]
    in_parts = DotDimensions(
        (a, *(d + (d > a) for d in dims.lhs_batching)),
        (b, *(d + (d > b) for d in dims.rhs_batching)),
        tuple(d + (d >= a) for d in dims.lhs_contracting),
        tuple(d + (d >= b) for d in dims.rhs_contracting),
    )
    return replace(op, dimensions=in_parts)(*blocks)
