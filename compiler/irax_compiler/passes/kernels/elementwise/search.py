"""The search for elementwise operations on values of one shape that are one kernel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod

from irax_compiler import mlir
from irax_compiler.mlir import Block, Operation, Value, shape_of
from irax_compiler.ops.registry import traits_of
from irax_compiler.ops.size_code import usual
from irax_compiler.ops.slicing import Concatenate
from irax_compiler.passes.core import in_order, users_in
from irax_compiler.passes.host.donated import WORTH_TAKING, in_memory_of, is_donated
from irax_compiler.passes.kernels.elementwise import complex_numbers
from irax_compiler.passes.kernels.elementwise.clusters import MANY, Cluster
from irax_compiler.passes.kernels.elementwise.joins import joints, parts_of
from irax_compiler.passes.kernels.elementwise.pieces import Piece
from irax_compiler.passes.kernels.elementwise.seeds import is_elementwise
from irax_compiler.passes.kernels.executables import SIZED_DISPATCH
from irax_compiler.passes.kernels.growth import is_there, sources_of
from irax_compiler.passes.kernels.kernel import ARRAYS, LONG
from irax_compiler.passes.kernels.loops.memory import bound_type
from irax_compiler.passes.kernels.views import View, contiguous

FAR = 128
"""The most operations of a cluster."""
NEAR = 4
"""One of so many operations, the first that are found, is taken to be connected with the same ones
as the seed, where these are not all."""


class Search:
    """The search for the clusters of a block, as long as nothing changes there. What it finds of an
    operation is kept: clusters of neighbours consist of the same ones.
    """

    def __init__(self, block: Block) -> None:
        self._is_member = cache(is_elementwise)
        self._users = cache(lambda x: users_in(block, x))
        self._near = cache(self._neighbours)
        self._block = block
        self._tried: set[Value] = set()
        """The results of operations that are connected with nearly the same ones as another, of
        which there is no cluster."""
        self._without: set[Value] = set()
        """The results of those of which there is one that does not pay."""

    def cluster_of(self, seed: Operation) -> Cluster | None:
        """Return the cluster of an operation; None if a kernel does not pay."""
        joins = seed.name == Concatenate.name
        if joins:
            found = self._joined(seed)
        elif seed.results[0] in self._without:
            return None
        elif self._is_member(seed):
            found = self._beside(seed) or self._placed(self._producers([seed]))
        else:
            found = self._moved(seed.results[0])
        return found if found is not None and _pays(found, joins) else None

    def _beside(self, seed: Operation) -> Cluster | None:
        """Return the cluster of all that is connected with an operation."""
        if seed.results[0] in self._tried:
            return None
        members = self._connected(seed)
        found = self._placed(sorted(members, key=in_order))
        if found is None or not _pays(found, joins=False):
            tried = self._tried if found is None else self._without
            others = [x for o in members if (x := o.results[0]) not in tried]
            tried.update(others if len(members) < FAR else others[: FAR // NEAR])
        return found

    def _moved(self, x: Value) -> Cluster | None:
        """Return the cluster that makes an array of a view."""
        found = _piece_of([], [(x, View.plain(x))], [x])
        users = self._users(x)  # none where kernels of inner blocks read the view
        if found is None or not users:
            return None
        return Cluster([[found]], [x], min(users, key=in_order))

    def _joined(self, seed: Operation) -> Cluster | None:
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
            and self._is_member(source)
            and {*self._users(source.results[0])} <= inside
        ]
        if not seeds:
            return None
        members = self._producers(seeds)
        taken = _taken(members, [x for x, _ in parts])
        found = _piece_of(members, parts, taken)
        if found is None or not found.is_writable:
            return None
        return Cluster([[found]], list(seed.results), seed)

    def _neighbours(self, operation: Operation) -> list[Operation]:
        """Return the elementwise operations on values of the same shape that use the result of an
        elementwise one, and those that it uses the results of.
        """
        (x,) = operation.results
        near = [mlir.definition(y) for y in operation.operands]
        return [
            other
            for other in (*self._users(x), *near)
            if other is not None
            and other.block == self._block
            and self._is_member(other)
            and shape_of(other.results[0]) == shape_of(x)
        ]

    def _connected(self, seed: Operation) -> list[Operation]:
        """Return the elementwise operations on values of one shape that use results of each other,
        in the order in which they are found: operands first, as seeds are taken from the end.
        """
        found, pending = {seed.results[0]: seed}, [seed]
        while pending and len(found) < FAR:
            for other in self._near(pending.pop()):
                (x,) = other.results
                if x not in found:
                    found[x] = other
                    pending.append(other)
        return list(found.values())

    def _producers(self, seeds: Sequence[Operation]) -> list[Operation]:
        """Return operations with those that compute their operands and nothing else."""
        found, pending = {seed.results[0]: seed for seed in seeds}, [*seeds]
        extents = shape_of(seeds[0].results[0])
        while pending and len(found) < FAR:
            for x in pending.pop().operands:
                source = mlir.definition(x)
                if source is None or x in found or source.block != self._block:
                    continue
                is_own = all(user in found.values() for user in self._users(x))
                if is_own and self._is_member(source) and shape_of(x) == extents:
                    found[x] = source
                    pending.append(source)
        return sorted(found.values(), key=in_order)

    def _placed(self, members: list[Operation]) -> Cluster | None:
        """Return the cluster of operations; None if there is no place for its kernel, or if a
        reduction is beside them: IREE fuses it with them.
        """
        inside = set(members)
        results = [o.results[0] for o in members]
        users = {x: [user for user in self._users(x) if user not in inside] for x in results}
        given = [x for x, outside in users.items() if outside]
        outside = [user for x in given for user in users[x]]
        taken = _taken(members, [])
        if not outside or any(traits_of(o).reduces for o in (*outside, *sources_of(taken))):
            return None
        place = min(outside, key=in_order)
        found = _piece_of(members, [(x, View.plain(x)) for x in given], taken)
        if found is None or not inside.isdisjoint(sources_of(arrays := found.arrays)):
            return None
        if not all(is_there(x, place) for x in arrays):
            return None
        return Cluster([[found]], given, place, _overwritten(found, given))


def _taken(members: Sequence[Operation], others: Sequence[Value]) -> list[Value]:
    """Return the values that operations and others take from outside, but for constants."""
    made = {o.results[0] for o in members}
    values = dict.fromkeys([*(x for o in members for x in o.operands), *others])
    return [x for x in values if x not in made and mlir.splat(x) is None]


def _piece_of(
    members: Sequence[Operation], writes: Sequence[tuple[Value, View]], taken: Sequence[Value]
) -> Piece | None:
    """Return the piece of values that operations compute, which reads others as views, or as arrays
    where views are slow to read; None if they cannot be read by vectors.
    """
    extents = shape_of(writes[0][0])
    views = {x: _over(x, extents, View.of(x)) for x in taken}
    while True:
        found = Piece.of(extents, members, views, writes)
        if not found.is_of_whole_vectors:
            return None
        slow = [term.x for term in found.reads if not found.is_readable(term.view)]
        if not slow:
            return found
        if any(not members or views[x].array == x for x in slow):
            return None
        views = views | {x: _over(x, extents, View.plain(x)) for x in slow}


def _over(x: Value, extents: tuple[int, ...], view: View) -> View:
    """Return the view of a value of a shape, or of a number for all of its elements."""
    return view if shape_of(x) else View(view.array, view.start, (0,) * len(extents))


def _pays(cluster: Cluster, joins: bool) -> bool:
    """True if an array is read in another order than its own or written to, if numbers are complex,
    or several results share operations, and a kernel is not too long. IREE often computes such
    results by several kernels, which store what they share.
    """
    (piece,), members = cluster.pieces, cluster.operations
    if len(cluster.arrays) + len(cluster.given) > ARRAYS or len(members) * piece.vectors > LONG:
        return False
    moves = any(not term.view.is_in_order(piece.extents) for term in piece.reads)
    return moves or joins or any(map(complex_numbers.is_known, members)) or _stands_alone(cluster)


def _stands_alone(cluster: Cluster) -> bool:
    """True if a donated array is written to, or there are several results, and no large array is
    read that IREE could compute in the same kernel.
    """
    sources = sources_of(x for x in cluster.arrays if usual(prod(shape_of(x))) >= MANY)
    is_apart = all(o.name in ("flow.dispatch", SIZED_DISPATCH) for o in sources)
    return is_apart and (bool(cluster.overwritten) or len(cluster.given) > 1)


def _overwritten(piece: Piece, given: Sequence[Value]) -> dict[Value, Value]:
    """Return a donated array for each result that can be in its memory: nothing else uses the
    array, which is read once, and a kernel computes no element twice.
    """
    if not piece.operations or piece.extents[piece.stepped] % piece.lanes:
        return {}
    return in_memory_of((x for x in piece.arrays if _is_given_up(x, piece)), given)


def _is_given_up(array: Value, piece: Piece) -> bool:
    members = piece.operations
    if not is_donated(array) or array.owner != members[0].block:
        return False
    views = [term.view for term in piece.reads if term.view.array is not None]
    plain = View(array, 0, contiguous(piece.extents))
    return (
        prod(piece.extents) >= WORTH_TAKING
        and array.type == bound_type(array)
        and all(view == plain for view in views if view.array == array)
        and all(use.owner.operation in members for use in array.uses)
    )
