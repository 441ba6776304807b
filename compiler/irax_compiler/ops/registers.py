"""Lowerings of elementwise ops to arith and math operations on registers, which ops declare as
their `scalar_lowering`, and their building blocks.

A value of one element becomes a scalar; a value of more elements, of any shape, a vector. Their
integers are signless: the dtype of the StableHLO value determines the operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Type, Value, dtype_of, inexact, shape_of
from irax_compiler.ops import size_code
from irax_compiler.ops.core import ScalarLowering
from irax_compiler.ops.registry import traits_of
from irax_compiler.sizes import Size

Registers = Sequence[Value]
Rule = Callable[[Operation, Registers], Value]


def signless_dtype(dtype: np.dtype) -> np.dtype:
    """Return the dtype of the registers that hold numbers of `dtype`."""
    return np.dtype(f"i{dtype.itemsize}") if dtype.kind == "u" else dtype


def register_type(x: Any) -> Type:
    """The type of the register that stands for a value."""
    return type_of(signless_dtype(dtype_of(x)), prod(shape_of(x)))


def type_of(dtype: np.dtype, size: int) -> Type:
    """A scalar, or a vector of `size` elements."""
    scalar = mlir.element_type(dtype)
    return scalar if size == 1 else mlir.parse_type(f"vector<{size}x{scalar}>")


def constant(elements: np.ndarray) -> Value:
    """A register of constants, from all the elements of an array or from the one of a splat."""
    dtype = signless_dtype(elements.dtype)
    flat = np.ascontiguousarray(elements).reshape(-1).view(dtype)
    return _constant(type_of(dtype, flat.size), [_spelled(x) for x in flat])


def is_known(operation: Operation) -> bool:
    """True if an elementwise operation has a lowering to registers for its dtypes."""
    lowering = traits_of(operation).scalar_lowering
    return lowering is not None and lowering.applies(operation)


def apply(operation: Operation, operands: Registers) -> Value:
    """An elementwise operation on registers."""
    size = max(size_of(x) for x in operands)
    lowering = traits_of(operation).scalar_lowering
    assert lowering is not None
    return lowering.build(operation, [spread(x, size) for x in operands])


def size_of(x: Value) -> int:
    """Return the number of elements in a register."""
    return x.type.shape[0] if isinstance(x.type, mlir.VectorType) else 1


def spread(x: Value, size: int) -> Value:
    """A register of `size` elements, of one that is that or a scalar."""
    if size == 1 or isinstance(x.type, mlir.VectorType):
        return x
    return emit(
        "vector.broadcast", x, to=mlir.parse_type(f"vector<{size}x{mlir.type_text(x.type)}>")
    )


def emit(name: str, *operands: Value, to: Type | None = None, **attributes: Any) -> Value:
    """An operation with one result, of the first operand's type if nothing else is said."""
    types = [operands[0].type if to is None else to]
    return mlir.emit(name, operands, attributes, types).results[0]


def index(place: Any) -> Value:
    """A constant place in an array, or one that follows from sizes (see `size_code.known`)."""
    if isinstance(place, Size):
        return size_code.index(place)
    return _constant(mlir.parse_type("index"), [str(place)])


def is_boolean(x: Value) -> bool:
    """True if a register holds booleans."""
    scalar = x.type.element_type if isinstance(x.type, mlir.VectorType) else x.type
    return scalar == mlir.element_type(np.dtype(np.bool_))


def zero(scalar: Type) -> Value:
    """Zero, of a scalar type."""
    is_float = "f" in str(scalar)
    return _constant(scalar, ["0.0" if is_float else "0"])


def equal(x: Value, to: int) -> Value:
    """Compare integers with a number for equality."""
    return compare("EQ", "i", x, number(to, x))


def any_of(x: Value) -> Value:
    """Return the disjunction of a vector of booleans."""
    kind = mlir.parse_attribute("#vector.kind<or>")
    return emit("vector.reduction", x, to=mlir.element_type(np.dtype(np.bool_)), kind=kind)


def _spelled(x: np.generic) -> str:
    """An element as MLIR reads it, floats by their bits."""
    if inexact(x.dtype):
        return f"0x{int(x.view(f'u{x.dtype.itemsize}')):0{2 * x.dtype.itemsize}X}"
    return str(x).lower()


def _constant(type_: Type, elements: Sequence[str]) -> Value:
    text = elements[0]
    if isinstance(type_, mlir.VectorType):
        text = f"dense<{text if len(elements) == 1 else '[' + ', '.join(elements) + ']'}>"
    if text not in ("true", "false"):
        text = f"{text} : {mlir.type_text(type_)}"
    attribute = mlir.parse_attribute(text)
    return mlir.emit("arith.constant", [], {"value": attribute}, [type_]).results[0]


def number(fill: float, like: Value) -> Value:
    """A register like another whose elements are all a constant."""
    return _constant(like.type, [str(fill)])


def with_elements(like: Value, dtype: np.dtype) -> Type:
    """A register's type with other elements."""
    return type_of(dtype, size_of(like))


