"""Code that computes sizes from the values of variables, in programs and in kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import reduce
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Value
from irax_compiler.sizes import Size, substituted, variables

USUAL = 256
"""The value that variables are taken for where a kernel is chosen: results do not depend on it."""

_variables: ContextVar[Mapping[str, Value]] = ContextVar("_variables")


def usual(size: Any) -> int:
    """Return a size for usual values of its variables, for choices that are about speed."""
    return substituted(size, dict.fromkeys(variables([size]), USUAL))


@contextmanager
def known(values: Mapping[str, Value]) -> Iterator[None]:
    """In a `with` block, variables have these values, of type index."""
    token = _variables.set(values)
    try:
        yield
    finally:
        _variables.reset(token)


def index(size: Any) -> Value:
    """Build a size of which the variables are `known`, as an index."""
    return computed(size, index, _variables.get().__getitem__)


def computed(size: Any, number: Callable[[Any], Value], variable: Callable[[str], Value]) -> Value:
    """Build a size, as an index: `number` builds the sizes that it is made of."""
    if not isinstance(size, Size):
        value = mlir.parse_attribute(f"{size} : index")
        return mlir.emit("arith.constant", [], {"value": value}, [_type()]).results[0]

    def of_atom(atom: Any) -> Value:
        if not atom.operands:
            return variable(atom.name)
        x, y = map(number, atom.operands)
        if atom.name != "mod":
            name = {"floordiv": "floordivsi", "max": "maxsi", "min": "minsi"}[atom.name]
            return _emit(name, x, y)
        return _emit("subi", x, _emit("muli", _emit("floordivsi", x, y), y))

    total: Value | None = None
    for monomial, count in size.terms:
        factors = [of_atom(atom) for atom, power in monomial for _ in range(power)]
        if count != 1 or not factors:
            factors.insert(0, number(count))
        term = reduce(lambda x, y: _emit("muli", x, y), factors)
        total = term if total is None else _emit("addi", total, term)
    assert total is not None
    return total


def _emit(name: str, x: Value, y: Value) -> Value:
    return mlir.emit(f"arith.{name}", [x, y], {}, [_type()]).results[0]


def _type() -> mlir.Type:
    return mlir.parse_type("index")
