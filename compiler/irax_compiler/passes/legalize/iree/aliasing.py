"""Legalizations of operations that update memory in place that has other users, such as the
caller's arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, bytes_of
from irax_compiler.ops.barrier import barrier
from irax_compiler.ops.core import Memory
from irax_compiler.ops.registry import all_traits, traits_of
from irax_compiler.passes.copies import copy
from irax_compiler.passes.core import reached
from irax_compiler.passes.host.donated import is_donated
from irax_compiler.passes.legalize.legalization import legalizes

_USERS = 64
"""The number of users of a value to look at before it is taken to be shared."""

_DEPTH = 8
"""The operations that are compared, one after the other, to tell whether values are the same."""

UPDATES = tuple(sorted(name for name, traits in all_traits().items() if traits.updates))
"""Operations that IREE runs in place. They overwrite their first operands, one per result."""


@legalizes(*UPDATES, kind="bug", of="IREE")
def update_of_argument(operation: Operation) -> Sequence[Value] | None:
    """Copy an argument before it is updated. IREE would update its memory in place, which changes
    the caller's array (and results that are the same argument). A donated argument may change.
    """
    return _with_copies(
        operation,
        lambda x: _may_be_argument(x) and not (is_donated(x) and _is_of_block(x, operation)),
    )


def _is_of_block(x: Value, operation: Operation) -> bool:
    """True if an argument is one of the block that an operation is in: no loop is between them."""
    argument: Any = x
    return argument.owner == operation.block


@legalizes(*UPDATES, kind="bug", of="IREE")
def update_of_shared(operation: Operation) -> Sequence[Value] | None:
    """Copy a value with other users before it is updated. IREE would run the update before the
    others have read the value, or update the result of another update.
    """
    return _with_copies(operation, lambda x: _is_shared(x, operation))


def _with_copies(
    operation: Operation, needs_copy: Callable[[Value], bool]
) -> Sequence[Value] | None:
    """Build the update with copies of the operands that need them; return None if none does."""
    written = [i for i in range(len(operation.results)) if needs_copy(operation.operands[i])]
    if not written:
        return None
    with_copies = operation.clone()
    with mlir.InsertionPoint(with_copies):
        for i in written:
            with_copies.operands[i] = copy(operation.operands[i], i)
    return list(with_copies.results)


def _is_shared(x: Value, update: Operation) -> bool:
    """True if a value has users besides the update and operations that only the update uses."""
    source = mlir.definition(x)
    if source is not None and source.name == "stablehlo.constant":
        return False  # each use has its own
    if source is not None and source.block != update.block:
        return True  # a loop reads it again in its next step
    owners = mlir.users(x)
    if sum(_is_the_same(x, y) for y in update.operands) > 1:
        return True
    others = reached([_without_views(x)], _in_same_memory) - {x}
    if any(update in mlir.users(y) for y in others):
        return True  # what is written over the value is read where it is
    users = set(owners) - {update}
    for _ in range(_USERS):
        if not users:
            return False
        further = {user for x in users.pop().results for user in mlir.users(x)}
        if not further:
            return True
        users |= further - {update}
    return True


def _is_the_same(x: Value, y: Value, depth: int = _DEPTH) -> bool:
    """True if two values are computed alike where barriers and shapes are left out, so that IREE
    may compute them once.
    """
    x, y = _without_views(x), _without_views(y)
    if x == y or depth == 0 or x.type != y.type:
        return x == y
    first, second = mlir.definition(x), mlir.definition(y)
    if first is None or second is None or first.name != second.name or first.regions:
        return False
    pairs = zip(first.operands, second.operands, strict=False)
    is_alike = len(first.operands) == len(second.operands) and len(first.results) == 1
    return (
        is_alike
        and _attributes(first) == _attributes(second)
        and all(_is_the_same(a, b, depth - 1) for a, b in pairs)
    )


def _attributes(operation: Operation) -> dict[str, Any]:
    return {name: operation.attributes[name] for name in operation.attributes}


def _without_views(x: Value) -> Value:
    """Return the array that a value is in another shape, or behind barriers."""
    while (source := mlir.definition(x)) is not None:
        if source.name == barrier.name:
            results: list[Value] = list(source.results)
            x = source.operands[results.index(x)]
        elif traits_of(source).is_view:
            x = source.operands[0]
        else:
            break
    return x


def _in_same_memory(x: Value) -> list[Value]:
    """Return the results of operations on a value that may be in its memory, though it has other
    users.
    """
    return [
        result
        for user in mlir.users(x)
        if traits_of(user).is_view or traits_of(user).memory in (Memory.PART, Memory.ANY)
        for result in user.results
    ]


def _may_be_argument(value: Value) -> bool:
    """True if a value may share an argument's memory.

    Any operation may turn out to do nothing, for its operands or after other rewrites: x * 1,
    -(-x), a sum over a dimension of size 1.
    """
    seen: set[Value] = set()
    pending = [value]
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        operation = mlir.definition(value)
        if operation is None:
            if mlir.owner_name(value) == "func.func":
                return True
            continue  # what a loop of several steps carries, IREE copies
        memory = traits_of(operation).memory
        if memory is Memory.ANY:
            return True
        if memory is Memory.FRESH:  # or that of what was copied
            continue
        operands = [x for x in operation.operands if isinstance(x.type, mlir.RankedTensorType)]
        if operation.name == "stablehlo.dynamic_update_slice":
            operands = operands[1:]  # the first is not, or was copied
        is_part = memory is Memory.PART
        pending += [x for x in operands if is_part or bytes_of(x) == bytes_of(value)]
    return False
