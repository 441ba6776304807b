"""Functions and operations of two modules that correspond.

Operations correspond if they compute the same from the same, wherever they stand; then those of the
same kind, attributes and types, in order; then those of the same kind.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Block, Module, Operation, Value

_SYMBOL = re.compile(r'@("[^"]*"|[\w$.-]+)')


@dataclass(eq=False)
class Node:
    """An operation of a block, with what it says."""

    operation: Operation
    name: str
    attributes: dict[str, str]
    types: tuple[str, ...]
    """The types of operands, then of results."""
    operands: list[Value]
    results: list[Value]
    blocks: list[list[Node]]
    """The operations of the blocks in its regions."""
    arguments: list[list[Value]]
    """The arguments of these blocks."""
    meaning: bytes
    """A digest, the same for operations that compute the same from the same."""

    @property
    def form(self) -> Hashable:
        """The operation but for the values that it reads, and the operations inside it."""
        return self.name, tuple(sorted(self.attributes.items())), self.types, len(self.blocks)


@dataclass
class Side:
    """A module that is compared."""

    names: Mapping[str, str] = field(default_factory=dict)
    """New names of its functions: those of the functions that they correspond to."""
    meanings: dict[Value, bytes] = field(default_factory=dict)

    def nodes(self, block: Block, tag: str) -> list[Node]:
        """The operations of a block. `tag` tells its arguments from those of other blocks."""
        for i, argument in enumerate(block.arguments):
            self.meanings[argument] = _digest(tag, i, argument.type)
        return [self._node(view.operation, tag) for view in block.operations]

    def _node(self, operation: Operation, tag: str) -> Node:
        attributes = {name: self._text(operation, name) for name in operation.attributes}
        operands: list[Value] = list(operation.operands)
        results: list[Value] = list(operation.results)
        types = tuple(str(x.type) for x in (*operands, *results))
        inner = [block for region in operation.regions for block in region.blocks]
        blocks = [self.nodes(b, f"{tag}.{operation.name}.{i}") for i, b in enumerate(inner)]
        meaning = _digest(
            *(operation.name, sorted(attributes.items()), types),
            [self.meanings[x] for x in operands],
            [[node.meaning for node in nodes] for nodes in blocks],
        )
        for i, result in enumerate(results):
            self.meanings[result] = _digest(meaning, i)
        arguments: list[list[Value]] = [list(block.arguments) for block in inner]
        return Node(
            operation,
            operation.name,
            attributes,
            types,
            operands,
            results,
            blocks,
            arguments,
            meaning,
        )

    def _text(self, operation: Operation, name: str) -> str:
        text = str(operation.attributes[name])
        if "@" not in text:
            return text
        return _SYMBOL.sub(lambda m: f"@{self.names.get(m[1], m[1])}", text)


def _digest(*parts: Any) -> bytes:
    return hashlib.blake2b(repr([*map(_plain, parts)]).encode(), digest_size=16).digest()


def _plain(part: Any) -> Any:
    return part if isinstance(part, str | bytes | int | list | tuple) else str(part)


@dataclass
class Matched:
    """The nodes of two blocks that correspond, and those that do not."""

    pairs: list[tuple[Node, Node]] = field(default_factory=list)
    removed: list[Node] = field(default_factory=list)
    added: list[Node] = field(default_factory=list)


def match(old: Sequence[Node], new: Sequence[Node]) -> Matched:
    """Match the operations of two blocks, and of the blocks inside them."""
    found = Matched()
    rest = _equal(old, new, found)
    rest = _in_order(*rest, lambda node: node.form, found)
    rest = _in_order(*rest, lambda node: node.name, found)
    found.removed += rest[0]
    found.added += rest[1]
    return found


Key = Callable[[Node], Hashable]
Rest = tuple[list[Node], list[Node]]


def _equal(old: Sequence[Node], new: Sequence[Node], found: Matched) -> Rest:
    """Match nodes of equal meaning, wherever they stand; return the rest."""
    there: dict[bytes, list[Node]] = defaultdict(list)
    for node in reversed(new):
        there[node.meaning].append(node)
    rest, taken = [], set()
    for node in old:
        if there[node.meaning]:
            partner = there[node.meaning].pop()
            taken.add(id(partner))
            found.pairs.append((node, partner))
        else:
            rest.append(node)
    return rest, [node for node in new if id(node) not in taken]


def _in_order(old: list[Node], new: list[Node], key: Key, found: Matched) -> Rest:
    """Match nodes of equal keys that come in the same order; return the rest."""
    matcher = difflib.SequenceMatcher(None, [*map(key, old)], [*map(key, new)], autojunk=False)
    places = [
        (block.a + i, block.b + i)
        for block in matcher.get_matching_blocks()
        for i in range(block.size)
    ]
    for i, j in places:
        _pair(old[i], new[j], found)
    gone, come = {i for i, _ in places}, {j for _, j in places}
    return (
        [node for i, node in enumerate(old) if i not in gone],
        [node for j, node in enumerate(new) if j not in come],
    )


def _pair(old: Node, new: Node, found: Matched) -> None:
    """Match two nodes, and what is inside them."""
    found.pairs.append((old, new))
    for before, after in zip(old.blocks, new.blocks, strict=False):
        inside = match(before, after)
        found.pairs += inside.pairs
        found.removed += inside.removed
        found.added += inside.added
    for before in old.blocks[len(new.blocks) :]:
        found.removed += before
    for after in new.blocks[len(old.blocks) :]:
        found.added += after


def match_functions(old: Module, new: Module) -> dict[str, str]:
    """The functions of two modules that correspond, by name: those of one name, then those of which
    only the name differs.
    """
    before, after = mlir.functions(old), mlir.functions(new)
    matched = {name: name for name in before if name in after}
    left = {_shape(after[name]): name for name in reversed(after) if name not in matched}
    for name, function in before.items():
        if name not in matched and (partner := left.pop(_shape(function), None)) is not None:
            matched[name] = partner
    return matched


def _shape(function: Operation) -> Hashable:
    """A function but for its name and those of the functions that it calls."""
    return tuple(_forms(function))


def _forms(operation: Operation) -> Iterator[Hashable]:
    for region in operation.regions:
        for block in region.blocks:
            side = Side(_Nameless())
            for node in side.nodes(block, ""):
                yield node.meaning


class _Nameless(dict[str, str]):
    """Gives all functions one name."""

    def get(self, key: str, default: Any = None) -> Any:
        return ""
