"""Bounds of inner loops that depend on counters of outer ones, noted where both are in sight."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from irax_compiler import mlir
from irax_compiler.mlir import Operation
from irax_compiler.ops.control_flow.bounded_loops import MOST
from irax_compiler.ops.control_flow.trip_counts import MOST_STEPS, most_steps
from irax_compiler.passes.optimize.integer_bounds import bounds_of_one


def note_bounds(function: Operation, functions: Mapping[str, Operation]) -> None:
    """Give the loops of a function that end after a number of steps at the latest, which follows
    from what is around them, an attribute that tells it. `functions` are those of the module.
    """
    bounds_of = partial(bounds_of_one, functions=functions)
    for operation in mlir.operations_in(function):
        if operation.name != "stablehlo.while" or most_steps(operation, functions) is not None:
            continue
        most = most_steps(operation, functions, bounds_of)
        if most is not None and most <= MOST:
            operation.attributes[MOST_STEPS] = mlir.parse_attribute(f"{most} : i64")
