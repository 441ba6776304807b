"""The pass reorder, which computes functions of broadcast arrays before they are broadcast.

IREE moves unary elementwise operations before broadcasts itself, and before transposes and reshapes
that have no other user. The patterns that move them before the latter are also part of its
conversion `iree-stablehlo-to-iree-input`, which cannot undo what they change in place. It refuses
this program, where the two functions become one once the broadcast is moved:

    %0 = stablehlo.reshape %x : (tensor<2x8xi1>) -> tensor<16xi1>
    %1 = stablehlo.convert %0 : (tensor<16xi1>) -> tensor<16xi8>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<16xi1>) -> tensor<16x5xi1>
    %3 = stablehlo.convert %2 : (tensor<16x5xi1>) -> tensor<16x5xi8>
    // failed to legalize unresolved source materialization from tensor<16xi1> to tensor<16xi8>
"""

from __future__ import annotations

from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Module, Value
from irax_compiler.ops.conversion import Convert, ReducePrecision
from irax_compiler.ops.core import Op
from irax_compiler.ops.elementwise import Elementwise
from irax_compiler.ops.shape import BroadcastInDim, Reshape, Transpose
from irax_compiler.passes.core import Pass, register_pass
from irax_compiler.passes.rewriting import read_as, rewrite_in_order, rewrites


@register_pass
class Reorder(Pass):
    """Moves unary elementwise operations before broadcasts of arrays that are reshaped or
    transposed, and before what reshapes or transposes them. They compute no more elements then.
    """

    name: ClassVar[str] = "reorder"

    def run(self, module: Module) -> None:
        rewrite_in_order(module.operation, [function_of_broadcast])


@rewrites(Elementwise, Convert, ReducePrecision)
def function_of_broadcast(op: Op, *operands: Value) -> Value | None:
    """f(broadcast(reshape(x))) -> broadcast(reshape(f(x))), and so for transpose."""
    if len(operands) != 1:
        return None
    moves, x = _moves(operands[0])
    kinds = [isinstance(move, BroadcastInDim) for move in moves]
    if True not in kinds or all(kinds[kinds.index(True) :]):
        return None
    (y,) = op.build([x])
    for move in reversed(moves):
        (y,) = move.build([y])
    return y


def _moves(x: Value) -> tuple[list[Op], Value]:
    """Return the broadcasts, reshapes and transposes that make a value, the last one first, and the
    array that they make it of.
    """
    found: list[Op] = []
    while (source := mlir.definition(x)) is not None:
        move = read_as(Op, source)
        if not isinstance(move, BroadcastInDim | Reshape | Transpose):
            break
        found.append(move)
        (x,) = source.operands
    return found, x
