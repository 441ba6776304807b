"""The passes that apply legalizations: a target's, and those of CHLO."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from irax_compiler.mlir import Module, Operation
from irax_compiler.ops.core import Memory
from irax_compiler.ops.indexing.dynamic_slices import JOINTS
from irax_compiler.ops.indexing.gather_scatter import Gather
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.core import Pass, PassError, enclosing, register_pass
from irax_compiler.passes.kernels.loops import triangles
from irax_compiler.passes.legalize import sets
from irax_compiler.passes.legalize import target as targets
from irax_compiler.passes.legalize.iree import small_matrices
from irax_compiler.passes.rewriting import rewrite_in_order
from irax_compiler.passes.sizes.dynamic_shapes import is_lowered_here


@register_pass
@dataclass
class Legalize(Pass):
    """Leaves a module that `target` compiles, with StableHLO's meaning, as far as the target's
    defects are known. Types of functions do not change. With `loops` "later", loops stay as they
    are, branches in them, operations that move elements, small factorizations and solves, and what
    puts arrays together anywhere; with "now", these alone are legalized. Passes that make kernels
    of them run between the two. With `sizes` "open", operations that dynamic-shapes replaces stay
    as they are.
    """

    name: ClassVar[str] = "legalize"
    target: str = ""
    loops: str = ""
    sizes: str = ""

    def run(self, module: Module) -> None:
        try:
            target = targets.find(self.target)
        except ValueError as error:
            raise PassError(f"legalize: {error}") from None
        chosen = {"": None, "now": _of_loop, "later": lambda o: not _of_loop(o)}
        if self.loops not in chosen:
            raise PassError(f"legalize: loops={self.loops!r} is neither 'later' nor 'now'")
        if self.sizes not in ("", "open"):
            raise PassError(f"legalize: sizes={self.sizes!r} is not 'open'")
        selected = _of_known_sizes if self.sizes else chosen[self.loops]
        left = JOINTS if self.loops == "later" else ()
        rewrite_in_order(module.operation, target.legalizations, chosen=selected, left=left)


def _of_known_sizes(operation: Operation) -> bool:
    return operation.name == Gather.name or not is_lowered_here(operation)


def _of_loop(operation: Operation) -> bool:
    """True for a loop, for a branch in one, an operation that moves elements, or a small
    factorization or solve, and for what puts arrays together.
    """
    traits = traits_of(operation)
    if _is_loop(operation) or operation.name in JOINTS:
        return True
    is_move = traits.moves or traits.updates or traits.memory is Memory.PART
    is_one = is_move or traits.captures or _is_left(operation)
    return is_one and any(map(_is_loop, enclosing(operation)))


def _is_left(operation: Operation) -> bool:
    """True for a factorization or a solve that is part of a loop's kernel as it is."""
    return triangles.is_known(operation) and not small_matrices.is_small(operation.operands[0])


def _is_loop(operation: Operation) -> bool:
    return operation.name == "stablehlo.while"


@register_pass
class LegalizeChlo(Pass):
    """Expands the operations of CHLO that MLIR's own expansion gets wrong."""

    name: ClassVar[str] = "legalize-chlo"

    def run(self, module: Module) -> None:
        rewrite_in_order(module.operation, sets.CHLO)
