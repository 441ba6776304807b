"""Legalizations of operations that IREE compiles alone, but not fused with one another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import barrier, slicing
from irax_compiler.ops.bitcast import BitcastConvert
from irax_compiler.ops.convolution import Convolution
from irax_compiler.ops.core import Memory
from irax_compiler.ops.indexing.gather_scatter import Gather
from irax_compiler.ops.reduce_window import ReduceWindow
from irax_compiler.ops.reductions.windows import Window
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.legalize.iree.aliasing import UPDATES
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.matching import halves
from irax_compiler.passes.rewriting import read_as
from irax_compiler.sizes.comparison import bounds


@legalizes("stablehlo.select", kind="bug", of="IREE")
def booleans_of_choice(operation: Operation) -> Sequence[Value] | None:
    """Put a barrier behind a choice between arrays by one boolean, of which booleans are made: IREE
    does not compile a kernel that returns these booleans beside what it makes of them.
    """
    (result,) = operation.results
    made = [x for use in result.uses for x in use.owner.operation.results]
    is_one = not shape_of(operation.operands[0]) and shape_of(result)
    if not is_one or dtype_of(result) == np.bool or all(dtype_of(x) != np.bool for x in made):
        return None
    return barrier.barrier.build(list(operation.clone().operation.results))


@legalizes("stablehlo.reduce_window", kind="bug", of="IREE")
def single_strided_window(operation: Operation) -> Sequence[Value] | None:
    """Crop the array where a dimension has a single window with a stride: IREE drops such a
    dimension wrongly if the window ends before the array does.
    """
    op = read_as(ReduceWindow, operation)
    if op is None or 0 in shape_of(operation.operands[0]):
        return None
    window = op.window.full()
    ends = window.padded(shape_of(operation.operands[0]))
    strides, padding = list(window.strides), list(window.padding)
    for i, count in enumerate(shape_of(operation.results[0])):
        excess = ends[i] - (window.sizes[i] - 1) * window.dilations[i] - 1
        if count == 1 and excess and window.strides[i] != 1:
            low, high = window.padding[i]
            strides[i], padding[i] = 1, (low, high - excess)
    if tuple(padding) == window.padding:
        return None
    xs, inits = halves(operation)
    shorter = replace(window, padding=tuple(padding)).pad()
    cut = [shorter(x, init) for x, init in zip(xs, inits, strict=True)]
    bare = replace(window, strides=tuple(strides), base_dilations=(), padding=()).full()
    return replace(op, window=bare).build([*cut, *inits])


@legalizes("stablehlo.reshape", kind="bug", of="IREE")
def reshape_of_one_element(operation: Operation) -> Sequence[Value] | None:
    """Separate a reshape from a slice of one element, which IREE cannot fuse into two users."""
    source = mlir.definition(operation.operands[0])
    shape_ = shape_of(operation.results[0])
    if source is None or not _is_slice(source) or prod(shape_) != 1 or len(shape_) < 2:
        return None
    return _apart(operation)


@legalizes("stablehlo.reverse", "stablehlo.gather", kind="bug", of="IREE")
def read_of_slice(operation: Operation) -> Sequence[Value] | None:
    """Separate a reverse or a gather from a slice, or a pad that crops, that skips elements of
    rows: IREE cannot fuse it into them.
    """
    return _apart(operation) if comes_from(operation.operands[0], _skips) else None


@legalizes("stablehlo.pad", kind="bug", of="IREE")
def pad_of_pad(operation: Operation) -> Sequence[Value] | None:
    """Put a barrier between two pads, and between a pad and an update. IREE merges two pads wrongly
    where the second is interior, and cannot fuse an interior or negative pad with the update that
    it pads.
    """
    kinds = (*UPDATES, "stablehlo.pad")
    found = comes_from(operation.operands[0], lambda source: source.name in kinds)
    return _apart(operation) if found else None


@legalizes("stablehlo.reduce_window", "stablehlo.convolution", kind="bug", of="IREE")
def windows_of_padded(operation: Operation) -> Sequence[Value] | None:
    """Put a barrier between a pad or an update and windows, or a convolution, that pad its result.
    IREE merges two pads wrongly where one is interior, and cannot fuse them where their fill values
    differ, nor an update with an interior pad.
    """
    windows, convolution = read_as(ReduceWindow, operation), read_as(Convolution, operation)
    if convolution is not None:
        window = Window((), (), convolution.lhs_dilation, (), convolution.padding)
        fills = [np.zeros((), dtype_of(operation.operands[0]))]
    else:
        assert windows is not None
        window = windows.window
        fills = list(map(mlir.splat, operation.operands[len(operation.operands) // 2 :]))
    if not window.adds_elements:
        return None
    is_dilated = any(n > 1 for n in window.base_dilations)
    padded = [
        i
        for i, fill in enumerate(fills)
        if comes_from(
            operation.operands[i], lambda x, fill=fill: _pads_otherwise(x, fill, is_dilated)
        )
    ]
    return _apart(operation, padded) if padded else None


@legalizes("stablehlo.reduce_window", kind="bug", of="IREE")
def windows_of_windows(operation: Operation) -> Sequence[Value] | None:
    """Put a barrier between windows and those that pad their results: IREE fuses three of such
    operations, and then cannot divide the kernel among workgroups.
    """
    op = read_as(ReduceWindow, operation)
    if op is None or not op.window.adds_elements:
        return None
    folded = [i for i, x in enumerate(halves(operation)[0]) if comes_from(x, _is_window)]
    return _apart(operation, folded) if folded else None


@legalizes(
    "stablehlo.reduce_window",
    "stablehlo.convolution",
    "stablehlo.dynamic_update_slice",
    kind="bug",
    of="IREE",
)
def sort_in_padded(operation: Operation) -> Sequence[Value] | None:
    """Put a barrier between a sort and windows, a convolution or an update that reads it: IREE
    fuses the sort with the padding of its result, or with the update, and cannot compile that.
    """
    sorted_ = [i for i, x in enumerate(operation.operands) if comes_from(x, _is_sort)]
    return _apart(operation, sorted_) if sorted_ else None


@legalizes(*UPDATES, kind="bug", of="IREE")
def update_of_part(operation: Operation) -> Sequence[Value] | None:
    """Separate an update from a slice or a pad, which IREE cannot fuse into it if it skips elements
    of rows or puts elements between them, or if what it reads is computed.
    """
    written = range(len(operation.results))
    parts = [i for i in written if comes_from(operation.operands[i], _is_part)]
    return _apart(operation, parts) if parts else None


@legalizes("stablehlo.scatter", kind="bug", of="IREE")
def scatter_of_own_elements(operation: Operation) -> Sequence[Value] | None:
    """Put a barrier before updates that are computed from the array that a scatter writes over, or
    from elements gathered from it: IREE fuses the two, and then cannot divide the kernel among
    workgroups. An array that other legalizations copy is no longer that of the updates.
    """
    array = _without_forms(operation.operands[0])

    def is_own(x: Value) -> bool:
        source = mlir.definition(x)
        if x == array or source is None:
            return x == array
        return source.name == Gather.name and _without_forms(source.operands[0]) == array

    updates = range(len(operation.results) + 1, len(operation.operands))
    own = [i for i in updates if any(map(is_own, _computed_from(operation.operands[i])))]
    return _apart(operation, own) if own else None


@legalizes("stablehlo.dynamic_update_slice", kind="bug", of="IREE")
def update_by_interior_pad(operation: Operation) -> Sequence[Value] | None:
    """Put a barrier between an interior pad and an update that writes its result. IREE writes the
    elements without the gaps between them, into an array that has the fill value everywhere.
    """
    return _apart(operation, [1]) if comes_from(operation.operands[1], _is_interior) else None


def comes_from(x: Value, kind: Callable[[Operation], bool]) -> bool:
    """True if a value is computed elementwise from the result of an operation of some kind."""
    sources = map(mlir.definition, _computed_from(x))
    return any(source is not None and kind(source) for source in sources)


def _computed_from(x: Value) -> Iterator[Value]:
    """Yield a value, and those that it is computed elementwise from."""
    pending, seen = [x], set[Value]()
    while pending:
        x = pending.pop()
        if x not in seen:
            seen.add(x)
            yield x
            source = mlir.definition(x)
            if source is not None and _is_fused(source):
                pending += source.operands


def _without_forms(x: Value) -> Value:
    """Return the array that a value is in another shape, or whose bits it has."""
    source = mlir.definition(x)
    while source is not None and (traits_of(source).is_view or source.name == BitcastConvert.name):
        x = source.operands[0]
        source = mlir.definition(x)
    return x


def _is_fused(operation: Operation) -> bool:
    """True if an operation is elementwise, or only rearranges or repeats its operand's elements, or
    gives their bits another dtype: between signed and unsigned integers IREE does nothing for that.
    """
    traits = traits_of(operation)
    if operation.name == BitcastConvert.name:
        return True
    if not traits.moves or len(operation.operands) != 1:
        return traits.elementwise
    (x,), (result,) = operation.operands, operation.results
    more = prod(shape_of(result)) - prod(shape_of(x))
    return bounds(more)[1] >= 0  # where sizes are not known, it may be


def _is_slice(operation: Operation) -> bool:
    return operation.name == "stablehlo.slice"


def _is_window(source: Operation) -> bool:
    return source.name == ReduceWindow.name


def _is_sort(operation: Operation) -> bool:
    return operation.name == "stablehlo.sort"


def _skips(operation: Operation) -> bool:
    """True if an operation is a slice of anything but consecutive whole rows, or a pad by a
    negative amount.
    """
    if operation.name == "stablehlo.dynamic_slice":
        return True
    pad = read_as(slicing.Pad, operation)
    if pad is not None:
        return min(*pad.edge_padding_low, *pad.edge_padding_high, 0) < 0
    if not _is_slice(operation):
        return False
    strides: Any = operation.attributes["strides"]
    whole = shape_of(operation.operands[0])[1:] == shape_of(operation.results[0])[1:]
    return not whole or any(stride != 1 for stride in strides)


def _pads_otherwise(operation: Operation, fill: np.ndarray | None, interior: bool) -> bool:
    """True if an operation is an update, or a pad, and one with another fill value, a negative or
    interior one, or any if what pads its result is interior.
    """
    pad = read_as(slicing.Pad, operation)
    if pad is None:
        return operation.name in UPDATES
    is_edge = min(*pad.edge_padding_low, *pad.edge_padding_high) >= 0 and not any(
        pad.interior_padding
    )
    is_same = fill is not None and mlir.splat(operation.operands[1]) == fill
    return interior or not (is_edge and is_same)


def _is_interior(operation: Operation) -> bool:
    """True if an operation is a pad that puts elements between others."""
    pad = read_as(slicing.Pad, operation)
    return pad is not None and any(pad.interior_padding)


def _is_part(operation: Operation) -> bool:
    """True if an operation takes a part of its operand, or is a pad of it."""
    return traits_of(operation).memory is Memory.PART or operation.name == "stablehlo.pad"


def _apart(operation: Operation, operands: Sequence[int] = (0,)) -> Sequence[Value]:
    """Build an operation with some operands behind a fusion barrier."""
    values = [operation.operands[i] for i in operands]
    types = [x.type for x in values]
    barrier = mlir.emit("stablehlo.optimization_barrier", values, results=types)
    copy = operation.clone()
    for i, x in zip(operands, barrier.results, strict=True):
        copy.operands[i] = x
    return list(copy.results)
