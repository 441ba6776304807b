"""Budgets of time for loops that need not end, so that Ctrl-C can interrupt them.

A program that is short runs in the calling thread, in which Ctrl-C has no effect until it returns.
So a loop in a kernel that need not end takes the estimated nanoseconds of each step from a meter, a
number in the runtime's memory, and stops when nothing is left. The results are then wrong: the
runtime runs the program again, in another thread and with a meter that does not run out
(`irax_runtime/meter.py`).

The reflection attribute `irax.takes` is "metered" for a program whose loops without a known end are
all in such kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value
from irax_compiler.ops.control_flow.trip_counts import most_steps
from irax_compiler.ops.registers import Registers, constant, emit
from irax_compiler.passes.core import Pass, nested, outside_kernels, register_pass
from irax_compiler.passes.host.annotate import add_reflection, reflection, step_time
from irax_compiler.passes.kernels.code.loops import while_loop

ADDRESS = "irax_host.meter"
"""The function of the runtime that returns the address of the meter."""
LEAST = 2
"""The fewest nanoseconds of a step."""
_LONG = np.dtype(np.int64)
_INITIALIZER = {"function_type": mlir.type_attribute(mlir.function_type([], []))}


def may_not_end(loop: Operation) -> bool:
    """True if nobody knows a number of steps after which a `stablehlo.while` ends."""
    return most_steps(loop, {}) is None


def address(operations: Iterable[Operation]) -> Value | None:
    """Build the address of the meter for a kernel of operations; None if all loops in it end."""
    within = [o for each in operations for o in (each, *nested(each))]
    if not any(o.name == "stablehlo.while" and may_not_end(o) for o in within):
        return None
    module, type_ = mlir.open_module(), mlir.element_type(_LONG)
    if ADDRESS not in mlir.functions(module):
        mlir.declare_function(module, ADDRESS, [], [type_])
    return mlir.emit("func.call", [], {"callee": mlir.symbol(ADDRESS)}, [type_]).results[0]


def metered(
    loop: Operation,
    meter: Value,
    start: Registers,
    condition: Callable[[list[Value]], Value],
    body: Callable[[list[Value]], Registers],
) -> list[Value]:
    """Build a loop as `while_loop` does. Each step takes from the meter, and none begins when
    nothing is left. A loop holds the meter in a register, unless loops inside take from it too.
    """
    place = emit("llvm.inttoptr", meter, to=mlir.parse_type("!llvm.ptr"))
    cost = max(LEAST, int(1000 * step_time(loop)))

    def goes_on(carried: list[Value]) -> Value:
        return _and_left(_load(place), condition(carried))

    def step(carried: list[Value]) -> Registers:
        _store(_after(_load(place), cost), place)
        return body(carried)

    def goes_on_by_register(carried: list[Value]) -> Value:
        *others, left = carried
        return _and_left(left, condition(others))

    def step_by_register(carried: list[Value]) -> Registers:
        *others, left = carried
        return [*body(others), _after(left, cost)]

    if any(o.name == "stablehlo.while" and may_not_end(o) for o in nested(loop)):
        return while_loop(start, goes_on, step)
    *results, left = while_loop([*start, _load(place)], goes_on_by_register, step_by_register)
    _store(left, place)
    return results


def _load(place: Value) -> Value:
    return emit("llvm.load", place, to=mlir.element_type(_LONG))


def _store(left: Value, place: Value) -> None:
    mlir.emit("llvm.store", [left, place], {}, [])


def _after(left: Value, cost: int) -> Value:
    return emit("arith.subi", left, constant(np.asarray(cost, _LONG)))


def _and_left(left: Value, holds: Value) -> Value:
    zero, sgt = constant(np.asarray(0, _LONG)), mlir.parse_attribute("4 : i64")
    is_left = emit("arith.cmpi", left, zero, to=mlir.parse_type("i1"), predicate=sgt)
    return emit("arith.andi", is_left, holds)


def record(module: Module) -> None:
    """Write into the reflection attributes which programs are metered, and on all functions of a
    module that asks for the meter's address, `irax.meter`.
    """
    functions = mlir.functions(module)
    for function in filter(mlir.is_public, functions.values()):
        entries = {"irax.meter": "true"} if ADDRESS in functions else {}
        if reflection(function).get("irax.takes") == "unknown":
            loops = [o for o in nested(function) if o.name == "stablehlo.while"]
            entries["irax.takes"] = "long" if any(map(may_not_end, loops)) else "metered"
        if entries:
            add_reflection(function, entries)


@register_pass
class InterruptChecks(Pass):
    """Has a program ask for the meter's address once, when it is loaded: the runtime's answer holds
    for all calls. A barrier keeps loops that take from the meter in the calls: those of constants
    would run when the program is loaded, before it has asked.
    """

    name: ClassVar[str] = "interrupt-checks"

    def run(self, module: Module) -> bool | None:
        calls = [o for o in outside_kernels(module) if _asks(o)]
        if not calls:
            return False
        type_ = mlir.element_type(_LONG)
        attributes = {
            "sym_name": mlir.string("irax_meter"),
            "sym_visibility": mlir.string("private"),
            "type": mlir.type_attribute(type_),
        }
        with InsertionPoint(module.body), calls[0].location:
            mlir.emit("util.global", [], attributes, [])
            start = mlir.emit("util.initializer", [], _INITIALIZER, [], regions=1)
        place = {"global": mlir.symbol("irax_meter")}
        with InsertionPoint(Block.create_at_start(start.regions[0], [])), calls[0].location:
            (meter,) = mlir.clone(calls[0], {})
            mlir.emit("util.global.store", [meter], place, [])
            mlir.emit("util.return", [], {}, [])
        for call in calls:
            # IREE runs what is before a barrier apart from what is after it.
            with InsertionPoint.at_block_begin(call.block), call.location:
                (loaded,) = mlir.emit("util.global.load", [], place, [type_]).results
                (meter,) = mlir.emit("util.optimization_barrier", [loaded], {}, [type_]).results
            mlir.replace(call, [meter])
        return True


def _asks(operation: Operation) -> bool:
    return operation.name == "func.call" and str(operation.attributes["callee"]) == f"@{ADDRESS}"
