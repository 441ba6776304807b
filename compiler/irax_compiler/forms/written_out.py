"""Functions that frameworks write out, read as such.

What they write has other derivatives at some points:

- Absolute values of complex numbers and hypotenuses, by JAX since 0.12: the root of a sum of
  squares, scaled against overflow. It has no derivative at 0, and forward mode overflows near it.
- Sines and cosines of complex numbers, by JAX: where a part is zero, so is one of the result's, and
  its derivative.
- Odd functions as sign(x) f(|x|), by XLA and torch-mlir, such as asinh: the slope at 0 has the sign
  of 0 as a factor.
- log(1 + exp(-|x|)), by all of them, as in softplus and logaddexp: at 0, max(x, 0) has the mean of
  its two slopes, and |x| that of positive numbers, which do not belong together.
- relu and relu6, by JAX, as functions of these names: at 0 and 6, their slope is 0.
- The logarithm of the gamma function, by JAX since 0.12, as a function of its own: it goes through
  the bits of its argument, which have no derivative.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irax_compiler import effects, mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value
from irax_compiler.ops import comparison, elementwise
from irax_compiler.ops.core import no_calls, zeros_like
from irax_compiler.ops.registry import read, traits_named
from irax_compiler.ops.special import chlo_functions

WORDS = ("imag", "log_plus_one", "sqrt", "sign", "relu", "lgamma_impl")
_RECTIFIER = re.compile(r"relu6?(_\d+)?")
_LOG_GAMMA = re.compile(r"lgamma_impl(_\d+)?")
"""The names that JAX gives such functions."""
_PART_OF_LOG_GAMMA = "_lgamma_"
"""The beginning of the names of functions that JAX's log_gamma calls."""
_MOST = 500
"""The most operations of an odd function."""


def rewrite(module: Module) -> None:
    """Replace formulas of a module by the functions that they write out."""
    found = False
    for operation in mlir.operations_in(module.operation)[:-1]:
        form = _FORMS.get(operation.name)
        if form is None:
            continue
        with InsertionPoint(operation), operation.location:
            value = form(operation)
        if value is not None:
            operation.results[0].replace_all_uses_with(value)
            found = True
    for function in mlir.functions(module).values() if found else ():
        effects.remove_dead_operations(mlir.body(function))


def _of_selection(operation: Operation) -> Value | None:
    return _magnitude(operation) or _circular(operation)


# ---- logarithms of sums --------------------------------------------------------------------------


def _log_of_sum(operation: Operation) -> Value | None:
    """Return log(1 + exp(-max(x, -x))), whose slope at 0 is the mean of both, for -|x|."""
    exponent = _operands(operation.operands[0], "stablehlo.exponential")
    found = _without_abs(exponent[0]) if exponent else None
    return None if found is None else elementwise.log_plus_one(elementwise.exponential(found))


def _without_abs(x: Value) -> Value | None:
    """Return a multiple of an absolute value as one of the greater of a number and its negative."""
    inside = _operands(x, "stablehlo.abs")
    if inside is not None and mlir.dtype_of(x).kind == "f":
        return elementwise.maximum(inside[0], elementwise.negate(inside[0]))
    inside = _operands(x, "stablehlo.negate")
    if inside is not None:
        found = _without_abs(inside[0])
        return None if found is None else elementwise.negate(found)
    factors = _operands(x, "stablehlo.multiply")
    if factors is None:
        return None
    scale, inner = factors if _number(factors[0]) is not None else factors[::-1]
    found = None if _number(scale) is None else _without_abs(inner)
    return None if found is None else elementwise.multiply(scale, found)


# ---- functions of JAX's names --------------------------------------------------------------------


def _rectified(operation: Operation) -> Value | None:
    """Return max(x, 0), or min(x, 6), as a choice of the constant where x is equal to it."""
    (result,) = operation.results
    around: Any = operation.parent
    function = around.operation
    if function.name != "func.func" or mlir.dtype_of(result).kind != "f":
        return None
    if not _RECTIFIER.fullmatch(mlir.function_name(function)):
        return None
    is_lower = operation.name == "stablehlo.maximum"
    for x, bound in (operation.operands, list(operation.operands)[::-1]):
        if _converted_number(bound) == (0 if is_lower else 6):
            reaches = comparison.less_equal if is_lower else comparison.greater_equal
            return comparison.select(reaches(x, bound), bound, x)
    return None


