"""The values of variables, from the sizes of arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from irax_compiler.sizes.comparison import bounds, variables
from irax_compiler.sizes.expressions import Size
from irax_compiler.sizes.parsing import parse_constraint
from irax_compiler.sizes.scopes import SymbolicScope
from irax_compiler.sizes.terms import Scope
from irax_compiler.sizes.values import substituted, value_of


def solve(stated: Sequence[tuple[Any, Any, str]]) -> dict[str, Any]:
    """The values of the variables for which sizes are what they are: each with the size that was
    stated, the one that is found, and words that say where.

    Raises:
        ValueError: there are no such values, or they cannot be told, or violate a constraint.
    """
    env: dict[str, Any] = {}
    left = [entry for entry in stated if isinstance(entry[0], Size)]
    for size, found, where in stated:
        if not isinstance(size, Size) and size != found:
            raise _mismatch(f"expected size {size} for {where}, got {found}")
    while left:
        open_ = [entry for entry in left if not _solve_one(env, *entry)]
        if len(open_) == len(left):
            unknown = [v for v in variables(s for s, _, _ in left) if v not in env]
            listed = ", ".join(f"{size} for {where}" for size, _, where in left)
            raise ValueError(
                f"cannot solve for values of the dimension variables {', '.join(unknown)} from the "
                f"sizes of the arguments: {listed}. Only equations that are linear in one variable "
                "are solved: add an argument whose size is the variable itself"
            )
        left = open_
    for scope in {size.scope for size, _, _ in stated if isinstance(size, Size)}:
        _check_constraints(scope, env)
    return env


def variables_of_constraints(scope: Scope) -> list[str]:
    """Return the variables that the constraints of a scope name, but for those that it defines."""
    return variables(x for left, _, right in _constraints(scope) for x in (left, right))


def constraints(scope: Scope) -> list[str]:
    """Return the constraints of a scope on the variables that sizes have. A variable that an
    equality defines, such as b in "b == 2*a", is in no size, and is replaced in the others.
    """
    return [f"{left} {sign} {right}" for left, sign, right in _constraints(scope)]


def _is_variable(size: Any) -> bool:
    if not isinstance(size, Size) or len(size.terms) != 1:
        return False
    ((monomial, count),) = size.terms
    return count == 1 and [(power, atom.operands) for atom, power in monomial] == [(1, ())]


def _constraints(scope: Scope) -> list[tuple[Any, str, Any]]:
    found: list[tuple[Any, str, Any]] = []
    definitions = SymbolicScope()
    for text in scope.constraints:
        left, sign, right = parse_constraint(text, definitions)
        if sign == "==" and _is_variable(left):
            definitions = SymbolicScope((*definitions.constraints, text))
            if bounds(right)[0] < 1:
                found.append((right, ">=", 1))
        else:
            found.append((left, sign, right))
    return found


def _mismatch(what: str) -> ValueError:
    return ValueError(f"the sizes of the arguments do not match the symbolic shapes: {what}")


def _solve_one(env: dict[str, Any], size: Size, found: Any, where: str) -> bool:
    """True if an equation is solved: all of its variables have values then, which satisfy it."""
    unknown = [name for name in variables([size]) if name not in env]
    if not unknown:
        value = substituted(size, env)
        if value != found:
            values = ", ".join(f"{v} = {env[v]}" for v in variables([size]))
            raise _mismatch(f"expected size {size} = {value} for {where}, got {found} ({values})")
        return True
    if len(unknown) > 1:
        return False
    (name,) = unknown
    slope, rest = _linear(size, name, env)
    if slope is None:
        return False
    value = found - rest
    if slope == 0 or not (isinstance(slope, int) and value % slope == 0):
        raise _mismatch(f"expected a size {size} for {where}, got {found}: no {name} fits")
    value = value // slope
    if bounds(value)[0] < 1:
        raise _mismatch(
            f"expected a size {size} for {where} with {name} >= 1, got {found} ({name} = {value})"
        )
    env[name] = value
    return True


def _linear(size: Size, name: str, env: dict[str, Any]) -> tuple[Any, Any]:
    """The factor of a variable in a size, and the rest of it; None and 0 where it is not linear."""
    slope: Any = 0
    rest: Any = 0
    for monomial, count in size.terms:
        value: Any = count
        has_it = False
        for atom, power in monomial:
            if not atom.operands and atom.name == name:
                if power > 1:
                    return None, 0
                has_it = True
            elif name in variables(atom.operands):
                return None, 0
            else:
                base = value_of(atom, env)
                value = value * base**power
        slope, rest = (slope + value, rest) if has_it else (slope, rest + value)
    return slope, rest


def _check_constraints(scope: Scope, env: dict[str, Any]) -> None:
    for left, sign, right in _constraints(scope):
        if any(name not in env for name in variables([left, right])):
            continue
        difference = substituted(left, env) - substituted(right, env)
        low, high = bounds(difference)
        holds = {"==": low == high == 0, ">=": low >= 0, "<=": high <= 0}[sign]
        if not holds:
            values = ", ".join(f"{v} = {env[v]}" for v in variables([left, right]))
            raise _mismatch(f"the constraint {left} {sign} {right} does not hold for {values}")
