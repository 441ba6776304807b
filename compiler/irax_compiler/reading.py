"""Modules as others write them, made into the StableHLO that everything here works on."""

from __future__ import annotations

from irax_compiler import mlir, portable, sharding


def read_module(text: str | bytes) -> mlir.Module:
    """A module from text or bytecode of any origin; verified. Portable artifacts (VHLO) become
    StableHLO, and what is only said of several devices is left out.

    Raises ValueError with the parser's message, its line and column included.
    """
    module = mlir.parse_module(sharding.without_annotations(text))
    return portable.to_stablehlo(module) if portable.is_portable(module) else module
