"""Sizes as expressions: polynomials of variables, quotients, remainders, maxima and minima.

An expression has one normal form, so that two that are equal by the rules of arithmetic are one
object's equal. One that is constant is a plain int. Comparisons are decided by bounds
(`bounds.py`); where these do not suffice, Python cannot know the answer, and an error says so.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from irax_compiler.sizes import comparison
from irax_compiler.sizes.comparison import bounds, constraint_for
from irax_compiler.sizes.terms import (
    Atom,
    Expression,
    InconclusiveDimensionOperation,
    Monomial,
    Scope,
)


class Size(Expression):
    """A size that depends on variables. Made by `SymbolicScope.variable` and by arithmetic.

    >>> (n,) = irax.export.symbolic_shape("n")
    >>> 2 * (n + 1) - n
    n + 2
    """

    __array_ufunc__ = None
    to_array: ClassVar[Callable[[Any], Any] | None] = None
    """Makes an array of a size; who has arrays sets it."""

    # -- arithmetic --

    def __add__(self, other: Any) -> Any:
        return _combined(operator.add, self, other, lambda x, y: _sum([(x, 1), (y, 1)]))

    def __radd__(self, other: Any) -> Any:
        return _combined(operator.add, other, self, lambda x, y: _sum([(x, 1), (y, 1)]))

    def __sub__(self, other: Any) -> Any:
        return _combined(operator.sub, self, other, lambda x, y: _sum([(x, 1), (y, -1)]))

    def __rsub__(self, other: Any) -> Any:
        return _combined(operator.sub, other, self, lambda x, y: _sum([(x, 1), (y, -1)]))

    def __neg__(self) -> Any:
        return _sum([(self, -1)])

    def __pos__(self) -> Any:
        return self

    def __mul__(self, other: Any) -> Any:
        return _combined(operator.mul, self, other, _product)

    def __rmul__(self, other: Any) -> Any:
        return _combined(operator.mul, other, self, _product)

    def __pow__(self, power: Any) -> Any:
        if isinstance(power, Size) or not hasattr(power, "__index__"):
            return self.__jax_array__() ** power
        count = operator.index(power)
        if count < 0:
            raise ValueError(f"a symbolic dimension has no negative powers: ({self})**{count}")
        return math.prod([self] * count)

    def __rpow__(self, base: Any) -> Any:
        return base ** self.__jax_array__()

    def __floordiv__(self, other: Any) -> Any:
        return _combined(operator.floordiv, self, other, floordiv)

    def __rfloordiv__(self, other: Any) -> Any:
        return _combined(operator.floordiv, other, self, floordiv)

    def __mod__(self, other: Any) -> Any:
        return _combined(operator.mod, self, other, mod)

    def __rmod__(self, other: Any) -> Any:
        return _combined(operator.mod, other, self, mod)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __truediv__(self, other: Any) -> Any:
        return self.__jax_array__() / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / self.__jax_array__()

    # -- comparison --

    def __ge__(self, other: Any) -> Any:
        return _combined(operator.ge, self, other, comparison.ge)

    def __le__(self, other: Any) -> Any:
        return _combined(operator.le, self, other, comparison.le)

    def __gt__(self, other: Any) -> Any:
        return _combined(operator.gt, self, other, comparison.gt)

    def __lt__(self, other: Any) -> Any:
        return _combined(operator.lt, self, other, comparison.lt)

    def __bool__(self) -> bool:
        low, high = bounds(self)
        if low > 0 or high < 0:
            return True
        if low == high == 0:
            return False
        raise InconclusiveDimensionOperation(
            f"whether the symbolic dimension {self} is 0 is not known; "
            f"{constraint_for(self, f'{self} >= 1')}"
        )

    # -- as a number, which it is not --

    def __index__(self) -> int:
        raise InconclusiveDimensionOperation(
            f"Symbolic dimension '{self}' used in a context that requires a constant: its value is "
            "not known while the function is traced. Compute with irax.numpy and irax.lax, which "
            "take symbolic dimensions, or fix the dimension"
        )

    def __int__(self) -> int:
        return self.__index__()

    def __float__(self) -> float:
        return float(self.__index__())

    def __jax_array__(self) -> Any:
        """An integer array of the size's value, which the program computes."""
        if Size.to_array is None:
            self.__index__()
        assert Size.to_array is not None
        return Size.to_array(self)

    def __reduce__(self) -> Any:
        return Size, (self.terms, self.scope)


# ---- normal forms --------------------------------------------------------------------------------


