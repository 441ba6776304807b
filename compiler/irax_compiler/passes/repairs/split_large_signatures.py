"""The pass split-large-signatures, which divides functions of very many arrays into parts and
compiles equal parts once.

IREE's compile time grows with the cube of the number of arrays that a function's kernels read from
and return to the caller, and its virtual machine has no registers for 16384 of them. So a function
of many arguments and results takes a list and returns one. Its parts are functions that take the
same lists, and each uses only the arrays that it needs.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import InsertionPoint, Module, Operation, Value, dtype_of, shape_of
from irax_compiler.ops.registers import emit, index, signless_dtype
from irax_compiler.ops.registry import is_generated
from irax_compiler.passes.copies import copy
from irax_compiler.passes.core import Pass, register_pass, returned, walk
from irax_compiler.passes.host.aliases import next_sources, sources
from irax_compiler.passes.host.annotate import add_reflection, numbers, reflection
from irax_compiler.passes.host.donated import donated, written
from irax_compiler.passes.kernels.loops.memory import seen_as
from irax_compiler.passes.on_demand import MANY_ARRAYS
from irax_compiler.passes.optimize.outline_components import is_copied
from irax_compiler.passes.rewriting import without_reshapes

_LIST = mlir.parse_type("!util.list<?>")
_TABLE = mlir.parse_type("!util.buffer")
_VIEW = mlir.parse_type("!hal.buffer_view")
_INDEX = mlir.parse_type("index")
_LISTS = "irax.lists"
_IMPORTED = mlir.segment_sizes(1, 0, 0, 0)


@register_pass
@dataclass
class SplitLargeSignatures(Pass):
    """Splits public functions with more than `most` arguments and results into parts, which they
    call in order. They take a list of arguments and a list to fill with results, as the reflection
    attribute `irax.lists` says: it has the numbers of the arguments that are read. A part of more
    than one operation has up to `bound` of the arguments and results; equal parts are one function.

    Takes time in proportion to the number of operations. Comes last, because other passes do not
    support such functions.
    """

    name: ClassVar[str] = "split-large-signatures"
    most: int = MANY_ARRAYS
    bound: int = 96

    def run(self, module: Module) -> None:
        for name, function in mlir.functions(module).items():
            if mlir.is_public(function):
                arrays = len(mlir.arguments(function)) + len(mlir.result_types(function))
                if arrays > self.most:
                    _in_parts(module, name, function, self.bound)


def arguments_read(module: Module, name: str) -> list[int]:
    """Return the numbers of the arguments that a function of a lowered module reads."""
    function = mlir.functions(module)[name]
    if _LISTS in reflection(function):
        return numbers(function, _LISTS)
    return [i for i, x in enumerate(mlir.arguments(function)) if mlir.num_uses(x)]


def _in_parts(module: Module, name: str, function: Operation, bound: int) -> None:
    """Replace a function by one that calls its parts."""
    flow = _Flow.of(function)
    builder = _Builder(module, name, flow)
    calls = [builder.call(part) for part in flow.parts(bound)]
    caller = mlir.new_function(module, name, [_LIST], function.location, public=True)
    caller.attributes["iree.reflection"] = function.attributes["iree.reflection"]
    read = [i for x, i in flow.number.items() if mlir.num_uses(x)]
    add_reflection(caller, {_LISTS: ",".join(map(str, read))})
    with InsertionPoint(mlir.body(caller)), function.location:
        (arguments,) = mlir.arguments(caller)
        count = index(len(flow.returned))
        results = emit("util.list.create", count, to=_LIST)
        mlir.emit("util.list.resize", [results, count], {}, [])
        made: dict[Value, Value] = {}
        for call in calls:
            call.build(arguments, results, made)
        for i, x in enumerate(flow.returned):
            if x in flow.number:
                view = emit("util.list.get", arguments, index(flow.number[x]), to=_VIEW)
                mlir.emit("util.list.set", [results, index(i), view], {}, [])
    mlir.finish_function(caller, [results])
    function.erase()
    functions = mlir.functions(module)
    for part in dict.fromkeys(call.function for call in calls):
        for inner in mlir.calls(functions[part]):
            called = functions[mlir.callee(inner)]
            for key in mlir.NOT_INLINED.keys() & set(called.attributes):
                del called.attributes[key]  # IREE inlines what one part calls


# ---- which operations ----------------------------------------------------------------------------


@dataclass
class _Flow:
    """The uses of values in a function."""

    operations: list[Operation]
    """All operations except those that each part repeats."""
    used: list[list[Value]]
    """The values that each operation uses, also in regions."""
    calls: set[int]
    """The calls of functions that the pass outline-components made."""
    number: dict[Value, int]
    """The argument number of a value."""
    returned: list[Value]
    places: dict[Value, list[int]]
    """The result numbers of a value."""
    last: dict[Value, int]
    """The last operation that uses a value."""
    overwritten: dict[Value, list[tuple[int, int]]]
    """The arguments that may be written to, each with the operations that make and that last use
    the values in its memory."""
    outer: set[Value]
    """The values in whose memory arguments, results or constants may be: IREE gives them types of
    their own."""

    @classmethod
    def of(cls, function: Operation) -> _Flow:
        results = returned(function)
        places: dict[Value, list[int]] = {}
        for i, x in enumerate(results):
            places.setdefault(x, []).append(i)
        operations = [
            o for o in walk(mlir.body(function)) if not is_copied(o) or o.results[0] in places
        ]
        used = [[*o.operands, *(mlir.captured(o) if o.regions else ())] for o in operations]
        calls = {i for i, o in enumerate(operations) if _is_call(o)}
        last = {x: i for i, values in enumerate(used) for x in values}
        number = {x: i for i, x in enumerate(mlir.arguments(function))}
        overwritten = _overwritten(function, operations, last)
        outer = _outer(operations, number.keys() | places.keys())
        return cls(operations, used, calls, number, results, places, last, overwritten, outer)

    def may_write(self, part: range, x: Value) -> bool:
        """True if a part may write to an argument: nothing reads its memory later, and the part
        knows of all other values there.
        """
        return (
            x in self.overwritten
            and self.last[x] in part
            and not any(i < part.start <= last for i, last in self.overwritten[x])
        )

    def parts(self, bound: int) -> list[range]:
        """Divide the operations into parts with up to `bound` of the caller's arrays each. Parts
        end where the fewest values are live. A call is a part of its own.
        """
        crossing = self._crossing()
        found: list[range] = []
        start, n = 0, len(self.operations)
        while start < n:
            end = self._end(start, bound, crossing)
            found.append(range(start, end))
            start = end
        return found

    def _end(self, start: int, bound: int, crossing: Sequence[float]) -> int:
        """Return the end of a part that begins at an operation."""
        arrays: set[tuple[str, int]] = set()
        best: int | None = None
        for i in range(start, len(self.operations)):
            if i > start and not self.calls.isdisjoint((start, i)):
                return i
            if i > start and len(arrays) > bound // 2 and crossing[i] < float("inf"):
                best = i if best is None or crossing[i] <= crossing[best] else best
            arrays.update(("argument", self.number[x]) for x in self.used[i] if x in self.number)
            given = self.operations[i].results
            arrays.update(("result", p) for x in given for p in self.places.get(x, ()))
            if len(arrays) > bound and best is not None:
                return best
        return len(self.operations)

    def _crossing(self) -> list[float]:
        """Return for each operation the number of values live before it; infinity where one is not
        an array.
        """
        changes, blocked = ([0] * (len(self.operations) + 2) for _ in range(2))
        for i, operation in enumerate(self.operations):
            for x in operation.results:
                counts = changes if mlir.type_problem(x.type) is None else blocked
                counts[i + 1] += 1
                counts[self.last.get(x, i) + 1] -= 1
        found, crossing, blocking = [], 0, 0
        for change, block in zip(changes, blocked, strict=True):
            crossing, blocking = crossing + change, blocking + block
            found.append(float("inf") if blocking else crossing)
        return found


def _overwritten(
    function: Operation, operations: Sequence[Operation], last: Mapping[Value, int]
) -> dict[Value, list[tuple[int, int]]]:
    arguments = mlir.arguments(function)
    kept = {x for result in returned(function) for x in sources(result, updated=False)}
    found: dict[Value, list[tuple[int, int]]] = {
        x: [] for i in donated(function) if (x := arguments[i]) not in kept
    }
    for i, operation in enumerate(operations if found else ()):
        for result in operation.results:
            for x in found.keys() & sources(result, updated=False):
                found[x].append((i, last.get(result, i)))
    return found


def _outer(operations: Sequence[Operation], known: Set[Value]) -> set[Value]:
    """Return the values that share memory with those known, or with constants."""
    roots: dict[Value, Value] = {}

    def root(x: Value) -> Value:
        while (above := roots.setdefault(x, x)) != x:
            roots[x] = x = roots[above]
        return x

    marked = {x for x in known if mlir.definition(x) is not None}
    for operation in operations:
        for x in operation.results:
            if is_generated(operation):
                marked.add(x)
            for source in next_sources(x):
                maker = mlir.definition(source)
                if maker is None or is_generated(maker):
                    marked.add(x)
                else:
                    roots[root(source)] = root(x)
    outer = {root(x) for x in marked}
    return {x for operation in operations for x in operation.results if root(x) in outer}


def _is_call(operation: Operation) -> bool:
    """True for a call of a function of the module's."""
    if operation.name != "func.call":
        return False
    return len(mlir.function_beside(operation, mlir.callee(operation)).regions[0].blocks) > 0


