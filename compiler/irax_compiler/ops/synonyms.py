"""Synonyms: operations of StableHLO and CHLO that other ops express, such as einsum, implicitly
broadcasting arithmetic, and ragged products.

irax never builds them; they occur in foreign modules. Their rules are those of the ops that express
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Attribute, Operation, Type, Value, dtype_of, shape_of
from irax_compiler.ops import bitwise, comparison, shape
from irax_compiler.ops.attributes import numbers
from irax_compiler.ops.core import UnsupportedOp, full_like, zeros_like
from irax_compiler.ops.dot import DotDimensions, DotGeneral
from irax_compiler.ops.indexing import gather_scatter
from irax_compiler.ops.reduction_builders import reduce_sum
from irax_compiler.ops.reductions import window_shapes
from irax_compiler.ops.registry import register_names
from irax_compiler.ops.structured import DefinedOp

BROADCASTING = {
    **{
        f"chlo.broadcast_{name}": f"stablehlo.{name}"
        for name in (
            *("add", "and", "atan2", "compare", "complex", "divide", "maximum", "minimum"),
            *("multiply", "or", "power", "remainder", "select", "shift_left"),
            *("shift_right_arithmetic", "shift_right_logical", "subtract", "xor"),
        )
    },
    **{f"chlo.broadcast_{name}": f"chlo.{name}" for name in ("next_after", "polygamma", "zeta")},
}
"""The elementwise operations with implicit broadcasting, and their equivalents without."""


@dataclass(frozen=True)
class Synonym(DefinedOp):
    """One of `MEANINGS`."""

    num_results: ClassVar[int] = -1
    name: str
    types: tuple[Type, ...]
    own_attributes: tuple[tuple[str, Attribute], ...]

    def attributes(self):
        return dict(self.own_attributes)

    def result_types(self, operands: Sequence[Value]):
        return self.types

    @classmethod
    def read(cls, operation: Operation) -> Synonym:
        attributes = tuple(mlir.attributes_of(operation).items())
        return cls(operation.name, tuple(r.type for r in operation.results), attributes)

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        attributes: dict[str, Any] = dict(self.own_attributes)
        return [MEANINGS[self.name](self, attributes, *operands)]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result."""
        return mlir.shape_of_type(self.types[0])


# ---- broadcasting --------------------------------------------------------------------------------


def _broadcasting(op: Synonym, attributes: dict[str, Any], *operands: Value) -> Value:
    """Broadcast operands, then apply StableHLO's op. Dimensions are aligned from the last one
    backwards, or, for the operand of lower rank, as `broadcast_dimensions` says.
    """
    rank = len(op.shape)
    stated = attributes.pop("broadcast_dimensions", None)

    def stretched(x: Value) -> Value:
        own = len(shape_of(x))
        last = tuple(range(rank - own, rank))
        dimensions = last if stated is None or own == rank else tuple(stated)
        if shape_of(x) == op.shape and dimensions == last:
            return x
        return shape.BroadcastInDim(op.shape, dimensions)(x)

    of_stablehlo = {
        key: mlir.parse_attribute(mlir.attribute_text(a).replace("#chlo<", "#stablehlo<"))
        for key, a in attributes.items()
    }
    target = BROADCASTING[op.name]
    return mlir.emit(target, [stretched(x) for x in operands], of_stablehlo, op.types).results[0]


def _broadcast(op: Synonym, attributes: dict[str, Any], x: Value) -> Value:
    """Broadcast along new leading dimensions."""
    rank = len(op.shape)
    return shape.BroadcastInDim(op.shape, tuple(range(rank - len(shape_of(x)), rank)))(x)


def _constant(op: Synonym, attributes: dict[str, Any]) -> Value:
    """The elements that an attribute states."""
    return mlir.emit("stablehlo.constant", [], attributes, op.types).results[0]


def _constant_like(op: Synonym, attributes: dict[str, Any], x: Value) -> Value:
    """One number, as often as the operand has elements."""
    return full_like(x, mlir.number_of(attributes["value"]))


# ---- products ------------------------------------------------------------------------------------


def _einsum(op: Synonym, attributes: dict[str, Any], *operands: Value) -> Value:
    """Define einsum: dimensions with one letter are multiplied together, and summed if the result
    lacks the letter.
    """
    config = attributes["einsum_config"].value
    given, _, kept = config.replace(" ", "").partition("->")
    terms = given.split(",")
    if "." in config or len(terms) != len(operands):
        raise UnsupportedOp(
            f"{op.name}: {config!r} is not supported; expected {len(operands)} operands and letters"
        )
    names: list[str] = []
    values: list[Value] = []
    for i, (x, term) in enumerate(zip(operands, terms, strict=True)):
        elsewhere = kept + "".join(t for j, t in enumerate(terms) if j != i)
        x, term = _diagonal(x, term)
        summed = [d for d, letter in enumerate(term) if letter not in elsewhere]
        values.append(reduce_sum(x, summed))
        names.append("".join(letter for letter in term if letter in elsewhere))
    if len(values) == 1:
        result, found = values[0], names[0]
    else:
        result, found = _product(op, values, names, kept)
    return shape.transpose(result, [found.index(letter) for letter in kept])


def _diagonal(x: Value, term: str) -> tuple[Value, str]:
    """The elements at which dimensions of the same letter have the same index."""
    for d, letter in enumerate(term):
        first = term.index(letter)
        if first < d:
            here, there = (shape.Iota(shape_of(x), np.dtype(np.int32), i)() for i in (first, d))
            same = comparison.select(comparison.equal(here, there), x, zeros_like(x))
            return _diagonal(reduce_sum(same, [d]), term[:d] + term[d + 1 :])
    return x, term


