"""Accuracy of functions and algorithms of products, where hardware leaves a choice."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from irax import dtypes
from irax.typing import DTypeLike
from irax_compiler import mlir


class AccuracyMode(enum.Enum):
    """The accuracy of a function such as `exp`; without effect, since all have the highest."""

    HIGHEST = 1
    DEFAULT = 2


@dataclass(frozen=True)
class Tolerance:
    """The error that a function such as `exp` may have: absolute, and relative or in units of the
    last place. Here all have the smallest there is.
    """

    atol: float = 0.0
    rtol: float = 0.0
    ulps: int = 0

    def __post_init__(self) -> None:
        if min(self.atol, self.rtol, self.ulps) < 0 or not (self.atol or self.rtol or self.ulps):
            raise ValueError(f"lax.Tolerance: expected an error above 0, got {self}")


class DotAlgorithm(NamedTuple):
    """An algorithm for products of matrices, for `precision=` of `dot_general`: the dtypes that the
    operands are rounded to, and the dtype that sums are accumulated in.
    """

    lhs_precision_type: DTypeLike
    rhs_precision_type: DTypeLike
    accumulation_type: DTypeLike
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False


class DotAlgorithmPreset(enum.Enum):
    """Algorithms that some hardware has, named by the dtypes of lhs, rhs and sums, and the number
    of operations.
    """

    DEFAULT = None
    ANY_F8_ANY_F8_F32 = ("f8", "f8", "f32", 1)
    ANY_F8_ANY_F8_F32_FAST_ACCUM = ("f8", "f8", "f32", 1, "fast")
    ANY_F8_ANY_F8_ANY = ("f8", "f8", "any", 1)
    ANY_F8_ANY_F8_ANY_FAST_ACCUM = ("f8", "f8", "any", 1, "fast")
    F16_F16_F16 = ("f16", "f16", "f16", 1)
    F16_F16_F32 = ("f16", "f16", "f32", 1)
    BF16_BF16_BF16 = ("bf16", "bf16", "bf16", 1)
    BF16_BF16_F32 = ("bf16", "bf16", "f32", 1)
    BF16_BF16_F32_X3 = ("bf16", "bf16", "f32", 3)
    BF16_BF16_F32_X6 = ("bf16", "bf16", "f32", 6)
    BF16_BF16_F32_X9 = ("bf16", "bf16", "f32", 9)
    TF32_TF32_F32 = ("tf32", "tf32", "f32", 1)
    TF32_TF32_F32_X3 = ("tf32", "tf32", "f32", 3)
    F32_F32_F32 = ("f32", "f32", "f32", 1)
    F64_F64_F64 = ("f64", "f64", "f64", 1)


def algorithm_of(precision: Any, lhs: np.dtype, rhs: np.dtype) -> str | None:
    """Return the algorithm of a precision as the IR spells it; None for a precision of another
    kind.

    Args:
        precision: of a product; an algorithm, a preset or the name of one count here.
        lhs: the dtype of the left operand, which is the algorithm's where it takes any 8-bit float.
        rhs: the same of the right operand.

    Raises:
        TypeError: a dtype that the IR does not have.
        ValueError: an algorithm for 8-bit floats on others.
    """
    if isinstance(precision, str) and precision in DotAlgorithmPreset.__members__:
        precision = DotAlgorithmPreset[precision]
    spellings = {dtype: text for text, dtype in mlir.DTYPES.items()}
    if isinstance(precision, DotAlgorithmPreset):
        if precision.value is None:
            return None
        left, right, total, count, *fast = precision.value
        if left == "f8":
            if not (_is_float8(lhs) and _is_float8(rhs)):
                raise ValueError(
                    f"the algorithm {precision.name} is for operands of 8-bit floats, got {lhs} "
                    f"and {rhs}"
                )
            left, right, total = spellings[lhs], spellings[rhs], "f32"
        return _spelled((left, right, total), (1, 1, count), bool(fast))
    if not isinstance(precision, DotAlgorithm):
        return None
    types = [spellings[dtypes.canonicalize_dtype(t)] for t in precision[:3]]
    return _spelled(types, precision[3:6], precision.allow_imprecise_accumulation)


def _is_float8(dtype: np.dtype) -> bool:
    return dtype.itemsize == 1 and dtype.name.startswith("float8")


def _spelled(types: Any, counts: Any, imprecise: bool) -> str:
    entries = {
        "lhs_precision_type": types[0],
        "rhs_precision_type": types[1],
        "accumulation_type": types[2],
        "lhs_component_count": counts[0],
        "rhs_component_count": counts[1],
        "num_primitive_operations": counts[2],
        "allow_imprecise_accumulation": "true" if imprecise else "false",
    }
    return ", ".join(f"{key} = {value}" for key, value in entries.items())