# ---- the parts -----------------------------------------------------------------------------------


@dataclass
class _Call:
    """A part, and the arguments of its call."""

    function: str
    table: list[int]
    """The numbers of the arguments, then of the results, that the part uses."""
    taken: list[Value]
    given: list[Value]
    """Values from other parts, and for others."""

    def build(self, arguments: Value, results: Value, made: dict[Value, Value]) -> None:
        """Build the call; `made` has the results of other calls."""
        taken = (made[x] for x in self.taken)
        operands = [arguments, results, _table(self.table), *taken]
        callee = {"callee": mlir.symbol(self.function)}
        call = mlir.emit("func.call", operands, callee, [x.type for x in self.given])
        made.update(zip(self.given, call.results, strict=True))


@dataclass
class _Builder:
    """Builds the functions of a function's parts."""

    module: Module
    name: str
    flow: _Flow
    _names: dict[Hashable, str] = field(default_factory=dict)
    """The names of functions, by their text without the name and where their arguments are from."""
    _makers: dict[Value, tuple[str, int]] = field(default_factory=dict)
    """The function that returns a value to others, and the result's number."""

    def call(self, part: range) -> _Call:
        """Return a part as a function: a new one, or an equal one that exists."""
        flow = self.flow
        operations = [flow.operations[i] for i in part]
        made: dict[Value, None] = dict.fromkeys(x for o in operations for x in o.results)
        used = dict.fromkeys(x for i in part for x in flow.used[i] if x not in made)
        arguments = [x for x in used if x in flow.number]
        results = [(p, x) for o in operations for x in o.results for p in flow.places.get(x, ())]
        taken = [x for x in used if x not in flow.number and self._own(x) is None]
        given = [x for x in made if flow.last.get(x, 0) >= part.stop]
        types = [_LIST, _LIST, _TABLE, *(x.type for x in taken)]
        name = mlir.unique_name(self.module, f"{self.name}.part")
        location = operations[0].location
        function = mlir.new_function(self.module, name, types, location)
        with InsertionPoint(mlir.body(function)), location:
            listed, filled, table, *rest = mlir.arguments(function)
            places = _entries(table, len(arguments) + len(results))
            env = dict(zip(taken, rest, strict=True))
            over = {without_reshapes(x) for o in operations for x in written(o)}
            for x in arguments:
                may_write = flow.may_write(part, x)
                array = _imported(listed, next(places), x, may_write)
                env[x] = copy(array, 0) if x in over and not may_write else array
            for operation in filter(None, map(self._own, used)):
                mlir.copy(operation, env)
            for operation in operations:
                mlir.copy(operation, env)
            for _, x in results:
                # IREE gives an array that it returns another type than one for other parts.
                is_taken = not sources(x, updated=False).isdisjoint(env.keys() & {*taken})
                _export(copy(env[x], 0) if is_taken else env[x], filled, next(places))
        mlir.finish_function(function, [env[x] for x in given])
        table = [*(flow.number[x] for x in arguments), *(p for p, _ in results)]
        origins = tuple(self._makers[x] if x in flow.outer else None for x in taken)
        name = self._one_of_equal(name, function, origins)
        self._makers.update((x, (name, i)) for i, x in enumerate(given))
        return _Call(name, table, taken, given)

    def _own(self, x: Value) -> Operation | None:
        """Return the operation that computes a value in each part that uses it."""
        source = mlir.definition(x)
        is_own = source is not None and is_copied(source) and x not in self.flow.places
        return source if is_own else None

    def _one_of_equal(self, name: str, function: Operation, origins: Hashable) -> str:
        """Return the name of a function equal but for its name whose arguments have the same
        origins, and erase this one.
        """
        for key, value in mlir.NOT_INLINED.items():
            function.attributes[key] = value
        text = mlir.comparable(function).replace(f"@{name}", "@", 1)
        there = self._names.setdefault((text, origins), name)
        if there != name:
            function.erase()
        return there


