"""Clusters of operations on few elements, outside of loops, as single kernels.

IREE fuses consecutive elementwise operations into a kernel, compiles and launches it. A random
number takes a dozen launches of a microsecond and more each, for nanoseconds of work.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import accumulate, groupby
from math import prod

import numpy as np

from irax_compiler import mlir
from irax_compiler.effects import remove_dead_operations
from irax_compiler.mlir import Block, InsertionPoint, Operation, Value, dtype_of, shape_of
from irax_compiler.ops import comparison, conversion, registers
from irax_compiler.ops.barrier import barrier
from irax_compiler.ops.core import Recomputation, zeros_like
from irax_compiler.ops.dot import DotGeneral
from irax_compiler.ops.formulas import is_formula
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.core import ancestor_in, inputs, nested, users_in, walk
from irax_compiler.passes.kernels.loops import blocks, kernels, vectors
from irax_compiler.passes.kernels.loops.fusion import REGISTERS, WORTHWHILE, is_large
from irax_compiler.passes.kernels.loops.memory import is_plain

MOST = 1024
"""The most operations of a kernel."""
MULTIPLICATIONS = 32
"""The multiplications of a product that take as long to compile as another operation."""

Kernel = Callable[[Sequence[Operation], Sequence[Value], Sequence[Value]], list[Value]]
"""Makes a kernel of operations, the values they take, and those of their results that others
use."""


def gather_in_kernels(block: Block) -> None:
    """Move operations of a block on few elements into kernels, as few as the other operations,
    which use their results and compute their operands, allow.
    """
    remove_dead_operations(block)
    for cluster in _clusters(block, _is_small, _is_worthwhile):
        for part in _parts(cluster):
            _gather(part, kernels.of_operations)
    for elements in _long(block):
        for cluster in _clusters(block, partial(_is_of, elements), kernels.is_long):
            for part in _parts(cluster):
                _gather(part, kernels.of_arrays)


def _gather(cluster: Sequence[Operation], kernel: Kernel) -> None:
    """Make a kernel of a cluster, or several if one would have too many arrays."""
    cluster = _with_bytes(cluster)
    while cluster:
        count = _fitting(cluster, kernel)
        part, cluster = cluster[: max(count, 1)], cluster[max(count, 1) :]
        if len(part) >= WORTHWHILE // 2 or kernels.is_long(part) or any(map(_is_loop, part)):
            _put_in_kernel(part, kernel)


def _with_bytes(cluster: Sequence[Operation]) -> Sequence[Operation]:
    """Return a cluster that computes its booleans as bytes for others, if these would otherwise
    compute as many operations again as make a kernel: IREE takes long for their chains.
    """
    if sum(not _is_free(o) for o in _given(cluster)[1]) < WORTHWHILE:
        return cluster
    inside = set(cluster)
    truths = [x for o in cluster for x in o.results if _is_truth(x) and _is_used_outside(x, inside)]
    block = cluster[-1].block
    bytes_: list[Value] = []
    with InsertionPoint.after(cluster[-1]), cluster[-1].location:
        for x in truths:
            uses = [use for use in x.uses if ancestor_in(block, use.owner) not in inside]
            byte = conversion.convert(x, np.dtype(np.int8))
            truth = comparison.not_equal(byte, zeros_like(byte))
            for use in uses:
                use.owner.operands[use.operand_number] = truth
            bytes_.append(byte)
    return [*cluster, *filter(None, map(mlir.definition, bytes_))]


def _fitting(cluster: Sequence[Operation], kernel: Kernel) -> int:
    """Return the number of leading operations of a cluster for which a kernel can bind all
    arrays.
    """

    def too_many(count: int) -> bool:
        part = cluster[:count]
        return kernels.too_many(_taken(part), _results(kernel, _given(part)[0]))

    if not too_many(len(cluster)):
        return len(cluster)
    end = min(WORTHWHILE, len(cluster))
    while end < len(cluster) and not too_many(end):
        end = min(2 * end, len(cluster))
    return bisect_left(range(1, end), True, key=too_many)


def _put_in_kernel(cluster: Sequence[Operation], kernel: Kernel) -> None:
    taken, (given, after) = _taken(cluster), _given(cluster)
    if not given:
        return
    with InsertionPoint(cluster[0]), cluster[0].location:
        results = kernel(cluster, taken, given)
        outside = dict(zip(given, results, strict=True))
        for operation in after:
            mlir.copy(operation, outside)
    for old, new in outside.items():
        old.replace_all_uses_with(new)
    for operation in reversed(cluster):
        operation.erase()


def _results(kernel: Kernel, given: Sequence[Value]) -> int:
    """Return the number of arrays that a kernel returns."""
    return len(given if kernel is kernels.of_arrays else {dtype_of(x) for x in given})


# ---- which operations ----------------------------------------------------------------------------


def _clusters(
    block: Block,
    is_taken: Callable[[Operation], bool],
    is_worthwhile: Callable[[Sequence[Operation]], bool],
) -> list[list[Operation]]:
    """Return clusters of operations that can be one kernel, for which the block is sorted so that
    they are consecutive.
    """
    operations = list(walk(block))
    counting = _counting(operations)
    small = [o not in counting and is_taken(o) for o in operations]
    levels = _levels(operations, small)
    found: dict[int, list[Operation]] = {}
    for operation, is_small, level in zip(operations, small, levels, strict=True):
        if is_small:
            found.setdefault(level, []).append(operation)
    clusters = [found[level] for level in sorted(found) if is_worthwhile(found[level])]
    if clusters:
        last = mlir.terminator(block)
        for operation in _with_clusters_together(operations, clusters):
            operation.move_before(last)
    return clusters


def _parts(cluster: Sequence[Operation]) -> list[Sequence[Operation]]:
    """Divide a cluster into parts with a short compile time, which more than doubles with twice the
    operations.
    """
    sizes = accumulate(_size(o) + sum(map(_size, nested(o))) for o in cluster)
    numbered = groupby(zip(cluster, sizes, strict=True), lambda pair: pair[1] // MOST)
    return [[operation for operation, _ in part] for _, part in numbered]


def _size(operation: Operation) -> int:
    """Return how many operations one counts for: the code of a product has its multiplications one
    by one, and what LLVM does for it more than doubles with twice as many.
    """
    if operation.name == DotGeneral.name:
        return 1 + vectors.work(operation) // MULTIPLICATIONS
    return 1


def _is_worthwhile(cluster: Sequence[Operation]) -> bool:
    is_much = sum(not _is_free(o) for o in cluster) >= WORTHWHILE
    return is_much or kernels.is_long(cluster) or any(map(_is_loop, cluster))


def _is_loop(operation: Operation) -> bool:
    return operation.name == "stablehlo.while"


def _long(block: Block) -> list[int]:
    """Return the sizes of arrays, too large for registers, for which there are enough formulas."""
    found: dict[int, list[Operation]] = {}
    for operation in walk(block):
        if is_formula(operation):
            found.setdefault(prod(shape_of(operation.results[0])), []).append(operation)
    large = {n: formulas for n, formulas in found.items() if n > REGISTERS}
    return [n for n, formulas in large.items() if kernels.is_long(formulas)]


def _levels(operations: Sequence[Operation], small: Sequence[bool]) -> list[int]:
    """Return a level for each operation: the small operations of a level can run together, after
    the others of the level and before those of higher ones.
    """
    ready: dict[bool, dict[Value, int]] = {True: {}, False: {}}
    """The least level of a small (True) or another (False) user of each value."""
    levels = []
    for operation, is_small in zip(operations, small, strict=True):
        level = max((ready[is_small].get(x, 0) for x in inputs(operation)), default=0)
        levels.append(level)
        ready[True].update(dict.fromkeys(operation.results, level))
        ready[False].update(dict.fromkeys(operation.results, level + is_small))
    return levels


def _with_clusters_together(
    operations: Sequence[Operation], clusters: Sequence[Sequence[Operation]]
) -> list[Operation]:
    """Return operations in an order in which those of each cluster are consecutive; a cluster uses
    results of earlier ones alone. Others stay behind the clusters that precede them, unless a
    cluster needs their results: what is made early is in memory for long.
    """
    number = {o: n for n, cluster in enumerate(clusters) for o in cluster}
    least: list[int] = []
    """For each operation, the number of the first cluster that it may precede."""
    behind: list[int] = []
    ready: dict[Value, int] = {}
    before = 0
    for operation in operations:
        own = number.get(operation)
        place = max((ready.get(x, 0) for x in inputs(operation)), default=0) if own is None else own
        ready.update(dict.fromkeys(operation.results, place + (own is not None)))
        before = before if own is None else max(before, own + 1)
        least.append(place)
        behind.append(before)
    needed: dict[Value, int] = {}
    for i, operation in reversed(list(enumerate(operations))):
        if operation not in number:
            latest = min((needed[x] for x in operation.results if x in needed), default=before)
            least[i] = max(least[i], min(behind[i], latest))
        for x in inputs(operation):
            needed[x] = min(needed.get(x, least[i]), least[i])
    indices = range(len(operations))
    order = sorted(indices, key=lambda i: (least[i], operations[i] in number))
    return [operations[i] for i in order]


def _is_free(operation: Operation) -> bool:
    return traits_of(operation).recomputation is Recomputation.FREE


def _is_apart(operation: Operation) -> bool:
    """True if an operation is in no kernel of elementwise ones: a constant, a barrier, a loop or a
    branch.
    """
    traits = traits_of(operation)
    return traits.is_constant or traits.captures or operation.name == barrier.name


def _is_small(operation: Operation) -> bool:
    if _is_loop(operation):
        # A boolean that a kernel returns is computed again outside.
        is_boolean = any(_is_truth(x) and mlir.num_uses(x) for x in operation.results)
        return not is_boolean and kernels.is_of_registers(operation)
    values = [*operation.operands, *operation.results]
    if _is_apart(operation) or not all(map(is_plain, values)):
        return False
    if blocks.is_indexed(operation):  # which takes LLVM longer than IREE
        return False
    if any(map(is_large, values)):
        return False
    return all(blocks.is_known(o) for o in (operation, *nested(operation)))


def _is_of(elements: int, operation: Operation) -> bool:
    """True if an operation is elementwise on scalars and arrays of the given number of elements."""
    values = [*operation.operands, *operation.results]
    if _is_apart(operation) or not all(map(is_plain, values)):
        return False
    sizes = [prod(shape_of(x)) for x in operation.operands]
    if any(prod(shape_of(x)) != elements for x in operation.results) or not operation.results:
        return False
    if operation.name == "stablehlo.broadcast_in_dim":
        return sizes == [1]
    if operation.name == "stablehlo.iota" or not set(sizes) <= {1, elements}:
        return False
    is_elementwise = is_formula(operation) or registers.is_known(operation)
    is_one = is_elementwise or operation.name in ("stablehlo.map", "stablehlo.reshape")
    return is_one and all(blocks.is_known(o) for o in (operation, *nested(operation)))


def _counting(operations: Iterable[Operation]) -> set[Operation]:
    """Return the operations that compute integers from loop counters alone, which the host does."""
    found: set[Operation] = set()
    for operation in operations:
        values = [*operation.operands, *operation.results]
        if all(shape_of(x) == () and dtype_of(x).kind in "iub" for x in values) and all(
            (mlir.is_argument(x) and mlir.owner_name(x) == "stablehlo.while")
            or kernels.is_constant(x)
            or mlir.definition(x) in found
            for x in operation.operands
        ):
            found.add(operation)
    return found


# ---- what goes in and out ------------------------------------------------------------------------


def _taken(cluster: Sequence[Operation]) -> list[Value]:
    """Return the values that operations use and do not compute, except constants."""
    made = {x for o in cluster for x in o.results}
    used = [x for o in cluster for x in _used(o)]
    return [x for x in dict.fromkeys(used) if x not in made and not kernels.is_constant(x)]


def _given(cluster: Sequence[Operation]) -> tuple[list[Value], list[Operation]]:
    """Return a cluster's values that others use, and the users to be kept outside: reshapes,
    broadcasts and comparisons, which cost nothing there. IREE cannot return from a kernel values
    that depend on constants alone, nor booleans that become bytes again.
    """
    inside, fixed = set(cluster), _fixed(cluster)
    given: list[Value] = []
    after: list[Operation] = []
    needed: set[Value] = set()
    for operation in reversed(cluster):
        found = [x for x in operation.results if x in needed or _is_used_outside(x, inside)]
        if _is_free(operation) or operation in fixed or any(map(_is_truth, found)):
            if found:
                after.append(operation)
                needed.update(_used(operation))
        else:
            given += found
    return given[::-1], after[::-1]


def _fixed(cluster: Sequence[Operation]) -> set[Operation]:
    """Return the operations that depend on constants alone."""
    found: set[Operation] = set()
    for operation in cluster:
        if all(kernels.is_constant(x) or mlir.definition(x) in found for x in _used(operation)):
            found.add(operation)
    return found


def _is_truth(x: Value) -> bool:
    return dtype_of(x) == np.bool_


def _used(operation: Operation) -> list[Value]:
    return [*operation.operands, *(mlir.captured(operation) if operation.regions else ())]


def _is_used_outside(x: Value, inside: set[Operation]) -> bool:
    source = mlir.definition(x)
    assert source is not None
    return any(user not in inside for user in users_in(source.block, x))
