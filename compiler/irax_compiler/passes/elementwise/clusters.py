"""Clusters of elementwise operations that read arrays as views."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import prod
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import registers
from irax_compiler.ops.barrier import barrier
from irax_compiler.ops.elementwise_map import Map
from irax_compiler.ops.registry import traits_of
from irax_compiler.ops.shape import Reshape
from irax_compiler.ops.size_code import usual
from irax_compiler.ops.slicing import Concatenate
from irax_compiler.passes.core import in_order, nested, users_in
from irax_compiler.passes.donated import WORTH_TAKING, is_donated
from irax_compiler.passes.elementwise import complex_numbers
from irax_compiler.passes.elementwise.complex_numbers import is_complex
from irax_compiler.passes.elementwise.joins import joints, parts_of
from irax_compiler.passes.executables import SIZED_DISPATCH
from irax_compiler.passes.loops.kernels import is_plain
from irax_compiler.passes.loops.memory import bound_type, held_dtype
from irax_compiler.passes.views import Axis, View, axes
from irax_compiler.sizes import InconclusiveDimensionOperation, Size

MANY = 4096
"""The fewest elements for which a kernel pays."""
VECTOR = 64
"""The bytes of a vector."""
APART = 12
"""The most vectors that are read for one vector of elements."""
ARRAYS = 24
"""The most arrays that a kernel reads and writes; IREE binds 32."""
FAR = 128
"""The most operations of a cluster."""
LONG = 512
"""The most operations that are written out for the vectors of a step."""


@dataclass(frozen=True)
class Cluster:
    """Elementwise operations on values of one shape, which can be one kernel."""

    extents: tuple[Any, ...]
    members: list[Operation]
    writes: list[tuple[Value, View]]
    """The results that are used outside, or the value that is a view, and where to write them."""
    views: dict[Value, View]
    """The views of arrays from outside, by the values that the members use."""

    @cached_property
    def arrays(self) -> list[Value]:
        """The arrays that are read."""
        return list(dict.fromkeys(v.array for v in self.views.values() if v.array is not None))

    @cached_property
    def given(self) -> list[Value]:
        """The arrays that are written: the results themselves, or what is concatenated of them."""
        return list(dict.fromkeys(v.array for _, v in self.writes if v.array is not None))

    @cached_property
    def axes(self) -> list[Axis]:
        """The axes over which all arrays are read and written, outermost first."""
        views = [*self.views.values(), *(view for _, view in self.writes)]
        return axes(self.extents, [view.strides for view in views])

    @cached_property
    def lanes(self) -> int:
        """The number of elements of a vector."""
        values = [*self.views, *self.given, *(o.results[0] for o in self.members)]
        return VECTOR // max(held_dtype(x).itemsize for x in values)

    @property
    def is_short(self) -> bool:
        """True if rows are shorter than a vector: several are then read together."""
        return self.axes[-1].extent < self.lanes

    @property
    def stepped(self) -> Axis | None:
        """The axis along which a vector of elements is a step, or of rows that are shorter than
        that; None if there is none of that length.
        """
        found = self.axes[-2:-1] if self.is_short else self.axes[-1:]
        return found[0] if found and found[0].extent >= self.lanes else None

    @property
    def vectors(self) -> int:
        """The number of vectors in a step."""
        return self.axes[-1].extent if self.is_short else 1

    def offsets(self, view: View, vector: int) -> np.ndarray:
        """Return the distances of a vector's elements from the place where a step begins."""
        inner = [view.strides[axis.last] for axis in self.axes[-2:]]
        if any(isinstance(n, Size) for n in (inner if self.is_short else inner[-1:])):
            raise InconclusiveDimensionOperation("the distances within a vector are not known")
        number = vector * self.lanes + np.arange(self.lanes)
        if not self.is_short:
            return number * view.strides[self.axes[-1].last]
        row, place = np.divmod(number, self.axes[-1].extent)
        outer, inner = (view.strides[axis.last] for axis in self.axes[-2:])
        return row * outer + place * inner

    def is_readable(self, view: View) -> bool:
        """True if few vectors have the elements of each vector."""
        return view.array is None or all(
            np.ptp(self.offsets(view, vector)) < APART * self.lanes
            for vector in range(self.vectors)
        )

    @cached_property
    def overwritten(self) -> dict[Value, Value]:
        """A donated array for each result that can be in its memory: nothing else uses the array,
        which is read once, and a kernel computes no element twice.
        """
        found: dict[Value, Value] = {}
        if (
            self.joins
            or not self.members
            or self.stepped is None
            or self.stepped.extent % self.lanes
        ):
            return found
        for array in self.arrays:
            if self._is_given_up(array):
                free = (x for x in self.given if x.type == array.type and x not in found)
                found.update((x, array) for x in islice(free, 1))
        return found

    def _is_given_up(self, array: Value) -> bool:
        if not is_donated(array) or array.owner != self.members[0].block:
            return False
        views = [view for view in self.views.values() if view.array == array]
        return (
            prod(self.extents) >= WORTH_TAKING
            and array.type == bound_type(array)
            and all(view == View.plain(array) for view in views)
            and all(use.owner.operation in self.members for use in array.uses)
        )

    @property
    def pays(self) -> bool:
        """True if an array is read in another order than its own or written to, if numbers are
        complex, or several results share operations, and a kernel is not too long. IREE often
        computes such results by several kernels, which store what they share.
        """
        is_small = len(self.arrays) + len(self.given) <= ARRAYS
        is_small = is_small and len(self.members) * self.vectors <= LONG
        moves = any(not view.is_in_order(self.extents) for view in self.views.values())
        return is_small and (moves or self.joins or self._has_complex or self._stands_alone)

    @property
    def joins(self) -> bool:
        """True if results are written to parts of an array."""
        return any(x != view.array for x, view in self.writes)

    @property
    def apart(self) -> Any:
        """The distance in the arrays that are written between neighbours of a step."""
        assert self.stepped is not None
        return self.writes[0][1].strides[self.stepped.last]

    @property
    def _has_complex(self) -> bool:
        """True if complex numbers are computed with, of which IREE has no vectors."""
        return any(map(complex_numbers.is_known, self.members))

    @property
    def _stands_alone(self) -> bool:
        """True if a donated array is written to, or there are several results, and no large array
        is read that IREE could compute in the same kernel.
        """
        sources = _sources(x for x in self.arrays if usual(prod(shape_of(x))) >= MANY)
        is_apart = all(o.name in ("flow.dispatch", SIZED_DISPATCH) for o in sources)
        return is_apart and (bool(self.overwritten) or len(self.given) > 1)


