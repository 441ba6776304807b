"""The differences of two modules, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from irax_compiler import mlir
from irax_compiler.locations import frames
from irax_compiler.mlir import Module, Operation, Value
from irax_tools.diff.matching import Matched, Node, Side, match, match_functions

_LONGEST = 160


@dataclass(frozen=True)
class Written:
    """A module, and the file that it was read from."""

    path: str
    module: Module
    text: str = ""
    """Its text, where it has one."""

    def line(self, operation: Operation) -> str:
        """`in.mlir:3: %0 = stablehlo.sine %x : tensor<4xf32>`: where an operation is, and its line
        there, or as MLIR prints it.
        """
        known = frames(operation.location)
        number = known[0].line if known and known[0].file == self.path else 0
        lines = self.text.splitlines()
        if 0 < number <= len(lines):
            return f"{self.path}:{number}: {_short(lines[number - 1].strip())}"
        place = f" ({known[0].place()})" if known else ""
        printed = str(operation).strip().splitlines()[0]
        return f"{self.path}{place}: {_short(printed)}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def differences(old: Written, new: Written) -> Iterator[str]:
    """Lines that say what was removed (-), added (+) and changed (~), function by function; none
    where the modules say the same.
    """
    matched = match_functions(old.module, new.module)
    before, after = mlir.functions(old.module), mlir.functions(new.module)
    sides = Side(), Side({b: a for a, b in matched.items()})
    for name, function in before.items():
        if name not in matched:
            yield f"- @{name}: {old.line(function)}"
            continue
        partner = after[matched[name]]
        if name != matched[name]:
            yield f"~ @{name} is @{matched[name]}: {new.line(partner)}"
        lines = [*_of_function(function, partner, sides, old, new)]
        if lines:
            yield f"@{name}:"
            yield from (f"  {line}" for line in lines)
    for name, function in after.items():
        if name not in matched.values():
            yield f"+ @{name}: {new.line(function)}"
    yield from _others(old, new)


def _of_function(
    old: Operation, new: Operation, sides: tuple[Side, Side], one: Written, other: Written
) -> Iterator[str]:
    for name in ("function_type", "sym_visibility", "arg_attrs", "res_attrs"):
        yield from _changed(name, _attribute(old, name), _attribute(new, name))
    blocks = [
        [side.nodes(block, "") for block in function.regions[0].blocks]
        for side, function in zip(sides, (old, new), strict=True)
    ]
    arguments = [
        [x for block in function.regions[0].blocks for x in block.arguments]
        for function in (old, new)
    ]
    flat = [[node for nodes in side for node in nodes] for side in blocks]
    found = match(*flat)
    partners = _partners(found) | dict(zip(*arguments, strict=False))
    changes = [(a, b, [*_of_pair(a, b, partners, sides)]) for a, b in found.pairs]
    for a, b, said in changes:
        if said:
            yield f"~ {one.line(a.operation)}"
            yield f"  {other.line(b.operation)}"
            yield from (f"    {line}" for line in said)
    yield from (f"- {one.line(node.operation)}" for node in found.removed)
    yield from (f"+ {other.line(node.operation)}" for node in found.added)


def _attribute(operation: Operation, name: str) -> str:
    return str(operation.attributes[name]) if name in operation.attributes else ""


def _partners(found: Matched) -> dict[Value, Value]:
    """The values of the new module that stand in the place of those of the old one."""
    partners: dict[Value, Value] = {}
    for old, new in found.pairs:
        partners.update(zip(old.results, new.results, strict=False))
        for before, after in zip(old.arguments, new.arguments, strict=False):
            partners.update(zip(before, after, strict=False))
    return partners


def _of_pair(
    old: Node, new: Node, partners: dict[Value, Value], sides: tuple[Side, Side]
) -> Iterator[str]:
    """Tell how operations that correspond differ; not that what they read differs in itself."""
    if old.meaning == new.meaning:
        return
    for name in sorted({*old.attributes, *new.attributes}):
        yield from _changed(name, old.attributes.get(name, ""), new.attributes.get(name, ""))
    if old.types != new.types:
        yield from _changed("types", ", ".join(old.types), ", ".join(new.types))
    if len(old.operands) != len(new.operands):
        yield f"operands: {len(old.operands)} -> {len(new.operands)}"
        return
    for i, (a, b) in enumerate(zip(old.operands, new.operands, strict=True)):
        is_partner = a in partners and partners[a] == b
        if not (is_partner or sides[0].meanings[a] == sides[1].meanings[b]):
            yield f"operand {i}: {_named(a)} -> {_named(b)}"


def _changed(name: str, old: str, new: str) -> Iterator[str]:
    if old != new:
        yield f"{name}: {_short(old) or 'none'} -> {_short(new) or 'none'}"


def _named(value: Value) -> str:
    """The operation that a value is the result of, or its place among a block's arguments."""
    definition = mlir.definition(value)
    if definition is not None:
        place = frames(definition.location)
        return f"{definition.name}{f' of line {place[0].line}' if place else ''}"
    block: Any = value.owner
    number = list(block.arguments).index(value)
    return f"argument {number} of {mlir.owner_name(value)}"


def _others(old: Written, new: Written) -> Iterator[str]:
    """Tell the differences beside functions: attributes of the module, globals, meshes."""
    before, after = (
        {
            str(view.operation): view.operation
            for view in written.module.body.operations
            if view.operation.name != "func.func"
        }
        for written in (old, new)
    )
    yield from (f"- {old.line(o)}" for text, o in before.items() if text not in after)
    yield from (f"+ {new.line(o)}" for text, o in after.items() if text not in before)
    names = sorted({*old.module.operation.attributes, *new.module.operation.attributes})
    for name in names:
        yield from _changed(
            f"~ module {name}",
            _attribute(old.module.operation, name),
            _attribute(new.module.operation, name),
        )
