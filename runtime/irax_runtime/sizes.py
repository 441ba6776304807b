"""Symbolic sizes in the types of arguments: expressions of names, as text such as `2*batch + 1`.

The compiler writes them; here their names get values from the sizes of arrays, and constraints are
checked.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: operator.pow,
}
_FUNCTIONS: dict[str, Callable[[int, int], int]] = {
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "max": max,
    "min": min,
}
_SIGNS: dict[str, Callable[[int, int], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
}

Stated = tuple[Any, int, str]
"""A size as the type has it, the one that was found, and words that say where."""


def value(size: str, values: Mapping[str, int]) -> int:
    """The value of an expression.

    Raises:
        KeyError: a name has no value.
        ValueError: the text is no such expression.
    """
    return _value(_parsed(size), values)


def names(size: str) -> list[str]:
    """The names in an expression, sorted."""
    nodes = ast.walk(_parsed(size))
    return sorted({n.id for n in nodes if isinstance(n, ast.Name)} - _FUNCTIONS.keys())


def _parsed(size: str) -> ast.expr:
    try:
        return ast.parse(size.replace("^", "**").strip(), mode="eval").body
    except SyntaxError:
        raise ValueError(f"{size!r} is no size") from None


def _value(node: ast.expr, values: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return values[name]
        case ast.UnaryOp(op=ast.USub(), operand=x):
            return -_value(x, values)
        case ast.BinOp(left=x, op=op, right=y) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(x, values), _value(y, values))
        case ast.Call(func=ast.Name(id=name), args=[x, y]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](_value(x, values), _value(y, values))
    raise ValueError(f"{ast.unparse(node)!r} is no size")


def solve(stated: Sequence[Stated], constraints: Sequence[str]) -> dict[str, int]:
    """The values of names for which sizes are what they are.

    Raises:
        ValueError: there are none, or they violate a constraint.
    """
    values: dict[str, int] = {}
    left = [entry for entry in stated if isinstance(entry[0], str)]
    for size, found, where in stated:
        if not isinstance(size, str) and size != found:
            raise ValueError(f"expected size {size} for {where}, got {found}")
    while left:
        pending = [entry for entry in left if not _solve_one(values, *entry)]
        if len(pending) == len(left):
            raise ValueError(f"the sizes of arguments do not determine {pending[0][0]}")
        left = pending
    for constraint in constraints:
        _check(constraint, values)
    return values


def check_largest(values: Mapping[str, int], largest: int) -> None:
    """Check that names have values for which a program is right; 0 is no limit.

    Raises:
        ValueError: one is larger.
    """
    for name, found in values.items():
        if largest and found > largest:
            raise ValueError(
                f"the program is for sizes up to {largest}, got {name} = {found}: export the "
                "function for that size, or with a constraint on another one"
            )


def _solve_one(values: dict[str, int], size: str, found: int, where: str) -> bool:
    """True if a size has a value; the last name that it depends on has one then."""
    unknown = [name for name in names(size) if name not in values]
    if len(unknown) > 1:
        return False
    if unknown:
        (name,) = unknown
        first, second, third = (value(size, {**values, name: n}) for n in (1, 2, 3))
        slope = second - first
        if slope == 0 or third - second != slope:  # not linear: another argument has to tell
            return False
        number, rest = divmod(found - first, slope)
        if rest or number < 0:
            raise ValueError(f"expected a size {size} for {where} with {name} >= 1, got {found}")
        values[name] = number + 1
    if (expected := value(size, values)) != found:
        known = ", ".join(f"{n} = {values[n]}" for n in names(size))
        raise ValueError(f"expected size {size} = {expected} for {where}, got {found} ({known})")
    return True


def _check(constraint: str, values: Mapping[str, int]) -> None:
    match = re.fullmatch(r"(.*?)(>=|<=|==)(.*)", constraint)
    if match is None:
        raise ValueError(f"{constraint!r} is no constraint")
    try:
        holds = _SIGNS[match[2]](value(match[1], values), value(match[3], values))
    except KeyError:  # of a name that no argument has
        return
    if not holds:
        known = ", ".join(f"{name} = {values[name]}" for name in sorted(values))
        raise ValueError(f"the constraint {constraint} does not hold for {known}")
