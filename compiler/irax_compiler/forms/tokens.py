"""The rewrite of tokens, which order operations with side effects, to arrays without elements. Only
loops and branches have them as arguments and results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.ops.core import full

TOKEN = mlir.parse_type("!stablehlo.token")
_ARRAY = mlir.tensor_type((0,), np.dtype(np.bool_))

_MADE = ("stablehlo.after_all", "stablehlo.create_token")
_HANDED_ON = (
    *("func.func", "func.call", "func.return", "stablehlo.case", "stablehlo.custom_call"),
    *("stablehlo.if", "stablehlo.optimization_barrier", "stablehlo.return", "stablehlo.while"),
)


def without_tokens(module: Module) -> None:
    """Rewrite a module that only creates and passes tokens. Others (infeed, send) are left, to be
    refused when they are run.
    """
    functions = mlir.functions(module)
    operations = [o for function in functions.values() for o in mlir.operations_in(function)]
    with_tokens = [o for o in operations if any(v.type == TOKEN for v in _values(o))]
    if not with_tokens or any(o.name not in (*_MADE, *_HANDED_ON) for o in with_tokens):
        return
    taken = {name: _tokens(mlir.body(f).arguments) for name, f in functions.items() if _has_body(f)}
    given = {name: _tokens(_returned(functions[name])) for name in taken}
    if any(mlir.callee(o) not in taken for o in with_tokens if o.name == "func.call"):
        return
    for value in [v for o in with_tokens for v in _values(o)]:
        if value.type == TOKEN:
            value.set_type(_ARRAY)
    for operation in with_tokens:
        if operation.name in _MADE:
            with InsertionPoint(operation), operation.location:
                mlir.replace(operation, [_no_elements()])
        elif operation.name == "func.call":
            _call_without(operation, taken, given)
    for name in taken:
        _function_without(functions[name], taken[name], given[name])


def _values(operation: Operation) -> list[Value]:
    blocks = [block for region in operation.regions for block in region.blocks]
    arguments = [a for block in blocks for a in block.arguments]
    return [*operation.operands, *operation.results, *arguments]


def _has_body(function: Operation) -> bool:
    return len(function.regions[0].blocks) == 1


def _returned(function: Operation) -> Sequence[Value]:
    return mlir.terminator(mlir.body(function)).operands


def _tokens(values: Sequence[Value]) -> list[int]:
    return [i for i, value in enumerate(values) if value.type == TOKEN]


def _no_elements() -> Value:
    return full((0,), False, np.dtype(np.bool_))


def _call_without(
    call: Operation, taken: dict[str, list[int]], given: dict[str, list[int]]
) -> None:
    name = mlir.callee(call)
    operands = [x for i, x in enumerate(call.operands) if i not in taken[name]]
    kept = [r for i, r in enumerate(call.results) if i not in given[name]]
    with InsertionPoint(call), call.location:
        attributes = {a: call.attributes[a] for a in call.attributes}
        new = mlir.emit("func.call", operands, attributes, [r.type for r in kept])
        for i in given[name]:
            call.results[i].replace_all_uses_with(_no_elements())
    for old, value in zip(kept, new.results, strict=True):
        old.replace_all_uses_with(value)
    call.erase()


def _function_without(function: Operation, taken: list[int], given: list[int]) -> None:
    block = mlir.body(function)
    for i in reversed(taken):
        with InsertionPoint.at_block_begin(block), function.location:
            block.arguments[i].replace_all_uses_with(_no_elements())
        block.erase_argument(i)
    last = mlir.terminator(block)
    with InsertionPoint(last), last.location:
        results = [x for i, x in enumerate(last.operands) if i not in given]
        mlir.emit("func.return", results, {}, [])
    last.erase()
    for name, places in (("arg_attrs", taken), ("res_attrs", given)):
        if places and name in function.attributes:
            entries: Any = function.attributes[name]
            kept = [e for i, e in enumerate(entries) if i not in places]
            function.attributes[name] = mlir.array(kept)
    mlir.set_function_type(function)
