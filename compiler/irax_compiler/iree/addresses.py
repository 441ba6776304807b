"""Symbols of functions of this process, which are known by their addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable

_OPTION = "--defsym="
_SYMBOL = re.compile(rb"irax_at_([0-9a-f]+)")


def definitions(module: bytes) -> list[str]:
    """Return the linker's options for the symbols in a module, text or bytecode: `irax_at_7f00` is
    the function at 0x7f00.
    """
    found = sorted({match[1].decode() for match in _SYMBOL.finditer(module)})
    return [f"{_OPTION}irax_at_{address}=0x{address}" for address in found]


def of(options: Iterable[str]) -> dict[str, int]:
    """Return the addresses of the symbols that such options define."""
    defined = [x.removeprefix(_OPTION).partition("=") for x in options if x.startswith(_OPTION)]
    return {name: int(address, 16) for name, _, address in defined}