# ---- elementwise rules ---------------------------------------------------------------------------


def _kind(operation: Operation) -> str:
    """Return the kind of the first operand: "f" for floats, "i" for signed, "u" for unsigned
    integers and booleans.
    """
    dtype = dtype_of(operation.operands[0])
    return "f" if inexact(dtype) else "i" if dtype.kind == "i" else "u"


def _by_kind(f: str = "", i: str = "", u: str = "") -> Rule:
    names = {"f": f, "i": i, "u": u or i}
    return lambda operation, x: emit(names[_kind(operation)], *x)


def by_kind(f: str = "", i: str = "", u: str = "") -> ScalarLowering:
    """Return a lowering by the kind of number: floats, signed and unsigned integers. Without one
    for unsigned integers, that for signed ones is used.
    """
    return ScalarLowering(_by_kind(f, i, u))


def of_floats(name: str) -> ScalarLowering:
    """An operation of `math`, which has floats only."""
    return by_kind(f=f"math.{name}")


def compare(direction: str, kind: str, x: Value, y: Value) -> Value:
    """Compare floats ("f"), signed ("i") or unsigned ("u") integers by "LT", "EQ", ..."""
    boolean = with_elements(x, np.dtype(np.bool_))
    if kind == "f":
        predicate = {"EQ": 1, "GT": 2, "GE": 3, "LT": 4, "LE": 5, "NE": 13}[direction]
        name = "arith.cmpf"
    else:
        signed = {"EQ": 0, "NE": 1, "LT": 2, "LE": 3, "GT": 4, "GE": 5}
        predicate = signed[direction] + (4 if kind == "u" and direction not in ("EQ", "NE") else 0)
        name = "arith.cmpi"
    return emit(name, x, y, to=boolean, predicate=mlir.parse_attribute(f"{predicate} : i64"))


def _comparison(operation: Operation, x: Registers) -> Value:
    direction = str(operation.attributes["comparison_direction"])
    found = next(d for d in ("EQ", "NE", "LE", "LT", "GE", "GT") if d in direction)
    kind = _kind(operation)
    attributes = operation.attributes
    if kind == "f" and "compare_type" in attributes and "TOTAL" in str(attributes["compare_type"]):
        return compare(found, "i", *map(total_order_key, x))
    return compare(found, kind, x[0], x[1])


def total_order_key(x: Value) -> Value:
    """Return integers in the total order of floats: the bits, of negative ones inverted but the
    sign.
    """
    scalar = x.type.element_type if isinstance(x.type, mlir.VectorType) else x.type
    width = int(str(scalar).strip("bf"))
    bits = emit("arith.bitcast", x, to=with_elements(x, np.dtype(f"i{width // 8}")))
    sign = emit("arith.shrsi", bits, number(width - 1, bits))
    return emit("arith.xori", bits, emit("arith.shrui", sign, number(1, bits)))


def select(condition: Value, on_true: Value, on_false: Value) -> Value:
    """One or the other, for each element."""
    return emit("arith.select", condition, on_true, on_false, to=on_true.type)


def _division(name: str, by_zero: Callable[[Value], Value], overflow: int | None) -> Rule:
    """Integer division that does not trap: `by_zero(x)` where y is 0, and for the least number
    divided by -1 `overflow`, or itself.
    """

    def rule(operation: Operation, operands: Registers) -> Value:
        x, y = operands
        kind = _kind(operation)
        if kind == "f":
            return emit(f"arith.{name}f", x, y)
        zero, one = number(0, y), number(1, y)
        is_zero = compare("EQ", kind, y, zero)
        safe = select(is_zero, one, y)
        if kind == "u":
            result = emit(f"arith.{name}ui", x, safe)
        else:
            is_minus_one = compare("EQ", kind, y, number(-1, y))
            result = emit(f"arith.{name}si", x, select(is_minus_one, one, safe))
            # x / -1 is -x for the least number too, and x % -1 is 0.
            negative = emit("arith.subi", zero, x) if overflow is None else zero
            result = select(is_minus_one, negative, result)
        return select(is_zero, by_zero(x), result)

    return rule


def _shift(name: str, beyond: Callable[[Value, int], Value]) -> Rule:
    def rule(operation: Operation, operands: Registers) -> Value:
        x, amount = operands
        width = 8 * dtype_of(operation.operands[0]).itemsize
        is_inside = compare("LT", "u", amount, number(width, amount))
        safe = select(is_inside, amount, number(0, amount))
        return select(is_inside, emit(name, x, safe), beyond(x, width))

    return rule


def _zero(x: Value, width: int) -> Value:
    return number(0, x)


def _sign_everywhere(x: Value, width: int) -> Value:
    return emit("arith.shrsi", x, number(width - 1, x))


