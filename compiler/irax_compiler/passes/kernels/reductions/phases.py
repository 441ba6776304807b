"""The phases of a kernel, each of which goes through the domain once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from irax_compiler.mlir import Operation, Value
from irax_compiler.ops.reductions.reduce import Reduce
from irax_compiler.ops.registers import Registers
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.kernels import lanes
from irax_compiler.passes.kernels.loops.memory import held_dtype
from irax_compiler.passes.kernels.reductions.clusters import Cluster

UNROLLED = 4
"""The vectors of a row, or the rows, that are folded at a time where that takes few operations."""
SIMPLE = 8
"""The most operations on an element that are few."""


@dataclass
class Phase:
    """A pass of a kernel through the elements of the domain, and the work on what it folds."""

    reductions: list[Operation]
    operations: list[Operation]
    """The operations on whole values."""
    stored: list[tuple[Value, Value]]
    """The whole values that are stored, with those given in whose memory they are."""
    restored: list[tuple[Value, Value]]
    """The whole values that an earlier phase stored."""
    read: list[Value]
    """The values from outside that are used."""
    used: list[Value]
    """The folded values that are used."""
    finish: Finish

    @property
    def unrolled(self) -> int:
        """The number of elements for which operations are written at a time."""
        is_simple = len(self.operations) <= SIMPLE and not any(map(_is_long, self.operations))
        return UNROLLED if is_simple else 1

    def neutrals(self, size: int) -> list[Value]:
        """Return accumulators with the identities of the folds."""
        return [lanes.neutral(operation, size) for operation in self.reductions]

    def combined(self, xs: Registers, ys: Registers) -> list[Value]:
        """Combine accumulators."""
        triples = zip(self.reductions, xs, ys, strict=True)
        return [lanes.combined(operation, x, y) for operation, x, y in triples]

    def together(self, sets: Sequence[Registers]) -> Registers:
        """Combine several sets of accumulators, a power of two, into one."""
        while len(sets) > 1:
            pairs = zip(sets[::2], sets[1::2], strict=True)
            sets = [self.combined(xs, ys) for xs, ys in pairs]
        return sets[0]


@dataclass
class Finish:
    """The operations on folded values that follow a phase."""

    operations: list[Operation]
    read: list[Value]
    """The values from outside that are used."""
    used: list[Value]
    """The folded values of earlier phases that are used."""
    stored: list[Value]
    """The values that are given."""
    made: list[Value]
    """The values that are computed, results of reductions first."""


def phases(cluster: Cluster) -> list[Phase]:
    """Return the phases of a cluster's kernel, in order."""
    levels = _levels(cluster)
    whole = [o for o in cluster.members if cluster.domain.is_whole(o.results[0])]
    given = {x: levels[x] for x in cluster.given if cluster.domain.is_whole(x)}
    folding = {o: levels[o.results[0]] - 1 for o in cluster.reductions}
    wanted = [
        dict.fromkeys(
            [o.operands[0] for o, at in folding.items() if at == i]
            + [x for x, at in given.items() if at == i]
        )
        for i in range(1 + max([*folding.values(), *given.values()]))
    ]
    kept = _kept(whole, wanted, given)
    found: list[Phase] = []
    done: dict[Value, Value] = {}
    for i, values in enumerate(wanted):
        operations, others = _cone(values, whole, done.keys())
        made: list[Value] = [o.results[0] for o in operations]
        own = {x: kept.get(x, x) for x in made if x in kept or given.get(x) == i}
        found.append(
            Phase(
                [o for o, at in folding.items() if at == i],
                operations,
                list(own.items()),
                [(x, done[x]) for x in others if x in done],
                [x for x in others if x in cluster.views],
                [x for x in others if x in levels and x not in done],
                _finish(cluster, levels, i + 1),
            )
        )
        done |= {x: y for x, y in own.items() if x in kept}
    return found


def _levels(cluster: Cluster) -> dict[Value, int]:
    """Return the number of phases that come before each value is known."""
    found: dict[Value, int] = {}
    for operation in cluster.members:
        level = max((found.get(x, 0) for x in operation.operands), default=0)
        found[operation.results[0]] = level + (operation.name == Reduce.name)
    return found


def _finish(cluster: Cluster, levels: Mapping[Value, int], level: int) -> Finish:
    folded = [
        o
        for o in cluster.members
        if levels[o.results[0]] == level and not cluster.domain.is_whole(o.results[0])
    ]
    folded.sort(key=lambda o: o.name != Reduce.name)
    operations = [o for o in folded if o.name != Reduce.name]
    made = [o.results[0] for o in folded]
    others = [x for x in dict.fromkeys(x for o in operations for x in o.operands) if x not in made]
    return Finish(
        operations,
        [x for x in others if x in cluster.views],
        [x for x in others if x in levels],
        [x for x in made if x in cluster.given],
        made,
    )


def _kept(
    whole: Sequence[Operation], wanted: Sequence[Iterable[Value]], given: Mapping[Value, int]
) -> dict[Value, Value]:
    """Return values that are stored for later phases because they take long to compute, with the
    given ones in whose memory they are: themselves, or one that is stored when they are no longer
    needed.
    """
    found: dict[Value, Value] = {}
    cones = [_cone(values, whole, set())[0] for values in wanted]
    for operation in filter(_is_long, whole):
        (x,) = operation.results
        users = [i for i, cone in enumerate(cones) if operation in cone]
        if len(users) < 2:
            continue
        free = [
            y
            for y, at in given.items()
            if y not in found.values()
            and (y == x or (at >= users[-1] and held_dtype(y) == held_dtype(x)))
        ]
        if x in free or (x not in given and free):
            found[x] = x if x in free else free[0]
    return found


def _is_long(operation: Operation) -> bool:
    return traits_of(operation).transcendental or operation.name == "stablehlo.map"


def _cone(
    wanted: Iterable[Value], members: Sequence[Operation], known: Set[Value]
) -> tuple[list[Operation], list[Value]]:
    """Return the operations that compute some values from known ones, in order, and the values that
    they do not compute.
    """
    needed = dict.fromkeys(wanted)
    found: list[Operation] = []
    for operation in reversed(members):
        (result,) = operation.results
        if result in needed and result not in known:
            found.append(operation)
            needed |= dict.fromkeys(operation.operands)
    made = {o.results[0] for o in found}
    return found[::-1], [x for x in needed if x not in made]
