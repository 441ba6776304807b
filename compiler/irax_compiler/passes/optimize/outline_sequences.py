"""The pass outline-sequences, which makes sequences of operations that a program repeats functions
of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

from irax_compiler import mlir
from irax_compiler.mlir import Block, InsertionPoint, Module, Operation, Value, dtype_of, shape_of
from irax_compiler.ops.core import full
from irax_compiler.ops.formulas import FormulaCall, definition, is_formula
from irax_compiler.ops.registers import is_known
from irax_compiler.ops.registry import traits_of
from irax_compiler.passes.core import Pass, nested, register_pass, walk
from irax_compiler.passes.kernels.loops.fusion import is_large
from irax_compiler.passes.kernels.loops.memory import is_plain

_NEAR = 256
"""The distance from which on a value is used for long, and the longest sequence."""
_MOST = 16
"""The most operands and results of a function."""


@register_pass
@dataclass
class OutlineSequences(Pass):
    """Replaces sequences of at least `shortest` elementwise operations, which a module has at least
    `many` times, by calls of scalar functions: each is then legalized and compiled once. Sequences
    on arrays that registers do not hold are replaced if there are so many without another operation
    between them. Takes time in proportion to the number of operations.
    """

    name: ClassVar[str] = "outline-sequences"
    many: int = 16
    shortest: int = 8

    def run(self, module: Module) -> None:
        formulas = {definition(o) for o in nested(module.operation) if is_formula(o)}
        for function in mlir.functions(module).values():
            if function not in formulas:
                for block in function.regions[0]:
                    self._of_block(module, block)

    def _of_block(self, module: Module, block: Block) -> None:
        for operation in walk(block):
            if traits_of(operation).captures:
                for region in operation.regions:
                    self._of_block(module, region.blocks[0])
        line = list(_line(block))
        if len(line) < self.many * self.shortest:
            return
        runs = list(accumulate(o is None for o in line))
        for starts, length in self._found(_numbered(line)):
            # Calls on arrays are kept where they can share a kernel.
            counts = Counter(runs[start] for start in starts)
            alike: dict[tuple[tuple[int, ...], tuple[int, ...]], list[_Sequence]] = {}
            for start in starts:
                part = _Sequence([o for o in line[start : start + length] if o is not None])
                if is_large(part.operations[0].results[0]) and counts[runs[start]] < self.many:
                    continue
                alike.setdefault(part.key(), []).append(part)
            for (used, given), group in alike.items():
                taken = {number for number in used if number < 0}
                if len(group) >= self.many and max(len(taken), len(given)) <= _MOST:
                    function = group[0].function(module, given)
                    for part in group:
                        part.replace(function, given)

    def _found(self, numbers: Sequence[int]) -> Iterator[tuple[list[int], int]]:
        """Yield where equal sequences of numbers start, and their length: first those that begin
        first, each as long as nearly all that begin like it are equal.
        """
        beginnings: dict[tuple[int, ...], list[int]] = {}
        for i in range(len(numbers) - self.shortest + 1):
            beginnings.setdefault(tuple(numbers[i : i + self.shortest]), []).append(i)
        # What repeats one or a few operations, such as a sum of many arrays, is compiled soon.
        common = [
            places
            for beginning, places in beginnings.items()
            if len(places) >= self.many and len(set(beginning)) > self.shortest // 2
        ]
        is_free = [True] * len(numbers)
        for places in sorted(common):
            starts = _apart(places, self.shortest, is_free)
            if len(starts) < self.many:
                continue
            starts, length = _extended(numbers, starts, self.shortest, is_free)
            for start in starts:
                is_free[start : start + length] = [False] * length
            yield starts, length


def _apart(places: Sequence[int], length: int, is_free: Sequence[bool]) -> list[int]:
    """Return those of sorted places where sequences of a length are free and do not overlap."""
    found: list[int] = []
    for place in places:
        if (not found or place >= found[-1] + length) and all(is_free[place : place + length]):
            found.append(place)
    return found


def _extended(
    numbers: Sequence[int], starts: list[int], length: int, is_free: Sequence[bool]
) -> tuple[list[int], int]:
    """Return the starts and the length of the longest sequences that nine in ten of some sequences
    are part of.
    """
    while length < _NEAR:
        ends = {start: start + length for start in starts}
        inside = [s for s, end in ends.items() if end < len(numbers) and is_free[end]]
        counts = Counter(numbers[ends[s]] for s in inside)
        number, count = max(counts.items(), key=lambda item: item[1], default=(0, 0))
        longer = _apart([s for s in inside if numbers[ends[s]] == number], length + 1, is_free)
        if count < 0.9 * len(starts) or len(longer) < 0.9 * len(starts):
            break
        starts, length = longer, length + 1
    return starts, length


# ---- a block as a line of operations -------------------------------------------------------------


def _line(block: Block) -> Iterator[Operation | None]:
    """Yield the operations of a block that functions can have, and None for others and where the
    shape changes. Constants are left out.
    """
    last = None
    for operation in walk(block):
        if traits_of(operation).is_constant:
            continue
        shape = shape_of(operation.results[0]) if _is_taken(operation) else None
        if shape is None or shape != last:
            yield None
        if shape is not None:
            yield operation
        last = shape


def _is_taken(operation: Operation) -> bool:
    """True for an elementwise operation on constants and on values of one shape."""
    if not operation.results or operation.regions:
        return False
    if not (is_formula(operation) or traits_of(operation).elementwise or is_known(operation)):
        return False
    operands = [x for x in operation.operands if mlir.splat(x) is None]
    values = [*operands, *operation.results]
    shapes = {shape_of(x) for x in values}
    if not operands or len(shapes) != 1 or not all(map(is_plain, values)):
        return False
    is_counter = shapes == {()} and all(dtype_of(x).kind in "iub" for x in values)
    return not is_counter


def _numbered(line: Sequence[Operation | None]) -> list[int]:
    """Return a number for each operation. Those with one number are equal, and so are, except for
    values that are used for long, their distances from the operations that compute their operands.
    """
    numbers: dict[Hashable, int] = {}
    places: dict[Value, tuple[int, int]] = {}
    last = {x: i for i, o in enumerate(line) if o is not None for x in o.operands}
    found: list[int] = []
    for i, operation in enumerate(line):
        described: Hashable = i
        if operation is not None:
            operands = tuple(_described(x, i, places) for x in operation.operands)
            described = (_meaning(operation), operands)
            for number, x in enumerate(operation.results):
                if last.get(x, i) - i < _NEAR:
                    places[x] = (i, number)
        found.append(numbers.setdefault(described, len(numbers)))
    return found


def _described(x: Value, i: int, places: dict[Value, tuple[int, int]]) -> Hashable:
    constant = mlir.splat(x)
    if constant is not None:
        return constant.dtype.name, constant.tobytes()
    if x not in places:
        return dtype_of(x).name
    place, number = places[x]
    return i - place, number


def _meaning(operation: Operation) -> Hashable:
    attributes = mlir.attributes_of(operation)
    dtypes = tuple(dtype_of(x).name for x in operation.results)
    return operation.name, dtypes, tuple((name, str(x)) for name, x in attributes.items())


# ---- a sequence as a function --------------------------------------------------------------------


@dataclass(frozen=True)
class _Sequence:
    operations: list[Operation]

    def _taken(self) -> list[Value]:
        """Return the values from outside that are not constants, as often as they are used."""
        made = {x for o in self.operations for x in o.results}
        return [
            x
            for o in self.operations
            for x in o.operands
            if x not in made and mlir.splat(x) is None
        ]

    def _made(self) -> list[Value]:
        return [x for o in self.operations for x in o.results]

    def key(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return a number for each use of a value that is not a constant, below 0 for values from
        outside; and the results that others use.
        """
        numbers = {x: i for i, x in enumerate(self._made())}
        numbers |= {x: ~i for i, x in enumerate(dict.fromkeys(self._taken()))}
        inside = Counter(x for o in self.operations for x in o.operands)
        given = [
            i for i, x in enumerate(self._made()) if mlir.num_uses(x, inside[x] + 1) > inside[x]
        ]
        used = (numbers.get(x) for o in self.operations for x in o.operands)
        return tuple(number for number in used if number is not None), tuple(given)

    def function(self, module: Module, given: Sequence[int]) -> FormulaCall:
        """Build a function of scalars, and return its call."""
        taken = list(dict.fromkeys(self._taken()))
        name = mlir.unique_name(module, "repeated")
        types = [mlir.tensor_type((), dtype_of(x)) for x in taken]
        function = mlir.new_function(module, name, types, self.operations[0].location)
        env = dict(zip(taken, mlir.arguments(function), strict=True))
        with InsertionPoint(mlir.body(function)):
            for operation in self.operations:
                with operation.location:
                    _copy_of_scalars(operation, env)
        made = [self._made()[i] for i in given]
        mlir.finish_function(function, [env[x] for x in made])
        return FormulaCall(name, tuple(map(dtype_of, made)))

    def replace(self, call: FormulaCall, given: Sequence[int]) -> None:
        """Put a call in the place of the operations."""
        made, last = self._made(), self.operations[-1]
        with InsertionPoint(last), last.location:
            results = call.build(list(dict.fromkeys(self._taken())))
        for i, new in zip(given, results, strict=True):
            made[i].replace_all_uses_with(new)
        for operation in reversed(self.operations):
            operation.erase()


def _copy_of_scalars(operation: Operation, env: dict[Value, Value]) -> None:
    for x in operation.operands:
        constant = mlir.splat(x)
        if constant is not None:
            env[x] = full((), constant, constant.dtype)
    attributes = {name: operation.attributes[name] for name in operation.attributes}
    types = [mlir.tensor_type((), dtype_of(x)) for x in operation.results]
    operands = [env[x] for x in operation.operands]
    results = mlir.emit(operation.name, operands, attributes, types).results
    env.update(zip(operation.results, results, strict=True))
