"""The MLIR bindings, as irax loads them, and the context that all modules are in."""

from __future__ import annotations

import ctypes
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


def _compare_by_address() -> None:
    """Replace the hash and the equality of `ir.Operation`: by the operation's address, so that sets
    and dicts hold operations that change.

    IREE's bindings compare addresses, but hash operands, attributes and types: a set would lose an
    operation that is given another operand. And they raise RuntimeError for an erased operation,
    whose address a new one may have: these are unequal here.
    """
    api = ctypes.pythonapi
    name_of, address_of = api.PyCapsule_GetName, api.PyCapsule_GetPointer
    name_of.argtypes, name_of.restype = [ctypes.py_object], ctypes.c_char_p
    address_of.argtypes, address_of.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    name = name_of(ir.Module.create(UNKNOWN).operation._CAPIPtr)
    base: Any = next(c for c in ir.Operation.__mro__ if "__hash__" in vars(c))
    equal = base.__eq__

    def address(self: Any) -> Any:
        return address_of(self._CAPIPtr, name)

    def is_same(self: Any, other: Any) -> Any:
        try:
            return equal(self, other)
        except RuntimeError:
            return False

    base.__hash__, base.__eq__ = address, is_same


_compare_by_address()
