"""Reading of foreign modules: conversion to the StableHLO that all passes work on."""

from __future__ import annotations

from irax_compiler import forms, mlir, portable, sharding
from irax_compiler.forms import unknown_sizes


def read_module(text: str | bytes, name: str = "") -> mlir.Module:
    """Read a module from text or bytecode of any origin, and verify it. `name` is that of the file,
    for locations. Portable artifacts (VHLO) become StableHLO; operations of
    removed, and forms that irax does not use are rewritten.

    Raises ValueError with the parser's message, its line and column included.
    """
    module = mlir.parse_module(sharding.readable(text), name)
    if portable.is_portable(module):
        module = portable.to_stablehlo(module)
    if forms.may_have_forms(text):
        forms.rewrite(module)
        module.operation.verify()
    if unknown_sizes.has_unknown_sizes(module):
        module = unknown_sizes.with_names(module)
    return module
