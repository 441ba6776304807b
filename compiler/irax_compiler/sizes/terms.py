"""The terms of expressions: sums of multiples of products of powers of atoms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, Self


class InconclusiveDimensionOperation(Exception):
    """Python asked for something that depends on the value of a symbolic dimension."""


@dataclass(frozen=True)
class Atom:
    """A variable, or an operation that polynomials do not have."""

    name: str
    """The name of the variable, or `floordiv`, `mod`, `max`, `min`."""
    operands: tuple[Any, ...] = ()

    @cached_property
    def text(self) -> str:
        """The atom as it is written."""
        if not self.operands:
            return self.name
        return f"{self.name}({', '.join(map(str, self.operands))})"


Monomial = tuple[tuple[Atom, int], ...]
"""A product of powers of atoms, in the order of their text; the empty one is 1."""


class Scope(Protocol):
    """The knowledge about variables: `scopes.SymbolicScope`."""

    @property
    def constraints(self) -> tuple[str, ...]:
        """Comparisons that hold."""
        ...

    @property
    def equal(self) -> Mapping[Monomial, tuple[int, Any]]:
        """The sizes that multiples of terms are equal to, with the factor of the term."""
        ...

    @property
    def of_variables(self) -> Mapping[str, tuple[float, float]]:
        """The bounds of variables that have others than 1 and infinity."""
        ...

    @property
    def not_negative(self) -> Sequence[Any]:
        """Sizes that are at least 0."""
        ...

    def bounds(self, size: Expression) -> tuple[float, float]:
        """The least and the largest value of a size."""
        ...

    def rough_bounds(self, size: Expression) -> tuple[float, float]:
        """Bounds of a size by its terms one by one."""
        ...


class Expression:
    """A sum of terms that depends on variables of a scope. `Size` adds arithmetic."""

    def __init__(self, terms: tuple[tuple[Monomial, int], ...], scope: Scope) -> None:
        self.terms = terms
        self.scope = scope
        self._hash = hash(terms)

    def __eq__(self, other: object) -> bool:
        """True if they are equal for all values of the variables; False for all others, those
        included that may be equal for some.
        """
        return (
            isinstance(other, Expression)
            and self.terms == other.terms
            and self.scope == other.scope
        )

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        found = ""
        for monomial, count in self.terms:
            factors = [a.text if p == 1 else f"{a.text}^{p}" for a, p in monomial]
            if abs(count) != 1 or not factors:
                factors.insert(0, str(abs(count)))
            sign = "-" if count < 0 else "+"
            term = "*".join(factors)
            found += f" {sign} {term}" if found else f"- {term}" * (count < 0) or term
        return found

    def __repr__(self) -> str:
        return str(self)

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __copy__(self) -> Self:
        return self


def is_symbolic(size: Any) -> bool:
    """True for a size that depends on variables."""
    return isinstance(size, Expression)
