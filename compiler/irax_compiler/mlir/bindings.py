"""The MLIR bindings, as irax loads them, and the context that all modules are in."""

from __future__ import annotations

import sys
import types

# Without op classes for these dialects, every access to an operation would try, and fail, to
# import them: 28 us a time. Empty modules settle the question; and those of "hal", which irax does
# not need, take 10 ms to import.
for _dialect in ("stablehlo", "chlo", "vhlo", "hal"):
    sys.modules.setdefault(
        f"iree.compiler.dialects.{_dialect}",
        types.ModuleType(f"iree.compiler.dialects.{_dialect}"),
    )

from iree.compiler import ir  # noqa: E402
from iree.compiler import passmanager as passmanager  # noqa: E402

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
