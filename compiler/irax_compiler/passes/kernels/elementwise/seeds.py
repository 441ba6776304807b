"""Operations that clusters are made of, or begin with."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value, shape_of
from irax_compiler.ops.barrier import barrier
from irax_compiler.ops.conversion import Convert
from irax_compiler.ops.elementwise_map import Map
from irax_compiler.ops.parts import has_parts
from irax_compiler.ops.registry import traits_of
from irax_compiler.ops.shape import Reshape
from irax_compiler.ops.size_code import usual
from irax_compiler.passes.kernels.elementwise import complex_numbers
from irax_compiler.passes.kernels.elementwise.clusters import MANY
from irax_compiler.passes.kernels.elementwise.complex_numbers import is_complex
from irax_compiler.passes.kernels.executables import SIZED_DISPATCH
from irax_compiler.passes.kernels.growth import is_on_vectors, sources_of
from irax_compiler.passes.kernels.loops.memory import is_plain


def is_elementwise(operation: Operation) -> bool:
    """True for an operation on numbers and on many values of one shape, of which kernels compute
    vectors.
    """
    return is_on_registers(operation) and usual(prod(shape_of(operation.results[0]))) >= MANY


def is_on_registers(operation: Operation) -> bool:
    """True for an operation on numbers and on values of one shape, of which kernels compute
    vectors.
    """
    if len(operation.results) != 1 or not len(operation.operands):
        return False
    values = [*operation.operands, operation.results[0]]
    is_one = complex_numbers.is_known if any(map(is_complex, values)) else is_on_vectors
    if not is_one(operation):  # it may have no shape, such as a token
        return False
    extents = shape_of(operation.results[0])
    return (
        all(shape_of(x) in ((), extents) for x in operation.operands)
        and all(map(_has_numbers, values))
        and mlir.splat(operation.results[0]) is None
    )


def is_barrier_of_parts(operation: Operation) -> bool:
    """True for a fusion barrier between parts of many complex numbers and a formula of them, which
    IREE needs where kernels do without.
    """
    if operation.name != barrier.name:
        return False
    (first, *_) = operation.operands
    if not isinstance(first.type, mlir.RankedTensorType) or usual(prod(shape_of(first))) < MANY:
        return False
    sources = sources_of(operation.operands)
    if len(sources) < len(operation.operands):
        return False
    return all(map(complex_numbers.is_part, sources)) or {o.name for o in sources} == {Map.name}


def is_conversion_of_parts(operation: Operation) -> bool:
    """True for a conversion of many numbers to or from complex ones: kernels convert parts."""
    return (
        operation.name == Convert.name
        and has_parts(operation)
        and usual(prod(shape_of(operation.results[0]))) >= MANY
    )


def is_moved(operation: Operation) -> bool:
    """True for an operation that makes many elements in another order, which nothing but kernels
    and results use.
    """
    if len(operation.results) != 1 or len(operation.operands) != 1:
        return False
    (result,) = operation.results
    return (
        traits_of(operation).moves
        and usual(prod(shape_of(result))) >= MANY
        and _has_numbers(result)
        and mlir.splat(result) is None
        and mlir.num_uses(result) > 0
        and not any(map(_is_op, _users(result)))
    )


def _users(x: Value) -> Iterator[Operation]:
    """Yield the operations that use an array, in any shape."""
    for use in x.uses:
        user = use.owner.operation
        if user.name == Reshape.name:
            yield from _users(user.results[0])
        else:
            yield user


def _has_numbers(x: Value) -> bool:
    return is_plain(x) or is_complex(x)


def _is_op(operation: Operation) -> bool:
    is_sized = operation.name.startswith("irax.") and operation.name != SIZED_DISPATCH
    return is_sized or operation.name.startswith("stablehlo.")
