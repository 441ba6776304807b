"""Legalizations of sort."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.importing import deferred
from irax_compiler.mlir import Operation, Value, dtype_of, inexact, shape_of
from irax_compiler.ops import barrier, bitwise, comparison, conversion, elementwise, shape, slicing
from irax_compiler.ops.core import dtype_of_places, full, full_like
from irax_compiler.ops.formula import Number, is_negative, where
from irax_compiler.ops.reductions.reduce import Reduce
from irax_compiler.ops.registry import read
from irax_compiler.ops.sorting import sort
from irax_compiler.ops.sorting.sort import SortBy
from irax_compiler.passes.core import enclosing
from irax_compiler.passes.host.host import host_call
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.legalize.numerics import narrow_floats
from irax_compiler.passes.rewriting import read_as
from irax_compiler.sizes import at_least

if TYPE_CHECKING:
    from irax_compiler.passes.kernels.moves import ranks, selection
else:
    ranks, selection = deferred("irax_compiler.passes.kernels.moves", "ranks", "selection")


@legalizes("stablehlo.sort", kind="bug", of="IREE")
def sort_of_repeated_operands(operation: Operation) -> Sequence[Value] | None:
    """Sort an operand that is given twice only once: IREE cannot compile such a sort."""
    operands = list(operation.operands)
    once = list(dict.fromkeys(operands))
    op = read_as(sort.Sort, operation)
    if op is None or len(once) == len(operands):
        return None
    num_keys = len(set(operands[: op.order.num_keys]))
    results = replace(op, order=replace(op.order, num_keys=num_keys)).build(once)
    return [results[once.index(x)] for x in operands]


@legalizes("stablehlo.sort", kind="bug", of="IREE")
def total_order_of_narrow(operation: Operation) -> Sequence[Value] | None:
    """Sort narrow floats by their bits: IREE loses the sign of nan in their comparison. The nan of
    some has the bits of a negative zero, which would come before positive numbers.
    """
    op = read_as(sort.Sort, operation)
    operands = list(operation.operands)
    if op is None:
        return None
    keys = [dtype_of(x) for x in operands[: op.order.num_keys]]
    if not any(map(_is_narrow if op.order.total else _has_other_nans, keys)):
        return None
    keys = operands[: op.order.num_keys]
    unsigned = [key for x in keys for key in keys_of(x, op.order)]
    order = sort.Order(len(unsigned))
    results = sort.Sort(op.dimension, op.is_stable, order).build([*unsigned, *operands])
    return results[len(unsigned) :]


@legalizes("stablehlo.sort", kind="bug", of="IREE")
def stable_sort(operation: Operation) -> Sequence[Value] | None:
    """Make the indices of elements the last key: IREE's sort is not stable."""
    op = read_as(sort.Sort, operation)
    operands = list(operation.operands)
    if op is None or not (op.is_stable or _seems_top_k(op, operands)):
        return None
    num_keys, ascending = op.order.num_keys, op.order.direction == "LT"
    keyed = sort.Sort(op.dimension, False, replace(op.order, num_keys=num_keys + 1))
    dimension = op.dimension % _rank(operands[0])
    extents = shape_of(operands[0])
    iota = shape.Iota(extents, dtype_of_places(extents[dimension]), dimension)
    there = [i for i, x in enumerate(operands) if ascending and _counts(x, dimension)]
    if there and there[0] < num_keys:
        return replace(op, is_stable=False).build(operands)
    if there:
        # As in an argsort: IREE could not compile the same numbers twice.
        order = [*range(num_keys), there[0]]
        order += [i for i in range(num_keys, len(operands)) if i != there[0]]
        results = keyed.build([operands[i] for i in order])
        return [results[order.index(i)] for i in range(len(operands))]
    places = iota()
    if not ascending:
        places = elementwise.subtract(full_like(places, 0), places)
    results = keyed.build([*operands[:num_keys], places, *operands[num_keys:]])
    return [*results[:num_keys], *results[num_keys + 1 :]]


def _seems_top_k(op: sort.Sort, operands: Sequence[Value]) -> bool:
    """True where IREE makes a sort chlo.top_k, whose places are int32 alone, and they are not."""
    if op.order.num_keys != 1 or op.order.direction != "GT" or len(operands) != 2:
        return False
    places = operands[1]
    return dtype_of(places) != np.int32 and _counts(places, op.dimension % _rank(places))


def _rank(x: Value) -> int:
    return len(shape_of(x))


