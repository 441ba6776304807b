"""Promises of scatters that their windows do not overlap, which random inputs must keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value
from irax_compiler.ops.evaluation import evaluator as evaluate
from irax_compiler.ops.indexing.gather_scatter import Scatter, ScatterBy, flat_updates
from irax_compiler.ops.registry import read
from irax_tools.programs import REFERENCE, program
from irax_tools.sources import Source

Arrays = Sequence[np.ndarray[Any, Any]]


def kept(source: Source, inputs: Arrays, random: np.random.Generator) -> list[np.ndarray[Any, Any]]:
    """Return inputs that hold distinct indices for the scatters that promise these, where the
    indices are an argument.
    """
    arguments = mlir.arguments(mlir.functions(source.module)[source.func])
    found = list(inputs)
    for operation in _promising(source):
        x, indices, updates = _operands(operation)
        if indices in arguments:
            number = arguments.index(indices)
            drawn = _distinct(random, read(operation), *map(mlir.shape_of, (x, indices, updates)))
            if drawn is not None:
                found[number] = drawn.astype(found[number].dtype)
    return found


def are_kept(source: Source, inputs: Arrays) -> bool:
    """True unless windows overlap of a scatter that promises that none do."""
    if not any(True for _ in _promising(source)):
        return True
    found: list[bool] = []

    def see(step: Any, operands: Arrays, results: Arrays) -> None:
        op = step.op
        if isinstance(op, Scatter | ScatterBy) and op.unique_indices:
            count = len(results)
            x, indices, updates = operands[0], operands[count], operands[count + 1]
            places, _ = flat_updates(op.dims, x.shape, indices, [updates])
            found.append(np.unique(places).size == places.size)

    with evaluate.watching(see):
        program(source, REFERENCE)(inputs)
    return all(found)


def _promising(source: Source) -> Iterator[Operation]:
    """Yield the scatters of a module that promise distinct indices."""
    for function in mlir.functions(source.module).values():
        for operation in _nested(function):
            if operation.name == Scatter.name:
                promise: Any = operation.attributes.get("unique_indices")
                if promise is not None and promise.value:
                    yield operation


def _nested(operation: Operation) -> Iterator[Operation]:
    for region in operation.regions:
        for block in region.blocks:
            for view in block.operations:
                yield view.operation
                yield from _nested(view.operation)


def _operands(scatter: Operation) -> tuple[Value, Value, Value]:
    operands, count = list(scatter.operands), len(scatter.results)
    return operands[0], operands[count], operands[count + 1]


def _distinct(
    random: np.random.Generator,
    op: Any,
    array: tuple[int, ...],
    indices: tuple[int, ...],
    updates: tuple[int, ...],
) -> np.ndarray[Any, Any] | None:
    """Return the starts of windows side by side, in random order; None if there are too few."""
    dims, rank = op.dims, len(indices)
    if not dims.index_map:  # each window is at the start
        return None
    sizes = dims.sizes(array, updates)
    slots = [max(array[d] // max(sizes[d], 1), 1) for d in dims.index_map]
    vector = dims.index_vector_dim
    others = tuple(n for d, n in enumerate(indices) if d != vector)
    if prod(others) > prod(slots):
        return None
    chosen = random.choice(prod(slots), prod(others), replace=False)
    starts = [
        places.reshape(others) * sizes[d]
        for places, d in zip(np.unravel_index(chosen, slots), dims.index_map, strict=True)
    ]
    return starts[0] if vector == rank else np.stack(starts, axis=vector)
