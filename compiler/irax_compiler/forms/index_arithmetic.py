"""Arithmetic of sizes in the dialects arith, tensor and shape.

torch-mlir writes it in modules of symbolic sizes. It becomes operations of StableHLO on integers,
which are read as those of JAX are: `shape.shape_of %x` is a vector of the sizes of `%x`. Operations
without a rule here are left, and refused by name if they are run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.mlir.types import UNKNOWN_SIZE
from irax_compiler.ops import bitwise, comparison, conversion, elementwise, shape, slicing
from irax_compiler.ops.core import constant, full

WORDS = ("shape_of", "const_shape", "from_elements", "index_cast", "tensor.cast")
_DIALECTS = ("arith", "tensor", "shape")
_BESIDE = {"builtin", "func", "stablehlo", "chlo", "mhlo", "sdy"}
_ASSUMING = "shape.assuming"
_I64 = np.dtype(np.int64)

Rule = Callable[[Operation, Sequence[Value]], Value | None]


def rewrite(module: Module) -> None:
    """Rewrite the arithmetic of sizes in the functions of a module. One that was lowered has such
    operations by right, and is left as it is.
    """
    operations = mlir.operations_in(module.operation)
    dialects = {operation.name.partition(".")[0] for operation in operations}
    if not dialects & {*_DIALECTS} or not dialects <= _BESIDE | {*_DIALECTS}:
        return
    for operation in operations:
        if operation.name == _ASSUMING:
            _inline(operation)
    made: dict[Value, Value] = {}
    replaced: list[Operation] = []
    for operation in mlir.operations_in(module.operation)[:-1]:
        rule = _RULES.get(operation.name)
        if rule is None:
            continue
        given = [made.get(x, x) for x in operation.operands]
        if operation.name not in _WITNESSES and not all(map(_is_array, given)):
            continue
        with InsertionPoint(operation), operation.location:
            found = rule(operation, given)
        if found is None and operation.name not in _WITNESSES:
            continue
        replaced.append(operation)
        if found is not None:
            made[operation.results[0]] = found
    for old, new in made.items():
        for use in list(old.uses):
            user: Any = use.owner.operation
            if user.name.partition(".")[0] not in _DIALECTS:
                user.operands[use.operand_number] = new
    for operation in reversed(replaced):
        if not any(mlir.num_uses(x) for x in operation.results):
            operation.erase()


def _is_array(x: Value) -> bool:
    """False for numbers that are no arrays, as lowered functions take them."""
    return isinstance(x.type, mlir.RankedTensorType)


def _inline(assuming: Operation) -> None:
    """Move the operations of a region that asserts what its sizes satisfy in front of it."""
    *inside, last = [view.operation for view in assuming.regions[0].blocks[0].operations]
    for operation in inside:
        operation.move_before(assuming)
    mlir.replace(assuming, list(last.operands))


# ---- vectors of sizes ----------------------------------------------------------------------------


def _size(x: Value, dimension: int) -> Value:
    """Return a size of an array."""
    type_: Any = x.type
    extent = type_.shape[dimension]
    if extent != UNKNOWN_SIZE:
        return full((), extent, _I64)
    named = {"dimension": mlir.parse_attribute(f"{dimension} : i64")}
    types = [mlir.tensor_type((), np.dtype(np.int32))]
    (found,) = mlir.emit("stablehlo.get_dimension_size", [x], named, types).results
    return conversion.convert(found, _I64)


def _vector(numbers: Sequence[Value]) -> Value:
    if not numbers:
        return constant(np.zeros(0, _I64))
    return slicing.Concatenate(0)(*(shape.reshape(n, (1,)) for n in numbers))


def _elements(x: Value) -> list[Value]:
    """Return the elements of a vector as scalars: those that it was made of, where it was."""
    operation = mlir.definition(x)
    (count,) = mlir.shape_of(x)
    if operation is not None and operation.name == "stablehlo.constant":
        return [constant(n) for n in mlir.dense_to_numpy(operation)]
    if operation is not None and operation.name == "stablehlo.concatenate":
        inside = [mlir.definition(y) for y in operation.operands]
        if all(o is not None and o.name == "stablehlo.reshape" for o in inside):
            return [o.operands[0] for o in inside if o is not None]
    return [shape.reshape(slicing.slice_(x, (i,), (i + 1,), (1,)), ()) for i in range(count)]


def _shape_of(operation: Operation, given: Sequence[Value]) -> Value | None:
    type_: Any = operation.operands[0].type
    if not isinstance(type_, mlir.RankedTensorType):
        return None
    return _vector([_size(given[0], i) for i in range(len(type_.shape))])


def _const_shape(operation: Operation, given: Sequence[Value]) -> Value:
    attribute: Any = operation.attributes["shape"]
    return constant(np.array(attribute, _I64).reshape(-1))


def _dimension(operation: Operation, given: Sequence[Value]) -> Value | None:
    place = mlir.splat(given[1])
    return None if place is None else _size(given[0], int(place))


def _number_of_elements(operation: Operation, given: Sequence[Value]) -> Value:
    return reduce(elementwise.multiply, _elements(given[0]), full((), 1, _I64))


def _common(operation: Operation, given: Sequence[Value]) -> Value:
    """Return the shape that arrays of some shapes are broadcast to."""
    lists = [_elements(x) for x in given]
    rank = max(map(len, lists))
    columns = zip(*([None] * (rank - len(x)) + x for x in lists), strict=True)
    return _vector([reduce(_wider, [n for n in column if n is not None]) for column in columns])


def _wider(x: Value, y: Value) -> Value:
    """Return the size that two are broadcast to."""
    for one, other in ((x, y), (y, x)):
        number = mlir.splat(one)
        if number is not None:
            return other if number == 1 else one
    return elementwise.maximum(x, y)


def _from_elements(operation: Operation, given: Sequence[Value]) -> Value:
    type_: Any = operation.results[0].type
    found = _vector(given)
    return shape.reshape(found, tuple(type_.shape))


def _element(operation: Operation, given: Sequence[Value]) -> Value | None:
    places = [mlir.splat(x) for x in given[1:]]
    if len(places) != 1 or places[0] is None:
        return given[0] if not places else None
    return _elements(given[0])[int(places[0])]


def _cast(operation: Operation, given: Sequence[Value]) -> Value:
    """Return an array whose type says more, or less, of its shape."""
    (x,), (result,) = given, operation.results
    type_: Any = result.type
    sizes = [
        _size(x, i) if n == UNKNOWN_SIZE else full((), n, _I64) for i, n in enumerate(type_.shape)
    ]
    return mlir.emit("stablehlo.dynamic_reshape", [x, _vector(sizes)], {}, [type_]).results[0]


# ---- numbers -------------------------------------------------------------------------------------


def _dtype(type_: Any) -> np.dtype[Any]:
    return (
        _I64 if str(type_) == "index" else mlir.dtype_of_type(mlir.parse_type(f"tensor<{type_}>"))
    )


def _constant(operation: Operation, given: Sequence[Value]) -> Value | None:
    type_: Any = operation.results[0].type
    attribute: Any = operation.attributes["value"]
    if isinstance(type_, mlir.RankedTensorType):
        is_index = str(type_.element_type) == "index"
        return constant(np.array(attribute, _I64).reshape(type_.shape)) if is_index else None
    return constant(np.asarray(mlir.number_of(attribute), _dtype(type_)))


def _convert(operation: Operation, given: Sequence[Value]) -> Value:
    type_: Any = operation.results[0].type
    if not isinstance(type_, mlir.RankedTensorType):
        return conversion.convert(given[0], _dtype(type_))
    return conversion.convert(given[0], _dtype(type_.element_type))


def _same(operation: Operation, given: Sequence[Value]) -> Value:
    return given[0]


def _witness(operation: Operation, given: Sequence[Value]) -> None:
    """Leave out what shapes are asserted to satisfy: operations refuse shapes that do not fit."""


def _of(function: Callable[..., Value]) -> Rule:
    return lambda operation, given: function(*given)


_COMPARISONS = (
    *(comparison.equal, comparison.not_equal),
    *(comparison.less, comparison.less_equal, comparison.greater, comparison.greater_equal),
)
"""Comparisons by the numbers that arith has for those of signed integers."""


def _compare(operation: Operation, given: Sequence[Value]) -> Value | None:
    predicate: Any = operation.attributes["predicate"]
    is_signed = predicate.value < len(_COMPARISONS)
    return _COMPARISONS[predicate.value](*given) if is_signed else None


def _floor(x: Value, y: Value) -> Value:
    """Return a quotient that is rounded down, in the form in which JAX writes it."""
    quotient, rest = elementwise.divide(x, y), elementwise.remainder(x, y)
    is_off = bitwise.and_(
        comparison.not_equal(elementwise.sign(x), elementwise.sign(y)),
        comparison.not_equal(rest, full((), 0, mlir.dtype_of(rest))),
    )
    one = full((), 1, mlir.dtype_of(quotient))
    return comparison.select(is_off, elementwise.subtract(quotient, one), quotient)


def _ceiling(operation: Operation, given: Sequence[Value]) -> Value | None:
    """Return a quotient that is rounded up."""
    x, y = given
    divisor = mlir.splat(y)
    if divisor is None or divisor <= 0:
        return None
    return _floor(elementwise.add(x, full((), int(divisor) - 1, mlir.dtype_of(x))), y)


_WITNESSES = {
    *("shape.assuming_all", "shape.const_witness", "shape.cstr_broadcastable", "shape.cstr_eq"),
}
_NUMBERS: dict[str, Rule] = {
    **dict.fromkeys(("addi", "addf"), _of(elementwise.add)),
    **dict.fromkeys(("subi", "subf"), _of(elementwise.subtract)),
    **dict.fromkeys(("muli", "mulf"), _of(elementwise.multiply)),
    **dict.fromkeys(("divsi", "divui", "divf"), _of(elementwise.divide)),
    **dict.fromkeys(("remsi", "remui"), _of(elementwise.remainder)),
    **dict.fromkeys(("maxsi", "maxui"), _of(elementwise.maximum)),
    **dict.fromkeys(("minsi", "minui"), _of(elementwise.minimum)),
    "ceildivsi": _ceiling,
    "cmpi": _compare,
    "select": _of(comparison.select),
    "floordivsi": _of(_floor),
    **dict.fromkeys(("index_cast", "extsi", "trunci", "sitofp", "fptosi", "extf"), _convert),
    "constant": _constant,
}
_RULES: dict[str, Rule] = {
    **{f"arith.{name}": rule for name, rule in _NUMBERS.items()},
    **dict.fromkeys(_WITNESSES, _witness),
    **dict.fromkeys(("shape.index_to_size", "shape.size_to_index", "shape.value_as_shape"), _same),
    **dict.fromkeys(("shape.dim", "tensor.dim"), _dimension),
    **dict.fromkeys(("shape.get_extent", "tensor.extract"), _element),
    "shape.broadcast": _common,
    "shape.const_shape": _const_shape,
    "shape.num_elements": _number_of_elements,
    "shape.shape_of": _shape_of,
    "tensor.cast": _cast,
    "tensor.from_elements": _from_elements,
}
"""The rewrites by the names of operations."""
