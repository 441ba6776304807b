"""The pass sink-outer-products, which moves products that a loop accumulates to a single product
after the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value, dtype_of, inexact, shape_of
from irax_compiler.ops import conversion, elementwise, shape
from irax_compiler.ops.control_flow.trip_counts import Count, count
from irax_compiler.ops.core import full
from irax_compiler.ops.dot import DotDimensions, DotGeneral
from irax_compiler.ops.indexing import dynamic_slices
from irax_compiler.ops.loop_builders import while_loop, with_row
from irax_compiler.ops.registry import read
from irax_compiler.passes.core import Pass, nested, register_pass, walk

MOST_BYTES = 1 << 28
"""The most bytes that the stacked factors of all steps may take."""


@register_pass
class SinkOuterProducts(Pass):
    """Moves accumulated products `acc + a @ b` out of counted loops that do not use `acc`
    otherwise: the factors of all steps are stacked, and multiplied after the loop. The gradient of
    a recurrent network in its weights is then one product of matrices, and no step reads and writes
    an array of the weights' size. Where steps read all rows of an array as a factor, forwards or
    backwards, that array is the stack, and the other factors are stacked in its order.
    """

    name: ClassVar[str] = "sink-outer-products"

    def run(self, module: Module) -> None:
        loops = [o for o in nested(module.operation) if o.name == "stablehlo.while"]
        for loop in loops:  # the inner before the outer, which is made anew
            how = count(loop, {})
            sums = [] if how is None else _sums(loop, how)
            if how is not None and sums:
                with InsertionPoint(loop), loop.location:
                    results = _without(loop, how, sums)
                mlir.replace(loop, results)


@dataclass(frozen=True)
class _Sum:
    """A loop-carried value to which each step adds a product."""

    place: int
    addition: Operation
    term: Operation
    """The product, or its conversion to wider numbers."""
    product: Operation

    @property
    def op(self) -> DotGeneral:
        """The product, in the dtype of the sum."""
        op = read(self.product)
        assert isinstance(op, DotGeneral)
        return replace(op, dtype=dtype_of(self.addition.results[0]))

    @property
    def factors(self) -> list[Value]:
        return list(self.product.operands)


@dataclass(frozen=True)
class _Rows:
    """An array of which each step reads another row."""

    array: Value
    number: Value
    """The number of the row, in the loop's body."""


@dataclass(frozen=True)
class _Stack:
    """A value of which all steps' are stacked."""

    value: Value
    number: Value | None
    """The number of a step's row, in the loop's body; None for the number of the step."""


def _sums(loop: Operation, how: Count) -> list[_Sum]:
    """Return the sums of a loop whose products nothing else uses."""
    condition, body = (region.blocks[0] for region in loop.regions)
    found = []
    for i, x in enumerate(mlir.terminator(body).operands):
        addition, carried = mlir.definition(x), body.arguments[i]
        if addition is None or addition.name != "stablehlo.add" or mlir.num_uses(x) > 1:
            continue
        if mlir.num_uses(carried) > 1 or mlir.num_uses(condition.arguments[i]):
            continue
        terms = [y for y in addition.operands if y != carried]
        term = mlir.definition(terms[0]) if len(terms) == 1 else None
        product = None if term is None else _product(term)
        if term is None or product is None or product.block != body:
            continue
        sum_ = _Sum(i, addition, term, product)
        is_alike = dtype_of(sum_.factors[0]) == dtype_of(product.results[0])
        if is_alike and _pays(sum_, how.steps):
            found.append(sum_)
    gone = {operation for sum_ in found for operation in (sum_.addition, sum_.term)}
    return [sum_ for sum_ in found if gone.issuperset(mlir.users(sum_.product.results[0]))]


