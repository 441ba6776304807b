"""The pass sparsity, which finds the elements of a Jacobian that can be other than zero.

A derivative is split first, as `linearize` does it. What is left to follow is a function that is
linear in the tangents: of each of its values, the tangents that each element depends on are a
sparse matrix of booleans (`Pattern`), and each operation multiplies it by its links (`ops/links`).
Values that do not depend on tangents, and follow from constants, are computed: what is multiplied
by a zero, or not selected, depends on nothing. With the values of all arguments, the pattern is the
one at a point.

Loops whose length is known are followed step by step while that takes few operations; of others,
the patterns of what they carry grow until nothing changes any more. The pattern of a Hessian is
that of the gradient's Jacobian.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise, product
from math import prod
from typing import Any, ClassVar

import numpy as np

from irax_compiler import effects, mlir
from irax_compiler.coloring.columns import Pattern
from irax_compiler.mlir import Block, Module, Operation, Value, shape_of
from irax_compiler.ops.composite import decomposition_of
from irax_compiler.ops.control_flow.custom_rules import ReverseOnly
from irax_compiler.ops.control_flow.scan import Scan
from irax_compiler.ops.core import Op, UnsupportedOp, constant, evaluated
from irax_compiler.ops.links import Pairs, Use
from irax_compiler.ops.registry import read
from irax_compiler.ops.structured import DefinedOp, StructuredOp
from irax_compiler.passes.core import Pass, register_pass, returned
from irax_compiler.passes.derive.bounds import (
    MOST_CHOICES,
    Bounds,
    bounds_of_result,
    bounds_of_value,
)
from irax_compiler.passes.derive.choices import MOST_PICKED, Choices, choices_of_result
from irax_compiler.passes.derive.linearize import derive_linearized
from irax_compiler.passes.derive.patterns import (
    Rows,
    any_of,
    empty,
    followed,
    joined,
    seed,
    stacked,
)
from irax_compiler.passes.derive.zeros import (
    Zeros,
    masked_result,
    zeros_of_result,
    zeros_of_value,
)

MOST_STEPS = 50_000
"""The operations that loops are followed for step by step. Beyond, all steps are taken together."""
FEW = 16
"""The most operations of a composite that are followed for what they tell of its value."""


@dataclass(frozen=True)
class Fact:
    """A value's pattern, or its value where it depends on no tangent and is known."""

    pattern: Rows | None = None
    """The tangents that its elements depend on; None if there are none."""
    value: np.ndarray | None = None
    """Its value, if it depends on no tangent and is known."""
    bounds: Bounds | Choices | None = None
    """The bounds of integers that are not known, or their choices."""
    zeros: Zeros = None
    """The zeros among floats that are not known."""
    masked: Zeros = None
    """The places of -inf among them."""


NOTHING = Fact()


def pattern_of(
    module: Module,
    func: str = "main",
    wrt: Sequence[int] | None = None,
    known: Sequence[np.ndarray | None] = (),
) -> Pattern:
    """Return the pattern of a function's Jacobian: a row for each element of its results, one
    result after the other, and a column for each element of the arguments.

    Args:
        module: the module, which gets further private functions.
        func: the function's name.
        wrt: the arguments that are differentiated; by default all of inexact types.
        known: the values of the arguments, None for those that are not known. With those that are
            differentiated, the pattern is that at a point.

    Raises:
        UnsupportedOp: the function has an operation without a derivative.
    """
    function = mlir.functions(module)[func]
    num_results = len(mlir.result_types(function))
    linearized = derive_linearized(module, func, wrt)
    functions = mlir.Functions(module)
    arguments = mlir.arguments(function)
    active = [x for x, flag in zip(arguments, linearized.active, strict=True) if flag]
    sizes = [prod(shape_of(x)) for x in active]
    given = [Fact(value=x) for x in known] or [NOTHING] * len(arguments)
    analysis = Analysis(functions)
    forward = analysis.function(linearized.forward, given)
    tangents = [Fact(seed(place, sizes)) for place in range(len(sizes))]
    moved = analysis.function(linearized.linear, [*forward[num_results:], *tangents])
    found = iter(moved)
    rows = []
    for type_, flag in zip(mlir.result_types(function), linearized.results, strict=True):
        pattern = next(found).pattern if flag else None
        size = prod(mlir.shape_of_type(type_))
        rows.append(empty(size, sum(sizes)) if pattern is None else pattern)
    return stacked(rows, sum(sizes)).matrix


