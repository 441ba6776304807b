"""Refuses what irax cannot run, by name, before a target stumbles over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Module, Operation
from irax_compiler.ops.callback import is_callback
from irax_compiler.ops.collective import Collective
from irax_compiler.ops.core import UnsupportedOp, read, registered_names, unknown
from irax_compiler.ops.foreign import ForeignCall
from irax_compiler.passes.core import Pass, check_function, nested, recursion, register_pass
from irax_compiler.passes.host import is_host_call

WITH_CALLBACKS = ("", "iree-cpu")
"""The targets whose programs can call Python functions; "" for none in particular."""

_RETURNS = {"func.return", "stablehlo.return"}
_AROUND_CALLBACKS = {"func.func", "stablehlo.case", "stablehlo.if", "stablehlo.while"}

_IREE = ("int2", "uint2", "int4", "uint4", "float8_e4m3b11fnuz")
NO_ARRAYS_OF = {f"iree-{kind}": _IREE for kind in ("cpu", "vulkan", "cuda", "hip", "metal")}
"""The dtypes that are good inside a target's programs, but not as their arguments and results."""

_OF_THE_EVALUATOR = (
    *("float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"),
    *("float8_e3m4", "float8_e4m3", "float8_e8m0fnu"),
)
_INSTEAD = {"float64": "float32", "complex128": "complex64"}
NO_NUMBERS_OF = {
    **dict.fromkeys((*NO_ARRAYS_OF, "pjrt", "tpu"), _OF_THE_EVALUATOR),
    **dict.fromkeys(("iree-vulkan", "iree-metal"), (*_OF_THE_EVALUATOR, *_INSTEAD)),
}
"""The dtypes that a target cannot compute with: Vulkan has no functions of float64, and many of its
devices no float64 at all; Metal has none. Some narrow floats are the evaluator's alone."""


@register_pass
@dataclass
class Check(Pass):
    """Changes nothing. Raises UnsupportedOp for operations that irax does not know, arrays whose
    shape or dtype it or `target` cannot have, functions without a body, of several blocks, or
    recursive, and public functions of dtypes of which `target` has no arrays.

    IREE would answer some of these with a crash, an endless loop, or other numbers.
    """

    name: ClassVar[str] = "check"
    target: str = ""

    def run(self, module: Module) -> None:
        known = {*registered_names(), *_RETURNS}
        functions = mlir.functions(module)
        for name, function in functions.items():
            check_function(name, function)
            if mlir.is_public(function):
                self._check_boundary(name, function)
            for operation in nested(function):
                _check_operation(operation, known)
                self._check_numbers(operation)
                if is_callback(operation):
                    self._check_callback(operation)
        _check_calls(functions)

    def _check_boundary(self, name: str, function: Operation) -> None:
        arguments = [x.type for x in mlir.arguments(function)]
        for kind, types in (("argument", arguments), ("result", mlir.result_types(function))):
            for i, type_ in enumerate(types):
                dtype = mlir.dtype_of_type(type_).name
                if dtype in NO_ARRAYS_OF.get(self.target, ()):
                    raise UnsupportedOp(
                        f"{kind} {i} of {name} is {type_}: {self.target} has no arrays of "
                        f"{dtype}; convert to and from it inside the function"
                    )

    def _check_numbers(self, operation: Operation) -> None:
        for value in [*operation.operands, *operation.results]:
            dtype = mlir.dtype_of(value).name
            if dtype in NO_NUMBERS_OF.get(self.target, ()):
                other, device = _INSTEAD.get(dtype, "float32"), "cpu"
                if dtype in _OF_THE_EVALUATOR:
                    device = "reference"
                raise UnsupportedOp(
                    f"{operation.name} at {operation.location} has a value of type {value.type}: "
                    f"{self.target} does not compute with {dtype}; use {other}, or the device "
                    f"{device!r}"
                )

    def _check_callback(self, operation: Operation) -> None:
        if self.target not in WITH_CALLBACKS:
            raise UnsupportedOp(
                f"a callback at {operation.location}: programs of the target {self.target} call "
                f"no Python functions; expected the target {WITH_CALLBACKS[-1]}"
            )
        around: Any = operation.parent
        if around.name not in _AROUND_CALLBACKS:
            raise UnsupportedOp(
                f"a callback at {operation.location} inside of {around.name}: not supported; "
                "expected it in a function, a loop or a branch"
            )
        for value in [*operation.operands, *operation.results]:
            dtype = mlir.dtype_of(value).name
            if dtype in NO_ARRAYS_OF.get(self.target, ()):
                raise UnsupportedOp(
                    f"a callback at {operation.location} takes or returns {value.type}: "
                    f"{self.target} has no arrays of {dtype}; convert to and from it outside"
                )


def _check_operation(operation: Operation, known: set[str]) -> None:
    if operation.name not in known:
        raise unknown(operation)
    if operation.name == ForeignCall.name and not is_host_call(operation):
        op = read(operation)  # which refuses those that are not known
        if isinstance(op, Collective):
            raise op.unbound(f" (at {operation.location})")
    for result in operation.results:
        problem = mlir.type_problem(result.type)
        if problem is not None:
            raise UnsupportedOp(f"{operation.name} at {operation.location}: {problem}")


def _check_calls(functions: dict[str, Operation]) -> None:
    """Takes away functions that call none of those left; what remains calls itself."""
    calls = {name: {mlir.callee(c) for c in mlir.calls(f)} for name, f in functions.items()}
    while leaves := [name for name, callees in calls.items() if not callees & calls.keys()]:
        for name in leaves:
            del calls[name]
    if calls:
        name = next(iter(calls))
        raise recursion(name, functions[name])
