"""The pass alignments, which has kernels make no assumptions on where parts of arrays begin."""

from __future__ import annotations

from typing import ClassVar

from irax_compiler.mlir import Module
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.host.annotate import is_for_all_sizes

_ALIGNMENT = "stream.alignment"


@register_pass
class Alignments(Pass):
    """Removes the alignments of offsets from the kernels of programs for sizes that are not known,
    in a module of IREE's phase stream.

    IREE 3.13 takes the offset of a row for a multiple of 64 bytes where a loop counts the rows,
    whose size it does not know, and so has vectors stored where they must not be.
    """

    name: ClassVar[str] = "alignments"

    def run(self, module: Module) -> None:
        if not is_for_all_sizes(module):
            return
        for operation in nested(module.operation):
            if operation.name == "arith.index_castui" and _ALIGNMENT in operation.attributes:
                del operation.attributes[_ALIGNMENT]