def _counts(x: Value, dimension: int) -> bool:
    """True for an iota along a dimension whose integers are large enough for all indices."""
    operation, dtype = mlir.definition(x), dtype_of(x)
    if operation is None or dtype.kind not in "iu":
        return False
    iota = shape.Iota(shape_of(x), dtype, dimension)
    is_one = read_as(shape.Iota, operation) == iota
    return is_one and at_least(np.iinfo(dtype).max, shape_of(x)[dimension] - 1)


MOST_BOUND = 31
"""The most operands and keys: one of the 32 arrays that IREE binds to a kernel is left for
indices."""

_FEW_KEYS = MOST_BOUND // 2


@legalizes("stablehlo.sort", kind="missing", of="IREE")
def sort_of_many(operation: Operation) -> Sequence[Value] | None:
    """Sort the indices by a few keys at a time, the first ones last, and gather all operands by
    them: IREE sorts no more arrays than it binds to a kernel.
    """
    op = read_as(sort.Sort, operation)
    operands = list(operation.operands)
    num_keys = 0 if op is None else op.order.num_keys
    if op is None or len(operands) + num_keys <= MOST_BOUND or 0 in shape_of(operands[0]):
        return None
    order = sort.numbers_along(operands[0], op.dimension)
    for first in reversed(range(0, num_keys, _FEW_KEYS)):
        keys = operands[first : min(first + _FEW_KEYS, num_keys)]
        if first + _FEW_KEYS < num_keys:
            keys = [sort.take(x, order, op.dimension) for x in keys]
        by_keys = sort.Sort(op.dimension, True, replace(op.order, num_keys=len(keys)))
        *_, order = by_keys.build([*keys, order])
    return [sort.take(x, order, op.dimension) for x in operands]


@legalizes("stablehlo.sort", kind="missing", of="IREE")
def sort_by_comparator(operation: Operation) -> Sequence[Value] | None:
    """Sort by a comparator that is none of keys by comparing all pairs: an element's position is
    the number of elements before it. IREE's sort is not stable, and takes 31 arrays at most.
    """
    op = read_as(SortBy, operation)
    operands = list(operation.operands)
    if op is None or 0 in shape_of(operands[0]):
        return None
    if not op.is_stable and len(operands) <= MOST_BOUND:
        return None
    dimension = op.dimension % _rank(operands[0])
    own, others = ([_in_square(x, dimension, n) for x in operands] for n in (1, 0))
    goes_before, goes_after = (
        op.before(
            *[x for pair in zip(*pairs, strict=True) for x in pair][: op.before.num_arguments]
        )
        for pairs in ((others, own), (own, others))
    )
    numbers = sort.numbers_along(operands[0], dimension)
    is_first = comparison.less(_in_square(numbers, dimension, 0), _in_square(numbers, dimension, 1))
    is_tie = bitwise.and_(bitwise.not_(*goes_after), is_first)
    before = conversion.convert(bitwise.or_(*goes_before, is_tie), np.dtype(np.int32))
    places = Reduce("add", (dimension + 1,))(before, full((), 0, np.dtype(np.int32)))
    _, order = sort.Sort(dimension, False, sort.Order(1)).build([places, numbers])
    return [sort.take(x, order, dimension) for x in operands]


def _in_square(x: Value, dimension: int, added: int) -> Value:
    """Repeat an array along a dimension that is added before (0) or after (1) another one."""
    extents = shape_of(x)
    kept = [d + (d >= dimension + added) for d in range(len(extents))]
    square = (*extents[: dimension + 1], *extents[dimension:])
    return shape.BroadcastInDim(square, tuple(kept))(x)


@legalizes("stablehlo.sort", kind="bug", of="IREE")
def sort_of_constant(operation: Operation) -> Sequence[Value] | None:
    """Put a barrier behind a constant that is sorted: IREE sorts in place, and cannot compile that
    for a constant.
    """
    op = read(operation)
    operands = list(operation.operands)
    fixed = [x for x in operands if mlir.splat(x) is None and _is_constant(x)]
    if not fixed:
        return None
    apart = dict(zip(fixed, barrier.barrier.build(fixed), strict=True))
    return op.build([apart.get(x, x) for x in operands])


def _is_constant(x: Value) -> bool:
    operation = mlir.definition(x)
    return operation is not None and operation.name == shape.Constant.name


# ---- on the host ---------------------------------------------------------------------------------

HOST_SORT_LENGTH = 64
"""The length of rows from which IREE's sort, which compares all pairs, is slower than NumPy's."""


