"""The MLIR bindings, as irax loads them, and the context that all modules are in."""

from __future__ import annotations

import importlib
from typing import Any

from iree.compiler import ir
from iree.compiler import passmanager as passmanager
from iree.compiler.dialects import builtin as builtin

# Accesses to operations would import the classes of their dialect's operations, of which irax uses
# that of modules alone. They take up to 0.2 s (linalg), and where a dialect has none, each access
# tries in vain. Who imports them has them.
_globals: Any = importlib.import_module("iree.compiler._mlir_libs._mlir").globals
_globals.dialect_search_modules = []

Value = ir.Value
Type = ir.Type
RankedTensorType = ir.RankedTensorType
VectorType = ir.VectorType
Attribute = ir.Attribute
Operation = ir.Operation
Block = ir.Block
Module = ir.Module
Location = ir.Location
InsertionPoint = ir.InsertionPoint
MLIRError = ir.MLIRError

CONTEXT = ir.Context()
# Other tools' attributes are none of irax's business; their operations are refused by name.
CONTEXT.allow_unregistered_dialects = True
# A thread of MLIR's that reports an error waits for Python's lock, which the thread that waits for
# it holds: two errors at a time would be a deadlock.
CONTEXT.enable_multithreading(False)
UNKNOWN = ir.Location.unknown(CONTEXT)