def _combined(operation: Any, x: Any, y: Any, combine: Callable[[Any, Any], Any]) -> Any:
    """The combination of two sizes. Of a size and a number that is none, that of arrays.
    NotImplemented for any other operand.
    """
    both = []
    for operand in (x, y):
        if not isinstance(operand, Size):
            if isinstance(operand, float | complex | np.inexact) or _is_array(operand):
                arrays = (v.__jax_array__() if isinstance(v, Size) else v for v in (x, y))
                return operation(*arrays)
            if not hasattr(operand, "__index__") or hasattr(operand, "aval"):
                return NotImplemented
            operand = operator.index(operand)
        both.append(operand)
    return combine(*both)


def _is_array(x: Any) -> bool:
    return isinstance(x, np.ndarray) and (x.ndim > 0 or x.dtype.kind not in "iu")


def _terms(size: Any) -> tuple[tuple[Monomial, int], ...]:
    return size.terms if isinstance(size, Size) else (((), size),)


def common_scope(*sizes: Any) -> Scope:
    """The scope of the variables of sizes, at least one of which has some.

    Raises:
        ValueError: they are of different scopes.
    """
    scopes = [s.scope for s in sizes if isinstance(s, Size)]
    if any(s != scopes[0] for s in scopes):
        raise ValueError(
            f"the symbolic dimensions {', '.join(map(str, sizes))} are of different scopes: "
            f"{' and '.join(map(str, dict.fromkeys(scopes)))}; create them with one "
            "irax.export.SymbolicScope"
        )
    return scopes[0]


def _sum(parts: Sequence[tuple[Any, int]]) -> Any:
    """The sum of sizes, each with a factor."""
    scope = common_scope(*(x for x, _ in parts))
    found: dict[Monomial, int] = {}
    for size, factor in parts:
        for monomial, count in _terms(size):
            found[monomial] = found.get(monomial, 0) + count * factor
    return normal(found, scope)


def _product(x: Any, y: Any) -> Any:
    scope = common_scope(x, y)
    found: dict[Monomial, int] = {}
    for left, m in _terms(x):
        for right, n in _terms(y):
            powers = dict(left)
            for atom, power in right:
                powers[atom] = powers.get(atom, 0) + power
            monomial = tuple(sorted(powers.items(), key=lambda item: item[0].text))
            found[monomial] = found.get(monomial, 0) + m * n
    return normal(found, scope)


def normal(found: dict[Monomial, int], scope: Scope) -> Any:
    """The normal form of a sum of terms: an int where nothing but a constant is left."""
    for monomial, count in found.items():
        if count and (other := _without_remainder(monomial, count, found)) is not None:
            return normal(other, scope)
        if count and (other := _rewritten(monomial, count, scope)) is not None:
            rest = {m: n for m, n in found.items() if m != monomial}
            parts = [(normal(rest, scope), 1), (other, 1)]
            if any(isinstance(x, Size) for x, _ in parts):
                return _sum(parts)
            return sum(x for x, _ in parts)
    kept = [(m, n) for m, n in found.items() if n]
    if not kept:
        return 0
    if len(kept) == 1 and not kept[0][0]:
        return kept[0][1]
    return Size(tuple(sorted(kept, key=_order, reverse=True)), scope)


def _order(term: tuple[Monomial, int]) -> Any:
    monomial, _ = term
    return sum(p for _, p in monomial), [(a.text, p) for a, p in reversed(monomial)]


def _without_remainder(
    monomial: Monomial, count: int, found: dict[Monomial, int]
) -> dict[Monomial, int] | None:
    """A sum with x - n * (x // n) in the place of x % n, where it has x // n, too, and no multiple
    of n of it; None otherwise.
    """
    if len(monomial) != 1 or monomial[0][1] != 1 or monomial[0][0].name != "mod":
        return None
    x, divisor = monomial[0][0].operands
    quotient = ((Atom("floordiv", (x, divisor)), 1),)
    if not isinstance(divisor, int) or found.get(quotient, 0) % divisor == 0:
        return None
    other = {m: n for m, n in found.items() if m != monomial}
    other[quotient] -= divisor * count
    for m, n in _terms(x):
        other[m] = other.get(m, 0) + n * count
    return other