class Analysis:
    """Facts about the values of functions that are linear in tangents."""

    def __init__(self, functions: Mapping[str, Operation]) -> None:
        self._functions = functions
        self._steps = 0
        self._last_uses: dict[Block, list[list[Value]]] = {}

    def function(self, name: str, arguments: Sequence[Fact]) -> list[Fact]:
        """Return the facts about the results of function `name`, for those about its arguments."""
        return self._block(mlir.body(self._functions[name]), arguments, {})

    def _block(
        self, block: Block, arguments: Sequence[Fact], outside: Mapping[Value, Fact]
    ) -> list[Fact]:
        known = {**outside, **dict(zip(block.arguments, arguments, strict=True))}
        *operations, last = (view.operation for view in block.operations)
        if block not in self._last_uses:
            self._last_uses[block] = _last_uses(block)
        for operation, ended in zip(operations, self._last_uses[block], strict=False):
            known.update(zip(operation.results, self._operation(operation, known), strict=True))
            for x in ended:  # large patterns are not kept longer than they are needed
                known.pop(x, None)
        return [known.get(x, NOTHING) for x in last.operands]

    def _operation(self, operation: Operation, known: Mapping[Value, Fact]) -> Sequence[Fact]:
        self._steps += 1
        given = [known.get(x, NOTHING) for x in operation.operands]
        match operation.name:
            case "func.call":
                callee: Any = operation.attributes["callee"]
                return self.function(callee.value, given)
            case "stablehlo.while":
                return self._while(operation, given, known)
            case "stablehlo.if" | "stablehlo.case":
                return self._branches(operation, given[0], known)
            case "stablehlo.optimization_barrier":
                return given
        op = read(operation)
        if isinstance(op, Scan):
            return self._scan(op, given)
        inside = [known.get(x, NOTHING) for x in mlir.captured(operation)]
        if all(fact.pattern is None for fact in (*given, *inside)):
            return self._computed(op, operation, given)
        if isinstance(op, ReverseOnly):
            return self._transposed(op, operation, given)
        if operation.name == "stablehlo.composite" and (
            isinstance(op, StructuredOp) or not _has_rule(op, operation)
        ):
            return self.function(decomposition_of(operation), given)
        return self._linked(op, operation, [*given, *inside])

    def _computed(self, op: Op, operation: Operation, given: Sequence[Fact]) -> Sequence[Fact]:
        values = [fact.value for fact in given]
        if effects.has_effects(operation) or mlir.captured(operation):
            return [NOTHING] * len(operation.results)
        if any(x is None for x in values):
            if operation.name == "stablehlo.composite" and self._is_short(operation):
                return self.function(decomposition_of(operation), given)
            use = _use(operation, given)
            if isinstance(op, DefinedOp) and op.tells_by_definition(use):
                return self._defined(op, operation, given)
            return _partly_known(op, operation, given)
        try:
            with np.errstate(all="ignore"):
                results = evaluated(op, self._call, values)  # pyright: ignore[reportArgumentType]
        except UnsupportedOp:
            return [NOTHING] * len(operation.results)
        return [Fact(value=np.asarray(x)) for x in results]

    def _defined(
        self, op: DefinedOp, operation: Operation, given: Sequence[Fact]
    ) -> Sequence[Fact]:
        """The facts about the results of an op that simpler ones define."""
        module = mlir.new_module()
        function = mlir.new_function(module, "main", [x.type for x in operation.operands])
        with mlir.InsertionPoint(mlir.body(function)), mlir.UNKNOWN:
            results = op.define(mlir.arguments(function))
        mlir.finish_function(function, results)
        return self._block(mlir.body(function), given, {})

    def _is_short(self, operation: Operation) -> bool:
        """True if the operations that a composite stands for are few, and no loops."""
        body = self._functions[decomposition_of(operation)].regions[0].blocks
        inside = [view.operation for view in body[0].operations] if len(body) else []
        return 0 < len(inside) <= FEW and not any(len(x.regions) for x in inside)

    def _call(self, name: str, arguments: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        found = [fact.value for fact in self.function(name, [Fact(value=x) for x in arguments])]
        if any(x is None for x in found):
            raise UnsupportedOp(f"@{name}: a result is not known")
        return found  # pyright: ignore[reportReturnType]

    def _linked(self, op: Op, operation: Operation, given: Sequence[Fact]) -> Sequence[Fact]:
        """The patterns of the results of an op that is linear in what depends on tangents."""
        operands = [shape_of(x) for x in (*operation.operands, *mlir.captured(operation))]
        results = [shape_of(x) for x in operation.results]
        found = []
        tried = list(_values(op, given))
        for number in range(len(results)):
            parts = []
            for i, fact in enumerate(given):
                if fact.pattern is not None:
                    uses = (Use(i, operands, values, results, number) for values in tried)
                    links = any_of([op.links(use) for use in uses])
                    parts += [followed(fact.pattern, x) for x in links]
            found.append(Fact(joined(parts)))
        return found

    def _transposed(
        self, op: ReverseOnly, operation: Operation, given: Sequence[Fact]
    ) -> Sequence[Fact]:
        """The patterns of the results of a function of which just the transpose is known: what
        depends on a cotangent there is what its result depends on here.
        """
        sizes = [prod(shape_of(x)) for x in operation.results]
        with mlir.InsertionPoint(operation), operation.location:
            name = op.transposed([True] * len(sizes))
        cotangents = [Fact(seed(place, sizes)) for place in range(len(sizes))]
        known, linear = given[: op.num_known], given[op.num_known :]
        back = self.function(name, [*known, *cotangents])
        ends = np.cumsum([0, *sizes])
        found = []
        for start, end in pairwise(ends.tolist()):
            parts = [
                Rows((ct.pattern.matrix[:, start:end].T @ x.pattern.matrix).tocsr())
                for ct, x in zip(back, linear, strict=True)
                if ct.pattern is not None and x.pattern is not None
            ]
            found.append(Fact(joined(parts)))
        return found

    # -- control flow --

    def _branches(
        self, operation: Operation, chooser: Fact, known: Mapping[Value, Fact]
    ) -> Sequence[Fact]:
        op: Any = read(operation)
        blocks = [region.blocks[0] for region in operation.regions]
        if chooser.value is not None:
            return self._block(blocks[op.place(chooser.value)], [], known)
        found = [self._block(block, [], known) for block in blocks]
        return [_either(facts) for facts in zip(*found, strict=True)]

    def _while(
        self, operation: Operation, start: Sequence[Fact], known: Mapping[Value, Fact]
    ) -> Sequence[Fact]:
        condition, body = (region.blocks[0] for region in operation.regions)
        carry = list(start)
        limit = self._steps + MOST_STEPS
        while self._steps < limit:
            (goes_on,) = self._block(condition, carry, known)
            if goes_on.value is None:
                break
            if not goes_on.value:
                return carry
            carry = self._block(body, carry, known)
        carry = list(start)
        while True:
            found = [
                _either(pair) for pair in zip(carry, self._block(body, carry, known), strict=True)
            ]
            if all(_same(x, y) for x, y in zip(carry, found, strict=True)):
                return carry
            carry = found

    def _scan(self, op: Scan, given: Sequence[Fact]) -> Sequence[Fact]:
        consts, carry, xs = op.parts(given)
        body = self._functions[op.body]
        row_types = [x.type for x in returned(body)][op.num_carry :]
        of_rows = [shape_of(x) for x in mlir.arguments(body)[op.num_consts + op.num_carry :]]
        rows: list[list[Fact]] = []
        size = sum(1 for _ in mlir.body(body).operations)
        if op.length * size <= MOST_STEPS:
            order = range(op.length)
            for step in reversed(order) if op.reverse else order:
                at = [_row(x, step, n) for x, n in zip(xs, of_rows, strict=True)]
                found = self.function(op.body, [*consts, *carry, *at])
                carry, ys = op.results(found)
                rows.append(list(ys))
            if op.reverse:
                rows.reverse()
        else:
            together = [_any_row(x, op.length) for x in xs]
            while True:
                found = self.function(op.body, [*consts, *carry, *together])
                results, ys = op.results(found)
                new = [_either(pair) for pair in zip(carry, results, strict=True)]
                if all(_same(x, y) for x, y in zip(carry, new, strict=True)):
                    break
                carry = new
            rows = [[Fact(y.pattern) for y in ys]] * op.length
        stacks = [
            _stack([row[i] for row in rows], mlir.shape_of_type(t)) for i, t in enumerate(row_types)
        ]
        return [*carry, *stacks]


def _last_uses(block: Block) -> list[list[Value]]:
    """For each operation of a block, the values that none after it uses."""
    found: list[list[Value]] = []
    later: set[Value] = set()
    for view in reversed(list(block.operations)):
        operation = view.operation
        used = {*operation.operands, *mlir.captured(operation)} - later
        found.append(list(used))
        later |= used
    return found[::-1]


def _partly_known(op: Op, operation: Operation, given: Sequence[Fact]) -> Sequence[Fact]:
    """The facts about results of an op of which some operands are not known."""
    nothing = [NOTHING] * len(operation.results)
    if all(mlir.dtype_of(x).kind in "fc" for x in operation.results):
        return _zeros(op, operation, given)
    if len(nothing) != 1:
        return nothing
    (result,), operands = operation.results, list(operation.operands)
    dtype, dtypes = mlir.dtype_of(result), [mlir.dtype_of(x) for x in operands]
    shapes = [shape_of(x) for x in operands]
    if all(x is NOTHING and d.kind != "b" for x, d in zip(given, dtypes, strict=True)):
        return nothing
    found = choices_of_result(op, [x.value for x in given], [x.bounds for x in given])
    if found is None:
        bounds = [
            bounds_of_value(x.value, shape, d)
            if x.bounds is None
            else Bounds(x.bounds.low, x.bounds.high)
            for x, shape, d in zip(given, shapes, dtypes, strict=True)
        ]
        found = bounds_of_result(op, bounds, shape_of(result), dtype)
    if found is None:
        return nothing
    is_known = (found.low == found.high).all()
    return [Fact(value=found.low.astype(dtype)) if is_known else Fact(bounds=found)]


def _use(operation: Operation, given: Sequence[Fact], result: int = 0) -> Use:
    operands, results = (
        [shape_of(x) for x in values] for values in (operation.operands, operation.results)
    )
    return Use(0, operands, [x.value for x in given], results, result)


def _zeros(op: Op, operation: Operation, given: Sequence[Fact]) -> Sequence[Fact]:
    """The zeros of results that are floats, of an op of which some operands are not known."""
    zeros = [zeros_of_value(x.value) if x.zeros is None else x.zeros for x in given]
    masked = [zeros_of_value(x.value, -np.inf) if x.masked is None else x.masked for x in given]
    found = []
    for number in range(len(operation.results)):
        use = _use(operation, given, number)
        places, made = masked_result(op, use, masked)
        there = [x for x in (zeros_of_result(op, use, zeros), made) if x is not None]
        found.append(Fact(zeros=reduce(np.logical_or, there) if there else None, masked=places))
    return found


def _values(op: Op, given: Sequence[Fact]) -> Iterator[list[np.ndarray | None]]:
    """The values of the operands: those that integers may have, one after the other, if they are
    few. In a product, one that is not known is 0 where it is zero, and 1 elsewhere.
    """
    values = [x.value for x in given]
    if op.links_by_zeros:
        values = [~x.zeros if x.zeros is not None else x.value for x in given]
    few = {i: x.bounds for i, x in enumerate(given) if x.bounds is not None}
    dim = op.index_dim
    if op.elementwise or not few or not _are_few(few.values(), dim):
        yield values
        return
    for chosen in product(*(x.choices(dim) for x in few.values())):
        for i, value in zip(few, chosen, strict=True):
            values[i] = value
        yield list(values)


def _are_few(choices: Collection[Bounds | Choices], dim: int | None) -> bool:
    """True if the values that integers may have can be tried one by one."""
    if len(choices) == 1 and all(isinstance(x, Choices) for x in choices):
        return all(x.num_choices(dim) <= MOST_PICKED for x in choices)
    return prod(x.num_choices(dim) for x in choices) <= MOST_CHOICES


def _has_rule(op: Op, operation: Operation) -> bool:
    """True if an op tells more about its links than that all elements depend on all."""
    operands, results = (
        [shape_of(x) for x in values] for values in (operation.operands, operation.results)
    )
    return op.elementwise or op.moves or op.sharding_rule(operands, results) is not None


def _either(facts: Sequence[Fact]) -> Fact:
    """Return the fact about a value that is one of several."""
    first, *others = facts
    is_same = all(
        x.value is not None and first.value is not None and np.array_equal(x.value, first.value)
        for x in others
    )
    return first if is_same else Fact(joined([x.pattern for x in facts]))


def _same(x: Fact, y: Fact) -> bool:
    for name in ("value", "pattern", "bounds", "zeros", "masked"):
        if (getattr(x, name) is None) != (getattr(y, name) is None):
            return False
    return x.pattern is None or y.pattern is None or x.pattern.nnz == y.pattern.nnz


def _row(x: Fact, step: int, row: Sequence[int]) -> Fact:
    """Return the fact about a row of an array."""
    if x.pattern is not None:
        return Fact(x.pattern.picked(slice(step * prod(row), (step + 1) * prod(row))))
    return Fact(value=None if x.value is None else x.value[step])


def _any_row(x: Fact, length: int) -> Fact:
    """Return the fact that holds for each row of an array."""
    if x.pattern is None:
        return NOTHING
    size = x.pattern.size // length
    places = np.arange(x.pattern.size)
    return Fact(followed(x.pattern, [Pairs(places % size, places, size)]))


def _stack(rows: Sequence[Fact], row: Sequence[int]) -> Fact:
    """Return the fact about an array of rows."""
    width = next((x.pattern.width for x in rows if x.pattern is not None), None)
    if width is None:
        values = [x.value for x in rows if x.value is not None]
        return Fact(value=np.stack(values)) if values and len(values) == len(rows) else NOTHING
    nothing = empty(prod(row), width)
    return Fact(stacked([nothing if x.pattern is None else x.pattern for x in rows], width))


@register_pass
@dataclass
class Sparsity(Pass):
    """Adds @f.sparsity, which returns the rows and the columns of the elements of @f's Jacobian
    that can be other than zero, for the arguments in `wrt`. Rows are the elements of all results,
    one result after the other; columns are those of the arguments.
    """

    name: ClassVar[str] = "sparsity"
    func: str = "main"
    wrt: tuple[int, ...] | None = None

    def run(self, module: Module) -> None:
        work = mlir.clone_module(module)
        pattern = pattern_of(work, self.func, self.wrt).tocoo()
        name, location = f"{self.func}.sparsity", mlir.functions(module)[self.func].location
        function = mlir.new_function(module, name, [], location, public=True)
        with mlir.InsertionPoint(mlir.body(function)), location:
            places = [np.asarray(x, np.int64) for x in (pattern.row, pattern.col)]
            values = [constant(x) for x in places]
        mlir.finish_function(function, values)
