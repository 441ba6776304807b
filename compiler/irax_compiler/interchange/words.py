"""The words of modules: text and bytecode without the elements of constants, which may be long."""

from __future__ import annotations

from irax_compiler.interchange import bytecode_format

_ELEMENTS = '"0x'
"""The beginning of elements in text, up to the next quotation mark."""


def told(module: str | bytes) -> str:
    """Return the text of a module without the elements of large constants; of bytecode, its
    strings, which have the names of dialects, operations and attributes.

    >>> told('%0 = stablehlo.constant dense<"0x0000803F00000040"> : tensor<2xf32>')
    '%0 = stablehlo.constant dense<"0x"> : tensor<2xf32>'
    """
    if isinstance(module, bytes):
        return bytecode_format.strings(module).decode(errors="replace")
    kept: list[str] = []
    place = 0
    while (start := module.find(_ELEMENTS, place)) >= 0:
        kept.append(module[place : start + len(_ELEMENTS)])
        place = module.find('"', start + 1)
        if place < 0:  # it is cut short, which the parser tells
            place = len(module)
    return "".join([*kept, module[place:]]) if kept else module