@legalizes("stablehlo.sort", kind="slow", of="IREE", reproduction="sort_on_host")
def first_of_sorted(operation: Operation) -> Mapping[Value, Value] | None:
    """Find only the first few elements of sorted rows, where no others are read: by a kernel, or
    by NumPy where they are many or wide. Both return their indices, by which all operands are then
    gathered.
    """
    op = read_as(sort.Sort, operation)
    operands = list(operation.operands)
    extents = shape_of(operands[0])
    if op is None or 0 in extents or extents[op.dimension] < HOST_SORT_LENGTH:
        return None
    dimension = op.dimension % len(extents)
    readers = _readers(operation, dimension)
    if not readers or op.order.num_keys > 1 or dtype_of(operands[0]).kind == "c":
        return None
    count = max(shape_of(reader.results[0])[dimension] for _, reader in readers)
    order = _first(operands[0], op.order, dimension, count)
    first: dict[Value, Value] = {}
    for number, reader in readers:
        found = _taken(operands[number], order, dimension)
        length = shape_of(reader.results[0])[dimension]
        first[reader.results[0]] = slicing.slice_in_dim(found, 0, length, dimension)
    return first


def _taken(x: Value, order: Value, dimension: int) -> Value:
    """Take elements along a dimension; those of places there are the places that are asked for."""
    source = mlir.definition(x)
    op = None if source is None else read_as(shape.Iota, source)
    if op is not None and op.iota_dimension == dimension:
        return conversion.convert(order, op.dtype)
    return sort.take(x, order, dimension)


def _first(x: Value, order: sort.Order, dimension: int, count: int) -> Value:
    """Return the places of the first elements in an order."""
    extents = shape_of(x)
    pays = dimension == len(extents) - 1 and selection.pays(extents[dimension], count)
    if pays and dtype_of(x) in selection.KNOWN:
        return selection.first_places(x, count, order)
    (key,) = keys_of(x, order)
    if pays and dtype_of(key).itemsize <= 4:
        return selection.first_places(key, count)
    sizes = (*extents[:dimension], count, *extents[dimension + 1 :])
    type_ = mlir.tensor_type(sizes, dtype_of_places(extents[dimension]))
    return host_call("first", [key], [type_], dimension=dimension, count=count)[0]


def _readers(operation: Operation, dimension: int) -> list[tuple[int, Operation]]:
    """Return the slices of the first elements along a dimension, less than half of them, with the
    numbers of the results that they slice; none if a result is read in any other way.
    """
    found = []
    for number, result in enumerate(operation.results):
        extents = shape_of(result)
        for use in result.uses:
            reader: Any = use.owner
            op = read_as(slicing.Slice, reader.operation)
            if op is None or any(op.start_indices) or set(op.strides) != {1}:
                return []
            shorter = [d for d, n in enumerate(op.limit_indices) if n < extents[d]]
            count = op.limit_indices[dimension]
            if shorter != [dimension] or not 0 < 2 * count < extents[dimension]:
                return []
            found.append((number, reader.operation))
    return found


MANY_PAIRS = 2048
"""The pairs of elements, in all rows, from which a kernel orders short rows faster than IREE."""


@legalizes("stablehlo.sort", kind="slow", of="IREE", reproduction="sort_on_host")
def sort_of_short_rows(operation: Operation) -> Sequence[Value] | None:
    """Order short rows by a kernel that compares vectors: IREE compares pairs of elements, and
    takes twenty times as long. Where only the order is wanted, as in an argsort, it needs a copy of
    the numbers of elements, too, in which it sorts them.
    """
    op = read_as(sort.Sort, operation)
    operands = list(operation.operands)
    extents = shape_of(operands[0])
    if op is None or op.order.num_keys > 1 or dtype_of(operands[0]).kind == "c":
        return None
    dimension, length = op.dimension % len(extents), extents[op.dimension]
    is_in_loop = any(o.name == "stablehlo.while" for o in enclosing(operation))
    is_argsort = _is_argsort(operation, dimension) and not is_in_loop
    least = 1 if is_argsort else MANY_PAIRS
    if length >= HOST_SORT_LENGTH or prod(extents) * length < least:
        return None
    (key,) = keys_of(operands[0], op.order)
    turn = [d for d in range(len(extents)) if d != dimension] + [dimension]
    order = shape.transpose(ranks.order(shape.transpose(key, turn)), np.argsort(turn).tolist())
    return [
        conversion.convert(order, dtype_of(x))
        if _counts(x, dimension)
        else sort.take(x, order, dimension)
        for x in operands
    ]


def _is_argsort(operation: Operation, dimension: int) -> bool:
    """True if nothing is read but the sorted numbers of the elements."""
    pairs = zip(operation.operands, operation.results, strict=True)
    return all(_counts(x, dimension) or not mlir.num_uses(y) for x, y in pairs)


