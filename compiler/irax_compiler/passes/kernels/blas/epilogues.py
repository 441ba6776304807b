"""Epilogues: the elementwise operations on a product that its dispatch computes as well.

A bias, an activation, the mask of an activation's derivative or a step of an optimizer would be a
pass over memory of its own. Each workgroup computes them of the part that it has multiplied, in the
memory of a result. Smaller tiles would stay in the processor's cache, but BLAS lays out a factor
anew for each, which takes longer.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Type, Value, dtype_of, shape_of
from irax_compiler.ops import registers
from irax_compiler.ops.registers import Registers, emit, index
from irax_compiler.passes.host.donated import in_memory_of, is_donated
from irax_compiler.passes.kernels import executables, lanes
from irax_compiler.passes.kernels.code.loops import for_loop
from irax_compiler.passes.kernels.code.memory import read, write
from irax_compiler.passes.kernels.code.places import split
from irax_compiler.passes.kernels.descriptions import described_cluster
from irax_compiler.passes.kernels.growth import Growth, is_on_vectors
from irax_compiler.passes.kernels.kernel import ARRAYS, VECTOR
from irax_compiler.passes.kernels.loops.memory import (
    bound,
    bound_type,
    held_dtype,
    is_plain,
    unbound,
)
from irax_compiler.passes.kernels.reductions.domains import Domain
from irax_compiler.passes.kernels.views import View, arrays_of


@dataclass(frozen=True)
class Epilogue:
    """Elementwise operations on a product, in order."""

    product: Value
    members: list[Operation]
    views: dict[Value, View]
    """The views of arrays from outside, by the values that the members use."""
    given: list[Value]
    """The values that are used elsewhere. The product is computed in the memory of the first."""
    overwritten: dict[Value, Value]
    """For some that are given, a donated array in whose memory they are."""
    place: Operation
    """The operation before which the dispatch is to be."""

    @cached_property
    def arrays(self) -> list[Value]:
        """The arrays that are read."""
        return arrays_of(self.views.values())

    @property
    def operands(self) -> list[Value]:
        """The arrays that are read, as a dispatch takes them."""
        return list(map(bound, self.arrays))

    @property
    def types(self) -> list[Type]:
        """The types of the values that are given, as a dispatch returns them."""
        return list(map(bound_type, self.given))

    def released(self, results: Sequence[Value]) -> dict[Value, Value]:
        """Return the values for those that are given, from a dispatch's results."""
        return {x: unbound(y, x) for x, y in zip(self.given, results, strict=True)}

    @property
    def ties(self) -> dict[int, int]:
        """The numbers of the given values that are in the memory of an array, and the array's."""
        return {
            i: self.arrays.index(self.overwritten[x])
            for i, x in enumerate(self.given)
            if x in self.overwritten
        }

    @property
    def bound(self) -> list[Value]:
        """The arrays that are read, and the values that are given in memory of their own."""
        return [*self.arrays, *(x for x in self.given if x not in self.overwritten)]

    @cached_property
    def description(self) -> Hashable | None:
        """The facts that its code follows from; None if they are not known."""
        return described_cluster(
            self.members, self.views, self.arrays, self.given, self.overwritten, self.product
        )

    def memories(self, bindings: Sequence[Value]) -> dict[Value, Value]:
        """Build the memory of the arrays that are read, and of the values that are given."""
        found = {
            x: executables.memory(binding, prod(shape_of(x)), held_dtype(x))
            for x, binding in zip(self.bound, bindings, strict=True)
        }
        return found | {x: found[array] for x, array in self.overwritten.items()}

    def build(self, memories: dict[Value, Value], start: Value, length: Value | int) -> None:
        """Build the loop over neighbouring elements of the product.

        Args:
            memories: of the arrays that are read, and of the values that are given.
            start: the place of the first element in the product's array.
            length: the number of elements.
        """
        line = _Line(self, memories, start)
        size = line.lanes
        whole = length // size * size if isinstance(length, int) else 0
        if whole:
            for_loop(index(0), index(whole), size, [], lambda at, _: line.vector(at, None))
        if whole == length:
            return
        end = length if isinstance(length, Value) else index(length)

        def masked(at: Value, _: Registers) -> Registers:
            left = emit("arith.subi", end, at)
            to = mlir.parse_type(f"vector<{size}xi1>")
            return line.vector(at, emit("vector.create_mask", left, to=to))

        for_loop(index(whole), end, size, [], masked)


def epilogue_of(product: Value, line: int, factors: Collection[Value]) -> Epilogue | None:
    """Return the epilogue of a product of some arrays with lines of some elements; None if there is
    none.
    """
    return _Growth(product, line, factors).epilogue() if is_plain(product) else None


