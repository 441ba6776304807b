"""Attributes: how they are built, parsed and printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from irax_compiler.mlir.bindings import CONTEXT, Attribute, Type, ir


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
