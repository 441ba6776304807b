"""Evaluation of operations that may take long: NumPy and LAPACK answer no signals meanwhile.

Who uses the compiler may have them run by a function of its own (`run_by`), such as one that waits
for another thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Protocol

import numpy as np

from irax_compiler.ops.transformation import Evaluation


class _Shaped(Protocol):
    """An array, or the type of one."""

    @property
    def shape(self) -> tuple[int, ...]: ...


class _Evaluated(Protocol):
    """An op, as far as it tells how long it takes."""

    is_pure: bool
    moves: bool
    is_view: bool
    superlinear: bool
    transcendental: bool

    def evaluate(self, call: Any, *operands: Any) -> Any: ...


_MANY = 1 << 22
"""Elements of operands from which on an operation may take more than some 20 ms."""
_MANY_OF_FUNCTION = 1 << 19
"""The number of elements for transcendental functions."""
_MANY_OF_MATRIX = 1 << 16
"""The number for operations that take more time than in proportion to the elements."""


class Run(Protocol):
    """Calls a function, and returns its result."""

    def __call__(self, function: Callable[..., Any], /, *arguments: Any) -> Any: ...


def _here(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


_run: Run = _here


def run_by(run: Run) -> None:
    """Have operations that may take long run by a function. These call no function of a user's."""
    global _run
    _run = run


def evaluate(op: _Evaluated, call: Evaluation, operands: Sequence[np.ndarray[Any, Any]]) -> Any:
    """Return what the rule `evaluate` of an op does."""
    for x in operands:  # most have small ones, for which each step here counts
        if x.size >= _MANY_OF_MATRIX and may_take_long(op, operands):
            return _run(op.evaluate, call, *operands)
    return op.evaluate(call, *operands)


def apart(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that has another one run, which may take long."""
    return lambda *arguments: _run(function, *arguments)


def may_take_long(op: _Evaluated, operands: Sequence[_Shaped]) -> bool:
    """Return True if an operation on such operands may take longer than Ctrl-C should wait."""
    if op.superlinear:
        limit = _MANY_OF_MATRIX
    elif not op.is_pure or op.moves or op.is_view:
        return False
    else:
        limit = _MANY_OF_FUNCTION if op.transcendental else _MANY
    return any(prod(x.shape) >= limit for x in operands)