class _Growth(Growth):
    """An epilogue that grows."""

    def __init__(self, product: Value, line: int, factors: Collection[Value]) -> None:
        source = mlir.definition(product)
        assert source is not None
        super().__init__(source.block)
        self.product, self.factors = product, factors
        self.domain = Domain(shape_of(product), ())
        extents = self.domain.extents
        first = len(extents) - 1
        while first and prod(extents[first:]) != line:
            first -= 1
        self.inner = extents[first:]
        """The extents of the last dimensions, which have the elements of a line."""

    def epilogue(self) -> Epilogue | None:
        """Return the epilogue; None if there is none, or no memory for the product."""
        self.add_users(self.users(self.product))
        self.add_producers()
        if not self.members:
            return None
        members = self.in_order()
        given = [x for x in (self.product, *(o.results[0] for o in members)) if self.is_given(x)]
        views = {
            x: view
            for operation in members
            for x in operation.operands
            if not self.is_inside(x) and (view := self._view(x)) is not None
        }
        arrays = arrays_of(views.values())
        place = self.place(given)
        overwritten = self._overwritten(given, arrays, place)
        home = self._home([x for x in given if x not in overwritten])
        if (home is None and not overwritten) or len(arrays) + len(given) > ARRAYS:
            return None
        # What overwrites a donated array is no place for the product: the array is read after it.
        first = self.product if home is None else home
        given = [first, *(x for x in given if x != first)]
        return Epilogue(self.product, members, views, given, overwritten, place)

    def is_inside(self, x: Value) -> bool:
        return x == self.product or super().is_inside(x) or mlir.splat(x) is not None

    def follows(self, operation: Operation, outside: Operation | None) -> bool:
        operands = operation.operands
        return self.precedes(operation) and all(self.is_there(x, outside) for x in operands)

    def precedes(self, operation: Operation) -> bool:
        """True for an elementwise operation on arrays of the product's shape."""
        return (
            is_on_vectors(operation)
            and self.domain.is_whole(operation.results[0])
            and all(map(is_plain, (*operation.results, *operation.operands)))
            and all(self.is_inside(x) or self._view(x) for x in operation.operands)
        )

    def is_cheap(self, operation: Operation) -> bool:
        """True if an operation reads no more bytes than it writes, and its result is not in memory
        in any case.
        """
        (result,) = operation.results
        is_small = self._reads(operation) <= held_dtype(result).itemsize
        # Other users have it in memory in any case.
        return is_small and all(map(registers.is_known, self.users(result)))

    def _reads(self, operation: Operation) -> int:
        """Return the bytes that an operation reads for an element, of arrays as large."""
        found = {self._view(x) for x in operation.operands if mlir.splat(x) is None}
        arrays = {a.array for a in found if a is not None and a.array is not None}
        return sum(held_dtype(x).itemsize for x in arrays if self.domain.is_whole(x))

    def _home(self, given: Sequence[Value]) -> Value | None:
        """Return the given value in whose memory the product can be; None if there is none."""
        if self.product in given:
            return self.product
        return next((x for x in given if dtype_of(x) == dtype_of(self.product)), None)

    def _overwritten(
        self, given: Sequence[Value], arrays: Sequence[Value], place: Operation
    ) -> dict[Value, Value]:
        """Return a donated array for each given value that can be in its memory, because nothing
        reads the array later. A factor is read for other lines of the product.
        """

        def is_given_up(array: Value) -> bool:
            if not is_donated(array) or array.type != bound_type(array) or array in self.factors:
                return False
            users = (o for o in self.users(array) if not self.is_member(o))
            return all(o.is_before_in_block(place) for o in users)

        results = [x for x in given if x != self.product]
        return in_memory_of(filter(is_given_up, arrays), results)

    def _view(self, x: Value) -> View | None:
        """Return the view of an array; None if its elements are no neighbours along a line, and
        not one for all of it.
        """
        view = self.domain.view_in_order(x) if shape_of(x) in ((), self.domain.extents) else None
        if view is None or view.array is None:
            return None
        strides = view.strides[-len(self.inner) :]
        is_line = all(
            n == 1 or step == prod(self.inner[i + 1 :])
            for i, (n, step) in enumerate(zip(self.inner, strides, strict=True))
        )
        return view if is_line or all(step == 0 for step in strides) else None


class _Line:
    """The elements of a line of the product."""

    def __init__(self, epilogue: Epilogue, memories: dict[Value, Value], start: Value) -> None:
        self.epilogue = epilogue
        self.memories = memories
        self.start = start
        extents = shape_of(epilogue.product)
        place = dict(enumerate(split(start, list(extents))))
        self.offsets: dict[Value, Value] = {}
        """The places of the first element in the arrays that have neighbours along the line."""
        self.numbers: dict[Value, Value] = {}
        """The elements of the other arrays."""
        for x, view in epilogue.views.items():
            offset = view.offset(place)
            if _is_along(view, extents):
                self.offsets[x] = offset
            else:
                self.numbers[x] = self._read(x, offset, 1, None)

    @property
    def lanes(self) -> int:
        """The number of elements of a vector."""
        values = [self.epilogue.product, *(o.results[0] for o in self.epilogue.members)]
        values += self.offsets
        return VECTOR // max(held_dtype(x).itemsize for x in values)

    def vector(self, at: Value, mask: Value | None) -> Registers:
        """Build the computation of the elements of a vector."""
        epilogue, size = self.epilogue, self.lanes
        home, place = self.memories[epilogue.given[0]], emit("arith.addi", self.start, at)
        known = dict(self.numbers)
        known[epilogue.product] = read(home, place, dtype_of(epilogue.product), size, mask)
        for x, offset in self.offsets.items():
            known[x] = self._read(x, emit("arith.addi", offset, at), size, mask)
        lanes.compute(epilogue.members, known, size)
        for x in epilogue.given:
            if x != epilogue.product:
                write(known[x], self.memories[x], place, size, mask)
        return []

    def _read(self, x: Value, at: Value, size: int, mask: Value | None) -> Value:
        array = self.epilogue.views[x].array
        assert array is not None
        return read(self.memories[array], at, dtype_of(x), size, mask)


def _is_along(view: View, extents: Sequence[int]) -> bool:
    """True if an array has other elements for neighbours in the product."""
    steps = [step for n, step in zip(extents, view.strides, strict=True) if n != 1]
    return steps[-1] == 1
