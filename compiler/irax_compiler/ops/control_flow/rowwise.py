"""Recognition of loops that read and write arrays row by row, by slices at the loop's counter.

Other frameworks export scans in this form. In reverse mode each such slice would copy the whole
array, so the arrays become inputs (xs) and stacked outputs (ys) of a scan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from irax_compiler import effects, mlir
from irax_compiler.mlir import Block, Operation, Value, dtype_of, shape_of
from irax_compiler.ops import comparison, shape
from irax_compiler.ops.computation import is_elementwise
from irax_compiler.ops.control_flow.rows import read_rows, row_type, write_rows
from irax_compiler.ops.core import no_calls
from irax_compiler.ops.indexing import dynamic_slices
from irax_compiler.ops.registry import read
from irax_compiler.ops.structured import Call, whole
from irax_compiler.ops.transformation import Transformation
from irax_compiler.sizes import at_least, is_symbolic

SLICE, UPDATE = dynamic_slices.DynamicSlice.name, dynamic_slices.DynamicUpdateSlice.name


class Loop(Protocol):
    """A scan, as far as rows ask for it: an op, and a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def body(self) -> str: ...
    @property
    def length(self) -> Any: ...
    @property
    def reverse(self) -> bool: ...
    @property
    def num_consts(self) -> int: ...
    @property
    def num_carry(self) -> int: ...
    def parts(self, operands: Sequence[Any]) -> Any: ...
    def build(self, operands: Sequence[Value]) -> Sequence[Value]: ...


def by_rows(loop: Loop, operands: Sequence[Value], transform: Transformation) -> Call | None:
    """Return a call of a scan in which the arrays that it reads or writes at its counter are rows;
    None if there are none.
    """
    starts = _starts(loop, operands)
    if not starts or loop.length == 0:
        return None
    with whole(transform.functions, loop.body) as body:
        rows = _Rows(loop, mlir.body(body), starts)
        return rows.rebuilt(operands, transform) if rows.find() else None


def _starts(loop: Loop, operands: Sequence[Value]) -> dict[int, int]:
    """The carried integers that start with a known number: argument number and start."""
    _, carry, _ = loop.parts(operands)
    found = {}
    for i, x in enumerate(carry, loop.num_consts):
        if shape_of(x) == () and dtype_of(x).kind in "iu" and not mlir.is_argument(x):
            start = mlir.splat(x)
            if start is not None:
                found[i] = int(start)
    return found


@dataclass(frozen=True)
class _Place:
    """The rows that the steps of a loop are at: `first`, `first + 1`, ... or the same backwards."""

    first: int
    backwards: bool


