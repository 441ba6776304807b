"""Sorting along a dimension: the sort of any number of operands by the first ones, its keys.

Keys are ordered as JAX and NumPy order them: nan comes after all numbers, and -0 equals 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cmp_to_key
from itertools import permutations
from math import ceil, log2, prod
from typing import Any, ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.dtypes import is_of_numpy
from irax_compiler.mlir import Operation, Value, dtype_of, inexact, shape_of
from irax_compiler.ops import comparison, shape
from irax_compiler.ops.attributes import FLAG, I64, attribute, from_operation
from irax_compiler.ops.computation import Computation
from irax_compiler.ops.core import Axis, Memory, Op, Tangent, dtype_of_places, full, full_like
from irax_compiler.ops.indexing import gather_scatter
from irax_compiler.ops.reductions import window_shapes
from irax_compiler.ops.registry import read, register_class
from irax_compiler.ops.sharding_rule import Shape, ShardingRule, same_along
from irax_compiler.ops.transformation import Batching, Differentiation, Evaluation


@dataclass(frozen=True)
class Order:
    """The order of a sort."""

    num_keys: int = 1
    """The number of keys: the first operands, each of which breaks the ties of the ones before."""
    direction: str = "LT"
    """The direction. "LT": ascending. "GT": descending, in which nan comes first."""
    total: bool = False
    """True for IEEE 754's total order of floats, in which -nan comes first and -0 before 0."""


@register_class
@dataclass(frozen=True)
class Sort(Op):
    """The operands, all of one shape, in the order of the first of them."""

    name = "stablehlo.sort"
    superlinear = True
    needs_whole = True
    updates = True
    memory = Memory.FRESH
    num_results: ClassVar[int] = -1  # as many as operands
    dimension: int = attribute(I64, default=-1)
    is_stable: bool = attribute(FLAG, default=False)
    order: Order = from_operation(lambda operation: _read_order(operation))

    @classmethod
    def flops(cls, operation: Operation) -> float:
        extents = shape_of(operation.operands[0])
        along: Any = operation.attributes["dimension"]
        return prod(extents) * ceil(log2(max(extents[along.value], 1)))

    @classmethod
    def read(cls, operation: Operation) -> Op:
        try:
            return super().read(operation)
        except _UnreadableError:
            return SortBy.read(operation)

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        types = [x.type for x in operands]
        operation = mlir.emit(self.name, operands, self.attributes(), types, regions=1)
        scalars = [mlir.tensor_type((), dtype_of(x)) for x in operands for _ in range(2)]
        block = mlir.Block.create_at_start(operation.regions[0], scalars)
        with mlir.InsertionPoint(block):
            before = _comparator(list(block.arguments), self.order)
            mlir.emit("stablehlo.return", [before], results=[])
        return tuple(operation.results)

    def precedes(self, pairs: Sequence[Value]) -> Value:
        """Return where elements go before others; arrays 2i and 2i + 1 are of operand i."""
        return _comparator(pairs, self.order)

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Sequence[np.ndarray]:
        axis = self.dimension
        dtype = operands[0].dtype
        is_ordered = is_of_numpy(dtype) and dtype.kind != "c" and not self.order.total
        if len(operands) == 1 and is_ordered:
            return (self._sorted(operands[0]),)
        if self.order.direction == "GT":
            # Turned around before and after, so that ties keep their order.
            operands = tuple(np.flip(x, axis) for x in operands)
        keys = [k for x in operands[: self.order.num_keys] for k in self._keys(x)]
        if len(keys) == 1:
            order = np.argsort(keys[0], axis, kind="stable" if self.is_stable else None)
        else:
            order = np.lexsort(keys[::-1], axis)
        order = _with_other_axes(order, axis)
        results = (x[order] for x in operands)
        if self.order.direction == "GT":
            return tuple(np.flip(x, axis) for x in results)
        return tuple(results)

    def _sorted(self, x: np.ndarray) -> np.ndarray:
        """Sort values without other operands: only zeros can be equal and distinguishable."""
        descending = self.order.direction == "GT"
        if descending:
            x = np.flip(x, self.dimension)
        mixed = False
        if self.is_stable and x.dtype.kind == "f" and np.count_nonzero(x) < x.size - 1:
            zeros = np.signbit(x[x == 0])
            mixed = zeros.any() and not zeros.all()
        result = np.sort(x, self.dimension, kind="stable" if mixed else None)
        return np.flip(result, self.dimension) if descending else result

    def _keys(self, x: np.ndarray) -> list[np.ndarray]:
        """Arrays by which NumPy's sort orders `x` as this op does."""
        if x.dtype.kind == "c":
            return [key for part in (np.real(x), np.imag(x)) for key in self._keys(part)]
        if self.order.total and inexact(x.dtype):
            return [comparison.total_order_key(x)]
        if not is_of_numpy(x.dtype):  # such as bfloat16 and int4, whose order NumPy doesn't know
            return [x.astype(np.float32)]
        return [x]

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        """Sorts numbers along with the operands, and takes the tangents in the order they get."""
        if 0 in shape_of(primals[0]):
            return self.build(primals), tangents
        *results, order = self.build([*primals, numbers_along(primals[0], self.dimension)])
        return results, [None if t is None else take(t, order, self.dimension) for t in tangents]

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        rank = len(results[0])
        sorted_along = self.dimension % rank
        kept = [d for d in range(rank) if d != sorted_along]
        return same_along(kept, operands, results, [sorted_along], stated=True)

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        operands, axis = shape.align(transform.size, operands, axes)
        rank = len(shape_of(operands[0])) - 1
        dimension = self.dimension % rank
        wider = Sort(dimension + (dimension >= axis), self.is_stable, self.order)
        return wider.build(operands), [axis] * len(operands)


