"""Legalizations of updates that write one value over several elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, shape_of
from irax_compiler.passes.legalize.legalization import legalizes

_UPDATE = "stablehlo.dynamic_update_slice"


@legalizes(_UPDATE, kind="bug", of="IREE")
def fill_before_fill(operation: Operation) -> Sequence[Value] | None:
    """Write equal elements in the order of their places. Where one fill ends as the one before it
    begins, IREE makes one of them, whose place is the sum of theirs.
    """
    place, fill = _place(operation), _fill(operation)
    later: list[Operation] = []
    x = operation.operands[0]
    while place is not None and (before := _fill_of_same(x, fill)) is not None:
        if (_place(before) or 0) <= place:
            break
        later.append(before)
        x = before.operands[0]
    for update in (operation, *reversed(later)) if later else ():
        copy = update.clone()
        copy.operands[0] = x
        x = copy.results[0]
    return [x] if later else None


def _fill(update: Operation) -> bytes | None:
    """Return the bytes of the element that an update writes; None if there are several."""
    element = mlir.splat(update.operands[1])
    return None if element is None else element.tobytes()


def _fill_of_same(x: Value, fill: bytes | None) -> Operation | None:
    """Return the update that makes an array, by the same fill at a known place, for one user."""
    source = mlir.definition(x)
    is_fill = source is not None and source.name == _UPDATE and fill is not None
    if source is None or not is_fill or len(mlir.users(x)) > 1 or _place(source) is None:
        return None
    return source if _fill(source) == fill else None


def _place(update: Operation) -> int | None:
    """Return the number of the first element that an update writes, if it is known."""
    x, written, *starts = update.operands
    known = [element for element in map(mlir.splat, starts) if element is not None]
    if len(known) < len(starts):
        return None
    limits = np.subtract(shape_of(x), shape_of(written))
    place = np.clip(np.array([int(element) for element in known], np.int64), 0, limits)
    return int(np.dot(place, np.cumprod([1, *shape_of(x)[:0:-1]])[::-1])) if starts else 0
