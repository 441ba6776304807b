"""Builders of loops and branches, for the ops whose rules are made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Type, Value, dtype_of, shape_of
from irax_compiler.ops import comparison, elementwise, shape
from irax_compiler.ops.attributes import I64S
from irax_compiler.ops.core import full, sized_name
from irax_compiler.sizes import is_symbolic

I32 = np.dtype(np.int32)

Build = Callable[[], Sequence[Value]]
"""Builds the results of a branch."""


def while_loop(
    condition: Callable[..., Value | Sequence[Value]],
    body: Callable[..., Sequence[Value]],
    carry: Sequence[Value],
) -> tuple[Value, ...]:
    """Builds a `stablehlo.while`; both functions get the carried values, and may use others."""
    types = [x.type for x in carry]
    operation = mlir.emit("stablehlo.while", carry, {}, types, regions=2)
    for region, build in zip(operation.regions, (condition, body), strict=True):
        block = mlir.Block.create_at_start(region, types)
        with InsertionPoint(block):
            results = build(*block.arguments)
            results = [results] if isinstance(results, Value) else list(results)
            mlir.emit("stablehlo.return", results, {}, [])
    return tuple(operation.results)


def choose(name: str, chooser: Value, branches: Sequence[Build]) -> tuple[Value, ...]:
    """Builds a `stablehlo.case`, or `stablehlo.if`; branches may use any values, and give results
    of the same types.
    """
    draft = mlir.emit(name, [chooser], {}, [], regions=len(branches))
    types: list[Type] = []
    for region, build in zip(draft.regions, branches, strict=True):
        with InsertionPoint(mlir.Block.create_at_start(region, [])):
            results = build()
            mlir.emit("stablehlo.return", results, {}, [])
        types = [v.type for v in results]
    operation = mlir.emit(name, [chooser], {}, types, regions=len(branches))
    for region, filled in zip(operation.regions, draft.regions, strict=True):
        filled.blocks[0].append_to(region)
    draft.erase()
    return tuple(operation.results)


def fold_rows(
    combine: Callable[..., Sequence[Value]],
    starts: Sequence[Value],
    xs: Sequence[Value],
    keep: bool = False,
) -> Sequence[Value]:
    """Builds a loop over the rows of arrays, however many these are: each step combines the carried
    values with one row of each. Returns the last values; with `keep` those of all steps, stacked.
    """
    length, count = shape_of(xs[0])[0], len(starts)
    zero, one, limit = (full((), n, I32) for n in (0, 1, length))
    stacks = [full((length, *shape_of(x)), 0, dtype_of(x)) for x in starts] if keep else []

    def advance(step: Value, *state: Value) -> Sequence[Value]:
        carried = combine(*state[:count], *(row(x, step) for x in xs))
        pairs = zip(state[count:], carried, strict=False)
        return [elementwise.add(step, one), *carried, *(with_row(y, x, step) for y, x in pairs)]

    _, *results = while_loop(
        lambda step, *_: comparison.less(step, limit), advance, [zero, *starts, *stacks]
    )
    return results[count:] if keep else results


# The ops of slices are made of reductions, which are made of these loops.


def row(x: Value, place: Value) -> Value:
    """Build x[place]."""
    sizes = (1, *shape_of(x)[1:])
    name = "stablehlo.dynamic_slice"
    part = mlir.emit(
        sized_name(name) if any(map(is_symbolic, sizes)) else name,
        [x, place, *[full((), 0, dtype_of(place))] * len(sizes[1:])],
        {"slice_sizes": I64S.encode(sizes)},
        [mlir.tensor_type(sizes, dtype_of(x))],
    )
    return shape.reshape(part.results[0], sizes[1:])


def with_row(x: Value, new: Value, place: Value) -> Value:
    """Build x with another row at x[place]."""
    wide = shape.reshape(new, (1, *shape_of(new)))
    starts = [place, *[full((), 0, dtype_of(place))] * len(shape_of(new))]
    return mlir.emit("stablehlo.dynamic_update_slice", [x, wide, *starts], {}, [x.type]).results[0]