def _table(numbers: Sequence[int]) -> Value:
    """Build a constant buffer of numbers."""
    values = mlir.dense(np.asarray(numbers, np.int32))
    return emit("util.buffer.constant", to=_TABLE, value=values)


def _entries(table: Value, count: int) -> Iterator[Value]:
    """Yield the numbers in a buffer, each of which is read when it is asked for."""
    i32 = mlir.element_type(np.dtype(np.int32))
    size = index(4 * count)
    for i in range(count):
        number = emit("util.buffer.load", table, size, index(4 * i), index(4), to=i32)
        yield emit("arith.index_cast", number, to=_INDEX)


def _imported(arguments: Value, place: Value, x: Value, may_write: bool) -> Value:
    """Read an argument from the list, whose numbers are signless."""
    view = emit("util.list.get", arguments, place, to=_VIEW)
    type_ = mlir.tensor_type(shape_of(x), signless_dtype(dtype_of(x)))
    encoding = mlir.type_attribute(type_)
    consumed = {"consume": mlir.parse_attribute("unit")} if may_write else {}
    array = emit(
        "hal.tensor.import", view, to=type_, target_encoding=encoding, **_IMPORTED, **consumed
    )
    return seen_as(array, dtype_of(x))


def _export(x: Value, results: Value, place: Value) -> None:
    """Write a result into the list."""
    array = seen_as(x, signless_dtype(dtype_of(x)))
    encoding = mlir.type_attribute(array.type)
    view = emit("hal.tensor.export", array, to=_VIEW, source_encoding=encoding)
    mlir.emit("util.list.set", [results, place, view], {}, [])