def _product(
    op: Synonym, values: Sequence[Value], names: Sequence[str], kept: str
) -> tuple[Value, str]:
    """The product of two operands, and the letters of its dimensions."""
    (x, y), (lhs, rhs) = values, names
    batching = [letter for letter in lhs if letter in rhs and letter in kept]
    contracting = [letter for letter in lhs if letter in rhs and letter not in kept]
    dimensions = DotDimensions(
        *(tuple(map(term.index, letters)) for letters in (batching,) for term in (lhs, rhs)),
        *(tuple(map(term.index, letters)) for letters in (contracting,) for term in (lhs, rhs)),
    )
    shared = {*batching, *contracting}
    free = [letter for letter in lhs + rhs if letter not in shared]
    dtype = mlir.dtype_of_type(op.types[0])
    return DotGeneral(dimensions, dtype, None, None)(x, y), "".join([*batching, *free])


@dataclass(frozen=True)
class RaggedDimensions:
    """The dimensions of a ragged product's operands that go together, and the one that is in
    groups, of which the right operand may have a dimension.
    """

    lhs_batching_dimensions: tuple[int, ...] = ()
    rhs_batching_dimensions: tuple[int, ...] = ()
    lhs_contracting_dimensions: tuple[int, ...] = ()
    rhs_contracting_dimensions: tuple[int, ...] = ()
    lhs_ragged_dimensions: tuple[int, ...] = ()
    rhs_group_dimensions: tuple[int, ...] = ()


_RAGGED = numbers("ragged_dot", RaggedDimensions)


def _ragged_dot(op: Synonym, attributes: dict[str, Any], x: Value, y: Value, sizes: Value) -> Value:
    """A product of each group of rows with a matrix of its own; where the dimension in groups is
    contracted, a product for each group.
    """
    dims: RaggedDimensions = _RAGGED.decode(attributes["ragged_dot_dimension_numbers"])
    (ragged,) = dims.lhs_ragged_dimensions
    batching = dims.lhs_batching_dimensions, dims.rhs_batching_dimensions
    lhs, rhs = dims.lhs_contracting_dimensions, dims.rhs_contracting_dimensions
    dtype = mlir.dtype_of_type(op.types[0])
    if ragged in batching[0]:
        return DotGeneral(DotDimensions(*batching, lhs, rhs), dtype, None, None)(x, y)
    apart = _by_group(x, sizes, ragged)
    batching = tuple(d + 1 for d in batching[0]), batching[1]
    lhs = tuple(d + 1 for d in lhs)
    if dims.rhs_group_dimensions:
        lhs, rhs = (0, *lhs), (*dims.rhs_group_dimensions, *rhs)
    found = DotGeneral(DotDimensions(*batching, lhs, rhs), dtype, None, None)(apart, y)
    return found if 0 in lhs else shape.move_axis(found, len(batching[0]), 0)


def _by_group(x: Value, sizes: Value, dimension: int) -> Value:
    """Return, for each group, the array with zeros for other groups: [groups, *shape]."""
    (count,), n, dtype = shape_of(sizes), shape_of(x)[dimension], dtype_of(sizes)
    extents = (count, count)
    not_after = comparison.less_equal(
        shape.Iota(extents, dtype, 1)(), shape.Iota(extents, dtype, 0)()
    )
    before = shape.BroadcastInDim(extents, (1,))(sizes)
    ends = reduce_sum(comparison.select(not_after, before, zeros_like(before)), [1])
    places = shape.Iota((count, n), dtype, 1)()
    end, size = (shape.BroadcastInDim((count, n), (0,))(v) for v in (ends, sizes))
    start = mlir.emit("stablehlo.subtract", [end, size]).results[0]
    inside = bitwise.and_(comparison.less_equal(start, places), comparison.less(places, end))
    extents = (count, *shape_of(x))
    mask = shape.BroadcastInDim(extents, (0, dimension + 1))(inside)
    copies = shape.BroadcastInDim(extents, tuple(range(1, len(extents))))(x)
    return comparison.select(mask, copies, zeros_like(copies))


# ---- rows ----------------------------------------------------------------------------------------


def _torch_index_select(op: Synonym, attributes: dict[str, Any], x: Value, index: Value) -> Value:
    """The elements at some places of a dimension, which become the dimensions of the indices."""
    dim, batch = attributes["dim"].value, attributes["batch_dims"].value
    rank, places = len(shape_of(x)), len(shape_of(index)) - batch
    window = (*range(batch, dim), *range(dim + places, rank + places - 1))
    dims = window_shapes.WindowDims(
        window_dims=window,
        collapsed_dims=(dim,),
        operand_batching_dims=tuple(range(batch)),
        indices_batching_dims=tuple(range(batch)),
        index_map=(dim,),
        index_vector_dim=len(shape_of(index)),
    )
    sizes = [1 if d < batch or d == dim else n for d, n in enumerate(shape_of(x))]
    return gather_scatter.Gather(dims, tuple(sizes), indices_are_sorted=False)(x, index)


MEANINGS: dict[str, Callable[..., Value]] = {
    **dict.fromkeys(BROADCASTING, _broadcasting),
    "chlo.constant": _constant,
    "chlo.constant_like": _constant_like,
    "chlo.ragged_dot": _ragged_dot,
    "stablehlo.broadcast": _broadcast,
    "stablehlo.einsum": _einsum,
    "stablehlo.torch_index_select": _torch_index_select,
    "stablehlo.unary_einsum": _einsum,
}
"""Builders of the same results from other operations, by the operation's name."""

register_names(MEANINGS, Synonym)
