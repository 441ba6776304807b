"""Cumulative reductions in memory: an element after the other, several rows at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import registers
from irax_compiler.ops.reduce_window import ReduceWindow
from irax_compiler.ops.reductions import cumulative, reduce
from irax_compiler.ops.reductions.cumulative import Run
from irax_compiler.ops.registers import Registers
from irax_compiler.passes.kernels.code.loops import counted
from irax_compiler.passes.kernels.code.places import moved
from irax_compiler.passes.kernels.loops import nests
from irax_compiler.passes.kernels.loops.arrays import Array, Place
from irax_compiler.passes.kernels.loops.nests import LANES
from irax_compiler.passes.kernels.loops.vectors import Combine
from irax_compiler.passes.rewriting import read_as


def is_known(operation: Operation) -> bool:
    """True for a cumulative reduction by one operation, forwards and from its identity, which is
    the form that the legalization `cumulative_window` leaves.
    """
    return _run(operation) is not None


def _run(operation: Operation) -> Run | None:
    op = read_as(ReduceWindow, operation)
    if op is None or not isinstance(op.computation, str):
        return None
    x, start = operation.operands
    run = cumulative.run_of(op.window, shape_of(x))
    if run is None or run.backwards or not reduce.is_identity(op.computation, start):
        return None
    return run


def accumulated(
    operation: Operation, array: Array, start: Value, combine: Combine, new: Callable[..., Array]
) -> Array:
    """Lower a cumulative reduction. Rows of which the elements are side by side are folded
    together.
    """
    run, (result,) = _run(operation), operation.results
    assert run is not None
    d, extents = run.dimension, shape_of(result)
    kept = [i for i in range(len(extents)) if i != d]
    found = new(dtype_of(result), extents)
    is_across = bool(kept) and array.strides[kept[-1]] == 1 and extents[kept[-1]] > 1

    def body(size: int, places: list[Place]) -> None:
        def step(i: Value, totals: list[Value]) -> Registers:
            source, target = (
                replace(place, at=moved(place.at, i, stride))
                for place, stride in zip(places, (array.strides[d], found.strides[d]), strict=True)
            )
            totals = list(combine(totals, [source.read(size)]))
            target.write(totals[0])
            return totals

        counted(extents[d], 1, [registers.spread(start, size)], step)

    nests.each([array.ordered(kept), found.ordered(kept)], body, LANES if is_across else 1)
    return found
