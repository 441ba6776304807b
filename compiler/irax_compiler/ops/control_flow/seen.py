"""Values as the operations that compute them, in whatever function those are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value


class Seen:
    """A value traced through the calls that return it."""

    def __init__(
        self,
        value: Value,
        functions: Mapping[str, Operation],
        outside: Mapping[Value, Seen] | None = None,
    ) -> None:
        self._functions, self._outside = functions, outside or {}
        self.value = value
        while True:
            if self.value in self._outside:  # an argument of a function that is called
                origin = self._outside[self.value]
                self.value, self._outside = origin.value, origin._outside
                return
            operation = mlir.definition(self.value)
            if operation is None or operation.name != "func.call":
                return
            name = mlir.callee(operation)
            if name not in functions:  # it is not asked what functions do
                return
            callee = functions[name]
            given = [Seen(x, functions, self._outside) for x in operation.operands]
            results: list[Value] = list(operation.results)
            number = results.index(self.value)
            self._outside = dict(zip(mlir.arguments(callee), given, strict=True))
            self.value = mlir.terminator(mlir.body(callee)).operands[number]

    @property
    def is_of_call(self) -> bool:
        """True for a value in a function that is called."""
        return bool(self._outside)

    @property
    def kind(self) -> str:
        """The name of the operation that it is a result of."""
        operation = mlir.definition(self.value)
        return "" if operation is None else operation.name

    @property
    def attributes(self) -> Any:
        operation = mlir.definition(self.value)
        assert operation is not None
        return operation.attributes

    def operands(self) -> list[Seen]:
        """The operands of that operation."""
        operation = mlir.definition(self.value)
        assert operation is not None
        return [Seen(x, self._functions, self._outside) for x in operation.operands]

    def tests(self, holds: bool = True) -> list[Test]:
        """Return the tests that all succeed if it, a boolean, holds, or does not if `holds` is
        False.
        """
        plain, holds = self._without_conversions(holds)
        if plain.kind == ("stablehlo.and" if holds else "stablehlo.or"):
            return [x for operand in plain.operands() for x in operand.tests(holds)]
        if plain.kind == "stablehlo.select":
            first, second, otherwise = plain.operands()
            if holds and otherwise.number() == 0:
                return [*first.tests(), *second.tests()]
            if not holds and second.number() == 1:
                return [*first.tests(False), *otherwise.tests(False)]
        return [Test(plain, holds)]

    def number(self) -> Any:
        """The number that all its elements are; None if they are not known to be one."""
        kind = self.kind
        if kind in ("stablehlo.broadcast_in_dim", "stablehlo.reshape"):
            return self.operands()[0].number()
        return mlir.splat(self.value)

    def _without_conversions(self, holds: bool) -> tuple[Seen, bool]:
        """Return the boolean that it is a conversion, a reshape or the negation of, or `x != false`
        or `x == false` of, and whether that holds if it does or does not.
        """
        if not self.kind or any(
            mlir.dtype_of(x.value) != np.bool_ or mlir.shape_of(x.value) for x in self.operands()
        ):
            return self, holds
        if self.kind in ("stablehlo.broadcast_in_dim", "stablehlo.convert", "stablehlo.reshape"):
            return self.operands()[0]._without_conversions(holds)
        if self.kind == "stablehlo.not":
            return self.operands()[0]._without_conversions(not holds)
        if self.kind == "stablehlo.compare":
            x, other = self.operands()
            if x.number() is not None:
                x, other = other, x
            number, direction = other.number(), self.direction
            if number is not None and direction in ("EQ", "NE"):
                return x._without_conversions(holds == (number == (direction == "EQ")))
        return self, holds

    @property
    def direction(self) -> str:
        """The direction of a comparison that it is the result of, such as `LT`."""
        return str(self.attributes["comparison_direction"]).split()[-1].rstrip(">")


@dataclass(frozen=True)
class Test:
    """A test of a boolean."""

    seen: Seen
    holds: bool
    """True if it succeeds where the boolean holds; False where it does not."""


def unchanged(loop: Operation, functions: Mapping[str, Operation]) -> tuple[bool, ...]:
    """Return, for each value that a `stablehlo.while` carries, True if its body returns it as it
    is. `functions` are those of the module.
    """
    body = loop.regions[1].blocks[0]
    following = [Seen(x, functions).value for x in mlir.terminator(body).operands]
    return tuple(new == old for new, old in zip(following, body.arguments, strict=True))