@legalizes("stablehlo.sort", kind="slow", of="IREE")
def sort_on_host(operation: Operation) -> Sequence[Value] | None:
    """Sort long rows by NumPy, as IREE's sort takes quadratic time: numbers themselves, and other
    elements by indices that are sorted with the keys.
    """
    op = read_as(sort.Sort, operation)
    operands = list(operation.operands)
    extents = shape_of(operands[0])
    if op is None or 0 in extents or extents[op.dimension] < HOST_SORT_LENGTH:
        return None
    if len(operands) == 1 and dtype_of(operands[0]).kind != "c" and not op.order.total:
        return [_sorted(operands[0], op)]
    return taken_in_order(op, operands, _order)


def taken_in_order(
    op: sort.Sort, operands: Sequence[Value], order: Callable[[Sequence[Value], int], Value]
) -> list[Value]:
    """Sort operands by indices, which a function orders by keys along a dimension."""
    keys = [key for x in operands[: op.order.num_keys] for key in keys_of(x, op.order)]
    indices = order(keys, op.dimension % _rank(operands[0]))
    return [sort.take(x, indices, op.dimension) for x in operands]


def _sorted(x: Value, op: sort.Sort) -> Value:
    dtype = dtype_of(x)
    dimension = op.dimension % _rank(x)
    if dtype == np.bool_:
        x = conversion.convert(x, np.dtype(np.uint8))
    elif _is_narrow(dtype):
        x = conversion.convert(x, np.dtype(np.float32))
    turn = slicing.Reverse((dimension,)) if op.order.direction == "GT" else lambda y: y
    (result,) = host_call("sort", [turn(x)], [x.type], dimension=dimension)
    return conversion.convert(turn(result), dtype)


def keys_of(x: Value, order: sort.Order) -> list[Value]:
    """Return unsigned numbers whose order is the wanted order of the elements."""
    dtype = dtype_of(x)
    if dtype.kind == "c":
        parts = [mlir.emit(f"stablehlo.{part}", [x]).results[0] for part in ("real", "imag")]
        return [key for part in parts for key in keys_of(part, order)]
    if dtype == np.bool_:
        key = Number(conversion.convert(x, np.dtype(np.uint8)))
    elif inexact(dtype):
        key = _float_key(x, order.total)
    else:
        key = Number(x)
        if dtype.kind == "i":
            key = key.bits(f"u{dtype.itemsize}") ^ (1 << (8 * dtype.itemsize - 1))
    return [(~key if order.direction == "GT" else key).value]


def _float_key(x: Value, total: bool) -> Number:
    number = Number(x)
    if not total:  # one nan and one zero
        if _is_narrow(number.dtype):
            number = number.to(np.float32)
        number = where(number.equals(0), 0, number)
        number = where(number.equals(number), number, np.nan)
    sign = 1 << (8 * number.dtype.itemsize - 1)
    bits = number.bits(f"u{number.dtype.itemsize}")
    below = ~bits
    if not comparison.has_negative_zero(number.dtype):
        below = where(bits.equals(sign), 0, below + 1)
    return where(is_negative(number), below, bits | sign)


def _order(keys: Sequence[Value], dimension: int) -> Value:
    """Return the indices of the elements in the order of the keys, and of the indices for equal
    keys.
    """
    extents = shape_of(keys[0])
    int32, uint64 = np.dtype(np.int32), np.dtype(np.uint64)
    if sum(8 * dtype_of(key).itemsize for key in keys) > 32:
        type_ = mlir.tensor_type(extents, int32)
        return host_call("argsort", keys, [type_], dimension=dimension)[0]
    # Keys and place in one number, which NumPy sorts twice as fast as it finds an order.
    packed = Number(shape.Iota(extents, uint64, dimension)())
    shift = 32
    for key in reversed(keys):
        packed = packed | (Number(key).to(uint64) << shift)
        shift += 8 * dtype_of(key).itemsize
    (result,) = host_call("sort", [packed.value], [packed.value.type], dimension=dimension)
    return (Number(result) & 0xFFFFFFFF).to(int32).value


def _has_other_nans(dtype: np.dtype) -> bool:
    """True for floats with a nan that has the bits of -0, or that IREE takes for a number."""
    return dtype.name.endswith("fnuz") or dtype == narrow_floats.E4M3FN


def _is_narrow(dtype: np.dtype) -> bool:
    return inexact(dtype) and dtype.itemsize < 4