def _log_gamma(operation: Operation) -> Value | None:
    """Return the lgamma that a call of JAX's function of it is."""
    name = mlir.callee(operation)
    types = [x.type for x in (*operation.operands, *operation.results)]
    if not _LOG_GAMMA.fullmatch(name) or len(types) != 2 or types[0] != types[1]:
        return None
    (x,) = operation.operands
    called = mlir.calls(mlir.function_beside(operation, name))
    is_of_jax = any(mlir.callee(call).startswith(_PART_OF_LOG_GAMMA) for call in called)
    return chlo_functions.lgamma(x) if is_of_jax and mlir.dtype_of(x).kind == "f" else None


def _converted_number(x: Value) -> float | None:
    inside = _operands(x, "stablehlo.broadcast_in_dim")
    converted = _operands(inside[0] if inside else x, "stablehlo.convert")
    return _number(converted[0] if converted else x)


# ---- odd functions -------------------------------------------------------------------------------


def _odd(operation: Operation) -> Value | None:
    """Return an odd function of x, `sign(x) * f`, without the sign of 0, by which its slope there
    would be 0: for x below 0 it is -f, and f elsewhere. f is 0 at 0.
    """
    if mlir.dtype_of(operation.results[0]).kind != "f":
        return None
    for sign, f in (operation.operands, list(operation.operands)[::-1]):
        x = _operands(sign, "stablehlo.sign")
        if x is None or _at_zero(f, x[0], {}) != 0:
            continue
        zero = zeros_like(f)
        return comparison.select(comparison.less(x[0], zero), elementwise.negate(f), f)
    return None


def _at_zero(f: Value, x: Value, known: dict[Value, Any]) -> Any:
    """Return the number that an elementwise function is where `x` is 0; None if it depends on
    anything else.
    """
    if f in known:
        return known[f]
    number = np.zeros((), mlir.dtype_of(x)) if f == x else mlir.splat(f)
    operation = mlir.definition(f)
    if number is None and operation is not None and len(known) < _MOST:
        traits = traits_named(operation.name)
        if traits.elementwise or traits.stretches:
            inside = [_at_zero(operand, x, known) for operand in operation.operands]
            if None not in [None if n is None else 0 for n in inside]:
                with np.errstate(all="ignore"):
                    number = (
                        inside[0]
                        if traits.stretches
                        else read(operation).evaluate(no_calls, *map(np.asarray, inside))
                    )
    known[f] = number
    return number


# ---- sines and cosines of complex numbers --------------------------------------------------------


def _circular(operation: Operation) -> Value | None:
    """Return the sine or cosine that `select(x == 0, ..., ...)` of complex numbers is."""
    test, first, second = operation.operands
    sides, parts = _operands(test, "stablehlo.compare"), _operands(second, "stablehlo.complex")
    at_zero = _operands(first, "stablehlo.complex")
    if sides is None or parts is None or at_zero is None:
        return None
    if not _is_equality(test) or _number(sides[1]) != 0:
        return None
    x, u, v = sides[0], *parts
    if at_zero[0] == u and _number(at_zero[1]) == 0:
        op, of_x = elementwise.cosine, ("cosine", "sine")
    elif at_zero[1] == v and _number(at_zero[0]) == 0:
        op, of_x = elementwise.sine, ("sine", "cosine")
    else:
        return None
    factors = [_operands(each, "stablehlo.multiply") for each in (u, v)]
    if factors[0] is None or factors[1] is None:
        return None
    (first_of_x, cosh), (second_of_x, sinh) = factors[0], factors[1]
    if op is elementwise.cosine:
        negated = _operands(second_of_x, "stablehlo.negate")
        second_of_x = negated[0] if negated else x
    for each, name in zip((first_of_x, second_of_x), of_x, strict=True):
        if _operands(each, f"stablehlo.{name}") != [x]:
            return None
    y = _of_hyperbolic(cosh, sinh)
    return None if y is None else op(_number_with(x, y))


