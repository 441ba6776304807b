"""Modules, as they come out of passes, into the model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from irax_compiler import locations as places
from irax_compiler import mlir
from irax_compiler.cost import Cost, calls_by_function, cost_by_operation
from irax_compiler.mlir import Module, Operation
from irax_tools.show.files import frames_of_user, name_apart, read_file, show_around
from irax_tools.show.lines import Line, lines_of, number, operations_of
from irax_tools.show.model import Body, Digits, File, Frame, Page, Run, Stage
from irax_tools.show.way import Way, walk
from irax_tools.sources import Source

_COUNTED = ("stablehlo", "chlo", "func", "builtin")
_OF_IREE = ("vm.import",)
"""Operations that IREE reads from texts of its own."""


def record(
    source: Source, way: Way, additions: Iterable[Callable[[Recorder], None]] = ()
) -> tuple[Page, Exception | None]:
    """The page of a function, and what ended its way early. `additions` are made at the end, unless
    something did.
    """
    recorder = Recorder(way, source)
    failure = None
    try:
        walk(source, way, recorder.add)
    except Exception as error:
        failure = error
    for add in additions if failure is None else ():
        add(recorder)
    page = recorder.page()
    page.opens = _derived(page.stages)
    page.error = "" if failure is None else str(failure) or type(failure).__name__
    return page, failure


def _derived(stages: Sequence[Stage]) -> int:
    """The last stage that changed what is derived; the first one where nothing is."""
    pairs = enumerate(pairwise(stages), start=1)
    changed = (i for i, (a, b) in pairs if b.group == "derive" and a.bodies != b.bodies)
    return max(changed, default=0)


class Recorder:
    """Makes a page of modules, which it is given one after the other."""

    def __init__(self, way: Way, source: Source) -> None:
        self._page = Page(way.title(source.func), way.target)
        self._parsed = File(source.path, source.path, "mlir", source.text.splitlines())
        self._files: dict[str, int] = {}
        self._locations: dict[tuple[Any, ...], int] = {}
        self._bodies: dict[str, int] = {}
        self._last: tuple[bytes, str] | None = None
        self._since = time.perf_counter()

    def add(self, name: str, group: str, module: Module, entry: str) -> None:
        """Keeps a module as it is now. `name` is a pass with its options; `entry` is the function
        whose costs are those of the module, or empty.
        """
        seconds = time.perf_counter() - self._since
        now = mlir.bytecode(module), entry
        if now == self._last:
            bodies, uncounted = self._page.stages[-1].bodies, self._page.stages[-1].uncounted
        else:
            bodies, uncounted = self._read(mlir.clone_module(module), entry, group != "iree")
        self._last = now
        short, _, options = name.partition("{")
        self._page.stages.append(
            Stage(short, options.removesuffix("}"), group, entry, bodies, uncounted, seconds)
        )
        self._since = time.perf_counter()

    def _read(
        self, module: Module, entry: str, has_costs: bool
    ) -> tuple[list[tuple[int, float]], int]:
        """The bodies of a module, whose locations are lost, and how often each runs; and how many
        operations are of dialects whose costs are not known.
        """
        calls = calls_by_function(module, entry) if entry else {}
        operations = operations_of(module)
        indices = {operation: i for i, operation in enumerate(operations)}
        costs = {indices[o]: cost for o, cost in (_costs(module) if has_costs else {}).items()}
        locations = [self._location(operation) for operation in operations]
        names = [operation.name for operation in operations]
        symbols = {indices[v.operation]: _symbol(v.operation) for v in module.body.operations}
        number(operations)
        lines = lines_of(module)
        bodies: list[tuple[int, float]] = []
        first = 0
        while first < len(lines):
            end = lines[first].last + 1
            if not end:  # not an operation
                is_next = (i for i in range(first, len(lines)) if lines[i].last >= 0)
                end = next(is_next, len(lines))
            symbol = symbols.get(lines[first].operation, "")
            body = self._body(symbol, lines[first:end], first, names, locations, costs)
            bodies.append((body, calls.get(symbol, 0)))
            first = end
        uncounted = sum(name.partition(".")[0] not in _COUNTED for name in names)
        return bodies, uncounted if entry else 0

    def add_run(self, run: Run) -> None:
        """Keeps a dispatch."""
        self._page.runs.append(run)

    def set_time(self, seconds: float) -> None:
        """Keeps the time of a call."""
        self._page.seconds = seconds

    def set_digits(self, digits: Digits) -> None:
        """Keeps the digits that hold."""
        self._page.digits = digits

    def frame(self, frame: places.Frame) -> Frame:
        """A line of a file, as the page has it."""
        return self._file(frame.file), frame.line, list(frame.names)

    def page(self) -> Page:
        """The page with all that was added."""
        used: dict[int, set[int]] = {i: set() for i in self._files.values()}
        for run in self._page.runs:
            for file, line, _ in (*run.stack, *run.lines):
                used[file].add(line)
        for location in self._page.locations:
            for file, line, _ in location:
                used[file].add(line)
        for costly in () if self._page.digits is None else self._page.digits.lines:
            file, line, _ = costly.frame
            used[file].add(line)
        name_apart(self._page.files)
        for i, file in enumerate(self._page.files):
            show_around(file, used[i])
        return self._page

    def _location(self, operation: Operation) -> int:
        key = tuple(
            (f.file, f.line, f.names)
            for f in frames_of_user(operation.location)
            if operation.name not in _OF_IREE
        )
        if not key:
            return -1
        if key not in self._locations:
            self._locations[key] = len(self._page.locations)
            place: list[Frame] = [(self._file(f), line, list(names)) for f, line, names in key]
            self._page.locations.append(place)
        return self._locations[key]

    def _file(self, path: str) -> int:
        if path not in self._files:
            self._files[path] = len(self._page.files)
            self._page.files.append(read_file(path, self._parsed))
        return self._files[path]

    def _body(
        self,
        symbol: str,
        lines: list[Line],
        first: int,
        names: list[str],
        locations: list[int],
        costs: Mapping[int, tuple[float, Cost]],
    ) -> int:
        """The place of a body in the page; the same for the same lines and costs."""
        of = [line.operation for line in lines]
        known = [costs.get(i, (1, Cost())) for i in of]
        total = [cost.times(count) for count, cost in known]
        body = Body(
            symbol or (names[of[0]] if of[0] >= 0 else ""),
            [line.text for line in lines],
            [names[i] if i >= 0 else "" for i in of],
            [locations[i] if i >= 0 else -1 for i in of],
            {i: line.last - first for i, line in enumerate(lines) if line.last - first > i},
            [_whole(cost.flops) for cost in total],
            [_whole(cost.transcendentals) for cost in total],
            [_whole(cost.bytes) for cost in total],
            {i: _whole(count) for i, (count, _) in enumerate(known) if count != 1},
        )
        key = repr(body)
        if key not in self._bodies:
            self._bodies[key] = len(self._page.bodies)
            self._page.bodies.append(body)
        return self._bodies[key]


def _costs(module: Module) -> dict[Operation, tuple[float, Cost]]:
    found: dict[Operation, tuple[float, Cost]] = {}
    for name, function in mlir.functions(module).items():
        if not function.regions[0].blocks:
            continue
        types = [*mlir.result_types(function), *(a.type for a in mlir.arguments(function))]
        if not any(map(mlir.type_problem, types)):
            found |= {o: (count, c) for o, count, c in cost_by_operation(module, name)}
    return found


def _symbol(operation: Operation) -> str:
    return mlir.function_name(operation) if "sym_name" in operation.attributes else ""


def _whole(number: float) -> float:
    """A whole number as an integer, which is shorter to write; any other as it is."""
    return int(number) if number == int(number) else round(number, 3)
