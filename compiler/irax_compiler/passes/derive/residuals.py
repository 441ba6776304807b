"""Residuals: the values that the linear part of a function reads, saved by the forward part in as
few bytes as the linear part can be computed from.

Where one value gives several residuals by cheap elementwise operations, it is saved alone, and the
linear part does these operations again. The choice is a minimum cut of the graph of cheap
operations, in which saving a value costs its bytes. Of equal cuts it is the one with the fewest
operations to do again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf, prod
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value
from irax_compiler.ops.core import Recomputation
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.core import inputs
from irax_compiler.passes.derive.linearity import Dependents

_Node = tuple[Value, bool]
"""The entrance (True) of a value, or its exit."""


class Residuals:
    """The inputs of the linear part: `saved`, the values that the forward part returns, and
    `recomputed`, the operations to do again, in order.

    Constants, iotas and broadcasts are always recomputed. What an operation reads that is not
    elementwise is in memory anyway: it is saved, and other residuals may follow from it.
    """

    def __init__(self, dependents: Dependents, outputs: Iterable[Value]) -> None:
        """`dependents` are the linear part, and `outputs` its results."""
        needed: dict[Value, bool] = {}
        for operation in dependents.operations:
            in_memory = not traits_of(operation).elementwise
            for value in inputs(operation):
                needed[value] = needed.get(value, False) or in_memory
        needed.update(dict.fromkeys(outputs, True))
        known = {v: in_memory for v, in_memory in needed.items() if v not in dependents.values}
        graph = _Graph()
        for value, in_memory in known.items():
            if in_memory:
                graph.keep(value)
        for value in known:
            graph.need(value)

        self.saved: list[Value] = []
        seen: set[Value] = set()
        pending = list(reversed(known))
        while pending:
            value = pending.pop()
            if value in seen:
                continue
            seen.add(value)
            operation = mlir.definition(value)
            if operation is not None and graph.is_recomputed(value):
                pending.extend(reversed(list(operation.operands)))
            else:
                self.saved.append(value)
        again = seen.difference(self.saved)
        self.recomputed = [o for o in dependents.others if any(v in again for v in o.results)]


@dataclass
class _Graph:
    """The flow from values that cannot be computed again to values that are needed, through cheap
    operations. Each value has an entrance and an exit, with its cost as the capacity between.
    """

    cost: dict[Value, float] = field(default_factory=dict)
    """The cost of saving a value; 0 for one that is saved anyway."""
    _through: dict[Value, float] = field(default_factory=dict)
    """The flow from the entrance of a value to its exit."""
    _along: dict[Value, dict[Value, float]] = field(default_factory=dict)
    """The flow from a value's exit to the entrances of values that are computed from it."""
    _full: set[_Node] = field(default_factory=set)
    """The nodes that no more flow reaches: those behind the cut."""

    def keep(self, value: Value) -> None:
        """Save a value, or what it is computed from for free, at no further cost."""
        operation = mlir.definition(value)
        if operation is None or not _is_free(operation):
            self.cost[value] = 0
            return
        for operand in operation.operands:
            self.keep(operand)

    def is_recomputed(self, value: Value) -> bool:
        """Return True if the cut is before a needed value, rather than at it."""
        return (value, True) in self._full

    def need(self, value: Value) -> None:
        """Send as much flow as possible to a value."""
        while self._augment(value):
            pass

    def _augment(self, value: Value) -> bool:
        goal: _Node = (value, False)
        if goal in self._full:
            return False
        after: dict[_Node, _Node | None] = {goal: None}
        pending: list[_Node] = [goal]
        while pending:
            node = pending.pop()
            if node[1] and _operands(node[0]) is None:
                self._send(node, after)
                return True
            for before in self._before(node):
                if before not in after and before not in self._full:
                    after[before] = node
                    pending.append(before)
        # Later flows do not pass here either: what is found now is behind the cut.
        self._full.update(after)
        return False

    def _before(self, node: _Node) -> Iterable[_Node]:
        value, is_entrance = node
        if is_entrance:
            for operand in _operands(value) or ():
                yield operand, False
            if self._through.get(value, 0) > 0:
                yield value, False
        else:
            for user, flow in self._along.get(value, {}).items():
                if flow > 0:
                    yield user, True
            if self._room(value) > 0:
                yield value, True

    def _room(self, value: Value) -> float:
        if value not in self.cost:
            operation = mlir.definition(value)
            free = operation is not None and _is_free(operation)
            self.cost[value] = inf if free else _bytes(value)
        return self.cost[value] - self._through.get(value, 0)

    def _send(self, node: _Node, after: Any) -> None:
        steps = []
        while (following := after[node]) is not None:
            steps.append((node, following))
            node = following
        amount = min(self._capacity(*step) for step in steps)
        for (value, is_entrance), (following, _) in steps:
            if value == following:
                sign = 1 if is_entrance else -1
                self._through[value] = self._through.get(value, 0) + sign * amount
            elif is_entrance:
                self._along[following][value] -= amount
            else:
                flows = self._along.setdefault(value, {})
                flows[following] = flows.get(following, 0) + amount

    def _capacity(self, node: _Node, following: _Node) -> float:
        (value, is_entrance), (other, _) = node, following
        if value == other:
            return self._room(value) if is_entrance else self._through[value]
        return self._along[other][value] if is_entrance else inf


def _operands(value: Value) -> Sequence[Value] | None:
    """Return what a value is computed from by an operation that may be done again; None for a
    value that cannot be computed again.
    """
    operation = mlir.definition(value)
    if operation is None or not (_is_free(operation) or _is_cheap(operation)):
        return None
    return list(operation.operands)


def _is_free(operation: Operation) -> bool:
    """True if an operation is free to recompute, and its operands may be smaller than its
    result.
    """
    traits = traits_of(operation)
    return traits.recomputation is Recomputation.FREE and not traits.is_view


def _is_cheap(operation: Operation) -> bool:
    traits = traits_of(operation)
    return traits.elementwise and traits.recomputation is Recomputation.CHEAP


def _bytes(value: Value) -> int:
    """Return the bytes of an array; of one of unknown size, without the sizes that are unknown."""
    type_: Any = value.type
    return prod(n for n in type_.shape if n >= 0) * mlir.dtype_of(value).itemsize
