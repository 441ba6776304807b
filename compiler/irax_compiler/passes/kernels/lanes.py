"""The code of what kernels compute: elementwise operations and folds of registers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of
from irax_compiler.ops import registers
from irax_compiler.ops.reductions.reduce import find_combiner, identity
from irax_compiler.ops.registers import emit
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.kernels.code.shuffles import picked
from irax_compiler.passes.kernels.loops import blocks
from irax_compiler.sizes import Size

BOOLEAN = mlir.element_type(np.dtype(np.bool_))


class _Lanes(blocks.Scope):
    """Registers that all have one element, or all the lanes of a vector."""

    def size(self, x: Value) -> int:
        return self.lanes or 1


def compute(operations: Iterable[Operation], known: dict[Value, Value], lanes: int) -> None:
    """Build elementwise operations and broadcasts of numbers; `known` then has their results."""
    scope = _Lanes(known, lanes=lanes)
    for operation in operations:
        if traits_of(operation).moves:
            known[operation.results[0]] = scope.register(operation.operands[0])
        else:
            blocks.translate([operation], scope)


def register(x: Value, known: dict[Value, Value]) -> Value:
    """Return the register of a value, which may be a constant."""
    if x in known:
        return known[x]
    fill = mlir.splat(x)
    assert fill is not None
    return registers.constant(fill)


# ---- reductions ----------------------------------------------------------------------------------


def combiner(operation: Operation) -> str:
    """Return the combiner of a reduction."""
    found = find_combiner(operation)
    assert found is not None
    return found


def combined(operation: Operation, x: Value, y: Value) -> Value:
    """Combine two registers as a reduction does."""
    inner = operation.regions[0].blocks[0].operations[0].operation
    return registers.apply(inner, [x, y])


def neutral(operation: Operation, lanes: int) -> Value:
    """Return a register of the reduction's identity."""
    dtype = dtype_of(operation.operands[0])
    element = np.asarray(identity(combiner(operation), dtype), dtype)
    return registers.spread(registers.constant(element), lanes)


_OF_BOOLEANS = {"maximum": "or", "minimum": "and", "multiply": "and"}


def across(operation: Operation, x: Value) -> Value:
    """Fold the elements of a register, by halves."""
    name = combiner(operation)
    if registers.is_boolean(x):
        return _reduced(_OF_BOOLEANS.get(name, name), x, BOOLEAN)
    if name in _ORDERED and mlir.is_inexact(operation.operands[0]):
        return _extremum(_ORDERED[name], x, dtype_of(operation.operands[0]))
    return _by_halves(x, lambda low, high: combined(operation, low, high))


_ORDERED = {"maximum": 2, "minimum": 4}
"""The combiners of floats that select by an ordered comparison, and its predicate."""


def _extremum(predicate: int, x: Value, dtype: np.dtype) -> Value:
    """Fold floats by comparisons alone, and look for nan once: each step of an exact maximum takes
    five instructions.
    """
    kind = mlir.parse_attribute(f"{predicate} : i64")
    unordered = mlir.parse_attribute("14 : i64")
    boolean = registers.with_elements(x, np.dtype(np.bool_))
    is_nan = _reduced("or", emit("arith.cmpf", x, x, to=boolean, predicate=unordered), BOOLEAN)

    def chosen(low: Value, high: Value) -> Value:
        boolean = registers.with_elements(low, np.dtype(np.bool_))
        condition = emit("arith.cmpf", low, high, to=boolean, predicate=kind)
        return registers.select(condition, low, high)

    found = _by_halves(x, chosen)
    return registers.select(is_nan, registers.constant(np.asarray(np.nan, dtype)), found)


def _by_halves(x: Value, combine: Callable[[Value, Value], Value]) -> Value:
    while (size := registers.size_of(x)) > 1:
        low, high = np.arange(size).reshape(2, size // 2)
        x = combine(picked(x, low), picked(x, high))
    return x


def _reduced(kind: str, x: Value, to: mlir.Type) -> Value:
    attribute = mlir.parse_attribute(f"#vector.kind<{kind}>")
    return emit("vector.reduction", x, to=to, kind=attribute)


def block(steps: Any, most: int) -> int:
    """Return the size of the largest blocks in which a number of steps is taken: a power of `most`,
    of which there are at most as many. A number that is not known is taken for a large one.
    """
    size, steps = 1, most**3 if isinstance(steps, Size) else steps
    while -(-steps // size) > most:
        size *= most
    return size
