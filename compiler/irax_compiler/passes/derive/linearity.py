"""Find what in a function depends on the arguments in which it is linear: `linearize` splits a
derivative by it, and `transpose` goes through what depends on them backwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress

from irax_compiler import mlir
from irax_compiler.mlir import Block, Operation, Value
from irax_compiler.ops.registry import read, traits_of
from irax_compiler.ops.structured import Call, StructuredOp
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

    def has_mixed(self) -> bool:
        """Return True if an operation has results that depend on the values beside others that do
        not, as a loop with a counter has.
        """
        several = (o.results for o in self.operations if len(o.results) > 1)
        return any(any(v not in self.values for v in results) for results in several)


class Linearity:
    """The dependents of arguments of functions, each found once, in operations that call or hold
    functions as in what they do.
    """

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
            self._found[key] = Dependents(mlir.body(function), marked, self.of_operation)
        return self._found[key]

    def results(self, name: str, flags: Sequence[bool]) -> tuple[bool, ...]:
        """For each result of function `name`, True if it depends on one of the arguments that
        `flags` marks.
        """
        values = self.dependents(name, flags).values
        return tuple(v in values for v in returned(self._functions[name]))

    def of_block(self, block: Block, marked: Iterable[Value]) -> tuple[bool, ...]:
        """For each operand of a block's terminator, True if it depends on one of some values."""
        values = Dependents(block, marked, self.of_operation).values
        return tuple(v in values for v in mlir.terminator(block).operands)

    def of_operation(self, operation: Operation, flags: Sequence[bool]) -> Sequence[bool]:
        """For each result of an operation, True if it depends on one of the inputs that `flags`
        marks.
        """
        if operation.name == Call.name:
            return self.results(mlir.callee(operation), flags)
        traits = traits_of(operation)
        kind = traits if isinstance(traits, type) else type(traits)
        if not issubclass(kind, StructuredOp):
            return _all_results(operation, flags)
        op = read(operation)
        found = op.dependent_results(self, flags) if isinstance(op, StructuredOp) else None
        return _all_results(operation, flags) if found is None else found
