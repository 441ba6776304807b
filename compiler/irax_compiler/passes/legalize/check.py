"""The pass check, which refuses operations that irax cannot run before a target fails on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Module, Operation
from irax_compiler.ops.callback import is_callback
from irax_compiler.ops.collective import Collective
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.foreign import ForeignCall
from irax_compiler.ops.foreign_function import is_foreign_function
from irax_compiler.ops.registry import is_known, read, traits_of, unknown
from irax_compiler.passes.core import Pass, check_function, nested, recursion, register_pass
from irax_compiler.passes.host.host import is_host_call
from irax_compiler.passes.legalize.target import NO_TARGET, OF_THE_EVALUATOR, Target, find
from irax_compiler.shardy.layouts import mesh_of

_RETURNS = {"func.return", "stablehlo.return"}
_INSTEAD = {"float64": "float32", "complex128": "complex64"}


@register_pass
@dataclass
class Check(Pass):
    """Raises UnsupportedOp for what irax cannot run: unknown operations; arrays whose shape or
    dtype irax or `target` does not support; functions without a body, of several blocks, or
    recursive; and public functions with arguments or results of dtypes that `target` lacks. The
    module does not change.

    For some of these IREE would crash, never end, or return wrong numbers.
    """

    name: ClassVar[str] = "check"
    target: str = ""

    def run(self, module: Module) -> None:
        target = find(self.target) if self.target else NO_TARGET
        functions = mlir.functions(module)
        axes = {axis for function in functions.values() for axis in mesh_of(function)}
        for name, function in functions.items():
            check_function(name, function)
            if mlir.is_public(function):
                _check_boundary(name, function, target)
            for operation in nested(function):
                _check_operation(operation, axes)
                _check_numbers(operation, target)
                if is_callback(operation) or is_foreign_function(operation):
                    _check_callback(operation, target)
        _check_calls(functions)


def _check_boundary(name: str, function: Operation, target: Target) -> None:
    arguments = [x.type for x in mlir.arguments(function)]
    for kind, types in (("argument", arguments), ("result", mlir.result_types(function))):
        for i, type_ in enumerate(types):
            dtype = mlir.dtype_of_type(type_).name
            if dtype in target.lacks_arrays_of:
                raise UnsupportedOp(
                    f"{kind} {i} of {name} is {type_}: {target.name} has no arrays of "
                    f"{dtype}; convert to and from it inside the function"
                )


def _check_numbers(operation: Operation, target: Target) -> None:
    for value in [*operation.operands, *operation.results]:
        dtype = mlir.dtype_of(value).name
        if dtype in target.lacks:
            other = _INSTEAD.get(dtype, "float32")
            device = "reference" if dtype in OF_THE_EVALUATOR else "cpu"
            raise UnsupportedOp(
                f"{operation.name} at {operation.location} has a value of type {value.type}: "
                f"{target.name} does not compute with {dtype}; use {other}, or the device "
                f"{device!r}"
            )


def _check_callback(operation: Operation, target: Target) -> None:
    if not target.calls_python:
        language = "Python" if is_callback(operation) else "C"
        raise UnsupportedOp(
            f"a callback at {operation.location}: programs of the target {target.name} call "
            f"no {language} functions; expected the target iree-cpu"
        )
    around: Any = operation.parent
    if around.name != "func.func" and not traits_of(around).captures:
        raise UnsupportedOp(
            f"a callback at {operation.location} inside of {around.name}: not supported; "
            "expected it in a function, a loop or a branch"
        )
    for value in [*operation.operands, *operation.results]:
        dtype = mlir.dtype_of(value).name
        if dtype in target.lacks_arrays_of | target.callbacks_lack:
            raise UnsupportedOp(
                f"a callback at {operation.location} takes or returns {value.type}: programs of "
                f"{target.name} pass no arrays of {dtype}; convert to and from it outside"
            )


def _check_operation(operation: Operation, axes: set[str]) -> None:
    if operation.name not in _RETURNS and not is_known(operation.name):
        raise unknown(operation)
    if operation.name == ForeignCall.name and not is_host_call(operation):
        op = read(operation)  # which refuses those that are not known
        if isinstance(op, Collective) and op.axis not in axes:
            raise op.unbound(f" (at {operation.location})")
    for result in operation.results:
        problem = mlir.type_problem(result.type)
        if problem is not None:
            raise UnsupportedOp(f"{operation.name} at {operation.location}: {problem}")


def _check_calls(functions: dict[str, Operation]) -> None:
    """Remove, repeatedly, functions that call none of the remaining ones; those left are
    recursive.
    """
    calls = {name: {mlir.callee(c) for c in mlir.calls(f)} for name, f in functions.items()}
    while leaves := [name for name, callees in calls.items() if not callees & calls.keys()]:
        for name in leaves:
            del calls[name]
    if calls:
        name = next(iter(calls))
        raise recursion(name, functions[name])
