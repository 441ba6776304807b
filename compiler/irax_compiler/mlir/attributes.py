"""Attributes: how they are built, parsed and printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from irax_compiler.mlir.bindings import CONTEXT, Attribute, Operation, Type, ir


@lru_cache(maxsize=65536)
def parse_attribute(text: str) -> Attribute:
    """An attribute from its text. Parsing costs tens of microseconds, so results are kept."""
    return ir.Attribute.parse(text, CONTEXT)


@lru_cache(maxsize=65536)
def attribute_text(attribute: Attribute) -> str:
    """The text of an attribute, kept: printing costs microseconds and passes ask again."""
    return str(attribute)


def array(attributes: Sequence[Attribute]) -> Attribute:
    """An array attribute."""
    return ir.ArrayAttr.get(list(attributes), CONTEXT)


def integers(values: Iterable[int], bits: int = 64) -> Attribute:
    """An array of integers, such as `array<i64: 1, 2>`."""
    text = ", ".join(map(str, values))
    return parse_attribute(f"array<i{bits}: {text}>" if text else f"array<i{bits}>")


def segment_sizes(*sizes: int) -> dict[str, Attribute]:
    """The attribute that says how many operands are in each of an operation's groups of them."""
    return {"operandSegmentSizes": integers(sizes, 32)}


def segments(operation: Operation) -> list[int]:
    """The numbers of operands in each of an operation's groups of them."""
    sizes: Any = operation.attributes["operandSegmentSizes"]
    return list(sizes)


def string(text: str) -> Attribute:
    """A string attribute."""
    return ir.StringAttr.get(text, CONTEXT)


def dictionary(entries: Mapping[str, Attribute]) -> Attribute:
    """A dictionary attribute."""
    return ir.DictAttr.get(dict(entries), CONTEXT)


def reflection(entries: Mapping[str, str]) -> Attribute:
    """IREE's reflection attribute: what the runtime can ask of a compiled function."""
    return dictionary({k: string(v) for k, v in entries.items()})


def symbol(name: str) -> Attribute:
    """A reference to a function of the same module: `@name`."""
    return ir.FlatSymbolRefAttr.get(name, CONTEXT)


def type_attribute(type_: Type) -> Attribute:
    """An attribute that holds a type."""
    return ir.TypeAttr.get(type_, CONTEXT)
