"""Calls of host functions, which leave work to libraries of the host.

    stablehlo.custom_call @irax_host.sort(%x) {backend_config = {dimension = 0 : i64}}

becomes a call of an imported function. The reflection attribute `irax.host` lists these functions,
so that the runtime provides them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Attribute, Module, Operation, Type, Value
from irax_compiler.passes.core import Pass, outside_kernels, register_pass
from irax_compiler.passes.host.annotate import add_reflection, signature

PREFIX = "irax_host."
"""The prefix of the target names of such custom calls, and of the imported functions."""


def host_call(
    name: str,
    operands: Sequence[Value],
    types: Sequence[Type],
    *,
    acts: bool = False,
    **parameters: int | str,
) -> tuple[Value, ...]:
    """Build a call of the host function `name`, one of `irax_runtime.host`; `acts` says that it has
    a side effect.
    """
    attributes = {
        "call_target_name": mlir.string(PREFIX + name),
        "api_version": mlir.parse_attribute("4 : i32"),
        "has_side_effect": mlir.parse_attribute("true" if acts else "false"),
        "backend_config": mlir.dictionary(
            {key: _attribute(value) for key, value in parameters.items()}
        ),
    }
    return tuple(mlir.emit("stablehlo.custom_call", operands, attributes, types).results)


def _attribute(value: int | str) -> Attribute:
    return mlir.string(value) if isinstance(value, str) else mlir.parse_attribute(f"{value} : i64")


@register_pass
class Host(Pass):
    """Replaces custom calls of host functions by calls of imported functions. Public functions get
    the reflection attribute `irax.host`, a list of the imports in JSON: name, parameters, types of
    arguments and results.
    """

    name: ClassVar[str] = "host"

    def run(self, module: Module) -> bool | None:
        calls = [o for o in outside_kernels(module) if is_host_call(o)]
        if not calls:
            return False
        imports = [_import(module, call, number) for number, call in enumerate(calls)]
        for function in mlir.functions(module).values():
            if mlir.is_public(function):
                add_reflection(function, {"irax.host": json.dumps(imports)})
        return True


def is_host_call(operation: Operation) -> bool:
    """True if an operation was built by `host_call`."""
    if operation.name != "stablehlo.custom_call":
        return False
    target: Any = operation.attributes["call_target_name"]
    return target.value.startswith(PREFIX)


def read_host_call(operation: Operation) -> tuple[str, dict[str, Any]]:
    """Return the name of the host function that an operation calls, and its parameters."""
    target: Any = operation.attributes["call_target_name"]
    config: Any = operation.attributes["backend_config"]
    return target.value.removeprefix(PREFIX), {item.name: item.attr.value for item in config}


def _import(module: Module, call: Operation, number: int) -> list[Any]:
    """Replace a custom call by a call of an imported function, and return a description of the
    import.
    """
    function, parameters = read_host_call(call)
    operands, results = list(call.operands), list(call.results)
    name = f"{PREFIX}f{number}"
    with mlir.InsertionPoint(call), call.location:
        mlir.declare_function(module, name, [x.type for x in operands], [r.type for r in results])
        callee = {"callee": mlir.symbol(name)}
        replacement = mlir.emit("func.call", operands, callee, [r.type for r in results])
    described = [signature(operands), signature(list(replacement.results))]
    mlir.replace(call, list(replacement.results))
    return [function, parameters, *described]