def _convert(operation: Operation, operands: Registers) -> Value:
    (x,) = operands
    source, target = dtype_of(operation.operands[0]), dtype_of(operation.results[0])
    to = with_elements(x, signless_dtype(target))
    if source == target or x.type == to:
        return x
    kind = _kind(operation)
    if target == np.bool_:
        zero = number(0.0 if kind == "f" else 0, x)
        return compare("NE", kind, x, zero)
    if inexact(source) and inexact(target):
        if source.itemsize == target.itemsize:  # float16 and bfloat16
            float32 = with_elements(x, np.dtype(np.float32))
            return emit("arith.truncf", emit("arith.extf", x, to=float32), to=to)
        return emit("arith.extf" if source.itemsize < target.itemsize else "arith.truncf", x, to=to)
    if inexact(target):
        return emit("arith.sitofp" if kind == "i" else "arith.uitofp", x, to=to)
    if inexact(source):
        return emit("arith.fptosi" if target.kind == "i" else "arith.fptoui", x, to=to)
    if source != np.bool_ and source.itemsize > target.itemsize:
        return emit("arith.trunci", x, to=to)
    return emit("arith.extsi" if kind == "i" else "arith.extui", x, to=to)


def _bitcast(operation: Operation, operands: Registers) -> Value:
    (x,) = operands
    to = with_elements(x, signless_dtype(dtype_of(operation.results[0])))
    return x if x.type == to else emit("arith.bitcast", x, to=to)


def _sign(operation: Operation, operands: Registers) -> Value:
    (x,) = operands
    kind = _kind(operation)
    if kind == "f":
        zero, one = number(0.0, x), number(1.0, x)
        is_either = emit(
            "arith.ori", *(compare(direction, "f", x, zero) for direction in ("LT", "GT"))
        )
        return select(is_either, emit("math.copysign", one, x), x)
    zero, one, minus_one = (number(n, x) for n in (0, 1, -1))
    negative = select(compare("LT", kind, x, zero), minus_one, zero)
    return select(compare("GT", kind, x, zero), one, negative)


def _is_finite(operation: Operation, operands: Registers) -> Value:
    (x,) = operands
    return compare("EQ", "f", emit("arith.subf", x, x), number(0.0, x))  # else nan


def _logistic(operation: Operation, operands: Registers) -> Value:
    (x,) = operands
    one = number(1.0, x)
    power = emit("math.exp", emit("arith.negf", x))
    return emit("arith.divf", one, emit("arith.addf", one, power))


def _negate(operation: Operation, operands: Registers) -> Value:
    (x,) = operands
    if _kind(operation) == "f":
        return emit("arith.negf", x)
    return emit("arith.subi", number(0, x), x)


def _not(operation: Operation, operands: Registers) -> Value:
    (x,) = operands
    is_boolean = dtype_of(operation.operands[0]) == np.bool_
    return emit("arith.xori", x, number(1 if is_boolean else -1, x))


def _extremum(kind: str) -> Rule:
    """The larger ("max") or the smaller ("min") of two."""
    rule = _by_kind(f=f"arith.{kind}imumf", i=f"arith.{kind}si", u=f"arith.{kind}ui")

    def of_any(operation: Operation, operands: Registers) -> Value:
        dtype = dtype_of(operation.results[0])
        if not inexact(dtype) or dtype.itemsize > 2:
            return rule(operation, operands)
        # IREE does not compile this for vectors of float16.
        float32 = with_elements(operands[0], np.dtype(np.float32))
        wide = rule(operation, [emit("arith.extf", x, to=float32) for x in operands])
        return emit("arith.truncf", wide, to=operands[0].type)

    return of_any


MAXIMUM, MINIMUM = ScalarLowering(_extremum("max")), ScalarLowering(_extremum("min"))


def _clamp(operation: Operation, operands: Registers) -> Value:
    low, x, high = operands
    return MINIMUM.build(operation, [MAXIMUM.build(operation, [low, x]), high])


def _is_elementwise(operation: Operation) -> bool:
    """True if a bitcast keeps the width of its elements."""
    (x,), (y,) = operation.operands, operation.results
    return dtype_of(x).itemsize == dtype_of(y).itemsize


SIGN = ScalarLowering(_sign)
IS_FINITE = ScalarLowering(_is_finite)
LOGISTIC = ScalarLowering(_logistic)
NEGATE = ScalarLowering(_negate)
NOT = ScalarLowering(_not)
QUOTIENT = ScalarLowering(_division("div", lambda x: number(-1, x), None))
REMAINDER = ScalarLowering(_division("rem", lambda x: x, 0))
SHIFT_LEFT = ScalarLowering(_shift("arith.shli", _zero))
SHIFT_RIGHT_ARITHMETIC = ScalarLowering(_shift("arith.shrsi", _sign_everywhere))
SHIFT_RIGHT_LOGICAL = ScalarLowering(_shift("arith.shrui", _zero))
COMPARE = ScalarLowering(_comparison)
SELECT = ScalarLowering(lambda operation, operands: select(*operands))
CLAMP = ScalarLowering(_clamp)
CONVERT = ScalarLowering(_convert)
BITCAST = ScalarLowering(_bitcast, _is_elementwise)
