"""Meters of loops that need not end.

A program that is short runs in the calling thread, in which Ctrl-C has no effect until it returns.
So a loop in a kernel that need not end takes the estimated nanoseconds of each step from a meter, a
number in the runtime's memory, and stops when nothing is left. The results are then wrong: the
runtime runs the program again, in another thread and with a meter that does not run out
(`irax_runtime/meter.py`).

The reflection attribute `irax.takes` is "metered" for a program whose loops without a known end are
all in such kernels.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Module, Operation, Value
from irax_compiler.ops.control_flow.trip_counts import most_steps
from irax_compiler.ops.registers import constant, emit
from irax_compiler.passes.annotate import add_reflection, reflection, step_time
from irax_compiler.passes.core import nested

ADDRESS = "irax_host.meter"
"""The function of the runtime that returns the address of the meter."""
LEAST = 2
"""The fewest nanoseconds of a step."""
_LONG = np.dtype(np.int64)


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


def metered(loop: Operation, meter: Value, holds: Value) -> Value:
    """Build a loop's condition: that it `holds`, as long as something is left. A step is taken from
    the meter.
    """
    place = emit("llvm.inttoptr", meter, to=mlir.parse_type("!llvm.ptr"))
    left = emit("llvm.load", place, to=mlir.element_type(_LONG))
    cost = max(LEAST, int(1000 * step_time(loop)))
    rest = emit("arith.subi", left, constant(np.asarray(cost, _LONG)))
    mlir.emit("llvm.store", [rest, place], {}, [])
    sgt = mlir.parse_attribute("4 : i64")
    is_left = emit(
        "arith.cmpi", left, constant(np.asarray(0, _LONG)), to=mlir.parse_type("i1"), predicate=sgt
    )
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
