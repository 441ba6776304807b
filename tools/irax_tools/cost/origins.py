"""The operations of a function that each dispatch of its program computes.

Each operation is given a number, in its location, which passes and IREE keep.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from irax_compiler import api, mlir
from irax_compiler.cost import Cost, operations_of_call
from irax_compiler.iree.dispatches import Dispatch
from irax_compiler.mlir import Module, Operation
from irax_compiler.ops.control_flow.scan import Scan
from irax_compiler.ops.control_flow.trip_counts import trip_count
from irax_compiler.ops.registry import read

_NUMBER = re.compile(r'"#op(\d+)"')


@dataclass(frozen=True)
class Origin:
    """An operation of a function."""

    operation: Operation
    cost: Cost
    """The cost of all its runs in a call."""


class Origins:
    """The operations of a function, by number."""

    def __init__(self, module: Module, func: str) -> None:
        """Numbers the operations of a module, in their locations."""
        there = list(api.nested(module.operation))
        numbers = {operation: i for i, operation in enumerate(there)}
        costs: dict[int, Cost] = {}
        for operation, runs, cost in operations_of_call(module, func):
            costs[numbers[operation]] = cost.times(runs)
        self._functions: Mapping[str, Operation] = mlir.functions(module)
        self.all = [Origin(o, costs.get(i, Cost())) for i, o in enumerate(there)]
        self._near = [_neighbours(o, numbers) for o in there]
        for i, operation in enumerate(there):
            operation.location = mlir.named(f"#op{i}", operation.location)

    def of(self, dispatches: Sequence[Dispatch]) -> list[list[Origin]]:
        """For each dispatch the operations that it computes, which cost something.

        An operation without a trace is where one is that it uses, or that uses it.
        """
        counts = [Counter(_numbers(dispatch.locations)) for dispatch in dispatches]
        place: dict[int, int] = {}
        for number in range(len(self.all)):
            most = max(range(len(counts)), key=lambda i, n=number: counts[i][n], default=0)
            if counts and counts[most][number]:
                place[number] = most
        lost = [n for n, o in enumerate(self.all) if n not in place and o.cost != Cost()]
        while lost:
            known = {n: next((place[m] for m in self._near[n] if m in place), None) for n in lost}
            found_now = {n: p for n, p in known.items() if p is not None}
            if not found_now:
                break
            place |= found_now
            lost = [n for n in lost if n not in place]
        found: list[list[Origin]] = [[] for _ in dispatches]
        for number, where in sorted(place.items()):
            if self.all[number].cost != Cost():
                found[where].append(self.all[number])
        return found

    def steps(self, dispatch: Dispatch) -> float:
        """The number of runs of a dispatch in a call; a loop of unknown length counts once."""
        runs = dispatch.runs
        for loop in dispatch.loops:
            numbers = _numbers([loop])
            runs *= next(map(self._trips, numbers), 1)
        return runs

    def _trips(self, number: int) -> float:
        operation = self.all[number].operation
        if operation.name == "stablehlo.while":
            return trip_count(operation, self._functions) or 1
        op: Any = read(operation) if operation.name == "stablehlo.composite" else None
        return op.length if isinstance(op, Scan) else 1


def _numbers(locations: Iterable[mlir.Location]) -> list[int]:
    return [int(n) for location in locations for n in _NUMBER.findall(str(location))]


def _neighbours(operation: Operation, numbers: Mapping[Operation, int]) -> list[int]:
    """The operations that use the results of one, then those whose results it uses."""
    users = [use.owner.operation for result in operation.results for use in result.uses]
    sources = [mlir.definition(x) for x in operation.operands]
    near: list[Any] = [*users, *(source for source in sources if source is not None)]
    return [numbers[o] for o in near if o in numbers]
