"""The op map, which applies a scalar computation elementwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Value, shape_of
from irax_compiler.ops.attributes import I64S, attribute, from_operation
from irax_compiler.ops.computation import Computation
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.structured import DefinedOp


@register_class
@dataclass(frozen=True)
class Map(DefinedOp):
    """The computation of the elements of all operands, which have one shape."""

    name = "stablehlo.map"
    num_results: ClassVar[int] = -1
    computation: Computation = from_operation(lambda o: Computation.of(o.regions[0].blocks[0]))
    dimensions: tuple[int, ...] = attribute(I64S)

    def build(self, operands: Sequence[Value]) -> Sequence[Value]:
        extents = shape_of(operands[0])
        types = [mlir.tensor_type(extents, d) for d in self.computation.result_dtypes]
        operation = mlir.emit(self.name, operands, self.attributes(), types, regions=1)
        self.computation.fill(operation.regions[0])
        return tuple(operation.results)

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        return self.computation(*operands)