def _with_other_axes(order: np.ndarray, axis: int) -> tuple[np.ndarray, ...]:
    """Return a NumPy index that takes elements along an axis in the given order, as
    `np.take_along_axis` does, in less time.
    """
    axis %= order.ndim
    return tuple(
        order if d == axis else np.arange(n).reshape((-1,) + (1,) * (order.ndim - d - 1))
        for d, n in enumerate(order.shape)
    )


def numbers_along(x: Value, dimension: int) -> Value:
    """0, 1, 2, ... along a dimension, in the shape of an array."""
    extents = shape_of(x)
    d = dimension % len(extents)
    return shape.Iota(extents, dtype_of_places(extents[d]), d)()


def take(x: Value, order: Value, dimension: int) -> Value:
    """The elements along a dimension in the order of an array of their numbers."""
    if 0 in shape_of(order):
        return full(shape_of(order), 0, dtype_of(x))
    rank = len(shape_of(x))
    dimension %= rank
    others = tuple(d for d in range(rank) if d != dimension)
    dims = window_shapes.WindowDims(
        collapsed_dims=(dimension,),
        operand_batching_dims=others,
        indices_batching_dims=others,
        index_map=(dimension,),
        index_vector_dim=rank,
    )
    return gather_scatter.Gather(dims, (1,) * rank, indices_are_sorted=False)(x, order)


# ---- the comparator ------------------------------------------------------------------------------


def _comparator(arguments: Sequence[Value], order: Order) -> Value:
    """Build the comparison of two elements; arguments 2i and 2i + 1 are of operand i."""
    pairs = []
    for i in range(order.num_keys):
        pairs += zip(*(_sides(x, order) for x in arguments[2 * i : 2 * i + 2]), strict=True)
    *earlier, (x, y) = pairs
    before = _compare(order.direction, x, y)
    for x, y in reversed(earlier):
        rest = mlir.emit("stablehlo.and", [_compare("EQ", x, y), before]).results[0]
        before = mlir.emit("stablehlo.or", [_compare(order.direction, x, y), rest]).results[0]
    return before


