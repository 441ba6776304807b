"""The pass combine-all-reduces, which sends small arrays that are summed over devices together.

Devices meet for each collective, which takes longer than it takes to send an array of a few
thousand numbers. A training step has a sum for each of its parameters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.effects import has_effects
from irax_compiler.mlir import (
    Block,
    InsertionPoint,
    Module,
    Operation,
    Value,
    bytes_of,
    dtype_of,
    shape_of,
)
from irax_compiler.ops.collective import AllReduce
from irax_compiler.ops.foreign import ForeignCall
from irax_compiler.ops.registry import read
from irax_compiler.ops.shape import reshape
from irax_compiler.ops.slicing import Concatenate, slice_in_dim
from irax_compiler.passes.core import Pass, nested, register_pass
from irax_compiler.passes.host.host import is_host_call
from irax_compiler.passes.legalize.target import find
from irax_compiler.shardy.layouts import mesh_of

_Kind = tuple[AllReduce, np.dtype]
"""The op and the dtype of a reduction: reductions of one kind can be one."""


@register_pass
@dataclass
class CombineAllReduces(Pass):
    """Makes one reduction over devices of several in a block of which none depends on another, and
    which differ only in their arrays, of at most `most` bytes each: that of the arrays one after
    another. It takes place where the last of them did; what depends on the others comes after it.
    Arrays of more than `bucket` bytes in all are reduced in several times, those that are computed
    first together: that may begin early (see the pass overlap-collectives). Targets whose compiler
    has StableHLO's collectives combine them themselves.
    """

    name: ClassVar[str] = "combine-all-reduces"
    target: str = ""
    most: int = 1 << 18
    bucket: int = 1 << 22

    def run(self, module: Module) -> None:
        if self.target and find(self.target).has_collectives:
            return
        for function in mlir.functions(module).values():
            if not mesh_of(function):
                continue
            blocks = [mlir.body(function)]
            for operation in nested(function):
                blocks += [block for region in operation.regions for block in region.blocks]
            for block in blocks:
                self._combine(block)

    def _combine(self, block: Block) -> None:
        for kind in dict.fromkeys(filter(None, map(self._kind, _operations(block)))):
            group = _Group()
            for operation in _operations(block):
                depends = group.is_used_by(operation)
                if self._kind(operation) == kind:
                    if depends:
                        group.combine(kind[0], self.bucket)
                        group = _Group()
                    group.add(operation)
                elif depends and (has_effects(operation) or not len(operation.results)):
                    group.combine(kind[0], self.bucket)
                    group = _Group()
                elif depends:
                    group.put_off(operation)
            group.combine(kind[0], self.bucket)

    def _kind(self, operation: Operation) -> _Kind | None:
        """The kind of a reduction of a small array; None for another operation."""
        if operation.name != ForeignCall.name or is_host_call(operation):
            return None
        op = read(operation)
        if not isinstance(op, AllReduce):
            return None
        (x,) = operation.operands
        is_small = all(isinstance(n, int) for n in shape_of(x)) and bytes_of(x) <= self.most
        return (op, dtype_of(x)) if is_small else None


@dataclass
class _Group:
    """Reductions of a block that do not depend on each other."""

    members: list[Operation] = field(default_factory=list)
    users: list[tuple[int, Operation]] = field(default_factory=list)
    """The operations that depend on members, each with the number of members before it."""
    values: set[Value] = field(default_factory=set)
    """The results of all these."""

    def is_used_by(self, operation: Operation) -> bool:
        """Return True if an operation depends on a member."""
        used = (*operation.operands, *mlir.captured(operation))
        return any(x in self.values for x in used)

    def add(self, operation: Operation) -> None:
        self.members.append(operation)
        self.values.update(operation.results)

    def put_off(self, operation: Operation) -> None:
        """Note an operation that depends on members, and may come later."""
        self.users.append((len(self.members), operation))
        self.values.update(operation.results)

    def combine(self, op: AllReduce, most: int) -> None:
        """Replace the members by reductions of up to `most` bytes."""
        if len(self.members) < 2:
            return
        last = self.members[-1]
        found: dict[Operation, Value] = {}
        for bucket in self._buckets(most):
            if len(bucket) > 1:
                with InsertionPoint(last), last.location:
                    arrays = _combined(op, [member.operands[0] for member in bucket])
                found.update(zip(bucket, arrays, strict=True))
        for count, user in self.users:
            if count < len(self.members):
                user.move_before(last)
        for member, value in found.items():
            mlir.replace(member, [value])

    def _buckets(self, most: int) -> list[list[Operation]]:
        """Return the members in parts of up to `most` bytes. If there are several parts, arrays
        that are computed one after another are in one.
        """
        sizes = {member: bytes_of(member.operands[0]) for member in self.members}
        if sum(sizes.values()) <= most:
            return [self.members]
        places: dict[Operation | None, int] = {
            o: i for i, o in enumerate(_operations(self.members[0].block))
        }
        sources = {member: mlir.definition(member.operands[0]) for member in self.members}
        buckets: list[list[Operation]] = [[]]
        left = most
        for member in sorted(self.members, key=lambda m: places.get(sources[m], -1)):
            if sizes[member] > left and buckets[-1]:
                buckets.append([])
                left = most
            buckets[-1].append(member)
            left -= sizes[member]
        return buckets


def _combined(op: AllReduce, arrays: Sequence[Value]) -> list[Value]:
    sizes = [math.prod(shape_of(x)) for x in arrays]
    total = op(Concatenate(0)(*(reshape(x, (n,)) for x, n in zip(arrays, sizes, strict=True))))
    found, start = [], 0
    for x, size in zip(arrays, sizes, strict=True):
        found.append(reshape(slice_in_dim(total, start, start + size, 0), shape_of(x)))
        start += size
    return found


def _operations(block: Block) -> list[Operation]:
    return [view.operation for view in block.operations]
