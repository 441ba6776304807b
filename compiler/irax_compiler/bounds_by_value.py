"""Loops whose bounds are arguments: for known arguments, loops with a number of steps.

Such a loop has no reverse mode, as its number of steps is not known. Where a call has numbers for
such arguments, the function is built anew with these as constants.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module
from irax_compiler.ops.control_flow.trip_counts import most_steps
from irax_compiler.ops.core import constant
from irax_compiler.passes.core import INLINE


def arguments_of_bounds(module: Module, func: str) -> list[int]:
    """Return the numbers of a function's arguments that may be bounds of loops: integers, if the
    module has loops without a known number of steps; none otherwise.
    """
    functions = mlir.functions(module)
    loops = [
        o
        for f in functions.values()
        for o in mlir.operations_in(f)
        if o.name == "stablehlo.while" and most_steps(o, functions) is None
    ]
    if not loops:
        return []
    arguments = mlir.arguments(functions[func])
    return [
        i
        for i, x in enumerate(arguments)
        if mlir.shape_of(x) == () and mlir.dtype_of(x).kind in "iu"
    ]


def with_bounds(module: Module, func: str, values: Mapping[int, np.ndarray]) -> Module:
    """Return a module with a function in which some arguments, which it still takes, are constants
    of these values.
    """
    copy = mlir.new_module()
    mlir.copy_functions(module, func, copy)
    function = mlir.functions(copy)[func]
    mlir.make_public(function)
    block = mlir.body(function)
    with InsertionPoint.at_block_begin(block), function.location:
        for i, value in values.items():
            block.arguments[i].replace_all_uses_with(constant(np.asarray(value)))
    INLINE.run(copy)
    return copy
