"""Comparisons of sizes: decided by bounds, or inconclusive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from irax_compiler.sizes.terms import Expression, InconclusiveDimensionOperation


def variables(sizes: Iterable[Any]) -> list[str]:
    """The names of the variables in sizes, sorted."""
    found: set[str] = set()
    for size in sizes:
        if isinstance(size, Expression):
            for monomial, _ in size.terms:
                for atom, _ in monomial:
                    found.update(variables(atom.operands) if atom.operands else [atom.name])
    return sorted(found)


def is_at_least(x: Any, y: Any, asked: str, constraint: str) -> bool:
    """True if x >= y for all values of the variables, False if for none.

    Raises:
        InconclusiveDimensionOperation: neither is certain. The message has what was `asked`, and a
            constraint that would decide it.
    """
    difference = x - y
    low, high = bounds(difference)
    if low >= 0:
        return True
    if high < 0:
        return False
    raise InconclusiveDimensionOperation(
        f"Symbolic dimension comparison '{asked}' is inconclusive: it holds for some values of "
        f"{', '.join(variables([difference]))} and not for others; "
        f"{constraint_for(difference, constraint)}"
    )


def ge(x: Any, y: Any) -> bool:
    """x >= y."""
    return is_at_least(x, y, f"{x} >= {y}", f"{x} >= {y}")


def le(x: Any, y: Any) -> bool:
    """x <= y."""
    return is_at_least(y, x, f"{x} <= {y}", f"{x} <= {y}")


def gt(x: Any, y: Any) -> bool:
    """x > y."""
    return not is_at_least(y, x, f"{x} > {y}", f"{x} >= {y + 1}")


def lt(x: Any, y: Any) -> bool:
    """x < y."""
    return not is_at_least(x, y, f"{x} < {y}", f"{x} <= {y - 1}")


def at_least(x: Any, y: Any) -> bool:
    """True if x >= y for all values of the variables; False for any other sizes."""
    return bounds(x - y)[0] >= 0


def constraint_for(size: Any, wanted: str) -> str:
    """The part of an error that names a constraint which would decide."""
    stated = f" (constraints so far: {size.scope})" if size.scope.constraints else ""
    return f"a constraint would decide it, such as constraints=['{wanted}']{stated}"


def bounds(size: Any) -> tuple[float, float]:
    """The least and the largest value that is possible, as far as it can be told."""
    if not isinstance(size, Expression):
        return size, size
    return size.scope.bounds(size)
