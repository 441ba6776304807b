"""Sizes with the constraints on their variables as one text, as types of the IR have them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from irax_compiler.sizes.parsing import parse_shape
from irax_compiler.sizes.scopes import SymbolicScope


@lru_cache(maxsize=65536)
def parse_encoded(text: str) -> tuple[Any, ...]:
    """The sizes that `encoded` wrote."""
    sizes, _, constraints = text.partition(" where ")
    scope = _scope(tuple(filter(None, constraints.split(" and "))))
    return parse_shape(sizes, scope, None)


@lru_cache(maxsize=1024)
def _scope(constraints: tuple[str, ...]) -> SymbolicScope:
    return SymbolicScope(constraints)


def encoded(sizes: tuple[Any, ...]) -> str:
    """Sizes as text, with the constraints on their variables."""
    text = ", ".join(map(str, sizes))
    scopes = [s.scope for s in sizes if not isinstance(s, int)]
    if scopes and scopes[0].constraints:
        text += " where " + " and ".join(scopes[0].constraints)
    return text
