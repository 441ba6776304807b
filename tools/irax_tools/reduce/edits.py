"""Changes that make a module smaller. Each rewrites a copy, which may not verify afterwards: the
search finds out. Operations are numbered as `operations` lists them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from irax_compiler import api, mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.ops import core

Edit = Callable[[Module], Module | None]
"""A smaller module from a copy, which may be the copy; None where there is nothing to do."""

FEWER_WORDS = (
    "symbol-dce",
    "inline,symbol-dce",
    "decompose,inline,symbol-dce",
    "simplify",
    "prune",
    "constant-folding",
    "canonicalize",
    "cse",
)
"""Pipelines that may make a module smaller, and leave what it means."""

_ENDS = ("func.return", "stablehlo.return")
_ARRAYS_OF_PLACES = re.compile(r"array<i64: ([\d, ]+)>")
_TENSOR = re.compile(r"tensor<((?:\d+x)+)")


def operations(module: Module) -> list[Operation]:
    """The operations that may be taken away, each after those inside it."""
    return [o for o in api.nested(module.operation) if o.name not in (*_ENDS, "func.func")]


# ---- fewer operations ----------------------------------------------------------------------------


def passes(text: str) -> Edit:
    """Runs a pipeline."""

    def edit(module: Module) -> Module | None:
        try:
            api.run_pipeline(module, text)
        except Exception:  # a pass that does not apply, or fails for what it was never made for
            return None
        return module

    return edit


def without(func: str, numbers: Collection[int], kinds: str) -> Edit:
    """Takes operations away. A result is replaced by the first of what `kinds` names that there is:
    an *operand* of its type, an *argument* of the block or a new one of the function `func`, or a
    constant *zero*.
    """

    def edit(module: Module) -> Module | None:
        entry = mlir.functions(module)[func]
        there: list[Any] = [*operations(module)]
        for number in sorted(numbers):
            operation = there[number]
            values = [_instead(x, operation, entry, kinds) for x in operation.results]
            if any(value is None for value in values):
                return None
            for result, value in zip(operation.results, values, strict=True):
                result.replace_all_uses_with(value)
            # Handles of what is erased with it must not be found again for new operations.
            inside = sum(o.name not in _ENDS for o in api.nested(operation))
            del values
            there[number - inside : number + 1] = [None] * (inside + 1)
            operation.erase()
        return _tidied(module, func)

    return edit


def _instead(result: Value, operation: Operation, entry: Operation, kinds: str) -> Value | None:
    """A value for the place of a result; None where there is none."""
    block = operation.block
    if "operand" in kinds:
        found = next((x for x in operation.operands if x.type == result.type), None)
        if found is not None:
            return found
    if "argument" in kinds:
        found = next((x for x in block.arguments if x.type == result.type), None)
        if block != mlir.body(entry):
            if found is not None:
                return found
        elif not mlir.type_problem(result.type):
            return block.add_argument(result.type, operation.location)
    if mlir.type_problem(result.type):
        return None
    with InsertionPoint(operation), operation.location:
        return core.zeros_like(result)


def returning(func: str, number: int) -> Edit:
    """Ends a function after one of its operations, whose results it returns."""

    def edit(module: Module) -> Module | None:
        function = mlir.functions(module)[func]
        there = [o.operation for o in mlir.body(function).operations]
        if number + 2 >= len(there):
            return None
        for operation in reversed(there[number + 1 :]):
            operation.erase()
        with InsertionPoint(mlir.body(function)), function.location:
            mlir.emit("func.return", list(there[number].results), results=[])
        return _tidied(module, func)

    return edit


def returning_only(func: str, kept: Collection[int]) -> Edit:
    """Keeps some of a function's results."""

    def edit(module: Module) -> Module | None:
        function = mlir.functions(module)[func]
        end = mlir.terminator(mlir.body(function))
        values = [x for i, x in enumerate(end.operands) if i in kept]
        end.erase()
        with InsertionPoint(mlir.body(function)), function.location:
            mlir.emit("func.return", values, results=[])
        return _tidied(module, func)

    return edit


def without_unused_arguments(func: str) -> Edit:
    """Takes a function's arguments away that nothing reads."""

    def edit(module: Module) -> Module | None:
        block: Any = mlir.body(mlir.functions(module)[func])
        for i in reversed(range(len(block.arguments))):
            if not mlir.num_uses(block.arguments[i]):
                block.erase_argument(i)
        return _tidied(module, func)

    return edit


