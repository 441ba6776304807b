"""Bounds of sizes, by the bounds of their atoms and by constraints."""

from __future__ import annotations

import math
from typing import Any

from irax_compiler.sizes.expressions import Atom, Monomial, Size, normal, without

DEPTH = 3
"""The most constraints that are combined to find a bound."""


def bounds_of(size: Any, depth: int = DEPTH) -> tuple[float, float]:
    """The bounds of a size: of its terms one by one, or of what is left of it when a multiple of
    something that is known not to be negative is taken away.
    """
    if not isinstance(size, Size):
        return size, size
    low, high = _of_terms(size, depth)
    if depth:
        for wider, factor in _multiples(size):
            least, most = bounds_of(wider, depth - 1)
            low, high = max(low, _rounded_up(least, factor)), min(high, -_rounded_up(-most, factor))
        for part, rest in _factored(size):
            ends = [
                _times(x, y)
                for x in _of_monomial(part, 0, size)
                for y in bounds_of(rest, depth - 1)
            ]
            low, high = max(low, min(ends)), min(high, max(ends))
        for known in _known_not_negative(size):
            low = max(low, _lower(size, known, depth))
            high = min(high, -_lower(-size, known, depth))
    return low, high


def largest(size: Any, most: int) -> int:
    """An upper bound of a size whose variables are at most `most`."""
    if not isinstance(size, Size):
        return size
    total = 0
    for monomial, count in size.terms:
        ends = (_largest_of_atom(atom, most, size) ** power for atom, power in monomial)
        total += max(count, 0) * math.prod(ends) if monomial else count
    high = size.scope.bounds(size)[1]
    return total if math.isinf(high) else min(total, int(high))


def _largest_of_atom(atom: Atom, most: int, within: Size) -> int:
    if not atom.operands:
        return int(min(within.scope.of_variables.get(atom.name, (1, most))[1], most))
    x, y = (largest(n, most) for n in atom.operands)
    if atom.name == "floordiv":
        return x // max(int(bounds_of(atom.operands[1])[0]), 1)
    return {"mod": y, "max": max(x, y), "min": min(x, y)}[atom.name]


def _of_terms(size: Size, depth: int) -> tuple[float, float]:
    low = high = 0.0
    for monomial, count in size.terms:
        least, most = _of_monomial(monomial, depth, size)
        ends = (count * least, count * most)
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


def _of_monomial(monomial: Monomial, depth: int, within: Size) -> tuple[float, float]:
    low, high = 1.0, 1.0
    for atom, power in monomial:
        least, most = _of_atom(atom, depth, within)
        for _ in range(power):
            ends = [_times(x, y) for x in (low, high) for y in (least, most)]
            low, high = min(ends), max(ends)
    return low, high


def _times(x: float, y: float) -> float:
    return 0.0 if x == 0 or y == 0 else x * y


def _of_atom(atom: Atom, depth: int, within: Size) -> tuple[float, float]:
    if not atom.operands:
        return within.scope.of_variables.get(atom.name, (1, math.inf))
    ends = [bounds_of(x, max(depth - 1, 0)) for x in atom.operands]
    (low, high), (least, most) = ends
    if atom.name == "max":
        return max(low, least), max(high, most)
    if atom.name == "min":
        return min(low, least), min(high, most)
    if atom.name == "mod":
        return (0, most - 1) if least > 0 else (least + 1, 0)
    corners = [_quotient(x, y) for x in (low, high) for y in (least, most)]
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


def _lower(size: Any, known: Any, depth: int) -> float:
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
                least = bounds_of(left, depth - 1)[0]
                best = max(best, _rounded_up(least, abs(count)))
    return best


def _rounded_up(x: float, divisor: int) -> float:
    return x if math.isinf(x) else -(-int(x) // divisor)


def _exact(x: float) -> float:
    return x if math.isinf(x) or math.isnan(x) else int(x)
