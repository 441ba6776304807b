"""NumPy functions as operations of programs that are only evaluated, never compiled. They have no
rules except `evaluate`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops.attributes import call_attributes
from irax_compiler.ops.core import ArrayType, Op, working_dtype
from irax_compiler.ops.reductions import blocked
from irax_compiler.ops.transformation import Evaluation

TARGET = "irax.numpy"

_DIRECT = frozenset({np.dtype(np.float32), np.dtype(np.float64)})
_EXACT = frozenset({"floor_divide", "remainder"})


@dataclass(frozen=True)
class NumpyCall(Op):
    """A function of NumPy, such as "hypot" or "add.accumulate", of the operands, and perhaps of a
    last argument: an axis, or a side.
    """

    name = "stablehlo.custom_call"
    evaluated_only = True
    function: str
    shape: tuple[int, ...]
    dtype: np.dtype
    argument: int | str | None = None

    def attributes(self) -> dict[str, Any]:
        config = {"function": mlir.string(self.function)}
        if isinstance(self.argument, str):
            config["argument"] = mlir.string(self.argument)
        elif self.argument is not None:
            config["argument"] = mlir.parse_attribute(f"{self.argument} : i64")
        return call_attributes(TARGET, config)

    def result_types(self, operands: Sequence[Value]):
        return [mlir.tensor_type(self.shape, self.dtype)]

    @classmethod
    def read(cls, operation: Operation) -> NumpyCall:
        config: Any = operation.attributes["backend_config"]
        result = operation.results[0]
        argument = config["argument"].value if "argument" in config else None
        return cls(config["function"].value, shape_of(result), dtype_of(result), argument)

    def suits(self, *dtypes: np.dtype) -> bool:
        """Return True if the NumPy function is correct for operands of these dtypes: NumPy has the
        dtypes, or the function is exact in a wider one.
        """
        return self.function in _EXACT or all(d.kind in "biu" or d in _DIRECT for d in dtypes)

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> np.ndarray:
        return self.prepared(*(ArrayType(x.shape, x.dtype) for x in operands))(*operands)

    def prepared(self, *operands: ArrayType) -> Callable[..., Any]:
        function: Any = operator.attrgetter(self.function)(np)
        dtype, wide = self.dtype, working_dtype(operands[0].dtype)
        if self.function.endswith(".accumulate"):
            axis: Any = self.argument
            if function == np.add.accumulate:
                return lambda x: blocked.running(x.astype(dtype, copy=False), axis)
            return lambda x: function(x, axis, dtype)
        if isinstance(function, np.ufunc) and wide == operands[0].dtype:
            return function
        last = () if self.argument is None else (self.argument,)

        def calls(*operands: np.ndarray) -> np.ndarray:
            result = function(*(x.astype(wide, copy=False) for x in operands), *last)
            return np.asarray(result).astype(dtype, copy=False)

        return calls
