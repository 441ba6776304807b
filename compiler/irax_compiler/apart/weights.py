"""Weights: the large constants of a function, as further arguments of it.

Compilers copy what a module holds from phase to phase. A program that takes its weights is compiled
without them, and finds them where they are: constants are views of MLIR's memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.apart.lifting import Lifted, Lifting
from irax_compiler.interchange.bytecode_format import Bytes
from irax_compiler.mlir import InsertionPoint, Module, Operation
from irax_compiler.ops.core import constant
from irax_compiler.shardy import layouts

LEAST = 1 << 20
"""The bytes of an array from which it is no part of a program."""
_WIDEST = 16
"""The most bytes of an element."""


def set_apart(module: Module, func: str) -> tuple[Module, list[np.ndarray[Any, Any]]]:
    """Return a module in which a function takes its weights after its arguments, and the weights:
    the module itself and none where it has none, or is for several devices.
    """
    functions = mlir.functions(module)
    if layouts.STATED in functions[func].attributes or not any(
        map(_has_weights, functions.values())
    ):
        return module, []
    copy = mlir.new_module()
    mlir.copy_functions(module, func, copy)
    lifting = Lifting(copy, _weight)
    found = lifting.lift(func)
    mlir.make_public(lifting.functions[func])
    return copy, [x.elements for x in found]


def put_back(module: Module, func: str, weights: Sequence[Bytes]) -> None:
    """Make constants of the last arguments of a function, whose elements are given as bytes.

    Raises:
        ValueError: it has fewer arguments, or they have other sizes.
    """
    function = mlir.functions(module)[func]
    block = mlir.body(function)
    own = len(block.arguments) - len(weights)
    if own < 0:
        raise ValueError(f"@{func} takes {len(block.arguments)} of {len(weights)} weights")
    with InsertionPoint.at_block_begin(block), function.location:
        for data, argument in zip(weights, list(block.arguments)[own:], strict=True):
            elements = np.frombuffer(data, mlir.dtype_of(argument))
            shaped = elements.reshape(mlir.shape_of(argument))
            argument.replace_all_uses_with(constant(shaped))
    for _ in weights:
        block.erase_argument(own)
    if "arg_attrs" in function.attributes:
        given: Any = function.attributes["arg_attrs"]
        function.attributes["arg_attrs"] = mlir.array([*given][:own])
    mlir.set_function_type(function)


def _has_weights(function: Operation) -> bool:
    return any(map(_is_weight, mlir.operations_in(function)))


def _weight(operation: Operation) -> Lifted | None:
    if not _is_weight(operation):
        return None
    (result,) = operation.results
    elements = mlir.dense_to_numpy(operation)
    return Lifted(id(elements), elements, result.type)


def _is_weight(operation: Operation) -> bool:
    if operation.name != "stablehlo.constant":
        return False
    (x,) = operation.results
    if prod(mlir.shape_of(x)) * _WIDEST < LEAST:
        return False
    dtype = mlir.dtype_of(x)
    is_table = dtype.kind in "iu" and dtype.itemsize > 2  # of places: rewrites look into it
    is_large = prod(mlir.shape_of(x)) * dtype.itemsize >= LEAST
    return is_large and not is_table and dtype.kind != "b" and mlir.splat(x) is None