def is_elementwise(operation: Operation) -> bool:
    """True for an operation on numbers and on many values of one shape, of which kernels compute
    vectors.
    """
    if len(operation.results) != 1 or not len(operation.operands):
        return False
    values = [*operation.operands, operation.results[0]]
    if any(map(is_complex, values)):
        is_one = complex_numbers.is_known(operation)
    else:
        is_one = registers.is_known(operation) or operation.name == Map.name
    if not is_one:  # it may have no shape, such as a token
        return False
    extents = shape_of(operation.results[0])
    inner = [o for o in nested(operation) if not o.name.endswith(".return")]
    return (
        usual(prod(extents)) >= MANY
        and all(map(registers.is_known, inner))
        and all(shape_of(x) in ((), extents) for x in operation.operands)
        and all(map(_has_numbers, values))
        and mlir.splat(operation.results[0]) is None
    )


def is_barrier_of_parts(operation: Operation) -> bool:
    """True for a fusion barrier between parts of many complex numbers and a formula of them, which
    IREE needs where kernels do without.
    """
    if operation.name != barrier.name:
        return False
    (first, *_) = operation.operands
    if not isinstance(first.type, mlir.RankedTensorType) or usual(prod(shape_of(first))) < MANY:
        return False
    sources = _sources(operation.operands)
    if len(sources) < len(operation.operands):
        return False
    return all(map(complex_numbers.is_part, sources)) or {o.name for o in sources} == {Map.name}


def is_moved(operation: Operation) -> bool:
    """True for an operation that makes many elements in another order, which nothing but kernels
    and results use.
    """
    if len(operation.results) != 1 or len(operation.operands) != 1:
        return False
    (result,) = operation.results
    return (
        traits_of(operation).moves
        and usual(prod(shape_of(result))) >= MANY
        and _has_numbers(result)
        and mlir.splat(result) is None
        and mlir.num_uses(result) > 0
        and not any(map(_is_op, _users(result)))
    )


def _users(x: Value) -> Iterator[Operation]:
    """Yield the operations that use an array, in any shape."""
    for use in x.uses:
        user = use.owner.operation
        if user.name == Reshape.name:
            yield from _users(user.results[0])
        else:
            yield user


def _has_numbers(x: Value) -> bool:
    return is_plain(x) or is_complex(x)


def _is_op(operation: Operation) -> bool:
    is_sized = operation.name.startswith("irax.") and operation.name != SIZED_DISPATCH
    return is_sized or operation.name.startswith("stablehlo.")


def cluster_of(seed: Operation) -> tuple[Cluster, Operation] | None:
    """Return the cluster of an operation, and the operation before which its kernel is to be; None
    if a kernel does not pay.
    """
    if seed.name == Concatenate.name:
        found = _joined(seed)
    elif is_elementwise(seed):
        found = _placed(_connected(seed)) or _placed(_producers([seed]))
    else:
        found = _moved(seed.results[0], seed)
    return found if found is not None and found[0].pays else None


