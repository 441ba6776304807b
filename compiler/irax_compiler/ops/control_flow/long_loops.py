"""Loops of many steps in the evaluator, which hands the rest of them to a compiler.

The evaluator takes microseconds for an operation, a compiled loop nanoseconds. Who uses the
compiler says how a function of a module is compiled (`compile_by`). A loop that has come to `MANY`
operations then goes on as a program of its own, from the values that it has reached. Operations are
counted, not seconds: a loop gives the same numbers each time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax_compiler import effects, mlir
from irax_compiler.mlir import InsertionPoint, Module
from irax_compiler.ops.core import Op, UnsupportedOp
from irax_compiler.ops.evaluation import evaluator as evaluate

MANY = 20_000
"""The number of operations after which a loop is compiled: about a tenth of a second."""

Arrays = Sequence[np.ndarray]
Compiled = Callable[[Arrays], Arrays]
Compile = Callable[[Module, str], Compiled]
"""Compiles a function of a module. Raises UnsupportedOp where it cannot."""

_compile: Compile | None = None


def compile_by(compile: Compile) -> None:
    """Have long loops compiled by a function."""
    global _compile
    _compile = compile


class _Counts(threading.local):
    operations = 0


_counts = _Counts()


class Work:
    """The operations of a loop that is being evaluated, in a `with` block, those of loops inside of
    it included.
    """

    def __init__(self, operations: int) -> None:
        """`operations` is the number of a step's own."""
        self._operations = operations
        self._start = _counts.operations
        self._ends = _compile is not None and not evaluate.is_observed()
        self._loops = evaluate.loops()

    def __enter__(self) -> None:
        self._loops.append(0)

    def __exit__(self, *_: object) -> None:
        self._loops.pop()

    def is_much(self) -> bool:
        """Count a step; return True, once, if the rest of the loop is to be compiled."""
        _counts.operations += self._operations
        self._loops[-1] += 1
        if self._ends and _counts.operations - self._start >= MANY:
            self._ends = False
            return True
        return False


def repeat(
    goes_on: Callable[[Arrays], Any],
    advance: Callable[[Arrays], Arrays],
    carry: Arrays,
    work: Work,
    rest: Callable[[Arrays], Arrays | None],
) -> Arrays:
    """Return what a loop without a known number of steps carries at its end; `rest` compiles it."""
    with work:
        while goes_on(carry):
            carry = advance(carry)
            if work.is_much():
                found = rest(carry)
                if found is not None:
                    return found
    return carry


def operations(call: Any, name: str) -> int:
    """Return the number of operations of a function of the evaluator's module."""
    functions = getattr(call, "functions", {})
    return len(mlir.body(functions[name]).operations) if name in functions else 0


def rest(op: Op, call: Any, operands: Arrays) -> Arrays | None:
    """Return the results of a loop that is compiled; None where it cannot be, or has effects.

    Args:
        op: the loop.
        call: the evaluator of the module that has the functions which the loop names.
        operands: its operands, the values that it has reached among them.
    """
    assert _compile is not None
    module: Module | None = getattr(call, "module", None)
    if module is None:
        return None
    try:
        alone = _alone(op, module, operands)
        return None if alone is None else _compile(*alone)(operands)
    except UnsupportedOp:
        return None


def _alone(op: Op, module: Module, operands: Arrays) -> tuple[Module, str] | None:
    """Return a module that has a loop and what it calls, and the name of the loop's function there;
    None if it has effects.

    The module that the loop is of may be one that is traced into, whose functions have no end yet.
    """
    name = mlir.unique_name(module, "long_loop")
    types = [mlir.tensor_type(np.shape(x), np.asarray(x).dtype) for x in operands]
    function = mlir.new_function(module, name, types, public=True)
    alone = mlir.new_module()
    try:
        with InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
            mlir.finish_function(function, op.build(mlir.arguments(function)))
        if any(effects.has_effects(view.operation) for view in mlir.body(function).operations):
            return None
        mlir.copy_functions(module, name, alone)
    finally:
        function.erase()
    mlir.make_public(mlir.functions(alone)[name])
    return alone, name
