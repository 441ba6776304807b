"""Scopes: what is known of the variables that sizes are made of."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from irax_compiler.sizes import bounds, expressions, parsing
from irax_compiler.sizes.expressions import Size
from irax_compiler.sizes.terms import Expression, Monomial


class SymbolicScope:
    """The constraints on the variables of symbolic dimensions, each of which is at least 1.

    Dimensions of scopes with other constraints cannot be combined.

    >>> SymbolicScope(["n >= 2"]).variable("n") >= 2
    True
    """

    def __init__(self, constraints: Iterable[str] = ()) -> None:
        """
        Args:
            constraints: comparisons of dimensions by >=, <= or ==, as text: "n >= 8", "mod(n, 2)
                == 0". An equality replaces its left side, one term, by its right side.

        Raises:
            ValueError: one is no such comparison, or contradicts the others.
        """
        if isinstance(constraints, str):
            raise ValueError(
                f"SymbolicScope: constraints must be a sequence of strings, got {constraints!r}"
            )
        self.constraints: tuple[str, ...] = tuple(constraints)
        self.equal: dict[Monomial, tuple[int, Any]] = {}
        """The sizes that terms are equal to, with the factor of the term."""
        self.not_negative: list[Any] = []
        """Sizes that are at least 0."""
        self.of_variables: dict[str, tuple[float, float]] = {}
        """The bounds of variables that have others than 1 and infinity."""
        self._bounds: dict[Any, tuple[float, float]] = {}
        for text in self.constraints:
            left, sign, right = parsing.parse_constraint(text, self)
            self._state(text, left, sign, right)

    def _state(self, text: str, left: Any, sign: str, right: Any) -> None:
        difference = right - left if sign == "<=" else left - right
        low, high = expressions.bounds(difference)
        if high < 0 or (sign == "==" and low > 0):
            raise ValueError(f"SymbolicScope: the constraint '{text}' cannot hold")
        if not isinstance(difference, Size):
            return
        if sign == "==":
            if not isinstance(left, Size) or len(left.terms) != 1:
                raise ValueError(
                    f"SymbolicScope: the left side of the equality '{text}' must be one term, such "
                    "as n, 4*n or mod(n, 4)"
                )
            ((monomial, count),) = left.terms
            self.equal[monomial] = (abs(count), right if count > 0 else -right)
        else:
            self._bound(difference)
        self._bounds.clear()

    def _bound(self, size: Expression) -> None:
        """Take a size to be at least 0."""
        self.not_negative.append(size)
        (leading, slope), *rest = size.terms
        is_variable = len(leading) == 1 and leading[0][1] == 1 and not leading[0][0].operands
        if not is_variable or any(monomial for monomial, _ in rest):
            return
        constant, name = sum(n for _, n in rest), leading[0][0].name
        low, high = self.of_variables.get(name, (1, math.inf))
        if slope > 0:
            low = max(low, -(constant // slope))
        else:
            high = min(high, constant // -slope)
        self.of_variables[name] = low, high

    def variable(self, name: str) -> Any:
        """The dimension of a name."""
        return expressions.variable(name, self)

    def bounds(self, size: Expression) -> tuple[float, float]:
        """The bounds of a size of this scope."""
        if size.terms not in self._bounds:
            self._bounds[size.terms] = bounds.bounds_of(size)
        return self._bounds[size.terms]

    def rough_bounds(self, size: Expression) -> tuple[float, float]:
        """Bounds of a size that take its terms one by one."""
        return bounds.bounds_of(size, 0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SymbolicScope) and self.constraints == other.constraints

    def __hash__(self) -> int:
        return hash(self.constraints)

    def __reduce__(self) -> Any:
        return SymbolicScope, (self.constraints,)

    def __str__(self) -> str:
        return ", ".join(self.constraints) or "no constraints"

    def __repr__(self) -> str:
        return f"SymbolicScope({list(self.constraints)})"