def _product(term: Operation) -> Operation | None:
    """Return the product that a term is, or is of floats that are converted to wider ones."""
    product: Operation | None = term
    if term.name == conversion.Convert.name and mlir.num_uses(term.results[0]) == 1:
        before, after = dtype_of(term.operands[0]), dtype_of(term.results[0])
        if (
            "c" not in (before.kind, after.kind)
            and inexact(before)
            and before.itemsize < after.itemsize
        ):
            product = mlir.definition(term.operands[0])
    return product if product is not None and product.name == DotGeneral.name else None


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
    gone = {operation for sum_ in sums for operation in (sum_.addition, sum_.term, sum_.product)}
    pairs = [_stacked(sum_, loop, how) for sum_ in sums]
    kinds = dict.fromkeys(x for pair in pairs for x in pair if isinstance(x, _Stack))
    stacks = [full((how.steps, *shape_of(x.value)), 0, dtype_of(x.value)) for x in kinds]

    def go_on(*state: Value) -> list[Value]:
        arguments = (condition.arguments[i] for i in kept)
        return mlir.copy_block(condition, dict(zip(arguments, state, strict=False)))

    def advance(*state: Value) -> list[Value]:
        env: dict[Value, Value] = {}
        env.update(zip((body.arguments[i] for i in kept), state, strict=False))
        for operation in walk(body):
            if operation not in gone:
                mlir.copy(operation, env)
        step = _step(state[kept.index(how.place)], how)
        last = mlir.terminator(body).operands
        rows = [
            with_row(stack, env.get(x.value, x.value), step if x.number is None else env[x.number])
            for stack, x in zip(state[len(kept) :], kinds, strict=True)
        ]
        moved: list[Value] = [last[i] for i in kept]
        return [*(env.get(x, x) for x in moved), *rows]

    results = while_loop(go_on, advance, [*(start[i] for i in kept), *stacks])
    final: dict[int, Value] = dict(zip(kept, results, strict=False))
    made = dict(zip(kinds, results[len(kept) :], strict=True))
    for sum_, pair in zip(sums, pairs, strict=True):
        left, right = (made[x] if isinstance(x, _Stack) else x.array for x in pair)
        final[sum_.place] = elementwise.add(start[sum_.place], _over_steps(sum_.op)(left, right))
    return [final[i] for i in range(len(start))]


def _stacked(sum_: _Sum, loop: Operation, how: Count) -> list[_Rows | _Stack]:
    """Return what has the factors of all steps: an array that is there, for one of them at most,
    and stacks in its order.
    """
    found = [_rows(x, loop, how) for x in sum_.factors]
    place = next((i for i, rows in enumerate(found) if rows is not None), None)
    rows = None if place is None else found[place]
    number = None if rows is None else rows.number
    stacks: list[_Rows | _Stack] = [_Stack(x, number) for x in sum_.factors]
    if place is not None and rows is not None:
        stacks[place] = rows
    return stacks


def _rows(x: Value, loop: Operation, how: Count) -> _Rows | None:
    """Return the array from outside of a loop whose rows a value is in the loop's steps, each row
    in one of them; None if there is none.
    """
    view = mlir.definition(x)
    if view is None or view.name != shape.Reshape.name:
        return None
    source = mlir.definition(view.operands[0])
    if source is None or source.name != dynamic_slices.DynamicSlice.name:
        return None
    (part,), (array, *starts) = source.results, source.operands
    extents = shape_of(array)
    is_row = shape_of(part) == (1, *extents[1:]) and shape_of(x) == extents[1:]
    is_there = is_row and array in mlir.captured(loop) and extents[0] == how.steps
    return _Rows(array, starts[0]) if is_there and _takes_all(starts[0], loop, how) else None


def _takes_all(number: Value, loop: Operation, how: Count) -> bool:
    """True if a value in a loop counts from 0, or down to 0, by 1."""
    counter = loop.regions[1].blocks[0].arguments[how.place]
    if how.step != 1:
        return False
    if number == counter:
        return how.start == 0
    made = mlir.definition(number)
    if made is None or made.name != "stablehlo.subtract" or made.operands[1] != counter:
        return False
    last = mlir.splat(made.operands[0])
    return last is not None and int(last) == how.start + how.steps - 1


def _step(counter: Value, how: Count) -> Value:
    """Return the number of steps taken so far."""
    dtype = dtype_of(counter)
    taken = counter
    if how.start != 0:
        taken = elementwise.subtract(taken, full((), how.start, dtype))
    return taken if how.step == 1 else elementwise.divide(taken, full((), how.step, dtype))


def _over_steps(op: DotGeneral) -> DotGeneral:
    """Build the product of stacked factors, which is also summed over the steps."""
    d = op.dimensions
    up = [
        tuple(i + 1 for i in dimensions)
        for dimensions in (d.lhs_batching, d.rhs_batching, d.lhs_contracting, d.rhs_contracting)
    ]
    dimensions = DotDimensions(up[0], up[1], (0, *up[2]), (0, *up[3]))
    return replace(op, dimensions=dimensions)