def _of_hyperbolic(cosh: Value, sinh: Value) -> Value | None:
    """Return the y of which two values are cosh and sinh, made of exp(y) - 1 and exp(-y) - 1."""
    halves = [_operands(x, "stablehlo.divide") for x in (cosh, sinh)]
    if any(x is None or _number(x[1]) != 2 for x in halves):
        return None
    sum_, difference = (x[0] for x in halves if x is not None)
    with_two, parts = _operands(sum_, "stablehlo.add"), _operands(difference, "stablehlo.subtract")
    if with_two is None or parts is None or _number(with_two[1]) != 2:
        return None
    if _operands(with_two[0], "stablehlo.add") != parts:
        return None
    of, of_negated = (_operands(x, "stablehlo.exponential_minus_one") for x in parts)
    if of is None or of_negated is None:
        return None
    return of[0] if _operands(of_negated[0], "stablehlo.negate") == of else None


# ---- magnitudes ----------------------------------------------------------------------------------


def _magnitude(operation: Operation) -> Value | None:
    """Return the absolute value that `select(|re| == inf or |im| == inf, inf, ...)` is."""
    infinite, limit, scaled = operation.operands
    tests = _operands(infinite, "stablehlo.or")
    if tests is None or _number(limit) != np.inf:
        return None
    re, im = map(_tested, tests)
    if re is None or im is None or not _is_length(scaled, re, im):
        return None
    return elementwise.abs(_number_with(re, im))


def _tested(test: Value) -> Value | None:
    """Return the value of which `|x| == inf` is a test."""
    sides = _operands(test, "stablehlo.compare")
    if sides is None or _number(sides[1]) != np.inf:
        return None
    size = _operands(sides[0], "stablehlo.abs")
    return size[0] if size is not None and _is_equality(test) else None


def _is_length(x: Value, re: Value, im: Value) -> bool:
    """True for sqrt((re / s)^2 + (im / s)^2) * s, with a scale of choice."""
    factors = _operands(x, "stablehlo.multiply") or ()
    for root, scale in (factors, factors[::-1]) if factors else ():
        inside = _operands(root, "stablehlo.sqrt")
        squares = _operands(inside[0], "stablehlo.add") if inside else None
        sides = [_operands(x, "stablehlo.multiply") for x in squares or ()]
        if len(sides) != 2 or not all(x is not None and x[0] == x[1] for x in sides):
            continue
        pairs = zip(sides, (re, im), strict=True)
        if all(side is not None and _is_scaled(side[0], scale, part) for side, part in pairs):
            return True
    return False


def _is_scaled(x: Value, scale: Value, part: Value) -> bool:
    """True if `x * scale` is `part`, whatever conditions choose."""
    choice, scales = _operands(x, "stablehlo.select"), _operands(scale, "stablehlo.select")
    if choice is not None and scales is not None:
        if choice[0] != scales[0]:
            return False
        pairs = zip(choice[1:], scales[1:], strict=True)
        return all(_is_scaled(of_x, of_scale, part) for of_x, of_scale in pairs)
    factor, size = 1.0, _number(scale)
    if x != part:
        factors = _operands(x, "stablehlo.multiply")
        if factors is None or factors[0] != part:
            return False
        factor = _number(factors[1])
    return factor is not None and size is not None and bool(np.isclose(factor * size, 1))


# ---- what values are -----------------------------------------------------------------------------


def _number_with(re: Value, im: Value) -> Value:
    """Return the complex number with these parts."""
    z = _operands(re, "stablehlo.real")
    is_whole = z is not None and z == _operands(im, "stablehlo.imag")
    return z[0] if z is not None and is_whole else elementwise.complex_(re, im)


def _is_equality(test: Value) -> bool:
    """True for a comparison that tells if its operands are equal."""
    operation = mlir.definition(test)
    return operation is not None and "EQ" in str(operation.attributes["comparison_direction"])


def _operands(x: Value, name: str) -> Sequence[Value] | None:
    """Return the operands of the operation that a value is a result of, if it has this name."""
    operation = mlir.definition(x)
    return None if operation is None or operation.name != name else list(operation.operands)


def _number(x: Value) -> float | None:
    """Return the real number that all elements are; None if they are not known to be one."""
    inside = _operands(x, "stablehlo.broadcast_in_dim")
    if inside is not None:
        return _number(inside[0])
    found = mlir.splat(x)
    return None if found is None or np.iscomplexobj(found) else float(found)


_FORMS: dict[str, Callable[[Operation], Value | None]] = {
    "func.call": _log_gamma,
    "stablehlo.log_plus_one": _log_of_sum,
    "stablehlo.maximum": _rectified,
    "stablehlo.minimum": _rectified,
    "stablehlo.multiply": _odd,
    "stablehlo.select": _of_selection,
}
"""The forms by the last of their operations."""
