"""The value of a symbolic dimension, as a scalar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Value
from irax_compiler.ops.attributes import I64, attribute, result_dtype
from irax_compiler.ops.core import Op, Recomputation, UnknownSize
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.transformation import Evaluation


@register_class
@dataclass(frozen=True)
class Dimension(Op):
    """The value of a size, such as that of a symbolic dimension."""

    name = "irax.dimension"
    recomputation = Recomputation.FREE
    size: Any = attribute(I64)
    dtype: np.dtype = result_dtype()

    def result_types(self, operands: Sequence[Value]):
        return [mlir.tensor_type((), self.dtype)]

    def evaluate(self, call: Evaluation) -> np.ndarray:
        if isinstance(self.size, int):
            return np.asarray(self.size).astype(self.dtype)
        raise UnknownSize(
            f"{self.name}: the value of the symbolic dimension {self.size} is not known; expected "
            "a function that was refined for sizes"
        )
