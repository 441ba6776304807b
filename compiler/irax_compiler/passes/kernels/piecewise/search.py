"""The search for elementwise operations on arrays that are put together of parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from heapq import heappop, heappush
from math import prod

from irax_compiler import mlir
from irax_compiler.mlir import Block, Operation, Value, shape_of
from irax_compiler.ops import shape, slicing
from irax_compiler.ops.formulas import definition, is_formula
from irax_compiler.ops.indexing.dynamic_slices import DynamicUpdateSlice
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.core import in_order, nested, reached, users_in
from irax_compiler.passes.kernels.elementwise.clusters import MANY, Cluster
from irax_compiler.passes.kernels.elementwise.pieces import Piece
from irax_compiler.passes.kernels.elementwise.seeds import is_on_registers
from irax_compiler.passes.kernels.growth import is_there, sources_of
from irax_compiler.passes.kernels.kernel import ARRAYS, LONG
from irax_compiler.passes.kernels.piecewise.division import Grown, Known, Pieces, Repeated, TooLong

FAR = 256
"""The most operations that are looked at for a kernel."""
TRIES = 8
"""The most searches for a kernel, each without some operations of the one before, and the most that
a kernel would compute several times: others must store their results for it.
"""
NEAR = 4
"""One of so many operations of a kernel that is too long, the last ones, is taken to end one that
is as long."""
NEARER = 16
"""Such a part of a kernel of many operations that would compute too many of these several times."""

_MOVES = (
    slicing.Slice.name,
    slicing.Reverse.name,
    shape.Transpose.name,
    shape.BroadcastInDim.name,
    shape.Reshape.name,
)


def _pays(cluster: Cluster) -> bool:
    """True if parts are put together by a kernel that is not too long, and few elements are read
    one at a time.
    """
    pieces = cluster.pieces
    size = sum(map(_size, pieces))
    slow = sum(_size(piece) for piece in pieces if piece.lanes == 1)
    operations = sum(map(_length, cluster.operations))
    is_small = len(cluster.arrays) + len(cluster.given) <= ARRAYS and operations <= LONG
    return is_small and operations > 0 and len(pieces) > 1 and 8 * slow <= size


def _size(piece: Piece) -> int:
    return prod(piece.extents)


def _length(operation: Operation) -> int:
    """Return the number of operations that an operation is written out as."""
    inner = [operation, *nested(operation)]
    return sum(len(mlir.body(definition(o)).operations) if is_formula(o) else 1 for o in inner)


class Facts(Known):
    """Answers about a block, of which results are replaced by those of kernels."""

    def __init__(self, block: Block, numbers: Mapping[Value, int]) -> None:
        self._block, self._numbers = block, numbers
        self.is_computed: Callable[[Value], bool] = cache(_is_made_by(is_computed))
        self.is_moved: Callable[[Value], bool] = cache(_is_made_by(lambda o: o.name in _MOVES))
        super().__init__()

    def forget_operands(self) -> None:
        super().forget_operands()
        self.users: Callable[[Value], frozenset[Value] | None] = cache(partial(_users, self._block))
        self.before: Callable[[Value], list[tuple[int, Value]]] = cache(self._before)

    def _before(self, x: Value) -> list[tuple[int, Value]]:
        """Return the operands of a value's operation that are results of others in the block, each
        behind its number from the end.
        """
        numbers = self._numbers
        return [(-numbers[y], y) for y in self.operands(x) if y in numbers]


def _is_made_by(test: Callable[[Operation], bool]) -> Callable[[Value], bool]:
    """Return a predicate of values: true if the defining operation satisfies one of operations."""

    def is_one(x: Value) -> bool:
        source = mlir.definition(x)
        return source is not None and test(source)

    return is_one


def _users(block: Block, x: Value) -> frozenset[Value] | None:
    """Return the results of the operations that use a value; None if not each has one result."""
    users = users_in(block, x)
    if any(len(user.results) != 1 for user in users):
        return None
    return frozenset(user.results[0] for user in users)


def cluster_of(
    root: Operation, numbers: Mapping[Value, int], done: set[Value], facts: Facts
) -> Cluster | None:
    """Return the cluster that ends with an operation; None if a kernel does not pay. `numbers` has
    those of the operations of the block, by their results. Values that no kernel needs to end with
    are added to `done`.
    """
    if not _may_end(root, facts):
        return None
    apart: set[Value] = set()
    for _ in range(TRIES):
        grown = _grown(root, numbers, apart, facts)
        if not any(map(facts.is_joint, grown.inside)):
            done |= grown.members
            return None
        users = [user for x in grown.given for user in users_in(root.block, x)]
        outside = [user for user in users if not _is_in(user, grown.inside)]
        if not outside or not any(x in grown.members for x in _ends(root)):
            return None
        place = min(outside, key=in_order)
        try:
            bands = Pieces(shape_of(root.results[0]), grown).bands()
        except Repeated as repeated:
            apart.update(repeated.results)
            if len(apart) < TRIES:
                continue
            if len(grown.members) > FAR // 2:
                done.update(_last(grown, NEARER))
            return None
        except TooLong:
            done.update(_last(grown, NEAR))
            return None
        found = Cluster(bands, grown.given, place)
        late = [x for x in found.arrays if not is_there(x, place) or _needs(x, grown.given)]
        if not late and _pays(found):
            done |= grown.inside
            return found
        if not late:
            return None
        apart.update(x for x in grown.given if x != root.results[0])
    return None


def _last(grown: Grown, part: int) -> list[Value]:
    """Return the last of a kernel's operations, one of `part` of them."""
    return sorted(grown.members, key=grown.numbers.__getitem__)[-len(grown.members) // part :]


def _may_end(root: Operation, facts: Facts) -> bool:
    """True if a kernel may end with an operation: one on many elements."""
    if root.name in (slicing.Pad.name, DynamicUpdateSlice.name):
        is_one = facts.is_joint(root.results[0])
    else:
        is_one = facts.is_computed(root.results[0])
    return is_one and prod(shape_of(root.results[0])) >= MANY


def _ends(root: Operation) -> list[Value]:
    """Return the values of which one must be computed by the kernel that ends with an operation. A
    small update of an array from elsewhere is not such a kernel's: IREE writes it in place.
    """
    (x,) = root.results
    if root.name == slicing.Pad.name:
        return [root.operands[0]]
    found = []
    while (source := mlir.definition(x)) is not None and source.name == DynamicUpdateSlice.name:
        x, update = source.operands[:2]
        if 2 * prod(shape_of(update)) >= prod(shape_of(x)):
            found.append(update)
    return [*found, x]


def _grown(root: Operation, numbers: Mapping[Value, int], apart: set[Value], facts: Facts) -> Grown:
    """Return the cluster that an operation ends: the producers of its result that nothing else
    uses, and those of its shape that others use, too.
    """
    (end,) = root.results
    found = Grown(numbers, facts)
    shape = facts.shape(end)
    known: set[Value] = {end}
    pending: list[tuple[int, Value]] = [(-numbers[end], end)]
    for _ in range(FAR):
        if not pending:
            break
        _, x = heappop(pending)
        users = facts.users(x)
        is_own = users is not None and users <= found.inside
        if facts.is_joint(x) or facts.is_moved(x):
            if not is_own and x != end:
                continue
        elif x in apart or not (facts.is_computed(x) and (is_own or facts.shape(x) == shape)):
            continue
        else:
            found.members.add(x)
        found.inside.add(x)
        if not is_own or x == end:
            found.given.append(x)
        for numbered in facts.before(x):
            if numbered[1] not in known:
                known.add(numbered[1])
                heappush(pending, numbered)
    return found


def _is_in(operation: Operation, values: set[Value]) -> bool:
    return len(operation.results) == 1 and operation.results[0] in values


def is_computed(operation: Operation) -> bool:
    """True for an operation on vectors of numbers, unless it is the epilogue of a product or of a
    reduction.
    """
    if not is_on_registers(operation) or prod(shape_of(operation.results[0])) == 1:
        return False
    return not any(traits_of(o).reduces for o in sources_of(operation.operands))


def _needs(x: Value, given: Sequence[Value]) -> bool:
    """True if a value is one of those that a kernel gives, or computed from one."""
    first = min(sources_of(given), key=in_order)

    def sources(y: Value) -> list[Value]:
        source = mlir.definition(y)
        if source is None or is_there(y, first):
            return []
        return [*source.operands, *mlir.captured(source)]

    return not reached([x], sources).isdisjoint(given)
