"""Elementwise loops, whose steps compute each element of large arrays by itself: bisections, and
iterations of a function. Workgroups share the elements.

Each workgroup runs the whole loop for a share of the elements, which stay in the fastest cache
meanwhile. Its code is that of the same loop of smaller arrays of one dimension, which is built here
in a function of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Operation, Type, Value, dtype_of, shape_of
from irax_compiler.ops import registers, shape
from irax_compiler.ops.barrier import barrier
from irax_compiler.ops.control_flow.trip_counts import count
from irax_compiler.ops.core import full
from irax_compiler.ops.elementwise_map import Map
from irax_compiler.ops.formulas import is_formula
from irax_compiler.ops.indexing.gather_scatter import Gather
from irax_compiler.ops.reductions.window_shapes import WindowDims
from irax_compiler.ops.registry import traits_of
from irax_compiler.ops.shape import BroadcastInDim
from irax_compiler.passes.kernels.loops.fusion import is_large
from irax_compiler.passes.kernels.loops.launch import Shares
from irax_compiler.passes.kernels.loops.memory import held_dtype
from irax_compiler.passes.kernels.loops.nests import LANES
from irax_compiler.passes.rewriting import read_as

LEAST = 1 << 14
"""The fewest elements that are shared. Fewer stay in the fastest cache all together."""
BYTES = 1 << 16
"""The most bytes of a share's arrays between steps, which stay in the fastest caches."""


@dataclass
class Share:
    """A loop of a share of the elements."""

    shares: Shares
    start: list[Value]
    """The values that the whole loop's carried ones begin as."""
    loop: Operation
    outside: dict[Value, Value] = field(default_factory=dict[Value, Value])
    """The program's values for those that the loop uses from outside."""


@contextmanager
def shared(loop: Operation) -> Iterator[Share | None]:
    """Return, for a `with` block, the share of a workgroup in a `stablehlo.while` whose steps treat
    the elements of arrays apart: the same loop of smaller arrays; None if they do not.
    """
    extents = _extents(loop)
    if extents is None:
        yield None
        return
    building = _Building(loop, extents)
    try:
        yield building.share
    finally:
        building.function.erase()


# ---- which loops ---------------------------------------------------------------------------------


def _extents(loop: Operation) -> tuple[int, ...] | None:
    """Return the shape of the large arrays that a loop carries; None if a step does not treat their
    elements apart.
    """
    found = {shape_of(x) for x in loop.operands if is_large(x)}
    if len(found) != 1 or count(loop, {}) is None:
        return None
    (extents,) = found
    elements = prod(extents)
    condition, body = (region.blocks[0] for region in loop.regions)
    outside = [*loop.operands, *mlir.captured(loop)]
    is_clear = all(shape_of(x) == extents or not _is_about(x, elements) for x in outside)
    tested = [x for view in condition.operations for x in view.operation.operands]
    if elements < LEAST or not is_clear or any(_is_about(x, elements) for x in tested):
        return None
    fixed = _fixed(loop, elements)
    for operation in (view.operation for view in list(body.operations)[:-1]):
        if operation.results[0] not in fixed and not _is_apart(operation, extents):
            return None
    return extents


def _is_about(x: Value, elements: int) -> bool:
    return prod(shape_of(x)) == elements


def _fixed(loop: Operation, elements: int) -> dict[Value, Operation]:
    """Return the operations of a step that compute arrays of so many elements, the same in each
    step, and those whose results they use, by their results.
    """
    body = loop.regions[1].blocks[0]
    found: dict[Value, Operation] = {}
    varying: set[Value] = set(body.arguments)
    for operation in (view.operation for view in body.operations):
        is_one = len(operation.results) == 1 and not operation.regions
        if is_one and varying.isdisjoint(operation.operands):
            found[operation.results[0]] = operation
        else:
            varying.update(operation.results)
    needed: set[Value] = set()
    for x, operation in reversed(found.items()):
        is_about = any(_is_about(y, elements) for y in (x, *operation.operands))
        if mlir.splat(x) is None and (is_about or x in needed):
            needed.update((x, *operation.operands))
    return {x: operation for x, operation in found.items() if x in needed}


