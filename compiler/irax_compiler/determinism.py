"""Functions whose results are to have the same bits whatever the sizes of their batches."""

from __future__ import annotations

from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Operation

ATTRIBUTE = "irax.deterministic"
"""The attribute of these functions: "batch" is its value."""


def mark(function: Operation) -> None:
    """Have the bits of a row of a function's results not depend on the number of rows."""
    function.attributes[ATTRIBUTE] = mlir.string("batch")


def is_in_marked(operation: Operation) -> bool:
    """Return True for an operation in a module with such a function."""
    parent: Any = operation.operation
    while parent.parent is not None:
        parent = parent.parent.operation
    return is_marked(parent)


def is_marked(module: Operation) -> bool:
    """Return True for a module with such a function, and those that were made of it."""
    return any(ATTRIBUTE in view.operation.attributes for view in module.regions[0].blocks[0])
