"""Sizes for values of their variables, and the larger and the smaller of two."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from irax_compiler.sizes.comparison import bounds
from irax_compiler.sizes.expressions import Size, atom, floordiv, mod
from irax_compiler.sizes.terms import Atom


def larger(x: Any, y: Any) -> Any:
    """The larger one of two sizes."""
    return _chosen("max", x, y)


def smaller(x: Any, y: Any) -> Any:
    """The smaller one of two sizes."""
    return _chosen("min", x, y)


def _chosen(name: str, x: Any, y: Any) -> Any:
    if not isinstance(x, Size) and not isinstance(y, Size):
        return max(x, y) if name == "max" else min(x, y)
    low, high = bounds(x - y)
    if low >= 0 or high <= 0:
        return x if (low >= 0) == (name == "max") else y
    return atom(name, *sorted((x, y), key=str))


OPERATIONS: dict[str, Callable[..., Any]] = {
    "floordiv": floordiv,
    "mod": mod,
    "max": larger,
    "min": smaller,
}
"""The operations that atoms are of, by name."""


def substituted(size: Any, env: Mapping[str, Any]) -> Any:
    """A size for these values of its variables, which may be sizes of another scope themselves.

    Raises:
        KeyError: a variable has no value.
    """
    if not isinstance(size, Size):
        return size
    total: Any = 0
    for monomial, count in size.terms:
        value: Any = count
        for each, power in monomial:
            base = value_of(each, env)
            for _ in range(power):
                value = value * base
        total = total + value
    return total


def value_of(each: Atom, env: Mapping[str, Any]) -> Any:
    """An atom's value for these of its variables; others stay."""
    if not each.operands:
        return env[each.name]
    first, *rest = (substituted(x, env) for x in each.operands)
    return OPERATIONS[each.name](first, *rest)
