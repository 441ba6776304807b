"""Operations and values: building, copying and printing them, and where they are."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from irax_compiler.cells import place
from irax_compiler.mlir.bindings import (
    CONTEXT,
    UNKNOWN,
    Attribute,
    Block,
    Location,
    Operation,
    Type,
    Value,
    ir,
)


def emit(
    name: str,
    operands: Sequence[Value],
    attributes: dict[str, Attribute] | None = None,
    results: Sequence[Type] | None = None,
    regions: int = 0,
) -> Operation:
    """One operation at the current insertion point and location.

    Result types are inferred when `results` is None; not every operation can.
    """
    if results is None:
        return Operation.create(
            name, operands=operands, attributes=attributes, regions=regions, infer_type=True
        )
    return Operation.create(
        name, results=results, operands=operands, attributes=attributes, regions=regions
    )


def operations_in(operation: Operation, outermost_first: bool = False) -> list[Operation]:
    """An operation and those inside it, in order: each after those inside it, or before."""
    found: list[Operation] = []

    def visit(inner: Operation) -> ir.WalkResult:
        found.append(inner)
        return ir.WalkResult.ADVANCE

    order = ir.WalkOrder.PRE_ORDER if outermost_first else ir.WalkOrder.POST_ORDER
    try:
        operation.walk(visit, order)
    except RuntimeError as error:  # as which the bindings raise what comes up in `visit`
        if "KeyboardInterrupt" in str(error):
            raise KeyboardInterrupt from None
        raise
    return found


def named(name: str, location: Location) -> Location:
    """`location`, marked with the transformation that made an operation there."""
    return ir.Location.name(name, location, CONTEXT)


def current_location() -> Location:
    """The location that operations are made at."""
    location = ir.Location.current
    return UNKNOWN if location is None else location


def file_location(file: str, line: int, column: int = 0) -> Location:
    """The location of a line of the user's."""
    return ir.Location.file(file, line, column, CONTEXT)


def location_text(location: Location) -> str:
    """The place of a location made by `file_location`, `file:line`."""
    match = re.search(r'"(.*)":(\d+)', str(location))
    return place(match[1], int(match[2])) if match else "an unknown line"


def text_of(operation: Operation, locations: bool = False) -> str:
    """The MLIR text of an operation (a module's is that of `module.operation`), all of it."""
    text: Any = operation.get_asm(enable_debug_info=locations)
    return text


def comparable(operation: Operation, generic: bool = False) -> str:
    """The MLIR text of an operation for comparisons, without locations. `generic` has all
    attributes.

    Names of types and attributes are not collected from the whole module, and the operation is not
    verified, which is several times as fast as `text_of`.
    """
    text: Any = operation.get_asm(
        print_generic_op_form=generic, use_local_scope=True, assume_verified=True
    )
    return text


def terminator(block: Block) -> Operation:
    """The last operation of a block."""
    return block.operations[len(block.operations) - 1].operation


def is_argument(value: Value) -> bool:
    """True for an argument of a block, False for the result of an operation."""
    return isinstance(value, ir.BlockArgument)


def definition(value: Value) -> Operation | None:
    """The operation that a value is a result of; None for an argument of a block."""
    owner: Any = value.owner
    return None if is_argument(value) else owner.operation


def owner_name(argument: Value) -> str:
    """The name of the operation that a block argument's block is in: func.func, stablehlo.while."""
    block: Any = argument.owner
    return block.owner.operation.name


def users(value: Value) -> list[Operation]:
    """Return the operations that use a value, one for each use."""
    return [use.owner.operation for use in value.uses]


def num_uses(value: Value, most: int = 2) -> int:
    """Return the number of uses of a value, or `most` for more than that."""
    return sum(1 for _ in itertools.islice(value.uses, most))


def captured(operation: Operation) -> list[Value]:
    """The values from outside that are used in an operation's regions, in order, each once."""
    own: set[Value] = set()
    found: dict[Value, None] = {}

    def visit(regions: Any) -> None:
        for region in regions:
            for block in region:
                own.update(block.arguments)
                for view in block.operations:
                    inner = view.operation
                    found.update(dict.fromkeys(v for v in inner.operands if v not in own))
                    visit(inner.regions)
                    own.update(inner.results)

    visit(operation.regions)
    return list(found)


def reached_from(value: Value) -> set[Value]:
    """Return a value and all that it is computed from."""
    found: set[Value] = set()
    pending = [value]
    while pending:
        x = pending.pop()
        if x not in found:
            found.add(x)
            operation = definition(x)
            if operation is not None:
                pending += [*operation.operands, *captured(operation)]
    return found


def replace(operation: Operation, values: Iterable[Value]) -> None:
    """Replaces an operation's results by values, and erases it."""
    for result, value in zip(operation.results, values, strict=True):
        result.replace_all_uses_with(value)
    operation.erase()


def replace_elsewhere(x: Value, new: Value) -> None:
    """Replaces a value by another, but in the operation that computes this from it."""
    made = definition(new)
    assert made is not None
    x.replace_all_uses_except(new, made)


def clone(operation: Operation, env: Mapping[Value, Value]) -> list[Value]:
    """Copies an operation to the insertion point, with its operands as `env` has them; values
    that its regions capture from outside are replaced too.
    """
    copy = operation.clone()
    for i, operand in enumerate(operation.operands):
        copy.operands[i] = env[operand]
    for region in copy.regions:
        for block in region:
            _replace_captured(block, env)
    return list(copy.results)


def clone_on(operation: Operation, values: Sequence[Value]) -> list[Value]:
    """Copies an operation to the insertion point, with other operands, and after these other values
    in the place of those that its regions capture. They go by their places: two operands, or one
    and a captured value, may be the same value now, and need not be then.
    """
    count = len(operation.operands)
    env = dict(zip(captured(operation), values[count:], strict=True))
    copy = operation.clone()
    for i, value in enumerate(values[:count]):
        copy.operands[i] = value
    for region in copy.regions:
        for block in region:
            _replace_captured(block, env)
    return list(copy.results)


def clone_all(operations: Iterable[Operation], env: dict[Value, Value]) -> None:
    """Copies operations to the insertion point, in order; `env` then has their results."""
    for operation in operations:
        env.update(zip(operation.results, clone(operation, env), strict=True))


def copy(operation: Operation, env: dict[Value, Value]) -> list[Value]:
    """Copies an operation to the insertion point, and returns the results; it uses what `env` has
    for a value, or the same value. `env` then has its results.
    """
    used = (*operation.operands, *captured(operation))
    copies = clone(operation, {x: env.get(x, x) for x in used})
    env.update(zip(operation.results, copies, strict=True))
    return copies


def copy_block(block: Block, env: Mapping[Value, Value]) -> list[Value]:
    """Copies the operations of a block but its terminator to the insertion point, and returns what
    stands for the terminator's operands; `env` has what stands for arguments and captured values,
    as `copy` takes it.
    """
    known = dict(env)
    *operations, last = (view.operation for view in block.operations)
    for operation in operations:
        copy(operation, known)
    return [known.get(x, x) for x in last.operands]


def _replace_captured(block: Block, env: Mapping[Value, Value]) -> None:
    for inner in block.operations:
        operation = inner.operation
        for i, operand in enumerate(operation.operands):
            if operand in env:
                operation.operands[i] = env[operand]
        for region in operation.regions:
            for nested in region:
                _replace_captured(nested, env)
