"""The op irax.harmless: the operands of a branch that some lanes take and others do not.

Such a branch is computed for all lanes, and a selection drops what the others make of it. That does
not drop the derivative: where the square root of -1 is not taken, it is zero times nan, and a
parameter that lanes share has that in its gradient. So the operands of a batched branch pass
through this op:

    irax.harmless(takes, x...) -> x...

It is the identity until a derivative is taken. Then lanes that do not take the branch get the
operands of one that does, at which derivatives are as finite as there, and have no tangents. Where
no lane takes the branch, what lanes share has no tangent either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, is_inexact, shape_of
from irax_compiler.ops import comparison, shape
from irax_compiler.ops.attributes import FLAG, I64S, attribute
from irax_compiler.ops.composite import ComposedOp, register_composed
from irax_compiler.ops.core import Axis, Linear, Tangent, full, zeros_like
from irax_compiler.ops.indexing.gather_scatter import Gather
from irax_compiler.ops.reduction_builders import reduce
from irax_compiler.ops.reductions.window_shapes import WindowDims
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.ops.structured import Call, StructuredOp
from irax_compiler.ops.transformation import (
    Batching,
    Dependence,
    Differentiation,
    Evaluation,
    Transposition,
)

I32 = np.dtype(np.int32)
BOOL = np.dtype(np.bool_)


@register_composed
@dataclass(frozen=True)
class Harmless(StructuredOp, ComposedOp):
    """The first operand has a dimension for each mapped axis, and is true for lanes that take the
    branch. Of these dimensions, operand i has the first `depths[i]`, before its own: it is the same
    for all lanes along the others.
    """

    name = "irax.harmless"
    num_results: ClassVar[int] = -1
    depths: tuple[int, ...] = attribute(I64S)
    substitutes: bool = attribute(FLAG, default=False)
    """True if lanes that do not take the branch have the operands of one that does."""

    def is_linear_in(self, operands: Sequence[int]) -> bool:
        return 0 not in operands

    # -- meaning --

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        takes, *xs = operands
        if not self.substitutes:
            return xs
        for depth in range(len(shape_of(takes)), 0, -1):
            place = _last(takes)
            xs = [
                _select(takes, x, _stretched(_row(x, place, depth), shape_of(x), depth - 1))
                if own >= depth
                else x
                for x, own in zip(xs, self.depths, strict=True)
            ]
            takes = _any(takes, depth - 1)
        return xs

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Sequence[np.ndarray]:
        takes, *xs = operands
        if not self.substitutes:
            return xs
        for depth in range(np.ndim(takes), 0, -1):
            takes = np.asarray(takes)
            place = takes.shape[-1] - 1 - np.argmax(takes[..., ::-1], axis=-1)
            xs = [
                _substituted(np.asarray(x), takes, place) if own >= depth else x
                for x, own in zip(xs, self.depths, strict=True)
            ]
            takes = np.any(takes, axis=-1)
        return xs

    # -- derivatives --

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = replace(self, substitutes=True).build(primals)
        return results, self._of_takers(primals[0], tangents[1:])

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        takes = operands[0]
        assert isinstance(takes, Value)
        return [None, *self._of_takers(takes, cotangents)]

    def dependent_results(self, dependence: Dependence, flags: Sequence[bool]) -> Sequence[bool]:
        return flags[1:]

    def _of_takers(self, takes: Value, tangents: Sequence[Tangent]) -> list[Tangent]:
        """Return the tangents of lanes that take the branch, and zeros for others."""
        return [
            None if t is None else _select(_any(takes, depth), t, zeros_like(t))
            for t, depth in zip(tangents, self.depths, strict=True)
        ]

    # -- batching --

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        takes, *xs = operands
        if axes[0] is None:
            pairs = list(zip(axes[1:], self.depths, strict=True))
            moved = [
                x if axis is None else shape.move_axis(x, axis, depth)
                for x, (axis, depth) in zip(xs, pairs, strict=True)
            ]
            return self.build([takes, *moved]), [None if a is None else d for a, d in pairs]
        # The further axis goes where operands that have it still have the first dimensions.
        place = min(
            [d for d, axis in zip(self.depths, axes[1:], strict=True) if axis is not None],
            default=len(shape_of(takes)) - 1,
        )
        given, depths, found = [], [], []
        for x, axis, depth in zip(xs, axes[1:], self.depths, strict=True):
            has = axis is not None or depth > place
            given.append(shape.batched_at(x, axis, transform.size, place) if has else x)
            depths.append(depth + has)
            found.append(place if has else None)
        op = replace(self, depths=tuple(depths))
        return op.build([shape.move_axis(takes, axes[0], place), *given]), found


def operands_of_branch(
    functions: Mapping[str, Operation],
    name: str,
    takes: Value,
    operands: Sequence[Value],
    axes: Sequence[Axis],
) -> tuple[Sequence[Value], Sequence[Axis]]:
    """Return the operands for a branch, which is a function, and their mapped axes: as they are
    where no derivative of it can be nan or infinite.

    Args:
        functions: those of the module.
        name: the function.
        takes: for each lane, true if it takes the branch.
        operands: the branch's.
        axes: their mapped axes.
    """
    guarded = [
        i
        for i, (x, axis) in enumerate(zip(operands, axes, strict=True))
        if axis is not None or is_inexact(x)
    ]
    if not any(is_inexact(operands[i]) for i in guarded) or _is_linear(functions, name):
        return operands, axes
    found, places = list(operands), list(axes)
    given = [
        x if a is None else shape.move_axis(x, a, 0) for x, a in zip(operands, axes, strict=True)
    ]
    op = Harmless(tuple(int(axes[i] is not None) for i in guarded), substitutes=False)
    for i, x in zip(guarded, op.build([takes, *(given[i] for i in guarded)]), strict=True):
        found[i], places[i] = x, None if axes[i] is None else 0
    return found, places


def _is_linear(functions: Mapping[str, Operation], name: str) -> bool:
    """True if a function is affine in its float arguments, so that no derivative of it depends on
    them.
    """
    constants: set[Value] = set()
    *operations, _ = (view.operation for view in mlir.body(functions[name]).operations)
    for operation in operations:
        operands = [*operation.operands, *mlir.captured(operation)]
        moving = [i for i, x in enumerate(operands) if is_inexact(x) and x not in constants]
        if not moving:
            stretches = traits_of(operation).stretches or not operands
            constants.update(operation.results if stretches else ())
        elif operation.name == Call.name:
            if not _is_linear(functions, mlir.callee(operation)):
                return False
        elif any(map(is_inexact, operation.results)) and not _is_linear_in(operation, moving):
            return False
    return True


def _is_linear_in(operation: Operation, moving: Sequence[int]) -> bool:
    if mlir.captured(operation):
        return False
    op = read(operation)
    return not isinstance(op, StructuredOp) and op.is_linear_in(moving)


# ---- values of lanes -----------------------------------------------------------------------------


def _last(takes: Value) -> Value:
    """The place of the last lane that takes the branch, along the last dimension; else 0."""
    lanes = shape_of(takes)
    numbers = shape.Iota(lanes, I32, len(lanes) - 1)()
    zero = full((), 0, I32)
    found = comparison.select(takes, numbers, shape.broadcast_scalar(zero, lanes))
    return reduce("maximum", found, zero, (len(lanes) - 1,))


def _any(takes: Value, depth: int) -> Value:
    """The disjunction over all but the first dimensions."""
    over = tuple(range(depth, len(shape_of(takes))))
    return reduce("or", takes, full((), False, BOOL), over) if over else takes


def _row(x: Value, place: Value, depth: int) -> Value:
    """The element at a place along dimension `depth - 1`, for each index of those before."""
    before, own = tuple(range(depth - 1)), shape_of(x)[depth:]
    dims = WindowDims(
        window_dims=tuple(range(depth - 1, depth - 1 + len(own))),
        collapsed_dims=(depth - 1,),
        operand_batching_dims=before,
        indices_batching_dims=before,
        index_map=(depth - 1,),
        index_vector_dim=depth - 1,
    )
    return Gather(dims, (1,) * depth + own, indices_are_sorted=False)(x, place)


def _stretched(x: Value, sizes: Sequence[int], dimension: int) -> Value:
    """An array repeated along a further dimension."""
    kept = tuple(d for d in range(len(sizes)) if d != dimension)
    return shape.BroadcastInDim(tuple(sizes), kept)(x)


def _select(takes: Value, x: Value, y: Value) -> Value:
    first = tuple(range(len(shape_of(takes))))
    return comparison.select(shape.BroadcastInDim(shape_of(x), first)(takes), x, y)


def _substituted(x: np.ndarray, takes: np.ndarray, place: Any) -> np.ndarray:
    depth = takes.ndim
    own = (1,) * (x.ndim - depth)
    other = np.take_along_axis(x, np.reshape(place, (*place.shape, 1, *own)), depth - 1)
    return np.where(takes.reshape(takes.shape + own), x, other)