@dataclass
class _Rows:
    """The reads and writes by row in the body of a loop that calls no functions."""

    loop: Loop
    block: Block
    starts: dict[int, int]
    reads: dict[Operation, tuple[int, int]] = field(default_factory=dict)
    """Slices: the number of the argument that each is of, and the first row."""
    writes: dict[int, tuple[Operation, int]] = field(default_factory=dict)
    """For carried arrays, by the argument's number, the update of a row, and the first row."""

    def __post_init__(self) -> None:
        self.results = list(mlir.terminator(self.block).operands)
        self.steps = _Steps(self.block, self.loop.length)
        for i, start in self.starts.items():
            self.steps.count(self.block.arguments[i], self.results[i - self.loop.num_consts], start)

    @property
    def num_fixed(self) -> int:
        """The number of arguments that are no rows."""
        return self.loop.num_consts + self.loop.num_carry

    def find(self) -> bool:
        """Finds reads and writes; tells whether there are any."""
        self._choose_known()
        has_rows = self.num_fixed < len(self.block.arguments)
        has_rows |= len(self.results) > self.loop.num_carry
        directions = (self.loop.reverse,) if has_rows else (False, True)
        for backwards in directions:
            self.loop = replace(self.loop, reverse=backwards)
            for number in range(self.num_fixed):
                self._find_of(number)
            if self.reads or self.writes:
                return True
        return False

    def _choose_known(self) -> None:
        """Remove selects with the same outcome in every step, such as those that test if an index
        is in bounds.
        """
        for view in list(self.block.operations):
            operation = view.operation
            if operation.name != comparison.select.name:
                continue
            holds = self.steps.values(operation.operands[0])
            if holds is not None and (holds.all() or not holds.any()):
                chosen = operation.operands[1 if holds.all() else 2]
                operation.results[0].replace_all_uses_with(chosen)
        effects.remove_dead_operations(self.block)
        self.results = list(mlir.terminator(self.block).operands)

    def is_constant(self, number: int) -> bool:
        """True if an argument is loop-invariant."""
        place = number - self.loop.num_consts
        return place < 0 or self.results[place] == self.block.arguments[number]

    def _find_of(self, number: int) -> None:
        x = self.block.arguments[number]
        uses = mlir.users(x)
        reads = {use: place for use in uses if (place := self._read(use, x)) is not None}
        if self.is_constant(number):
            self.reads.update({use: (number, place.first) for use, place in reads.items()})
            return
        result = self.results[number - self.loop.num_consts]
        update = mlir.definition(result)
        place = None if update is None else self._write(update, x)
        if update is None or place is None or mlir.num_uses(result) != 1:
            return
        # A row that is read where it is written is still what it was before the loop.
        if all(use == update or reads.get(use) == place for use in uses):
            self.writes[number] = (update, place.first)
            self.reads.update(dict.fromkeys(reads, (number, place.first)))

    def _read(self, operation: Operation, x: Value) -> _Place | None:
        if operation.name != SLICE or operation.operands[0] != x or operation.block != self.block:
            return None
        sizes = shape_of(operation.results[0])
        return self._place(x, sizes, operation.operands[1:])

    def _write(self, operation: Operation, x: Value) -> _Place | None:
        if operation.name != UPDATE or operation.operands[0] != x:
            return None
        return self._place(x, shape_of(operation.operands[1]), operation.operands[2:])

    def _place(self, x: Value, sizes: tuple[int, ...], starts: Sequence[Value]) -> _Place | None:
        """The place of a slice of whole rows, one in each step, in the loop's direction."""
        if not sizes or sizes != (1, *shape_of(x)[1:]):
            return None
        if is_symbolic(self.loop.length):
            first = self.steps.first.get(starts[0], -1)
            fits = first >= 0 and at_least(shape_of(x)[0], first + self.loop.length)
            return _Place(first, False) if fits and not self.loop.reverse else None
        places = self.steps.values(starts[0])
        if places is None:
            return None
        first = int(places.min())
        if first < 0 or first + self.loop.length > shape_of(x)[0]:
            return None
        in_order = places[::-1] if self.loop.reverse else places
        if not np.array_equal(in_order, first + np.arange(self.loop.length)):
            return None
        return _Place(first, self.loop.reverse)

    # -- the loop, rebuilt --

    def rebuilt(self, operands: Sequence[Value], transform: Transformation) -> Call:
        """A call of a function that takes the loop's operands and gives its results."""
        arguments: list[Value] = list(self.block.arguments)
        fixed = range(self.num_fixed)
        kept = [i for i in fixed if i not in self.writes]
        constants = [i for i in kept if self.is_constant(i) and self._is_needed(i)]
        carried = [i for i in kept if not self.is_constant(i)]
        sources = list(dict.fromkeys(self.reads.values()))
        row_types = [row_type(arguments[i].type) for i, _ in sources]
        own = [*constants, *carried, *range(self.num_fixed, len(arguments))]
        types = [*(arguments[i].type for i in own), *row_types]
        place = {number: i - self.loop.num_consts for i, number in enumerate(fixed)}

        def body(*given: Value) -> Sequence[Value]:
            env = dict(zip((arguments[i] for i in own), given, strict=False))
            rows = dict(zip(sources, given[len(own) :], strict=True))
            written = {update for update, _ in self.writes.values()}
            *operations, _ = (view.operation for view in self.block.operations)
            for operation in operations:
                if operation in written:
                    continue
                if operation in self.reads:
                    wanted = shape_of(operation.results[0])
                    env[operation.results[0]] = shape.reshape(rows[self.reads[operation]], wanted)
                    continue
                env.update(zip(operation.results, mlir.clone(operation, env), strict=True))
            updates = [env[update.operands[1]] for update, _ in self.writes.values()]
            return [
                *(env[self.results[place[i]]] for i in carried),
                *(env[y] for y in self.results[self.loop.num_carry :]),
                *(shape.reshape(row, shape_of(row)[1:]) for row in updates),
            ]

        name = transform.build_function(f"{self.loop.body}.by_rows", types, body)
        by_rows = replace(self.loop, body=name, num_consts=len(constants), num_carry=len(carried))

        def whole(*given: Value) -> Sequence[Value]:
            xs = [read_rows(given[i], first, self.loop.length) for i, first in sources]
            found = by_rows.build([*(given[i] for i in own), *xs])
            results = dict(zip(carried, found, strict=False))
            ys = found[len(carried) :]
            count = len(ys) - len(self.writes)
            for (number, (_, first)), rows in zip(self.writes.items(), ys[count:], strict=True):
                results[number] = write_rows(given[number], rows, first)
            carry = range(self.loop.num_consts, self.num_fixed)
            return [*(results.get(i, given[i]) for i in carry), *ys[:count]]

        given_types = [x.type for x in operands]
        function = transform.build_function(f"{self.loop.body}.loop", given_types, whole)
        return Call(function, tuple(mlir.result_types(transform.functions[function])))

    def _is_needed(self, number: int) -> bool:
        """True if a constant is used other than by row, or than being carried on unchanged."""
        x, last = self.block.arguments[number], mlir.terminator(self.block)
        own = number - self.loop.num_consts
        return any(
            use.operand_number != own
            if use.owner.operation == last
            else use.owner.operation not in self.reads
            for use in x.uses
        )


