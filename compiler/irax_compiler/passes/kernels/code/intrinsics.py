"""Instructions of a processor that LLVM has intrinsics of."""

from __future__ import annotations

from collections.abc import Sequence

from irax_compiler import mlir
from irax_compiler.mlir import Type, Value


def call_intrinsic(
    name: str, operands: Sequence[Value], results: Sequence[Type] = ()
) -> Sequence[Value]:
    """Build the call of an intrinsic of LLVM, such as "llvm.x86.tilezero"."""
    attributes = {
        "intrin": mlir.string(name),
        "op_bundle_sizes": mlir.integers((), 32),
        **mlir.segment_sizes(len(operands), 0),
    }
    return list(mlir.emit("llvm.call_intrinsic", operands, attributes, results).results)