def _sides(x: Value, order: Order) -> list[Value]:
    """Return the keys of one element: a complex number is compared by its real, then by its
    imaginary part.
    """
    if dtype_of(x).kind == "c":
        parts = (mlir.emit(f"stablehlo.{part}", [x]).results[0] for part in ("real", "imag"))
        return [side for part in parts for side in _sides(part, order)]
    if order.total or not inexact(dtype_of(x)) or not comparison.has_sign(dtype_of(x)):
        return [x]
    # In the total order with one nan and one zero, nan comes last and -0 equals 0.
    zero, nan = full_like(x, 0), full_like(x, np.nan)
    one_zero = comparison.select(comparison.equal(x, zero), zero, x)
    return [comparison.select(comparison.not_equal(x, x), nan, one_zero)]


def _compare(direction: str, x: Value, y: Value) -> Value:
    return comparison.Compare(direction, "TOTALORDER" if inexact(dtype_of(x)) else None)(x, y)


class _UnreadableError(Exception):
    """A comparator, or a part of it, has none of the forms that are known."""


@dataclass(frozen=True)
class _Term:
    """One comparison of a comparator."""

    direction: str
    operand: int
    part: str
    """"real" or "imag" of a complex number."""
    total: bool | None
    """True for the total order; None for dtypes that have only one order."""


def _read_order(operation: Operation) -> Order:
    """The order of a sort's region. Raises _UnreadableError for a comparator of another form than
    that of the first operands compared lexicographically, all LT or all GT.
    """
    block = operation.regions[0].blocks[0]
    places = {argument: place for place, argument in enumerate(block.arguments)}
    terms = _terms(mlir.terminator(block).operands[0], places)
    directions = {term.direction for term in terms}
    totals = {term.total for term in terms} - {None}
    num_keys = terms[-1].operand + 1
    keys = [
        (operand, part)
        for operand, x in enumerate(list(operation.operands)[:num_keys])
        for part in (("real", "imag") if dtype_of(x).kind == "c" else ("",))
    ]
    in_order = keys == [(term.operand, term.part) for term in terms]
    if not (in_order and len(totals) <= 1 and directions in ({"LT"}, {"GT"})):
        raise _UnreadableError
    return Order(num_keys, directions.pop(), True in totals)


def _terms(before: Value, places: dict[Value, int]) -> list[_Term]:
    """The comparisons of `x0 < y0 or (x0 == y0 and ...)`, the first one first."""
    definition = _definition(before, "stablehlo.compare", "stablehlo.or")
    if definition.name == "stablehlo.compare":
        return [_term(definition, places)]
    strict, both = _with_compare_first(definition)
    tie, rest = _with_compare_first(_definition(both, "stablehlo.and"), "EQ")
    first = _term(strict, places)
    if _term(tie, places) != replace(first, direction="EQ"):
        raise _UnreadableError
    return [first, *_terms(rest, places)]


def _with_compare_first(definition: Operation, *directions: str) -> tuple[Operation, Value]:
    """The comparison (in one of `directions`, if given) among two operands, and the other one."""
    for value, other in permutations(definition.operands):
        compare = mlir.definition(value)
        if compare is None or compare.name != "stablehlo.compare":
            continue
        if not directions or _compare_of(compare).comparison_direction in directions:
            return compare, other
    raise _UnreadableError


