"""The pass widen, which replaces 2- and 4-bit integers by 8-bit ones, for targets that pack several
into a byte and support few operations on them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

import ml_dtypes
import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value, dtype_of, inexact, shape_of
from irax_compiler.ops import bitwise, clamp, conversion, elementwise, shape
from irax_compiler.ops.bitcast import BitcastConvert
from irax_compiler.ops.core import UnsupportedOp, Widened, constant, full, full_like
from irax_compiler.ops.reduction_builders import reduce_sum
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.core import Pass, nested, register_pass, returned
from irax_compiler.passes.host.annotate import keep_types
from irax_compiler.passes.legalize.float_codes import decoded, encoded
from irax_compiler.passes.legalize.numerics.scalar_formulas import by_scalars

WIDE = {
    np.dtype(ml_dtypes.int2): np.dtype(np.int8),
    np.dtype(ml_dtypes.uint2): np.dtype(np.uint8),
    np.dtype(ml_dtypes.int4): np.dtype(np.int8),
    np.dtype(ml_dtypes.uint4): np.dtype(np.uint8),
}


@register_pass
class Widen(Pass):
    """Replaces values of int2, uint2, int4 and uint4 by int8 and uint8 values of the same numbers.
    The types of functions change with them; `annotate` says what they were. Of the bytes of
    arguments the low bits count, as in NumPy's arrays of such integers.

    Raises UnsupportedOp for other operations on the bits of such integers than bitcasts.
    """

    name: ClassVar[str] = "widen"

    def run(self, module: Module) -> None:
        for function in mlir.functions(module).values():
            if not function.regions[0].blocks:
                continue
            given = []
            if mlir.is_public(function):
                given = [(x, dtype_of(x)) for x in mlir.arguments(function) if dtype_of(x) in WIDE]
                if given or any(dtype_of(x) in WIDE for x in returned(function)):
                    keep_types(function)
            for operation in list(nested(function)):
                if operation.name == "stablehlo.bitcast_convert":
                    _shift_bits(operation)
            inner = list(nested(function))
            for operation in inner:
                _check_bits(operation)
            for operation in [function, *inner]:
                _widen_arguments(operation)
            for operation in inner:
                _widen_results(operation)
            for argument, dtype in given:
                with InsertionPoint.at_block_begin(mlir.body(function)), function.location:
                    _replace(argument, lambda x, dtype=dtype: _low_bits(x, dtype))
            mlir.set_function_type(function)


def _shift_bits(operation: Operation) -> None:
    """Replace a bitcast from or to narrow integers by shifts of wider ones."""
    (x,), (result,) = operation.operands, operation.results
    source, target = dtype_of(x), dtype_of(result)
    if source not in WIDE and target not in WIDE:
        return
    with InsertionPoint(operation), operation.location:
        if mlir.width(source) == mlir.width(target):
            found = _of_same_bits(x, target)
        elif mlir.width(source) < mlir.width(target):
            found = _joined(x, shape_of(result), target)
        else:
            found = _parted(x, shape_of(result), target)
    mlir.replace(operation, [found])


def _of_same_bits(x: Value, dtype: np.dtype) -> Value:
    """Bitcast between dtypes of one width, of integers and of floats of 4 bits, by way of the codes
    of the floats.
    """
    source, byte = dtype_of(x), np.dtype(np.uint8)
    if inexact(source):
        wide = conversion.convert(x, np.dtype(np.float32))
        x = by_scalars(partial(encoded, dtype=source), wide)
    if inexact(dtype):
        octets = conversion.convert(x, byte)
        codes = bitwise.and_(octets, full_like(octets, 2 ** mlir.width(dtype) - 1))
        x = by_scalars(partial(decoded, dtype=dtype), codes)
    return conversion.convert(x, dtype)


def _joined(x: Value, extents: Sequence[int], dtype: np.dtype) -> Value:
    """The elements of a dtype of which narrow integers are the bits, the lowest first."""
    width = mlir.width(dtype_of(x))
    octets = conversion.convert(x, np.dtype(np.uint8))
    bits = bitwise.and_(octets, full_like(octets, 2**width - 1))
    wide = conversion.convert(bits, _unsigned(dtype))
    total = reduce_sum(bitwise.shift_left(wide, _shifts(wide, width)), [len(extents)])
    if dtype in WIDE:
        return conversion.convert(total, dtype)
    return BitcastConvert(tuple(extents), dtype)(total)


def _parted(x: Value, extents: Sequence[int], dtype: np.dtype) -> Value:
    """The narrow integers that are the bits of elements, the lowest first."""
    if dtype_of(x) in WIDE:
        unsigned = conversion.convert(x, _unsigned(dtype_of(x)))
    else:
        unsigned = BitcastConvert(shape_of(x), _unsigned(dtype_of(x)))(x)
    wide = shape.BroadcastInDim(tuple(extents), tuple(range(len(extents) - 1)))(unsigned)
    bits = bitwise.shift_right_logical(wide, _shifts(wide, mlir.width(dtype)))
    octets = bitwise.and_(bits, full_like(bits, 2 ** mlir.width(dtype) - 1))
    return conversion.convert(conversion.convert(octets, np.dtype(np.uint8)), dtype)


def _shifts(wide: Value, width: int) -> Value:
    """The number of bits below each part along the last dimension."""
    extents = shape_of(wide)
    places = shape.Iota(extents, dtype_of(wide), len(extents) - 1)()
    return elementwise.multiply(places, full_like(places, width))


def _unsigned(dtype: np.dtype) -> np.dtype:
    return np.dtype(f"uint{max(8, mlir.width(dtype))}")


def _check_bits(operation: Operation) -> None:
    """Raise UnsupportedOp for operations on the bits of narrow integers."""
    if traits_of(operation).widened is not Widened.OTHER:
        return
    for x in [*operation.operands, *operation.results]:
        if dtype_of(x) in WIDE:
            raise UnsupportedOp(
                f"{operation.name} of {dtype_of(x)} at {operation.location} is not supported on "
                "this target; convert to int8 and back"
            )


def _widen_arguments(operation: Operation) -> None:
    for region in operation.regions:
        for block in region:
            for argument in block.arguments:
                _retype(argument)


def _widen_results(operation: Operation) -> None:
    narrow = [dtype_of(x) for x in operation.results if dtype_of(x) in WIDE]
    if not narrow:
        return
    if traits_of(operation).is_constant:
        with InsertionPoint(operation), operation.location:
            wide = constant(mlir.dense_to_numpy(operation).astype(WIDE[narrow[0]]))
        mlir.replace(operation, [wide])
        return
    widened = traits_of(operation).widened
    if widened is Widened.LOW_BITS_OF_UNSIGNED:
        with InsertionPoint(operation), operation.location:
            x = operation.operands[0]
            operation.operands[0] = bitwise.and_(x, full_like(x, 2 ** mlir.width(narrow[0]) - 1))
    elif widened is Widened.LOW_BITS_OF_SIGNED and WIDE[narrow[0]].kind == "u":
        with InsertionPoint(operation), operation.location:
            x = operation.operands[0]
            unused = full_like(x, 8 - mlir.width(narrow[0]))
            high = bitwise.shift_left(x, unused)
            operation.operands[0] = bitwise.shift_right_arithmetic(high, unused)
    for result in operation.results:
        _retype(result)
    if operation.name == "stablehlo.count_leading_zeros":
        unused = 8 - mlir.width(narrow[0])
        _replace_result(operation, lambda x: elementwise.subtract(x, full_like(x, unused)))
    if widened is not Widened.SAME:
        _replace_result(operation, lambda x: _within(x, narrow[0], operation))


def _replace_result(operation: Operation, by: Callable[[Value], Value]) -> None:
    """Replace the result of an operation by another value."""
    with InsertionPoint.after(operation), operation.location:
        (result,) = operation.results
        _replace(result, by)


def _replace(value: Value, by: Callable[[Value], Value]) -> None:
    """Replace a value by another one, where it is used by now."""
    uses = [(use.owner, use.operand_number) for use in value.uses]
    replacement = by(value)
    for user, i in uses:
        user.operands[i] = replacement


def _retype(value: Value) -> None:
    dtype = dtype_of(value)
    if dtype in WIDE:
        value.set_type(mlir.tensor_type(shape_of(value), WIDE[dtype]))


def _within(wide: Value, dtype: np.dtype, operation: Operation) -> Value:
    """Round a result to the narrow dtype: floats saturate, integers keep the low bits."""
    if operation.name == "stablehlo.convert" and inexact(dtype_of(operation.operands[0])):
        info = ml_dtypes.iinfo(dtype)
        low, high = (full((), int(bound), dtype_of(wide)) for bound in (info.min, info.max))
        return clamp.clamp(low, wide, high)
    return _low_bits(wide, dtype)


def _low_bits(wide: Value, dtype: np.dtype) -> Value:
    """Return the numbers of a narrow dtype that the low bits of wider integers are."""
    unused = full_like(wide, 8 - mlir.width(dtype))
    is_signed = dtype_of(wide) == np.int8
    back = bitwise.shift_right_arithmetic if is_signed else bitwise.shift_right_logical
    return back(bitwise.shift_left(wide, unused), unused)
