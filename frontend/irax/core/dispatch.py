"""Dispatch: each operation is given to one interpreter. Nobody else asks which.

Inside of a trace it is the trace; outside, the device that operands were put on, or else NumPy.
Of a partial trace that is so for operations on its values alone: others are those of the trace
around, and outside of all they run at once. Where a trace is suspended to compute at once, it is
still the one for traced operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax.config import config
from irax.core.array import Array, ConcreteArray, as_array
from irax.core.interpreters.device import Compile, OnDevice
from irax.core.interpreters.interface import Interpreter, R
from irax.core.interpreters.numpy import NumPy
from irax.core.key_arrays import KeyArray
from irax.core.module_builder import ModuleBuilder
from irax.core.shardings.mesh_devices import device_of_place
from irax.core.tracing import Scope, Trace, Tracer, concrete_array, innermost
from irax_compiler.ops.core import Op
from irax_compiler.ops.numpy_call import NumpyCall
from irax_runtime.device import Device

_NUMPY = NumPy()
_ON_DEVICE = OnDevice(_NUMPY)

clear_cache = _ON_DEVICE.clear_cache


def use_compiler(compile: Compile, current_device: Callable[[], Device]) -> None:
    """Have operations on devices compiled by a function of the room above; another one tells the
    device of arrays that were put nowhere.
    """
    _ON_DEVICE.compile, _ON_DEVICE.current_device = compile, current_device


def current(operands: Sequence[Any] = ()) -> Interpreter:
    """Return the interpreter of an operation on these operands."""
    trace: Trace | None = innermost.trace
    if trace is not None and not trace.is_partial:
        return trace
    if trace is not None or innermost.suspended is not None:
        trace = trace_of(operands)
        if trace is not None:
            return trace
    for x in operands:
        kind = type(x)
        if (kind is ConcreteArray or kind is KeyArray) and x.committed:
            return _ON_DEVICE
    return _NUMPY


def runs_at_once() -> bool:
    """Return True if operations on arrays that are not traced run at once."""
    return innermost.trace is None or innermost.trace.is_partial


def trace_of(operands: Sequence[Any]) -> Trace | None:
    """Return the trace that an operation on these operands belongs to; None if it runs at once."""
    trace: Trace | None = innermost.trace
    if trace is not None and not trace.is_partial:
        return trace
    innermost_one = trace = trace or innermost.suspended
    if trace is None:
        return None
    found = [x for x in map(_traced, operands) if x is not None]
    if not found:
        return None
    while trace is not None and not trace.owns(found):
        trace = trace.parent
    return trace or innermost_one  # which says what is wrong with an array of no trace around


_UNTRACED = frozenset({ConcreteArray, np.ndarray, bool, int, float, complex, type(None)})


def _traced(x: Any) -> Tracer | None:
    """Return an operand as a traced array; None for one that is not traced."""
    kind = type(x)
    if kind is KeyArray:
        x = x.data
    elif kind not in _UNTRACED and (
        hasattr(kind, "__irax_array__") or hasattr(kind, "__jax_array__")
    ):
        x = as_array(x)
    return x if type(x) is Tracer else None


def is_mapped(x: Array) -> bool:
    """Return True for an element that `vmap` traces for all, or what is computed of one there."""
    traced = _traced(x)
    return traced is not None and traced.home.kind == "vmap"


def bind(
    op: Op, *operands: Array, weak_type: bool = False, builder: ModuleBuilder | None = None
) -> Any:
    """Applies an op. `builder` has the functions that it names, if it does.

    Returns one array, or a list of them for an op of several results.
    """
    there = operands if builder is None else _in_place(builder, operands)
    return current(there).bind(op, there, weak_type, builder)


def call(
    builder: ModuleBuilder, name: str, operands: Sequence[Array], weak: Sequence[bool]
) -> list[Array]:
    """Calls a function of a module. `weak` says which results are weakly typed; results beyond its
    end (residuals) are not.
    """
    operands = _in_place(builder, operands)
    return current(operands).call(builder, name, operands, weak)


def _in_place(builder: ModuleBuilder, operands: Sequence[Array]) -> Sequence[Array]:
    """Return the operands of a program that runs at once. If they were put nowhere, they are put on
    the devices that the program names, or on the current one if it moves values between memories.
    """
    is_named = builder.place is not None
    if not (is_named or builder.has_memories) or current(operands) is not _NUMPY:
        return operands
    device: Any = device_of_place(builder.place) if is_named else _ON_DEVICE.current_device()
    return [concrete_array(x).on(device) for x in operands]


def staged(
    run: Callable[[], R], write: Callable[[ModuleBuilder], R], operands: Sequence[Any] = ()
) -> R:
    """Return `run()` where an operation on the operands runs at once, and `write(module)` where it
    belongs to a trace. It is for calls of the user's functions that are one operation of a program,
    and for functions that run in other steps in Python.
    """
    return current(operands).staged(run, write)


def acting(
    run: Callable[[], R], write: Callable[[ModuleBuilder], R], operands: Sequence[Any], reads: bool
) -> R:
    """Return what `staged` does, for what has side effects: they keep their order. What only
    `reads` its operands runs at once where their elements are known.
    """
    trace: Trace | None = innermost.trace
    if trace is None or not trace.is_partial:
        return staged(run, write, operands)
    if trace.scope is not Scope.OWN or trace.has_effects():  # a rule may stand for what is traced
        with trace.taking_all():
            return trace.staged(run, write)
    if reads and all(x is None or x.is_known for x in map(_traced, operands)):
        return run()
    return staged(run, write, operands)


def shortcut(
    op: NumpyCall, *operands: Array, formula: Callable[..., Any], weak_type: bool = False
) -> Any:
    """Return what a function of NumPy does, where nothing but NumPy ever computes it and it suits
    the dtypes; elsewhere what the formula does, of the same operands, by other operations.
    """
    interpreter = current(operands)
    if interpreter.takes(op) and op.suits(*(x.dtype for x in operands)):
        return interpreter.bind(op, operands, weak_type)
    return formula(*operands)


def beside(what: str, x: Array, others: Sequence[Any]) -> Array:
    """Return an array that was put nowhere on the device that others were put on, where operations
    run at once. It is for operands that Python reads, and for results that it computes.

    Raises:
        ValueError: the arrays were put on several devices; `what` is the function's name in the
            message.
    """
    return current(others).beside(what, x, others)


def elements(x: Array) -> np.ndarray[Any, Any] | None:
    """Return the elements of an array where NumPy may compute with them at once: outside of traces,
    if it was put on no device. None elsewhere.
    """
    return current((x,)).elements(x)


def options_of_rules() -> tuple[Any, ...]:
    """Return the options under which the rules run of a function that is being called: those where
    the call stands in what is differentiated. Where that is a staged function, which is traced once
    for all its calls, they are the options where its trace begins.
    """
    options = config.traced
    trace: Trace | None = innermost.trace
    while trace is not None and not (trace.is_differentiated or trace.kind in _OF_RULES):
        if trace.kind != "vmap":
            options = trace.options
        trace = trace.parent
    return options


_OF_RULES = ("custom_jvp", "custom_vjp")
"""The kinds of the traces of rules, which are differentiated as they are."""
