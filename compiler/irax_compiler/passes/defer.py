"""The pass defer, which moves products that a loop accumulates to a single product after the
loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value, dtype_of, shape_of
from irax_compiler.ops import elementwise, shape
from irax_compiler.ops.control_flow.building import while_loop
from irax_compiler.ops.control_flow.trip_counts import Count, count
from irax_compiler.ops.core import full
from irax_compiler.ops.dot import DotDimensions, DotGeneral
from irax_compiler.ops.indexing import dynamic_slices
from irax_compiler.ops.registry import read
from irax_compiler.passes.core import Pass, nested, register_pass, walk

MOST_BYTES = 1 << 28
"""The most bytes that the stacked factors of all steps may take."""


@register_pass
class Defer(Pass):
    """Moves accumulated products `acc + a @ b` out of counted loops that do not use `acc`
    otherwise: the factors of all steps are stacked, and multiplied after the loop. The gradient of
    a recurrent network in its weights is then one product of matrices, and no step reads and writes
    an array of the weights' size.
    """

    name: ClassVar[str] = "defer"

    def run(self, module: Module) -> None:
        loops = [o for o in nested(module.operation) if o.name == "stablehlo.while"]
        for loop in reversed(loops):  # the inner before the outer, which is made anew
            how = count(loop, {})
            sums = [] if how is None else _sums(loop, how)
            if how is not None and sums:
                with InsertionPoint(loop), loop.location:
                    results = _without(loop, how, sums)
                for old, new in zip(loop.results, results, strict=True):
                    old.replace_all_uses_with(new)
                loop.erase()


@dataclass(frozen=True)
class _Sum:
    """A loop-carried value to which each step adds a product."""

    place: int
    addition: Operation
    product: Operation

    @property
    def op(self) -> DotGeneral:
        op = read(self.product)
        assert isinstance(op, DotGeneral)
        return op

    @property
    def factors(self) -> list[Value]:
        return list(self.product.operands)


def _sums(loop: Operation, how: Count) -> list[_Sum]:
    condition, body = (region.blocks[0] for region in loop.regions)
    found = []
    for i, x in enumerate(mlir.terminator(body).operands):
        addition, carried = mlir.definition(x), body.arguments[i]
        if addition is None or addition.name != "stablehlo.add" or mlir.num_uses(x) > 1:
            continue
        if mlir.num_uses(carried) > 1 or mlir.num_uses(condition.arguments[i]):
            continue
        terms = [y for y in addition.operands if y != carried]
        product = mlir.definition(terms[0]) if len(terms) == 1 else None
        if product is None or product.name != "stablehlo.dot_general" or product.block != body:
            continue
        sum_ = _Sum(i, addition, product)
        if dtype_of(sum_.factors[0]) == dtype_of(carried) and _pays(sum_, how.steps):
            found.append(sum_)
    return found


def _pays(sum_: _Sum, steps: int) -> bool:
    stacked = sum(prod(shape_of(x)) for x in sum_.factors)
    total = steps * stacked * dtype_of(sum_.factors[0]).itemsize
    return steps > 1 and stacked <= prod(shape_of(sum_.product.results[0])) and total <= MOST_BYTES


def _without(loop: Operation, how: Count, sums: Sequence[_Sum]) -> list[Value]:
    """Build the loop with stacked factors in place of accumulated products, and return its
    results.
    """
    condition, body = (region.blocks[0] for region in loop.regions)
    start = list(loop.operands)
    places = {sum_.place for sum_ in sums}
    kept = [i for i in range(len(start)) if i not in places]
    gone = {operation for sum_ in sums for operation in (sum_.addition, sum_.product)}
    factors = [x for sum_ in sums for x in sum_.factors]
    stacks = [full((how.steps, *shape_of(x)), 0, dtype_of(x)) for x in factors]

    def go_on(*state: Value) -> list[Value]:
        env: dict[Value, Value] = {}
        env.update(zip((condition.arguments[i] for i in kept), state, strict=False))
        for operation in walk(condition):
            mlir.copy(operation, env)
        (holds,) = mlir.terminator(condition).operands
        return [env.get(holds, holds)]

    def advance(*state: Value) -> list[Value]:
        env: dict[Value, Value] = {}
        env.update(zip((body.arguments[i] for i in kept), state, strict=False))
        for operation in walk(body):
            if operation not in gone:
                mlir.copy(operation, env)
        step = _step(state[kept.index(how.place)], how)
        last = mlir.terminator(body).operands
        rows = [
            _with_row(stack, env.get(x, x), step)
            for stack, x in zip(state[len(kept) :], factors, strict=True)
        ]
        moved: list[Value] = [last[i] for i in kept]
        return [*(env.get(x, x) for x in moved), *rows]

    results = while_loop(go_on, advance, [*(start[i] for i in kept), *stacks])
    final: dict[int, Value] = dict(zip(kept, results, strict=False))
    rows = list(results[len(kept) :])
    for sum_ in sums:
        left, right, *rows = rows
        final[sum_.place] = elementwise.add(start[sum_.place], _over_steps(sum_.op)(left, right))
    return [final[i] for i in range(len(start))]


def _step(counter: Value, how: Count) -> Value:
    """Return the number of steps taken so far."""
    dtype = dtype_of(counter)
    taken = counter
    if how.start != 0:
        taken = elementwise.subtract(taken, full((), how.start, dtype))
    return taken if how.step == 1 else elementwise.divide(taken, full((), how.step, dtype))


def _with_row(stack: Value, x: Value, step: Value) -> Value:
    row = shape.reshape(x, (1, *shape_of(x)))
    zero = full((), 0, dtype_of(step))
    return dynamic_slices.DynamicUpdateSlice()(stack, row, step, *(zero for _ in shape_of(x)))


def _over_steps(op: DotGeneral) -> DotGeneral:
    """Build the product of stacked factors, which is also summed over the steps."""
    d = op.dimensions
    up = [
        tuple(i + 1 for i in dimensions)
        for dimensions in (d.lhs_batching, d.rhs_batching, d.lhs_contracting, d.rhs_contracting)
    ]
    dimensions = DotDimensions(up[0], up[1], (0, *up[2]), (0, *up[3]))
    return replace(op, dimensions=dimensions)
