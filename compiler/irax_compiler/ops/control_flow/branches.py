"""Branches: case and if. Values that their regions capture count as operands."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import compress
from typing import Any

import numpy as np

from irax_compiler import effects, mlir
from irax_compiler.mlir import Type, Value, dtype_of, shape_of
from irax_compiler.ops import bitwise, comparison, shape
from irax_compiler.ops.control_flow import lanes
from irax_compiler.ops.control_flow.harmless import operands_of_branch
from irax_compiler.ops.control_flow.while_loops import RegionOp
from irax_compiler.ops.core import Axis, Linear, Tangent, full
from irax_compiler.ops.derived import Batched, Differentiated, Linearized, Transposed
from irax_compiler.ops.loop_builders import Build, choose
from irax_compiler.ops.registry import register_class
from irax_compiler.ops.structured import (
    batched_where,
    call_function,
    instantiated,
    scatter,
    zeros_of,
)
from irax_compiler.ops.transformation import (
    Batching,
    Dependence,
    Differentiation,
    Evaluation,
    Linearization,
    Transformation,
    Transposition,
)


class Branches(RegionOp):
    """A selection of one of several branches by the first operand; the other operands are the
    captured values.
    """

    def place(self, chooser: np.ndarray) -> int:
        """The number of the branch that a concrete first operand chooses."""
        raise NotImplementedError

    def select(self, chooser: Value, branches: Sequence[Value]) -> Value:
        """One of some arrays for each element of the first operand, which has their shape."""
        raise NotImplementedError

    def takes(self, chooser: Value) -> Sequence[Value]:
        """Return for each branch, where elements of the first operand choose it."""
        raise NotImplementedError

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Sequence[np.ndarray]:
        chooser, *captured = operands
        return self.programs[self.place(chooser)].run(captured, call)

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        derived = self._derived(transform, tuple(t is not None for t in tangents[1:]))
        wanted = _in_any(derived)
        operands = [*primals[1:], *(t for t in tangents if t is not None)]
        count = len(wanted)

        def branch(one: Differentiated) -> Build:
            def build() -> Sequence[Value]:
                found = call_function(transform.functions, one.name, operands)
                results, moved = found[:count], scatter(found[count:], one.results)
                return [*results, *instantiated(results, moved, wanted)]

            return build

        found = choose(self.name, primals[0], [branch(one) for one in derived])
        return found[:count], scatter(found[count:], wanted)

    def linearize(
        self, transform: Linearization, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        chooser, *captured = primals
        derived = self._derived(transform, tuple(t is not None for t in tangents[1:]))
        wanted, functions = _in_any(derived), transform.functions
        count = len(wanted)
        slots: list[Type] = []
        # For each branch, where a residual comes from: a captured value or a slot, which branches
        # share where their residuals have the same type.
        sources = [_sources(one.residuals, slots) for one in derived]

        def forward(one: Linearized, places: Sequence[tuple[str, int]]) -> Build:
            def build() -> Sequence[Value]:
                found = call_function(functions, one.name, captured)
                filled: list[Value | None] = [None] * len(slots)
                for value, (kind, i) in zip(found[count:], places, strict=True):
                    if kind == "slot":
                        filled[i] = value
                rest = [v or zeros_of(t) for v, t in zip(filled, slots, strict=True)]
                return [*found[:count], *rest]

            return build

        pairs = list(zip(derived, sources, strict=True))
        found = choose(self.name, chooser, [forward(*pair) for pair in pairs])
        results, saved = found[:count], found[count:]
        if not any(wanted):
            return results, [None] * count
        active = [t for t in tangents if t is not None]

        def linear(one: Linearized, places: Sequence[tuple[str, int]]) -> Build:
            def build() -> Sequence[Value]:
                residuals = [saved[i] if kind == "slot" else captured[i] for kind, i in places]
                moved: Sequence[Value] = ()
                if any(one.results):
                    moved = call_function(functions, one.linear, [*residuals, *active])
                return instantiated(results, scatter(moved, one.results), wanted)

            return build

        moved = choose(self.name, chooser, [linear(*pair) for pair in pairs])
        return results, scatter(moved, wanted)

    def is_linear_in(self, operands: Sequence[int]) -> bool:
        return 0 not in operands

    def dependent_results(
        self, dependence: Dependence, flags: Sequence[bool]
    ) -> Sequence[bool] | None:
        if flags[0]:
            return None
        marked = list(compress(mlir.captured(self.operation), flags[1:]))
        blocks = (region.blocks[0] for region in self.operation.regions)
        found = [dependence.of_block(block, marked) for block in blocks]
        return [any(one) for one in zip(*found, strict=True)]

    def transpose(
        self,
        transform: Transposition,
        cotangents: Sequence[Tangent],
        operands: Sequence[Value | Linear],
    ) -> Sequence[Tangent]:
        chooser, *captured = operands
        assert isinstance(chooser, Value)
        linear = tuple(isinstance(x, Linear) for x in captured)
        derived = self._derived(transform, (linear, tuple(ct is not None for ct in cotangents)))
        wanted = _in_any(derived)
        known = [x for x in captured if isinstance(x, Value)]
        given = [*known, *(ct for ct in cotangents if ct is not None)]

        def branch(one: Transposed) -> Build:
            def build() -> Sequence[Value]:
                found = scatter(call_function(transform.functions, one.name, given), one.results)
                return instantiated(captured, found, wanted)

            return build

        found = choose(self.name, chooser, [branch(one) for one in derived])
        return [None, *scatter(found, wanted)]

    def batch(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> tuple[Sequence[Value], Sequence[Axis]]:
        by_lane = axes[0] is not None
        if by_lane and effects.has_effects(self.operation):  # those of the branch that a lane takes
            kind = self.name.partition(".")[2]
            return lanes.one_by_one(transform, kind, self.build, operands, axes)
        if by_lane:
            results = self._selected(transform, operands, axes)
            return results, [0] * len(results)
        chooser, *captured = operands
        derived = self._derived(transform, tuple(axes[1:]))
        functions, size = transform.functions, transform.size
        count = len(derived[0].results)
        mapped = [any(d.results[i] is not None for d in derived) for i in range(count)]

        def branch(one: Batched) -> Build:
            def build() -> Sequence[Value]:
                found = call_function(functions, one.name, captured)
                return batched_where(found, one.results, size, mapped)

            return build

        results = choose(self.name, chooser, [branch(one) for one in derived])
        return results, [0 if flag else None for flag in mapped]

    def _selected(
        self, transform: Batching, operands: Sequence[Value], axes: Sequence[Axis]
    ) -> list[Value]:
        """The results of the branch that each lane takes; all lanes go through all branches."""
        functions, size = transform.functions, transform.size
        chooser, *captured = operands
        branches = []
        names = transform.outline(self.operation)
        for name, takes in zip(names, self.takes(chooser), strict=True):
            given, places = captured, axes[1:]
            if not transform.over_devices:  # of which no derivative is taken
                given, places = operands_of_branch(functions, name, takes, captured, places)
            derived = transform.function(name, tuple(places))
            found = call_function(functions, derived.name, given)
            everywhere = [True] * len(found)
            branches.append(batched_where(found, derived.results, size, everywhere))
        results = []
        for values in zip(*branches, strict=True):
            spread = shape.BroadcastInDim(shape_of(values[0]), (0,))(chooser)
            results.append(self.select(spread, values))
        return results

    def _derived(self, transform: Transformation, pattern: tuple[Any, ...]) -> list[Any]:
        names = transform.outline(self.operation)
        return [transform.function(name, pattern) for name in names]


@register_class
class Case(Branches):
    """Select a branch by an index; the last branch also serves indices out of range."""

    name = "stablehlo.case"

    def place(self, chooser: np.ndarray) -> int:
        last = len(self.programs) - 1
        return int(chooser) if 0 <= chooser <= last else last

    def takes(self, chooser: Value) -> Sequence[Value]:
        count = len(self.operation.regions)
        found = [
            comparison.equal(chooser, full(shape_of(chooser), number, dtype_of(chooser)))
            for number in range(count - 1)
        ]
        others = full(shape_of(chooser), False, np.dtype(np.bool_))
        return [*found, bitwise.not_(reduce(bitwise.or_, found, others))]

    def select(self, chooser: Value, branches: Sequence[Value]) -> Value:
        *earlier, result = branches
        for number, branch in reversed(list(enumerate(earlier))):
            this = full(shape_of(chooser), number, dtype_of(chooser))
            result = comparison.select(comparison.equal(chooser, this), branch, result)
        return result


@register_class
class If(Branches):
    """The first branch if a condition holds, the second if not."""

    name = "stablehlo.if"

    def place(self, chooser: np.ndarray) -> int:
        return 0 if chooser else 1

    def takes(self, chooser: Value) -> Sequence[Value]:
        return chooser, bitwise.not_(chooser)

    def select(self, chooser: Value, branches: Sequence[Value]) -> Value:
        return comparison.select(chooser, *branches)


def _in_any(derived: Sequence[Differentiated | Transposed]) -> tuple[bool, ...]:
    """The results that carry something in some branch."""
    return tuple(any(flags) for flags in zip(*(d.results for d in derived), strict=True))


def _sources(residuals: Sequence[int | Type], slots: list[Type]) -> list[tuple[str, int]]:
    """For each residual of a branch, the captured argument it forwards, or a slot of its type."""
    taken: set[int] = set()
    found: list[tuple[str, int]] = []
    for residual in residuals:
        if isinstance(residual, int):
            found.append(("captured", residual))
            continue
        free = (i for i, t in enumerate(slots) if t == residual and i not in taken)
        place = next(free, len(slots))
        if place == len(slots):
            slots.append(residual)
        taken.add(place)
        found.append(("slot", place))
    return found
