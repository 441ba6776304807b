"""Elementwise functions as calls of scalar functions, so that a program that uses one often
contains it once.

    stablehlo.custom_call @irax.formula(%x) {backend_config = {function = @sine_f32}}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops.attributes import SYMBOL, call_attributes
from irax_compiler.ops.computation import Computation
from irax_compiler.ops.core import Op
from irax_compiler.ops.elementwise_map import Map

TARGET = "irax.formula"
HAS_LOOP = "irax.has_loop"
"""The attribute of functions of scalars that have loops, in the pass `loops`."""


@dataclass(frozen=True)
class FormulaCall(Op):
    """Applies a function of scalars to each element of arrays of one shape."""

    num_results: ClassVar[int] = -1

    name = "stablehlo.custom_call"
    function: str
    dtypes: tuple[np.dtype, ...]
    """The dtypes of the results."""

    def attributes(self) -> dict[str, Any]:
        return call_attributes(TARGET, {"function": SYMBOL.encode(self.function)})

    def result_types(self, operands: Sequence[Value]):
        return [mlir.tensor_type(shape_of(operands[0]), dtype) for dtype in self.dtypes]

    @classmethod
    def read(cls, operation: Operation) -> FormulaCall:
        return cls(_name(operation), tuple(map(dtype_of, operation.results)))


def is_formula(operation: Operation) -> bool:
    """True if an operation was built by `FormulaCall`."""
    if operation.name != FormulaCall.name:
        return False
    target: Any = operation.attributes["call_target_name"]
    return target.value == TARGET


def has_loop(call: Operation) -> bool:
    """True if the called function is marked as containing a loop, which only kernels run for each
    element.
    """
    return HAS_LOOP in definition(call).attributes


def definition(call: Operation) -> Operation:
    """The function that it calls."""
    return mlir.function_beside(call, _name(call))


def inlined(call: Operation) -> Sequence[Value]:
    """Builds the result of the call from other operations, at the insertion point."""
    body, operands = mlir.body(definition(call)), list(call.operands)
    extents = shape_of(call.results[0])
    computation = Computation.of(body)
    if not extents or len(body.operations) == 2:
        return computation(*operands)
    dtypes, dimensions = [dtype_of(x) for x in operands], tuple(range(len(extents)))
    return [
        Map(Computation.build(dtypes, lambda *x, i=i: [computation(*x)[i]]), dimensions)(*operands)
        for i in range(len(call.results))
    ]


def _name(call: Operation) -> str:
    config: Any = call.attributes["backend_config"]
    return config["function"].value
