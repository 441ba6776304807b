"""Bounds of sizes, by the bounds of their atoms and by constraints."""

from __future__ import annotations

import math
from typing import Any

from irax_compiler.sizes.expressions import Size, normal, without
from irax_compiler.sizes.terms import Atom, Monomial

DEPTH = 3
"""The most constraints that are combined to find a bound."""


def bounds_of(size: Any, depth: int = DEPTH, most: float = math.inf) -> tuple[float, float]:
    """The bounds of a size whose variables are at most `most`: of its terms one by one, or of what
    is left of it when a multiple of something that is known not to be negative is taken away.
    """
    if not isinstance(size, Size):
        return size, size
    low, high = _of_terms(size, depth, most)
    if depth:
        for wider, factor in _multiples(size):
            start, end = bounds_of(wider, depth - 1, most)
            low, high = max(low, _rounded_up(start, factor)), min(high, -_rounded_up(-end, factor))
        for part, rest in _factored(size):
            ends = [
                _times(x, y)
                for x in _of_monomial(part, 0, size, most)
                for y in bounds_of(rest, depth - 1, most)
            ]
            low, high = max(low, min(ends)), min(high, max(ends))
        for known in _known_not_negative(size):
            low = max(low, _lower(size, known, depth, most))
            high = min(high, -_lower(-size, known, depth, most))
    return low, high


def largest(size: Any, most: int) -> int:
    """An upper bound of a size whose variables are at most `most`."""
    if not isinstance(size, Size):
        return size
    return int(min(size.scope.bounds(size)[1], bounds_of(size, 0, most)[1]))


def _of_terms(size: Size, depth: int, most: float) -> tuple[float, float]:
    low = high = 0.0
    for monomial, count in size.terms:
        ends = [count * x for x in _of_monomial(monomial, depth, size, most)]
        low, high = low + min(ends), high + max(ends)
    return _exact(low), _exact(high)


def _multiples(size: Size) -> list[tuple[Any, int]]:
    """Multiples of a size in which a quotient becomes what is divided: 2 * (n // 2) is n - n % 2,
    each with its factor.
    """
    atoms = [atom for monomial, _ in size.terms for atom, _ in monomial]
    divisors = {a.operands[1] for a in atoms if a.name == "floordiv" and a.operands}
    return [(size * k, k) for k in divisors if isinstance(k, int) and k > 1]


def _factored(size: Size) -> list[tuple[Monomial, Any]]:
    """A size as the product of what its terms have in common, and the rest."""
    common = dict(size.terms[0][0])
    for monomial, _ in size.terms[1:]:
        powers = dict(monomial)
        common = {a: min(p, powers[a]) for a, p in common.items() if a in powers}
    if not common or len(size.terms) == 1:
        return []
    part = tuple(common.items())
    rest = {without(monomial, part) or (): count for monomial, count in size.terms}
    return [(part, normal(rest, size.scope))]


def _of_monomial(monomial: Monomial, depth: int, within: Size, most: float) -> tuple[float, float]:
    low, high = 1.0, 1.0
    for atom, power in monomial:
        own = _of_atom(atom, depth, within, most)
        for _ in range(power):
            ends = [_times(x, y) for x in (low, high) for y in own]
            low, high = min(ends), max(ends)
    return low, high


def _times(x: float, y: float) -> float:
    return 0.0 if x == 0 or y == 0 else x * y


def _of_atom(atom: Atom, depth: int, within: Size, most: float) -> tuple[float, float]:
    if not atom.operands:
        low, high = within.scope.of_variables.get(atom.name, (1, math.inf))
        return low, min(high, most)
    x, y = (bounds_of(n, max(depth - 1, 0), most) for n in atom.operands)
    if atom.name == "max":
        return max(x[0], y[0]), max(x[1], y[1])
    if atom.name == "min":
        return min(x[0], y[0]), min(x[1], y[1])
    if atom.name == "mod":
        return min(y[0] + 1, 0), max(y[1] - 1, 0)
    divisors = [n for n in (*y, -1, 1) if n and y[0] <= n <= y[1]]
    corners = [_quotient(n, divisor) for n in x for divisor in divisors]
    return min(corners), max(corners)


def _quotient(x: float, y: float) -> float:
    if math.isinf(x):
        return x if y > 0 else -x
    if math.isinf(y):
        return 0 if x == 0 or (x > 0) == (y > 0) else -1
    return x // y


def _known_not_negative(size: Size) -> list[Any]:
    """Sizes that are at least 0: the scope's constraints, and what atoms of this size mean."""
    known = list(size.scope.not_negative)
    for monomial, _ in size.terms:
        for atom, _ in monomial:
            if atom.name in _MEANINGS and atom.operands:
                whole = Size(((((atom, 1),), 1),), size.scope)
                known += _MEANINGS[atom.name](whole, *atom.operands)
    return known


def _remainders(r: Any, x: Any, y: Any) -> list[Any]:
    if bounds_of(y, 0)[0] < 1:
        return []
    return [y - 1 - r, *([x - r] if bounds_of(x, 0)[0] >= 0 else [])]


_MEANINGS = {
    "mod": _remainders,
    "max": lambda m, x, y: [m - x, m - y],
    "min": lambda m, x, y: [x - m, y - m],
}


def _lower(size: Any, known: Any, depth: int, most: float) -> float:
    """A lower bound of a size: of what is left without the largest multiple of something known
    that removes one of its terms.
    """
    best = -math.inf
    if not isinstance(known, Size):
        return best
    own = dict(size.terms)
    for monomial, count in known.terms:
        n = own.get(monomial, 0)
        if monomial and n * count > 0:
            left = size * abs(count) - known * abs(n)
            if not isinstance(left, Size) or len(left.terms) <= len(size.terms) + 1:
                least = bounds_of(left, depth - 1, most)[0]
                best = max(best, _rounded_up(least, abs(count)))
    return best


def _rounded_up(x: float, divisor: int) -> float:
    return x if math.isinf(x) else -(-int(x) // divisor)


def _exact(x: float) -> float:
    return x if math.isinf(x) or math.isnan(x) else int(x)