def _rewritten(monomial: Monomial, count: int, scope: Scope) -> Any:
    """A term by an equality of the scope, or n * (x // n) as x - x % n; None otherwise."""
    if monomial in scope.equal:
        divisor, other = scope.equal[monomial]
        if count % divisor == 0:
            return other * (count // divisor)
    if len(monomial) == 1 and monomial[0][1] == 1 and monomial[0][0].name == "floordiv":
        x, y = monomial[0][0].operands
        if isinstance(y, int) and count % y == 0:
            return (x - mod(x, y)) * (count // y)
    return None


def atom(name: str, *operands: Any) -> Any:
    """The size that is an operation that polynomials do not have."""
    return normal({((Atom(name, operands), 1),): 1}, common_scope(*operands))


def variable(name: str, scope: Scope) -> Any:
    """The size that is a variable of a scope; what it is equal to, if a constraint says that."""
    return normal({((Atom(name), 1),): 1}, scope)


# ---- operations that polynomials do not have -----------------------------------------------------


def floordiv(x: Any, y: Any) -> Any:
    """x // y.

    Raises:
        InconclusiveDimensionOperation: y may be 0.
    """
    if not isinstance(x, Size) and not isinstance(y, Size):
        return x // y
    exact = _exact_quotient(x, y)
    if exact is not None:
        return exact
    _check_divisor(x, y, "//")
    quotient, rest = _divided(x, y)
    if not isinstance(rest, Size) and not isinstance(y, Size):
        return quotient + rest // y
    low, high = _rough_bounds(rest)
    if low >= 0 and isinstance(y, int) and 0 <= high < y:
        return quotient
    if not isinstance(rest, Size) and rest == 0:
        return quotient
    return quotient + atom("floordiv", rest, y)


def mod(x: Any, y: Any) -> Any:
    """x % y.

    Raises:
        InconclusiveDimensionOperation: y may be 0.
    """
    if not isinstance(x, Size) and not isinstance(y, Size):
        return x % y
    if _exact_quotient(x, y) is not None:
        return 0
    _check_divisor(x, y, "%")
    _, rest = _divided(x, y)
    if not isinstance(rest, Size) and not isinstance(y, Size):
        return rest % y
    low, high = _rough_bounds(rest)
    if (not isinstance(rest, Size) and rest == 0) or (isinstance(y, int) and low >= 0 and high < y):
        return rest
    return atom("mod", rest, y)


def _rough_bounds(size: Any) -> tuple[float, float]:
    """Bounds for normal forms, which better bounds are computed with."""
    return size.scope.rough_bounds(size) if isinstance(size, Size) else (size, size)


def _check_divisor(x: Any, y: Any, sign: str) -> None:
    if not isinstance(y, Size) and y == 0:
        raise ZeroDivisionError(f"{x} {sign} 0: the divisor is 0")
    low, high = bounds(y)
    if low <= 0 <= high:
        raise InconclusiveDimensionOperation(
            f"{x} {sign} {y}: the divisor may be 0; {constraint_for(y, f'{y} >= 1')}"
        )


def _exact_quotient(x: Any, y: Any) -> Any:
    """The quotient of two sizes, the second of which depends on variables; None if there is a rest,
    or might be.
    """
    if not isinstance(x, Size) or not isinstance(y, Size):
        return None
    (leading, divisor), *_ = y.terms
    quotient: Any = 0
    rest: Any = x
    for _ in range(MOST_TERMS):
        monomial, count = _terms(rest)[0]
        shared = without(monomial, leading)
        if shared is None or count % divisor:
            return None
        part = normal({shared: count // divisor}, common_scope(x, y))
        quotient, rest = quotient + part, rest - part * y
        if not isinstance(rest, Size) and rest == 0:
            return quotient
    return None


MOST_TERMS = 16
"""The most terms of a quotient without a rest that is looked for."""


def _divided(x: Any, y: Any) -> tuple[Any, Any]:
    """A quotient and the rest: the terms of x that y divides, and the others."""
    (leading, divisor), *others = _terms(y)
    quotient: Any = 0
    rest: Any = x
    for monomial, count in _terms(x):
        shared = without(monomial, leading)
        if shared is None or count % divisor:
            if isinstance(y, int) and abs(count) > abs(y) and monomial:
                part = normal({monomial: count // y}, common_scope(x))
                quotient, rest = quotient + part, rest - part * y
            continue
        if others and quotient != 0:
            continue
        part = normal({shared: count // divisor}, common_scope(x, y))
        remaining = rest - part * y
        if others and isinstance(remaining, Size):
            continue
        quotient, rest = quotient + part, remaining
    return quotient, rest


def without(monomial: Monomial, factors: Monomial) -> Monomial | None:
    """A product without some of its factors; None where it does not have them all."""
    powers = dict(monomial)
    for atom, power in factors:
        powers[atom] = powers.get(atom, 0) - power
        if powers[atom] < 0:
            return None
    return tuple((a, p) for a, p in powers.items() if p)
