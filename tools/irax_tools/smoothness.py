"""One-sided difference quotients of ever smaller steps, which tell where a function is smooth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_tools.sources import Source

Arrays = Sequence[np.ndarray[Any, Any]]
Quotients = Callable[[float], Sequence[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]]
"""For a step, the quotients forward and backward of each result."""

_HALVINGS = 6
_KINKS = {
    *("abs", "case", "ceil", "clamp", "compare", "floor", "if", "is_finite", "maximum", "minimum"),
    *("reduce_window", "remainder", "round_nearest_afz", "round_nearest_even", "select"),
    *("select_and_scatter", "sign", "sort", "top_k"),
}


def is_wrong(
    found: np.ndarray[Any, Any],
    suspects: np.ndarray[Any, Any],
    quotients: Quotients,
    number: int,
    step: float,
    tolerance: float,
    noise: Callable[[float], float],
) -> np.ndarray[Any, Any]:
    """Return the suspects among the slopes of a result that differ from the limit of its quotients.

    The two smallest steps tell for which rounding leaves enough digits: `noise` is how far it moves
    the quotients of a step. Where the quotients forward and backward differ there is a kink or a
    jump, and no limit.
    """
    steps = [step / 2**k for k in range(_HALVINGS + 1)]
    exact = [s for s in steps if noise(s) <= 3 * tolerance]
    wrong, centers = suspects, []
    for size in exact[-2:] if len(exact) > 1 else steps[:2]:
        forward, backward = quotients(size)[number]
        center = (forward + backward) / 2
        scale = np.abs(center) + 1
        error = np.abs(found - center)
        one_limit = np.abs(forward - backward) <= tolerance * scale
        wrong = wrong & one_limit & (error > 3 * tolerance * scale) & (error > noise(size))
        centers.append(center)
    coarse, fine = centers
    return wrong & (np.abs(coarse - fine) <= tolerance * (np.abs(fine) + 1))


def rounds(source: Source) -> mlir.Operation | None:
    """Return the first operation that rounds to fewer digits, whose derivative is that of the
    number that it rounds, and not of the staircase.
    """
    return next((o for o in _operations(source) if _rounds(o)), None)


def rough(source: Source) -> str:
    """Return the first operation with kinks or jumps, with its line; "" if there is none."""
    for operation in _operations(source):
        if operation.name.partition(".")[2] in _KINKS or _rounds(operation):
            return f"{operation.name} at {operation.location}"
    return ""


def _operations(source: Source) -> list[mlir.Operation]:
    return mlir.operations_in(source.module.operation, outermost_first=True)[1:]


def _rounds(operation: mlir.Operation) -> bool:
    if operation.name == "stablehlo.reduce_precision":
        return True
    if operation.name != "stablehlo.convert":
        return False
    before, after = (mlir.dtype_of(x) for x in (operation.operands[0], operation.results[0]))
    narrows = mlir.width(after) < mlir.width(before)
    return narrows and mlir.inexact(before) and mlir.inexact(after)