class _Steps:
    """Scalars whose values follow from how far a loop has come."""

    def __init__(self, block: Block, length: int) -> None:
        self.block, self.length = block, length
        self.first: dict[Value, int] = {}
        """The arguments that count in ones, and where they start."""
        self._known: dict[Value, np.ndarray | None] = {}

    def count(self, argument: Value, following: Value, start: int) -> None:
        """Notes how an argument counts, if it starts there and a constant is added to it."""
        addition = mlir.definition(following)
        if addition is None or addition.name != "stablehlo.add":
            return
        added = [x for x in addition.operands if x != argument]
        by = mlir.splat(added[0]) if len(added) == 1 and not mlir.is_argument(added[0]) else None
        if by == 1:
            self.first[argument] = start
        if by is not None and not is_symbolic(self.length):
            steps = start + int(by) * np.arange(self.length)
            self._known[argument] = steps.astype(dtype_of(argument))

    def values(self, x: Value) -> np.ndarray | None:
        """The values that a scalar has in each step, or None where they are not known."""
        if x not in self._known:
            self._known[x] = None if is_symbolic(self.length) else self._found(x)
        return self._known[x]

    def _found(self, x: Value) -> np.ndarray | None:
        operation = mlir.definition(x)
        if operation is None or shape_of(x) != () or operation.block != self.block:
            return None
        constant = mlir.splat(x)
        if constant is not None:
            return np.full(self.length, constant)
        if not is_elementwise(operation):
            return None
        operands = [self.values(v) for v in operation.operands]
        known = [v for v in operands if v is not None]
        if len(known) < len(operands):
            return None
        with np.errstate(all="ignore"):
            return np.asarray(read(operation).evaluate(no_calls, *known))
