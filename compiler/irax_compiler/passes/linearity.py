"""Find what in a function depends on the arguments in which it is linear: `linearize` splits a
derivative by it, and `transpose` goes through what depends on them backwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress

from irax_compiler import mlir
from irax_compiler.mlir import Block, Operation, Value
from irax_compiler.ops.structured import Call
from irax_compiler.passes.core import check_function, inputs, returned, walk


def _all_results(operation: Operation, flags: Sequence[bool]) -> Sequence[bool]:
    return (True,) * len(operation.results)


class Dependents:
    """The part of a block that depends on some values: `values`, those among them, and
    `operations`, in order. The other operations are `others`.
    """

    def __init__(
        self,
        block: Block,
        values: Iterable[Value],
        results: Callable[[Operation, Sequence[bool]], Sequence[bool]] = _all_results,
    ) -> None:
        """`results` marks the results of an operation that depend on the operands that are marked;
        by default it is all of them.
        """
        self.values = set(values)
        self.operations: list[Operation] = []
        self.others: list[Operation] = []
        for operation in walk(block):
            flags = [v in self.values for v in inputs(operation)]
            if any(flags):
                self.operations.append(operation)
                self.values.update(compress(operation.results, results(operation, flags)))
            else:
                self.others.append(operation)

    def has_mixed_calls(self) -> bool:
        """Return True if a call has results that depend on the values beside others that do not."""
        calls = (o for o in self.operations if o.name == Call.name)
        return any(v not in self.values for call in calls for v in call.results)


class Linearity:
    """The dependents of arguments of functions, each found once, in calls as in what is called."""

    def __init__(self, functions: Mapping[str, Operation]) -> None:
        self._functions = functions
        self._found: dict[tuple[str, tuple[bool, ...]], Dependents] = {}

    def dependents(self, name: str, flags: Sequence[bool]) -> Dependents:
        """Return the part of function `name` that depends on the arguments that `flags` marks."""
        key = (name, tuple(flags))
        if key not in self._found:
            function = self._functions[name]
            check_function(name, function)
            marked = compress(mlir.arguments(function), flags)
            self._found[key] = Dependents(mlir.body(function), marked, self._results)
        return self._found[key]

    def results(self, name: str, flags: Sequence[bool]) -> tuple[bool, ...]:
        """For each result of function `name`, True if it depends on one of the arguments that
        `flags` marks.
        """
        values = self.dependents(name, flags).values
        return tuple(v in values for v in returned(self._functions[name]))

    def _results(self, operation: Operation, flags: Sequence[bool]) -> Sequence[bool]:
        if operation.name == Call.name:
            return self.results(mlir.callee(operation), flags)
        return _all_results(operation, flags)
