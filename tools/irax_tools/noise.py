"""An estimate of rounding errors in the results of a function: what is left where large numbers
cancel has few digits, or none.

The evaluator runs the function again, and moves each number that an operation rounds, at random, by
a few units in its last place (D. Parker, Monte Carlo arithmetic, 1997). Numbers that it only
chooses, or puts elsewhere, stay: the derivative of a maximum asks which operand it is. What
that makes of the results is about what other roundings, on another device, may make of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from irax_compiler import mlir
from irax_compiler.ops.core import Op
from irax_compiler.ops.evaluation import evaluator as evaluate

Arrays = Sequence[np.ndarray[Any, Any]]

_RUNS = 3
_UNITS = 8
"""The largest change to a number, in units of its last place."""
_SAFETY = 4
_CHOOSING = ("and", "maximum", "minimum", "or")
"""The functions of two numbers that return one of them."""
_EXACT = {
    *(*_CHOOSING, "abs", "call", "case", "ceil", "clamp", "floor", "if", "imag", "negate"),
    *("real", "round_nearest_afz", "round_nearest_even", "select", "sign", "sort", "while"),
}
"""The other operations that return numbers that were there, or whole ones."""


def noise(
    function: Callable[[Arrays], Arrays], inputs: Arrays, results: Arrays, seed: int = 0
) -> list[float]:
    """For each of the results that a function has for some inputs, how far from it rounding may
    lead. The function runs in the evaluator.
    """
    random = np.random.default_rng(seed)
    most = [0.0] * len(results)
    for _ in range(_RUNS):
        with evaluate.watching(
            lambda step, operands, found: None if _is_exact(step.op) else _moved(found, random)
        ):
            others = function(_moved(inputs, random))
        most = [max(m, _distance(a, b)) for m, a, b in zip(most, results, others, strict=True)]
    return [_SAFETY * m for m in most]


def _is_exact(op: Op) -> bool:
    """True for an operation that rounds nothing, or whose own operations are moved already."""
    name = op.name.partition(".")[2]
    chooses = getattr(op, "combiner", name) in _CHOOSING or getattr(op, "computation", name) in (
        _CHOOSING
    )
    return op.is_constant or op.moves or op.captures or name in _EXACT or chooses


def _moved(arrays: Arrays, random: np.random.Generator) -> Arrays:
    return [_rounded(x, random) if mlir.inexact(x.dtype) else x for x in arrays]


def _rounded(x: np.ndarray[Any, Any], random: np.random.Generator) -> np.ndarray[Any, Any]:
    """Whole numbers stay: they are exact, or say how often something is done."""
    if x.dtype.kind == "c":
        moved = np.empty_like(x)
        moved.real, moved.imag = _rounded(x.real, random), _rounded(x.imag, random)
        return moved
    wide = x.astype(np.float64)
    by = _UNITS * float(ml_dtypes.finfo(x.dtype).eps) * random.uniform(-1, 1, x.shape)
    with np.errstate(all="ignore"):
        return np.where(wide == np.rint(wide), wide, wide * (1 + by)).astype(x.dtype)


def _distance(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> float:
    """The largest difference of two arrays, where both are finite."""
    if not mlir.inexact(x.dtype):
        return 0.0
    wide = np.complex128 if x.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        apart = np.abs(x.astype(wide) - y.astype(wide))
    return float(apart[np.isfinite(apart)].max(initial=0))
