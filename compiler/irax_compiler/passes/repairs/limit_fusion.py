"""The pass limit-fusion, which puts fusion barriers where IREE would not compile a fused kernel:
one that has more arrays than it can bind, or returns booleans twice; or would take too long.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value, dtype_of, shape_of
from irax_compiler.ops import barrier
from irax_compiler.ops.comparison import select
from irax_compiler.ops.control_flow.branches import If
from irax_compiler.ops.conversion import Convert
from irax_compiler.ops.registry import is_generated
from irax_compiler.ops.shape import Reshape
from irax_compiler.passes.core import Pass, register_pass, runs_blocks, walk
from irax_compiler.passes.rewriting import put_barrier_behind, without_reshapes

_APART = {
    f"stablehlo.{name}"
    for name in (
        *("concatenate", "convolution", "custom_call", "dot_general", "dynamic_update_slice"),
        *("fft", "optimization_barrier", "scatter", "sort"),
    )
} | {"flow.dispatch", "flow.dispatch.region", "func.call"}
"""The operations that IREE does not fuse with the producers of their operands."""


@register_pass
@dataclass
class LimitFusion(Pass):
    """Puts fusion barriers where operations that may be fused would read more than `reads` arrays
    in all. IREE binds 32 arrays to a kernel; the others are for its results.

    So it does between operations on single elements. Those of a block, that depend on each other or
    not, IREE puts into one kernel, which has all that they read and all that others read of them.

    So it does between booleans that others need and the bytes that they are converted to. In memory
    both are bytes. IREE finds the two results of a kernel to be one, and puts the copy between them
    outside of what it distributes: "restricted to workgroup distributed contexts".

    Branches that only choose between values from outside are selects to IREE, which it fuses, too:
    they are replaced by selects first.

    So it does where more than `depth` operations that may be fused follow each other: IREE fuses
    one after the other, and copies all that it has fused each time.

    Takes time in proportion to the number of operations.
    """

    name: ClassVar[str] = "limit-fusion"
    reads: int = 24
    depth: int = 256

    def run(self, module: Module) -> None:
        for function in mlir.functions(module).values():
            for block in function.regions[0]:
                self._divide(block)

    def _divide(self, block: Block) -> None:
        for operation in walk(block):
            if operation.name == If.name:
                _choose(operation)
        for last in _divisions(_of_single_elements(block), self.reads):
            put_barrier_behind(last)
        read: dict[Value, frozenset[Value]] = {}
        depths: dict[Value, int] = {}
        for operation in walk(block):
            if runs_blocks(operation):
                for region in operation.regions:
                    for inner in region:
                        self._divide(inner)
            elif operation.name not in _APART:
                if _makes_bytes(operation) and _is_needed(operation.operands[0], operation):
                    _apart_for(operation)
                self._shorten(operation, depths)
                together = self._bounded(operation, read)
                read.update(dict.fromkeys(operation.results, together))

    def _shorten(self, operation: Operation, depths: dict[Value, int]) -> None:
        """Put barriers behind operands that end chains of too many operations."""
        for x in dict.fromkeys(operation.operands):
            if depths.get(x, 0) >= self.depth and isinstance(x.type, mlir.RankedTensorType):
                put_barrier_behind(x)
        depth = 1 + max((depths.get(x, 0) for x in operation.operands), default=0)
        depths.update(dict.fromkeys(operation.results, depth))

    def _bounded(
        self, operation: Operation, read: dict[Value, frozenset[Value]]
    ) -> frozenset[Value]:
        """Return the arrays that an operation reads, itself or through fused producers. If there
        are too many, put barriers behind the operands that read most of them.
        """
        if is_generated(operation) and all(mlir.splat(x) is not None for x in operation.results):
            return frozenset()
        operands = list(dict.fromkeys(operation.operands))
        of = {x: read.get(x, frozenset([x])) for x in operands}
        while len(together := frozenset().union(*of.values())) > self.reads:
            largest = max(of, key=lambda x: len(of[x]))
            if len(of.pop(largest)) < 2:
                break
            apart = put_barrier_behind(largest)
            of[apart] = frozenset([apart])
        return together


def _choose(branch: Operation) -> None:
    """Replace a branch by selects if it does nothing but choose between values from outside and
    constants. Any other may call the host, and IREE drops a branch whose results nobody uses, with
    the calls in it.
    """
    ends = [mlir.terminator(region.blocks[0]) for region in branch.regions]
    inner = [operation for region in branch.regions for operation in walk(region.blocks[0])]
    if not all(map(is_generated, inner)) or not all(map(_is_array, branch.results)):
        return
    with InsertionPoint(branch), branch.location:
        pairs = zip(*(end.operands for end in ends), strict=True)
        chosen = [select(branch.operands[0], *(_outside(x, branch) for x in xs)) for xs in pairs]
    mlir.replace(branch, chosen)


def _is_array(x: Value) -> bool:
    return isinstance(x.type, mlir.RankedTensorType)


def _outside(x: Value, branch: Operation) -> Value:
    """Return a value that a branch returns, or a copy of a constant that it makes."""
    made = mlir.definition(x)
    return mlir.clone(made, {})[0] if made is not None and made.parent == branch else x


def _of_single_elements(block: Block) -> list[Operation]:
    """Return the operations of a block that IREE takes for ones on single elements, in order."""
    return [o for o in walk(block) if not runs_blocks(o) and _has_single_elements(o)]


def _has_single_elements(operation: Operation) -> bool:
    values = [*operation.operands, *operation.results]
    if is_generated(operation) or operation.name in (Reshape.name, barrier.barrier.name):
        return False
    if not operation.results or not all(isinstance(x.type, mlir.RankedTensorType) for x in values):
        return False
    return all(prod(shape_of(x)) == 1 for x in values)


@dataclass
class _Kernel:
    """Consecutive operations on single elements, of which the last was added."""

    made: set[Value] = field(default_factory=set)
    read: set[Value] = field(default_factory=set)
    """The values of others."""
    alive: set[Value] = field(default_factory=set)
    """Its own that others read, if nothing is added."""

    def add(self, operation: Operation, last_uses: dict[Value, float], number: int) -> int:
        """Add an operation and return the number of arrays of the kernel."""
        operands = [without_reshapes(x) for x in operation.operands]
        self.read.update(x for x in operands if x not in self.made and mlir.splat(x) is None)
        self.made.update(operation.results)
        self.alive.update(operation.results)
        self.alive.difference_update(
            [x for x in (*operands, *operation.results) if last_uses.get(x, -1) <= number]
        )
        return len(self.read) + len(self.alive)


def _divisions(operations: list[Operation], most: int) -> list[Value]:
    """Return results of operations on single elements behind which a kernel of them has to end, to
    have no more than `most` arrays.
    """
    if len(operations) < 2:
        return []
    last_uses = _last_uses(operations)
    divisions, kernel = [], _Kernel()
    for number, operation in enumerate(operations):
        if kernel.add(operation, last_uses, number) > most and number:
            divisions.append(operations[number - 1].results[0])
            kernel = _Kernel()
            kernel.add(operation, last_uses, number)
    return divisions


def _last_uses(operations: list[Operation]) -> dict[Value, float]:
    """Return, for each result, the number of the last operation that uses it; infinity for one that
    others use.
    """
    numbers = {o.results[0]: number for number, o in enumerate(operations)}
    found: dict[Value, float] = {}
    for operation in operations:
        for x in operation.results:
            pending = mlir.users(x)
            while pending:
                user = pending.pop()
                if user.name == Reshape.name:
                    pending += mlir.users(user.results[0])
                    continue
                number = numbers.get(user.results[0]) if len(user.results) else None
                found[x] = max(found.get(x, -1), float("inf") if number is None else number)
    return found


def _makes_bytes(operation: Operation) -> bool:
    """True for a conversion of booleans to integers of one byte."""
    if operation.name != Convert.name or dtype_of(operation.operands[0]) != np.bool_:
        return False
    made = dtype_of(operation.results[0])
    return made.kind in "iu" and made.itemsize == 1


def _is_needed(x: Value, convert: Operation) -> bool:
    """True if an array, perhaps in another shape, is computed by a fused kernel and used by others
    than a conversion and what it may be fused with.
    """
    x = without_reshapes(x)
    source = mlir.definition(x)
    if source is None or source.name in _APART:
        return False
    users = mlir.users(x)
    for user in users:
        if user.name == Reshape.name:
            users += mlir.users(user.results[0])
        elif user != convert and (user.name in _APART or not len(user.results)):
            return True
    return False


def _apart_for(operation: Operation) -> None:
    """Put a barrier behind an operand, for its user alone."""
    with InsertionPoint(operation), operation.location:
        operation.operands[0] = barrier.barrier.build([operation.operands[0]])[0]
