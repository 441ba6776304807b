"""The pass encode, which replaces floats that a target lacks by their bytes, and computes with them
in float32, or in float64 where float32 would not hold them as normal numbers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.dtypes import DTYPES
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value, dtype_of, inexact, shape_of
from irax_compiler.ops.conversion import convert
from irax_compiler.ops.core import UnsupportedOp, constant
from irax_compiler.ops.elementwise import real
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.passes.core import Pass, nested, register_pass, returned
from irax_compiler.passes.host.annotate import keep_types
from irax_compiler.passes.legalize.float_codes import (
    E8M0,
    decoded,
    decoded_scales,
    encoded,
    neighbour,
    rounded_to_float32,
    rounded_to_odd,
)
from irax_compiler.passes.legalize.numerics.scalar_formulas import by_scalars
from irax_compiler.passes.legalize.target import Target, find

F32, F64, U8 = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.uint8)

_KEEP_BYTES = {
    "func.call",
    "func.return",
    "stablehlo.concatenate",
    "stablehlo.dynamic_slice",
    "stablehlo.dynamic_update_slice",
    "stablehlo.gather",
    "stablehlo.optimization_barrier",
    "stablehlo.pad",
    "stablehlo.return",
    "stablehlo.select",
}
"""Operations on any elements, besides those that are known by their traits."""

_READ = {"chlo.next_after", "stablehlo.bitcast_convert", "stablehlo.convert"}
"""Operations that are replaced by others on bytes."""


@register_pass
@dataclass
class Encode(Pass):
    """Replaces values of the dtypes of which `target` has arrays of bytes, such as float8_e3m4, by
    uint8 values with the same bits. Operations that compute decode them to float32, float8_e8m0fnu
    to float64, and round results to float32 and then once more, as `evaluate` does. The types of
    functions change; `annotate` says what they were.

    Raises UnsupportedOp for bitcasts of floats of fewer than 8 bits.
    """

    name: ClassVar[str] = "encode"
    target: str = ""

    def run(self, module: Module) -> None:
        target: Target = find(self.target)
        dtypes = frozenset(d for d in DTYPES.values() if d.name in target.in_bytes)
        if not dtypes:
            return
        for function in mlir.functions(module).values():
            if function.regions[0].blocks:
                _encode(function, dtypes)


def _encode(whole: Operation, codes: frozenset[np.dtype]) -> None:
    """Encode the values of a function."""
    values = [*mlir.arguments(whole)]
    values += (x for operation in nested(whole) for x in [*operation.operands, *operation.results])
    if not any(dtype_of(x) in codes for x in values):
        return
    boundary = [*mlir.arguments(whole), *returned(whole)]
    if mlir.is_public(whole) and any(dtype_of(x) in codes for x in boundary):
        keep_types(whole)
    _compute_wide(mlir.body(whole), codes)
    inner = list(nested(whole))
    dtypes = {
        operation: (dtype_of(operation.operands[0]), dtype_of(operation.results[0]))
        for operation in inner
        if operation.name in _READ
    }
    for operation in inner:
        if operation.name == "stablehlo.bitcast_convert":
            _check_bitcast(operation, dtypes[operation], codes)
        if traits_of(operation).is_constant and dtype_of(operation.results[0]) in codes:
            with InsertionPoint(operation), operation.location:
                bytes_ = constant(mlir.dense_to_numpy(operation).view(U8))
            mlir.replace(operation, [bytes_])
    for operation in [whole, *nested(whole)]:
        for region in operation.regions:
            for block in region:
                _retype(block.arguments, codes)
        _retype(operation.results, codes)
    for operation, (source, target) in dtypes.items():
        if source in codes or target in codes:
            _by_bits(operation, source, target, codes)
    mlir.set_function_type(whole)


def _retype(values: Iterable[Value], codes: frozenset[np.dtype]) -> None:
    for value in values:
        if dtype_of(value) in codes:
            value.set_type(mlir.tensor_type(shape_of(value), U8))


def _check_bitcast(
    operation: Operation, dtypes: tuple[np.dtype, np.dtype], codes: frozenset[np.dtype]
) -> None:
    """Raise UnsupportedOp for the bits of floats of fewer than 8."""
    for dtype in dtypes:
        if dtype in codes and mlir.width(dtype) < 8:
            raise UnsupportedOp(
                f"{operation.name} of {dtype} at {operation.location} is not supported on this "
                "target; convert to float32 and back, or use the device 'reference'"
            )


def _compute_wide(block: Any, codes: frozenset[np.dtype]) -> None:
    """Have the operations of a block that compute with encoded floats do so in float32."""
    for view in list(block.operations):
        operation: Operation = view.operation
        values = [*operation.operands, *operation.results]
        if any(dtype_of(x) in codes for x in values) and _computes(operation):
            _widen(operation, codes)
            continue
        for region in operation.regions:
            for inner in region.blocks:
                _compute_wide(inner, codes)


def _computes(operation: Operation) -> bool:
    """True if an operation reads numbers, and not by operations in a region that do so."""
    name, traits = operation.name, traits_of(operation)
    if name in _READ or name in _KEEP_BYTES:
        return False
    if traits.moves or traits.stretches or traits.is_view or traits.is_constant or traits.captures:
        return False
    op: Any = read(operation)
    if getattr(op, "combiner", None) == "set":
        return False
    folds = getattr(op, "computation", None) or getattr(op, "before", None)
    return folds is None or isinstance(folds, str)


def _widen(operation: Operation, codes: frozenset[np.dtype]) -> None:
    dtypes = [dtype_of(x) for x in (*operation.operands, *operation.results)]
    if E8M0 in dtypes:  # 2**-127 is subnormal in float32, which the processor flushes
        wide, widened = F64, {*codes, *(d for d in dtypes if inexact(d) and d.kind != "c")}
    else:
        wide, widened = F32, codes
    op: Any = read(operation)
    if getattr(op, "dtype", None) in widened:
        op = dataclasses.replace(op, dtype=wide)
    with InsertionPoint(operation), operation.location:
        results = op.build(
            [convert(x, wide) if dtype_of(x) in widened else x for x in operation.operands]
        )
        found = [_rounded(y, dtype_of(x)) for x, y in zip(operation.results, results, strict=True)]
    mlir.replace(operation, found)


def _rounded(x: Value, dtype: np.dtype) -> Value:
    """Convert what was computed to a dtype, by way of float32."""
    if dtype == E8M0:
        x = by_scalars(rounded_to_float32, x)
    return convert(x, dtype)


def _by_bits(
    operation: Operation, source: np.dtype, target: np.dtype, codes: frozenset[np.dtype]
) -> None:
    """Replace a conversion between dtypes, of which codes have taken the place, a bitcast, or a
    step to a neighbour.
    """
    x, result = operation.operands[0], operation.results[0]
    if operation.name == "stablehlo.bitcast_convert":
        if x.type == result.type:
            mlir.replace(operation, [x])
        return
    with InsertionPoint(operation), operation.location:
        if operation.name == "chlo.next_after":
            found = by_scalars(partial(neighbour, dtype=source), *operation.operands)
        elif source == target:
            found = x
        elif source == E8M0 and target == F64:
            found = by_scalars(decoded_scales, x)
        else:
            wide = by_scalars(partial(decoded, dtype=source), x) if source in codes else x
            found = _encoded(wide, target) if target in codes else convert(wide, target)
    mlir.replace(operation, [found])


def _encoded(x: Value, dtype: np.dtype) -> Value:
    """Return the codes of numbers, rounded once."""
    if dtype_of(x).kind == "c":
        x = real(x)
    if dtype_of(x) == F64:
        x = by_scalars(partial(rounded_to_odd, dtype=dtype), x)
    return by_scalars(partial(encoded, dtype=dtype), convert(x, F32))
