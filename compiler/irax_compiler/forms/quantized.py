"""Quantized numbers as the integers that store them. Arithmetic dequantizes its operands and
quantizes its results; operations that only move elements move the integers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Type, Value, shape_of
from irax_compiler.ops import clamp, conversion, elementwise, shape
from irax_compiler.ops.core import constant, full

_TYPE = re.compile(
    r"!quant\.uniform<([iu])(\d+)(?:<(-?\d+):(-?\d+)>)?:(\w+)(?::(\d+))?, \{?([^{}]*?)\}?>"
)
_HANDS_ON = (
    *("func.call", "func.func", "func.return", "stablehlo.bitcast_convert", "stablehlo.constant"),
)
"""Operations that take and return integers whatever they represent."""

_MOVES = (
    *("stablehlo.broadcast_in_dim", "stablehlo.concatenate", "stablehlo.dynamic_slice"),
    *("stablehlo.gather", "stablehlo.reshape", "stablehlo.reverse", "stablehlo.select"),
    *("stablehlo.slice", "stablehlo.transpose"),
)
"""Operations that only move integers, which must have the same quantization in operands and
result."""


@dataclass(frozen=True)
class Quantization:
    """The quantization of integers, which represent `(integer - zero point) * scale`, with one
    scale and zero point for all, or one for each index of a dimension.
    """

    storage: np.dtype
    least: int
    most: int
    expressed: np.dtype
    dimension: int | None
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]

    def dequantized(self, x: Value) -> Value:
        number = conversion.convert(x, self.expressed)
        shifted = elementwise.subtract(number, self._spread(self.zero_points, x))
        return elementwise.multiply(shifted, self._spread(self.scales, x))

    def quantized(self, x: Value) -> Value:
        scaled = elementwise.divide(x, self._spread(self.scales, x))
        moved = elementwise.add(scaled, self._spread(self.zero_points, x))
        least, most = (full((), n, self.expressed) for n in (self.least, self.most))
        rounded = elementwise.round_nearest_even(clamp.clamp(least, moved, most))
        return conversion.convert(rounded, self.storage)

    def _spread(self, numbers: Sequence[float], like: Value) -> Value:
        if self.dimension is None:
            return full(shape_of(like), numbers[0], self.expressed)
        vector = constant(np.array(numbers, np.float64).astype(self.expressed))
        return shape.BroadcastInDim(shape_of(like), (self.dimension,))(vector)


@lru_cache(maxsize=1024)
def _quantization(type_: Any) -> Quantization | None:
    """Return the quantization of a tensor type's elements; None if there is none, or not one of
    these forms.
    """
    found = _TYPE.fullmatch(str(getattr(type_, "element_type", "")))
    names = {"i": "i", "u": "ui"}
    if found is None or f"{names[found[1]]}{found[2]}" not in mlir.DTYPES:
        return None
    storage = mlir.DTYPES[f"{names[found[1]]}{found[2]}"]
    info = ml_dtypes.iinfo(storage)
    pairs = [item.partition(":") for item in found[7].split(",")]
    return Quantization(
        storage,
        int(info.min if found[3] is None else found[3]),
        int(info.max if found[4] is None else found[4]),
        mlir.DTYPES[found[5]],
        None if found[6] is None else int(found[6]),
        tuple(float(scale) for scale, _, _ in pairs),
        tuple(int(point or 0) for _, _, point in pairs),
    )


def _is_quantized(type_: Type) -> bool:
    return "!quant." in str(type_)


def with_plain_numbers(module: Module) -> None:
    """Rewrite a module whose quantized types are all known; others are left, to be refused by
    name.
    """
    found = mlir.operations_in(module.operation)
    operations = [o for o in found if any(_is_quantized(v.type) for v in _values(o))]
    if not all(map(_is_known, operations)):
        return
    kinds = {v: _quantization(v.type) for o in operations for v in _values(o)}
    for value, kind in kinds.items():
        if kind is not None:
            value.set_type(mlir.tensor_type(shape_of(value), kind.storage))
    for operation in operations:
        if operation.name not in (*_HANDS_ON, *_MOVES):
            _compute(operation, kinds)
    for function in mlir.functions(module).values():
        if len(function.regions[0].blocks) == 1:
            mlir.set_function_type(function)


def _values(operation: Operation) -> list[Value]:
    blocks = [block for region in operation.regions for block in region.blocks]
    arguments = [a for block in blocks for a in block.arguments]
    return [*operation.operands, *operation.results, *arguments]


def _is_known(operation: Operation) -> bool:
    kinds = {_quantization(v.type) for v in _values(operation) if _is_quantized(v.type)}
    if None in kinds:
        return False
    if operation.name in _MOVES:
        return len(kinds) == 1 and all(k is not None and k.dimension is None for k in kinds)
    return operation.name in _HANDS_ON or not operation.regions


def _compute(operation: Operation, kinds: dict[Value, Quantization | None]) -> None:
    with InsertionPoint(operation), operation.location:
        operands = [_dequantized(x, kinds[x]) for x in operation.operands]
        if operation.name in ("stablehlo.uniform_quantize", "stablehlo.uniform_dequantize"):
            found: Sequence[Value] = operands
        else:
            attributes = {a: operation.attributes[a] for a in operation.attributes}
            types = [_expressed(r, kinds[r]) for r in operation.results]
            found = list(mlir.emit(operation.name, operands, attributes, types).results)
        for result, value in zip(operation.results, found, strict=True):
            kind = kinds[result]
            new = value if kind is None else kind.quantized(value)
            result.replace_all_uses_with(new)
            kinds[new] = kind
    operation.erase()


def _dequantized(x: Value, kind: Quantization | None) -> Value:
    return x if kind is None else kind.dequantized(x)


def _expressed(x: Value, kind: Quantization | None) -> Type:
    return x.type if kind is None else mlir.tensor_type(shape_of(x), kind.expressed)