def unwrapped(func: str, number: int, region: int, returns: bool) -> Edit:
    """Replaces an operation by one run of one of its regions, such as a loop's body. If it
    `returns`, the function returns what the region does last; or else the region's results take the
    place of the operation's.
    """

    def edit(module: Module) -> Module | None:
        operation = operations(module)[number]
        block = _block_inside(operation, region)
        inputs, results = list(operation.operands), list(operation.results)
        arguments = [] if block is None else list(block.arguments)
        if block is None or (arguments and _types(arguments) != _types(inputs)):
            return None
        end = mlir.terminator(block)
        env = dict(zip(arguments, inputs, strict=bool(arguments)))
        inner = [view.operation for view in block.operations][:-1]
        used = {x for o in (*inner, end) for x in (*o.operands, *mlir.captured(o))}
        env |= {x: x for x in used if x not in env}
        with InsertionPoint(operation):
            mlir.clone_all(inner, env)
        values = [env[x] for x in end.operands]
        if returns:
            last = next((o for o in reversed(inner) if len(o.results)), None)
            function = mlir.functions(module)[func]
            if last is None or operation.block != mlir.body(function):
                return None
            for other in reversed([o.operation for o in mlir.body(function).operations]):
                if other == operation:
                    break
                other.erase()
            with InsertionPoint(mlir.body(function)), function.location:
                mlir.emit("func.return", [env[x] for x in last.results], results=[])
        elif _types(values) == _types(results):
            for result, value in zip(results, values, strict=True):
                result.replace_all_uses_with(value)
        else:
            return None
        operation.erase()
        return _tidied(module, func)

    return edit


def _block_inside(operation: Operation, region: int) -> Any:
    """The block of a region; None where there is no such region."""
    is_there = region < len(operation.regions) and len(operation.regions[region].blocks)
    return operation.regions[region].blocks[0] if is_there else None


def _types(values: Sequence[Value]) -> list[mlir.Type]:
    return [x.type for x in values]


def without_attributes(func: str) -> Edit:
    """Takes away what other tools note about a function, its arguments and its results."""

    def edit(module: Module) -> Module | None:
        for operation in (module.operation, mlir.functions(module)[func]):
            for name in list(operation.attributes):
                if name not in ("sym_name", "function_type", "sym_visibility"):
                    del operation.attributes[name]
        return module

    return edit


def _tidied(module: Module, func: str) -> Module:
    function = mlir.functions(module)[func]
    with suppress(KeyError):
        del function.attributes["arg_attrs"]
    with suppress(KeyError):
        del function.attributes["res_attrs"]
    for other in mlir.functions(module).values():
        for block in other.regions[0].blocks:
            api.remove_dead_operations(block)
    mlir.set_function_type(function)
    return module


# ---- simpler constants ---------------------------------------------------------------------------


def simpler_constants(module: Module) -> Iterator[tuple[int, np.ndarray[Any, Any]]]:
    """The numbers of constants, with simpler contents for each, the simplest first."""
    for number, operation in enumerate(operations(module)):
        if operation.name == "stablehlo.constant":
            for contents in _simpler(operation):
                yield number, contents


def _simpler(constant: Operation) -> Iterator[np.ndarray[Any, Any]]:
    shape, dtype = mlir.shape_of(constant.results[0]), mlir.dtype_of(constant.results[0])
    element = mlir.splat(constant.results[0])
    candidates: list[Any] = [0, 1]
    if element is None:
        first = mlir.dense_to_numpy(constant).reshape(-1)[:1]
        candidates += list(first)
    elif dtype.kind in "iu":
        candidates += [int(element) // 2, int(element) - 1]
    for value in candidates:
        yield np.broadcast_to(np.asarray(value).astype(dtype), shape)


def with_constant(number: int, contents: np.ndarray[Any, Any]) -> Edit:
    """Gives a constant other contents."""

    def edit(module: Module) -> Module | None:
        operations(module)[number].attributes["value"] = mlir.dense(contents)
        return module

    return edit


def complexity(constant: Operation) -> int:
    """The digits that it takes to write a constant, about; 0 where all its elements are 0 or 1."""
    element = mlir.splat(constant.results[0])
    if element is None:
        return 16 * int(np.prod(mlir.shape_of(constant.results[0]), dtype=np.int64))
    return 0 if element in (0, 1) else len(str(element[()]))


# ---- smaller shapes ------------------------------------------------------------------------------


def sizes(text: str) -> list[int]:
    """The sizes of dimensions in a module's text, the largest first."""
    found = {int(size) for dims in _TENSOR.findall(text) for size in dims.split("x") if size}
    return sorted((size for size in found if size > 1), reverse=True)


def with_size(old: int, new: int, in_attributes: bool) -> Edit:
    """Gives all dimensions of one size another; and numbers such as the limits of slices too."""

    def edit(module: Module) -> Module | None:
        text = _TENSOR.sub(
            lambda m: f"tensor<{_replaced(m[1], 'x', old, new)}", mlir.generic_text(module)
        )
        if in_attributes:
            text = _ARRAYS_OF_PLACES.sub(
                lambda m: f"array<i64: {_replaced(m[1], ', ', old, new)}>", text
            )
        try:
            return mlir.parse_module(text)
        except ValueError:
            return None

    return edit


def _replaced(numbers: str, separator: str, old: int, new: int) -> str:
    return separator.join(str(new) if n == str(old) else n for n in numbers.split(separator))


def elements(module: Module) -> int:
    """The number of elements of all results and arguments."""
    blocks: Sequence[Any] = [
        b for f in mlir.functions(module).values() for b in f.regions[0].blocks
    ]
    values = [x for block in blocks for x in block.arguments]
    values += [x for o in operations(module) for x in o.results]
    known = [x for x in values if not mlir.type_problem(x.type)]
    return sum(int(np.prod(mlir.shape_of(x), dtype=np.int64)) for x in known)