def _is_apart(operation: Operation, extents: tuple[int, ...]) -> bool:
    """True if an operation computes each element of arrays of a shape from one of each operand."""
    values = [*operation.operands, *operation.results]
    if not any(_is_about(x, prod(extents)) for x in values):
        return not traits_of(operation).captures
    if any(shape_of(x) != extents for x in operation.results):
        return False
    if not len(operation.operands):
        return mlir.splat(operation.results[0]) is not None
    if operation.name == BroadcastInDim.name:
        return prod(shape_of(operation.operands[0])) == 1
    if operation.name == Gather.name:
        table, indices = operation.operands
        is_whole = not _is_about(table, prod(extents))
        return is_whole and shape_of(indices) == extents and _is_of_elements(operation)
    is_known = registers.is_known(operation) or is_formula(operation)
    is_known = is_known or operation.name in (Map.name, barrier.name)
    return is_known and all(shape_of(x) in ((), extents) for x in operation.operands)


def _is_of_elements(gather: Operation) -> bool:
    """True for a gather of an element of a vector for each index."""
    op = read_as(Gather, gather)
    rank = len(shape_of(gather.operands[1]))
    dims = WindowDims(collapsed_dims=(0,), index_map=(0,), index_vector_dim=rank)
    return op is not None and op.dims == dims


# ---- the loop of a share -------------------------------------------------------------------------


class _Building:
    """The function with the loop of a share."""

    def __init__(self, loop: Operation, extents: tuple[int, ...]) -> None:
        self.extents = extents
        shares = Shares.of(prod(extents), 2 * LANES, BYTES // self._bytes(loop))
        self.size = shares.size
        computed: dict[Value, Value] = {}
        with InsertionPoint(loop), loop.location:
            for operation in _fixed(loop, prod(extents)).values():
                mlir.copy(operation, computed)
        given = dict.fromkeys((*loop.operands, *mlir.captured(loop)))
        real = {x: x for x in given if mlir.splat(x) is None} | computed
        module = mlir.open_module()
        name = mlir.unique_name(module, "share")
        self.function = mlir.new_function(module, name, list(map(self._type, real)))
        arguments = mlir.arguments(self.function)
        self.env = dict(zip(real, arguments, strict=True))
        with InsertionPoint(mlir.body(self.function)), loop.location:
            made = self._loop(loop)
        outside = dict(zip(arguments, real.values(), strict=True))
        self.share = Share(shares, list(loop.operands), made, outside)

    @staticmethod
    def _bytes(loop: Operation) -> int:
        """Return the bytes of each element that are in memory between the operations of a step."""
        body = loop.regions[1].blocks[0]
        gathers = [view.operation for view in body.operations if view.operation.name == Gather.name]
        kept = [*filter(is_large, loop.operands), *(x for o in gathers for x in o.results)]
        return sum(held_dtype(x).itemsize for x in kept)

    def _type(self, x: Value) -> Type:
        is_wide = shape_of(x) == self.extents
        return mlir.tensor_type((self.size,), dtype_of(x)) if is_wide else x.type

    def _loop(self, source: Operation) -> Operation:
        start = list(map(self._value, source.operands))
        types = [x.type for x in start]
        made = mlir.emit("stablehlo.while", start, {}, types, regions=2)
        for region, (old,) in zip(made.regions, source.regions, strict=True):
            block = mlir.Block.create_at_start(region, types)
            self.env.update(zip(old.arguments, block.arguments, strict=True))
            self._fill(block, old)
        return made

    def _fill(self, block: Block, source: Block) -> None:
        with InsertionPoint(block):
            for view in source.operations:
                with view.operation.location:
                    self._translate(view.operation)

    def _value(self, x: Value) -> Value:
        """Return what stands for a value: a smaller constant for one from outside."""
        if x not in self.env:
            number = mlir.splat(x)
            assert number is not None
            extents = (self.size,) if shape_of(x) == self.extents else shape_of(x)
            self.env[x] = full(extents, number, dtype_of(x))
        return self.env[x]

    def _translate(self, operation: Operation) -> None:
        results = list(operation.results)
        if len(results) == 1 and (results[0] in self.env or mlir.splat(results[0]) is not None):
            self._value(results[0])
            return
        operands = list(map(self._value, operation.operands))
        is_wide = any(shape_of(x) == self.extents for x in results)
        if is_wide and operation.name == BroadcastInDim.name:
            number = shape.reshape(operands[0], ())
            self.env[results[0]] = shape.broadcast_scalar(number, (self.size,))
        elif is_wide and operation.name == Gather.name:
            dims = WindowDims(collapsed_dims=(0,), index_map=(0,), index_vector_dim=1)
            self.env[results[0]] = Gather(dims, (1,), indices_are_sorted=False)(*operands)
        else:
            for x in mlir.captured(operation):
                self._value(x)
            mlir.copy(operation, self.env)
            for x in results:
                made: Any = self.env[x]
                made.set_type(self._type(x))