def _moved(x: Value, seed: Operation) -> tuple[Cluster, Operation] | None:
    """Return the cluster that makes an array of a view."""
    found = _with_views([], [(x, View.plain(x))], [x])
    return None if found is None else (found, min(users_in(seed.block, x), key=in_order))


def _joined(seed: Operation) -> tuple[Cluster, Operation] | None:
    """Return the cluster that computes values of one shape and writes each to its part of their
    concatenation.
    """
    parts = parts_of(seed)
    if parts is None:
        return None
    made_by = [mlir.definition(x) for x, _ in parts]
    inside = set(joints(seed))
    seeds = [
        source
        for source in dict.fromkeys(made_by)
        if source is not None
        and is_elementwise(source)
        and {*users_in(seed.block, source.results[0])} <= inside
    ]
    if not seeds:
        return None
    members = _producers(seeds)
    taken = _taken(members, [x for x, _ in parts])
    found = _with_views(members, parts, taken)
    if found is None or found.is_short or not _is_writable(found):
        return None
    return found, seed


def _is_writable(cluster: Cluster) -> bool:
    """True if vectors of results are consecutive elements, or are when they are interleaved."""
    starts = [view.start for _, view in cluster.writes]
    if cluster.apart == 1:
        return True
    is_number = dtype_of(cluster.given[0]).kind not in "bc"
    return is_number and cluster.apart == len(starts) and starts == list(range(len(starts)))


def _connected(seed: Operation) -> list[Operation]:
    """Return the elementwise operations on values of one shape that use results of each other."""
    (result,) = seed.results
    extents, found, pending = shape_of(result), {result: seed}, [seed]
    while pending and len(found) < FAR:
        operation = pending.pop()
        near = [mlir.definition(x) for x in operation.operands]
        for other in (*near, *users_in(seed.block, operation.results[0])):
            if other is None or other.block != seed.block or not is_elementwise(other):
                continue
            (x,) = other.results
            if x not in found and shape_of(x) == extents:
                found[x] = other
                pending.append(other)
    return sorted(found.values(), key=in_order)


def _producers(seeds: Sequence[Operation]) -> list[Operation]:
    """Return operations with those that compute their operands and nothing else."""
    found, pending = {seed.results[0]: seed for seed in seeds}, [*seeds]
    block, extents = seeds[0].block, shape_of(seeds[0].results[0])
    while pending and len(found) < FAR:
        for x in pending.pop().operands:
            source = mlir.definition(x)
            if source is None or x in found or source.block != block:
                continue
            is_own = all(user in found.values() for user in users_in(block, x))
            if is_own and is_elementwise(source) and shape_of(x) == extents:
                found[x] = source
                pending.append(source)
    return sorted(found.values(), key=in_order)


def _placed(members: list[Operation]) -> tuple[Cluster, Operation] | None:
    """Return a cluster, and the operation before which its kernel is to be; None if there is no
    such place, or if a reduction is beside them: IREE fuses it with them.
    """
    inside, block = set(members), members[0].block
    users = {
        o.results[0]: [u for u in users_in(block, o.results[0]) if u not in inside] for o in members
    }
    given = [x for x, outside in users.items() if outside]
    outside = [user for x in given for user in users[x]]
    taken = _taken(members, [])
    if not outside or any(traits_of(o).reduces for o in (*outside, *_sources(taken))):
        return None
    place = min(outside, key=in_order)
    found = _with_views(members, [(x, View.plain(x)) for x in given], taken)
    if found is None or any(
        source.block == place.block and not source.is_before_in_block(place)
        for source in _sources(found.arrays)
    ):
        return None
    return found, place


def _taken(members: Sequence[Operation], others: Sequence[Value]) -> list[Value]:
    """Return the values that operations and others take from outside, but for constants."""
    made = {o.results[0] for o in members}
    values = dict.fromkeys([*(x for o in members for x in o.operands), *others])
    return [x for x in values if x not in made and mlir.splat(x) is None]


def _sources(values: Iterable[Value]) -> list[Operation]:
    return [source for source in map(mlir.definition, values) if source is not None]


def _with_views(
    members: list[Operation], writes: list[tuple[Value, View]], taken: Sequence[Value]
) -> Cluster | None:
    """Return a cluster that reads values as views, or as arrays where views are slow to read; None
    if they cannot be read by vectors.
    """
    extents = shape_of(writes[0][0])
    views = {x: _over(x, extents, View.of(x)) for x in taken}
    while True:
        found = Cluster(extents, members, writes, views)
        if found.stepped is None:
            return None
        slow = [x for x, view in views.items() if not found.is_readable(view)]
        if not slow:
            return found
        if any(not members or views[x].array == x for x in slow):
            return None
        views = views | {x: _over(x, extents, View.plain(x)) for x in slow}


def _over(x: Value, extents: tuple[int, ...], view: View) -> View:
    """Return the view of a value of a shape, or of a number for all of its elements."""
    return view if shape_of(x) else View(view.array, view.start, (0,) * len(extents))
