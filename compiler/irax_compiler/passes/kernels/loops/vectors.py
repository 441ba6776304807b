"""Lowerings of operations that move, reduce or multiply elements of registers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of, inexact, shape_of
from irax_compiler.ops import registers
from irax_compiler.ops.core import no_calls
from irax_compiler.ops.dot import DotDimensions, DotGeneral
from irax_compiler.ops.registers import Registers, emit
from irax_compiler.ops.registry import read
from irax_compiler.passes.kernels.code.shuffles import joined, picked

Combine = Callable[[Registers, Registers], Registers]


def moved(operation: Operation, operands: Registers) -> Value:
    """Lower an operation that moves elements; NumPy computes the source of each."""
    sizes = [prod(shape_of(x)) for x in operation.operands]
    starts = np.cumsum([0, *sizes[:-1]])
    places = [
        np.arange(size).reshape(shape_of(x)) + start
        for x, size, start in zip(operation.operands, sizes, starts, strict=True)
    ]
    return picked(joined(operands), np.asarray(read(operation).evaluate(no_calls, *places)))


def folded(operation: Operation, operands: Registers, combine: Combine) -> Registers:
    """Lower `stablehlo.reduce`."""
    half = len(operands) // 2
    extents = shape_of(operation.operands[0])
    reduced = dimensions(operation)
    others = [d for d in range(len(extents)) if d not in reduced]
    places = np.arange(prod(extents)).reshape(extents).transpose(*reduced, *others)
    width = prod(extents[d] for d in others)
    start = [registers.spread(x, width) for x in operands[half:]]
    elements = [picked(x, places) for x in operands[:half]]
    return combine(start, halved(elements, prod(extents[d] for d in reduced), width, combine))


def halved(parts: Registers, count: int, width: int, combine: Combine) -> Registers:
    """Combine `count` parts of registers, of `width` elements each, by recursive halving, which
    suits vectors.
    """
    rest: list[Registers] = []
    together = parts
    while count > 1:
        count, is_odd = divmod(count, 2)
        part = count * width
        if is_odd:
            last = np.arange(2 * part, 2 * part + width)
            rest.append([picked(x, last) for x in together])
        together = combine(
            [picked(x, np.arange(part)) for x in together],
            [picked(x, np.arange(part, 2 * part)) for x in together],
        )
    for others in rest:
        together = combine(others, together)
    return together


def dimensions(operation: Operation) -> list[int]:
    """Return the dimensions that a `stablehlo.reduce` reduces."""
    attribute: list[int] = operation.attributes["dimensions"]  # pyright: ignore
    return list(attribute)


# ---- products ------------------------------------------------------------------------------------


def multiplies(operation: Operation) -> bool:
    """True if a product's operands and result have one dtype, other than boolean."""
    dtypes = {dtype_of(x) for x in (*operation.operands, *operation.results)}
    return len(dtypes) == 1 and dtypes.pop() != np.bool_


def work(operation: Operation) -> int:
    """Return the number of multiplications in a product."""
    left, d = shape_of(operation.operands[0]), _product(operation).dimensions
    return prod(shape_of(operation.results[0])) * prod(left[i] for i in d.lhs_contracting)


def product(operation: Operation, x: Value, y: Value) -> Value:
    """Lower `stablehlo.dot_general` of two registers."""
    op, (left, right) = _product(operation), operation.operands
    d = op.dimensions
    x_places = _places(left, d.lhs_batching, d.lhs_free(len(shape_of(left))), d.lhs_contracting)
    y_places = _places(right, d.rhs_batching, d.rhs_free(len(shape_of(right))), d.rhs_contracting)
    x_places, y_places = np.broadcast_arrays(x_places[:, :, None], y_places[:, None])
    total: Value | None = None
    for k in range(x_places.shape[-1]):
        total = multiply_add(
            picked(x, x_places[..., k]), picked(y, y_places[..., k]), total, dtype_of(left)
        )
    assert total is not None
    return total


def product_dimensions(operation: Operation) -> DotDimensions:
    """Return the dimensions of a `stablehlo.dot_general`."""
    return _product(operation).dimensions


def _product(operation: Operation) -> DotGeneral:
    op = read(operation)
    assert isinstance(op, DotGeneral)
    return op


def _places(x: Value, batching: Sequence[int], free: Sequence[int], contracting: Sequence[int]):
    extents = shape_of(x)
    places = np.arange(prod(extents)).reshape(extents).transpose(*batching, *free, *contracting)
    return places.reshape(
        [prod(extents[d] for d in part) for part in (batching, free, contracting)]
    )


def multiply_add(x: Value, y: Value, total: Value | None, dtype: np.dtype) -> Value:
    """Return x y + total, or x y."""
    if inexact(dtype):
        return emit("arith.mulf", x, y) if total is None else emit("math.fma", x, y, total)
    term = emit("arith.muli", x, y)
    return term if total is None else emit("arith.addi", term, total)
