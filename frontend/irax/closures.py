"""Traced functions that have captured values, for operations that hold several functions and give
them all the same values from outside.
"""

from __future__ import annotations

from collections.abc import Sequence

from irax import source
from irax.array import Array
from irax.tracing import Traced
from irax_compiler import mlir
from irax_compiler.ops.control_flow import adapted


def union(functions: Sequence[Traced]) -> list[Array]:
    """All that the functions have captured, each once."""
    return list({id(x): x for traced in functions for x in traced.captures}.values())


def with_captures(traced: Traced, captures: Sequence[Array], at: int, name: str) -> str:
    """The name, `name` if it is free, of a function like a traced one of the same module, that
    takes all `captures`, its own among them, before its argument number `at`.
    """
    module = traced.builder.module
    types = [a.type for a in mlir.arguments(mlir.functions(module)[traced.name])]
    own, count = len(types) - len(traced.captures), len(captures)
    places = {id(x): at + i for i, x in enumerate(captures)}
    order = [i if i < at else i + count for i in range(own)]
    order += [places[id(x)] for x in traced.captures]
    outside = [mlir.tensor_type(x.aval.shape, x.aval.dtype) for x in captures]
    with source.user_location():
        return adapted(module, traced.name, [*types[:at], *outside, *types[at:own]], order, name)


def captures_first(functions: Sequence[Traced]) -> tuple[list[str], list[Array]]:
    """The names of functions like these, of the values that any of them has captured, then of their
    own arguments; and the values.
    """
    captures = union(functions)
    if not captures:
        return [traced.name for traced in functions], captures
    names = [with_captures(t, captures, 0, f"{t.name}.step") for t in functions]
    return names, captures