def _term(operation: Operation, places: dict[Value, int]) -> _Term:
    """Read one comparison of a comparator, which must apply the same key to both elements; the
    first element's is returned on the left.
    """
    compare = _compare_of(operation)
    direction = compare.comparison_direction
    (left, part, ordered), *right = (_side(x, places) for x in operation.operands)
    if left % 2:
        left -= 1
        direction = {"LT": "GT", "GT": "LT"}.get(direction, direction)
        expected = (left, part, ordered)
    else:
        expected = (left + 1, part, ordered)
    if right != [expected]:
        raise _UnreadableError
    total = None
    if inexact(dtype_of(operation.operands[0])):
        total = compare.compare_type == "TOTALORDER" and not ordered
    return _Term(direction, left // 2, part, total)


def _side(x: Value, places: dict[Value, int]) -> tuple[int, str, bool]:
    """Read one side of a comparison: the argument's number, the part of it that is compared, and
    whether all nans and both zeros are merged.
    """
    merged: dict[str, Value] = {}
    while (definition := mlir.definition(x)) is not None and definition.name == "stablehlo.select":
        is_special, special, x = definition.operands
        test = _definition(is_special, "stablehlo.compare")
        tested, other = test.operands
        constant, against = mlir.splat(special), mlir.splat(other)
        direction = _compare_of(test).comparison_direction
        if direction == "NE" and tested == other and constant is not None and np.isnan(constant):
            merged["nan"] = tested
        elif direction == "EQ" and constant == against == 0:
            merged["zero"] = tested
        else:
            raise _UnreadableError
    if merged and (len(merged) != 2 or any(tested != x for tested in merged.values())):
        raise _UnreadableError
    part = ""
    if definition is not None:
        part = _definition(x, "stablehlo.real", "stablehlo.imag").name.removeprefix("stablehlo.")
        (x,) = definition.operands
    if x not in places:
        raise _UnreadableError
    return places[x], part, bool(merged)


def _definition(x: Value, *names: str) -> Operation:
    """The operation that a value is the result of, which must have one of these names."""
    definition = mlir.definition(x)
    if definition is None or definition.name not in names:
        raise _UnreadableError
    return definition


def _compare_of(operation: Operation) -> comparison.Compare:
    op = read(operation)
    assert isinstance(op, comparison.Compare)
    return op


# ---- by any comparator ---------------------------------------------------------------------------


@dataclass(frozen=True)
class SortBy(Op):
    """The operands, all of one shape, in the order that `before` puts them in: a comparator of any
    form, as foreign modules may hold. It is slow, and has no keys.
    """

    name = "stablehlo.sort"
    superlinear = True
    num_results: ClassVar[int] = -1  # as many as operands
    dimension: int = attribute(I64, default=-1)
    is_stable: bool = attribute(FLAG, default=False)
    before: Computation = from_operation(lambda o: Computation.of(o.regions[0].blocks[0]))
    """Returns True if one element goes before another; arguments 2i and 2i + 1 are their values of
    operand i."""

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        types = [x.type for x in operands]
        operation = mlir.emit(self.name, operands, self.attributes(), types, regions=1)
        scalars = [mlir.tensor_type((), dtype_of(x)) for x in operands for _ in range(2)]
        self.before.fill(operation.regions[0], scalars[self.before.num_arguments :])
        return tuple(operation.results)

    def precedes(self, pairs: Sequence[Value]) -> Value:
        """Return where elements go before others; arrays 2i and 2i + 1 are of operand i."""
        return self.before(*pairs)[0]

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Sequence[np.ndarray]:
        rows = [np.moveaxis(x, self.dimension, -1) for x in operands]
        order = np.empty(rows[0].shape, np.intp)
        for place in np.ndindex(*order.shape[:-1]):
            order[place] = self._order([row[place] for row in rows])
        order = np.moveaxis(order, -1, self.dimension)
        return tuple(np.take_along_axis(x, order, self.dimension) for x in operands)

    def _order(self, columns: Sequence[np.ndarray]) -> list[int]:
        def goes_before(i: int, j: int) -> bool:
            pairs = [column[k] for column in columns for k in (i, j)]
            return bool(self.before.evaluate(*pairs)[0])

        def compare(i: int, j: int) -> int:
            return -1 if goes_before(i, j) else int(goes_before(j, i))

        return sorted(range(len(columns[0])), key=cmp_to_key(compare))

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        if 0 in shape_of(primals[0]):
            return self.build(primals), tangents
        numbers = numbers_along(primals[0], self.dimension)
        *results, order = self.build([*primals, numbers])
        taken = (None if t is None else take(t, order, self.dimension) for t in tangents)
        return results, list(taken)

    def batch(self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]):
        operands, axis = shape.align(transform.size, operands, axes)
        dimension = self.dimension % (len(shape_of(operands[0])) - 1)
        moved = SortBy(dimension + (dimension >= axis), self.is_stable, self.before)
        return moved.build(operands), [axis] * len(operands)
