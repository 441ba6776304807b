"""Dispatch: each operation is given to one interpreter, which depends on where it is applied and on
its operands. Nobody else asks which.

Inside of a trace it is the trace; outside, the device that operands were put on, or else NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax.core.array import Array, ConcreteArray
from irax.core.interpreters.device import OnDevice
from irax.core.interpreters.interface import Interpreter, R
from irax.core.interpreters.numpy import NumPy
from irax.core.key_arrays import KeyArray
from irax.core.module_builder import ModuleBuilder
from irax.core.tracing import innermost
from irax_compiler.ops.core import Op
from irax_compiler.ops.numpy_call import NumpyCall

_NUMPY = NumPy()
_ON_DEVICE = OnDevice(_NUMPY)

clear_cache = _ON_DEVICE.clear_cache


def current(operands: Sequence[Any] = ()) -> Interpreter:
    """The interpreter of what is done now to these operands."""
    trace = innermost.trace
    if trace is not None:
        return trace
    for x in operands:
        kind = type(x)
        if (kind is ConcreteArray or kind is KeyArray) and x.committed:
            return _ON_DEVICE
    return _NUMPY


def bind(
    op: Op, *operands: Array, weak_type: bool = False, builder: ModuleBuilder | None = None
) -> Any:
    """Applies an op. `builder` has the functions that it names, if it does.

    Returns one array, or a list of them for an op of several results.
    """
    return current(operands).bind(op, operands, weak_type, builder)


def call(
    builder: ModuleBuilder, name: str, operands: Sequence[Array], weak: Sequence[bool]
) -> list[Array]:
    """Calls a function of a module. `weak` says which results are weakly typed; results beyond its
    end (residuals) are not.
    """
    return current(operands).call(builder, name, operands, weak)


def staged(run: Callable[[], R], write: Callable[[ModuleBuilder], R]) -> R:
    """What an operation returns that stands for a function of the user's: outside of traces `run`
    calls the function, inside one `write` writes the operation into the trace's module.
    """
    return current().staged(run, write)


def shortcut(
    op: NumpyCall, *operands: Array, formula: Callable[..., Any], weak_type: bool = False
) -> Any:
    """What a function of NumPy gives, where only NumPy ever computes it and in these dtypes does it
    well; elsewhere what the formula, of the same operands, makes of other operations.
    """
    interpreter = current(operands)
    if interpreter.takes(op) and op.suits(*(x.dtype for x in operands)):
        return interpreter.bind(op, operands, weak_type)
    return formula(*operands)


def elements(x: Array) -> np.ndarray[Any, Any] | None:
    """The elements of an array where NumPy may compute with them at once: outside of traces, if it
    was put on no device. None elsewhere.
    """
    return current((x,)).elements(x)
