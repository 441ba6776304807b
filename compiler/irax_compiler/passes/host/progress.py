"""Loops that tell how far they have come, as loops over blocks of their steps.

A step that tells of it asks the host how many steps to do before it asks again. The host goes by
time, so a short loop asks a few times in all, and between them its steps are a loop without calls,
which may be one kernel. Derivatives and lanes are those of the loop as it was written.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, ClassVar

from irax_compiler import effects, mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value, shape_of
from irax_compiler.ops.bitwise import and_
from irax_compiler.ops.callback import Callback, asks_for_steps
from irax_compiler.ops.comparison import less
from irax_compiler.ops.control_flow.trip_counts import trip_count
from irax_compiler.ops.core import full
from irax_compiler.ops.elementwise import add, maximum
from irax_compiler.ops.loop_builders import I32, while_loop
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.core import Pass, enclosing, nested, register_pass

BRIEF = 1e6
"""A step of so many operations takes long beside asking, which takes a few microseconds. In a loop
over blocks, whose length is not known, steps that are several kernels wait for each other, which
takes longer."""

_TRANSCENDENTAL = 4
"""The operations that a transcendental function counts as."""


@register_pass
class Progress(Pass):
    """Splits loops with short steps that tell how far they have come: the loop is over blocks of as
    many steps as the host says. Steps that tell of what nobody can know before them do not tell it.
    Applies to modules without calls.
    """

    name: ClassVar[str] = "progress"

    def run(self, module: Module) -> bool:
        has_changed = False
        for function in mlir.functions(module).values():
            told: dict[Operation, list[Operation]] = {}
            for operation in nested(function):
                if asks_for_steps(operation):
                    told.setdefault(_loop_around(operation, function), []).append(operation)
            # Of loops in loops, the inner ones go first: an outer one is copied with them.
            has_changed = has_changed or bool(told)
            for loop in [o for o in nested(function) if o in told]:
                those = told.pop(loop)
                if _work(loop.regions[1].blocks[0]) < BRIEF:
                    _split(loop, those)
                else:
                    _tell_each_step(those)
            for those in told.values():
                _forget(those)
        return has_changed


def _work(block: Block) -> float:
    """About the number of operations on elements that a block does."""
    total = 0.0
    for operation in (view.operation for view in block.operations):
        traits = traits_of(operation)
        if traits.transcendental:
            total += _TRANSCENDENTAL * math.prod(shape_of(operation.results[0]))
        elif traits.arithmetic:
            total += math.prod(shape_of(operation.results[0]))
        else:
            total += traits.flops(operation)
        count = trip_count(operation, {}) if operation.name == "stablehlo.while" else None
        times = count if isinstance(count, int) else 1
        total += times * sum(_work(inner) for region in operation.regions for inner in region)
    return total


def _loop_around(operation: Operation, function: Operation) -> Operation:
    """The innermost loop that an operation is in; the function if there is none."""
    loops = (o for o in enclosing(operation) if o == function or o.name == "stablehlo.while")
    return next(loops)


def _split(loop: Operation, told: Sequence[Operation]) -> None:
    """Make a loop one over blocks of steps, of which the first operation that tells asks for the
    number.
    """
    condition, body = (region.blocks[0] for region in loop.regions)
    first = told[0]
    before = _before(first, loop)
    if before is None or any(effects.has_effects(v.operation) for v in condition.operations):
        _forget(told)
        return

    def block_of_steps(*state: Value) -> Sequence[Value]:
        env: dict[Value, Value] = dict(zip(body.arguments, state, strict=True))
        for operation in [*before, first]:
            mlir.copy(operation, env)
        zero, one = full((), 0, I32), full((), 1, I32)
        steps = maximum(env[first.results[0]], one)
        _forget(told)
        return while_loop(
            lambda *inner: and_(*_results(condition, inner[:-1]), less(inner[-1], steps)),
            lambda *inner: [*_results(body, inner[:-1]), add(inner[-1], one)],
            [*state, zero],
        )[:-1]

    with InsertionPoint(loop), loop.location:
        results = while_loop(
            lambda *state: _results(condition, state), block_of_steps, list(loop.operands)
        )
    mlir.replace(loop, results)


def _tell_each_step(told: Sequence[Operation]) -> None:
    """Have each step of a loop make the first of some calls, without a result: for one, IREE would
    wait.
    """
    first = told[0]
    with InsertionPoint(first), first.location:
        dataclasses.replace(Callback.read(first), kind="debug", types=()).build(first.operands)
    _forget(told)


def _forget(told: Sequence[Operation]) -> None:
    """Erase operations that tell. Where lanes go in turn, their numbers of steps are stacked."""
    for operation in told:
        with InsertionPoint(operation), operation.location:
            mlir.replace(operation, [full((), 1, I32)])


def _results(block: Block, arguments: Sequence[Value]) -> list[Value]:
    """Copy a block to the insertion point for some arguments, and return its results."""
    return mlir.copy_block(block, dict(zip(block.arguments, arguments, strict=True)))


def _before(operation: Operation, loop: Operation) -> list[Operation] | None:
    """The operations of a loop's body that an operation's operands are computed by, in order; None
    if they need what is known only where it stands, such as a number of an inner loop.
    """
    inside = set(nested(loop))
    state = set(loop.regions[1].blocks[0].arguments)
    found: dict[Operation, None] = {}

    def visit(value: Value) -> bool:
        definition = mlir.definition(value)
        if definition is None:
            block: Any = value.owner
            return value in state or block.owner.operation not in inside
        if definition in found or definition not in inside:
            return True
        if len(definition.regions) or effects.has_effects(definition):
            return False
        if not all(map(visit, definition.operands)):
            return False
        found[definition] = None
        return True

    return list(found) if all(map(visit, operation.operands)) else None
