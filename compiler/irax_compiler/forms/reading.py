"""Reading of foreign modules: conversion to the StableHLO that all passes work on."""

from __future__ import annotations

import difflib
import re

from irax_compiler import containers, forms, mlir
from irax_compiler.forms import (
    bounded_sizes,
    platforms,
    portable,
    sizes_by_value,
    static_sizes,
    unknown_sizes,
)
from irax_compiler.interchange import words
from irax_compiler.interchange.jax_exports import Export
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.registry import registered_names

_UNKNOWN = re.compile(r"custom op '([\w.]+)' is unknown")


def read_data(data: bytes, name: str = "", by_value: bool = False) -> mlir.Module:
    """Read the module in a file, as it is or in a container: see `read_module`.

    Raises ValueError, too, for a file that holds none.
    """
    return read_module(containers.module_in(data), name, by_value, containers.export_in(data))


def _meant(message: str) -> str:
    """Return the name of the operation that a parser's message may be about; empty for none."""
    found = _UNKNOWN.search(message)
    if found is None:
        return ""
    near = difflib.get_close_matches(found[1], registered_names(), n=1)
    return f": did you mean {near[0]!r}?" if near else ""


def read_module(
    text: str | bytes,
    name: str = "",
    by_value: bool = False,
    export: Export | None = None,
) -> mlir.Module:
    """Read a module from text or bytecode of any origin, and verify it. `name` is that of the file,
    for locations. Portable artifacts (VHLO) become StableHLO, and forms that irax does not use
    are rewritten.

    With `by_value`, a module whose sizes are elements of arguments stays as it is, with `?` in
    types: `with_values` makes one for some. Otherwise it is refused. `export` is what JAX
    says of the module's function: the part for one of its platforms is read.

    Raises ValueError with the parser's message, its line and column included.
    """
    told = words.told(text)
    try:
        module = mlir.parse_module(forms.readable(text, told), name)
    except ValueError as error:
        raise ValueError(f"{error}{_meant(str(error))}") from None
    if portable.is_portable(module):
        module = portable.to_stablehlo(module)
    if export is not None and export.platform is not None:
        platforms.with_platform(module, containers.main_function(module), export.platform)
    if forms.may_have_forms(text, told):
        forms.rewrite(module)
        module.operation.verify()
    if unknown_sizes.has_unknown_sizes(module):
        try:
            return unknown_sizes.with_names(module, export.sizes if export else None)
        except UnsupportedOp:
            module = sizes_by_value.without_calls(module)
            functions = mlir.functions(module).values()
            if not (by_value and any(map(sizes_by_value.arguments_of_sizes, functions))):
                raise
    elif static_sizes.may_have_sizes(told):
        module = bounded_sizes.with_constants(module)
        static_sizes.rewrite(module)
    return module
