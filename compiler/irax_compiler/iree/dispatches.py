"""The dispatches of a program, each as a program of its own that runs it some number of times."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from irax_compiler import mlir
from irax_compiler.iree import compiler
from irax_compiler.iree.compiler import linking_flags
from irax_compiler.iree.invocation import invocation
from irax_compiler.iree.phases import after_phase
from irax_compiler.iree.target import all_flags
from irax_compiler.mlir import Location, Module, Operation
from irax_compiler.passes.core import enclosing, nested

_BENCHMARK = re.compile(r"util\.func public @([\w$.-]+)\(%\w+: i32\)")
_LIBRARIES = re.compile(r'irax\.libraries = "([^"]*)"')
_REFLECTION = 'iree.reflection = {iree.benchmark = "dispatch"'


@dataclass(frozen=True)
class Dispatch:
    """Kernels that a program launches with the same arguments' types."""

    name: str
    bytes: float
    """The bytes of the arrays that a run reads and writes."""
    written: float
    """The bytes of the arrays that a run writes."""
    locations: Sequence[Location]
    """The locations of the operations inside it."""
    loops: Sequence[Location] = ()
    """The locations of the loops that it is in, of which the number of steps is not known."""
    runs: float = 1
    """The number of runs in a call of the program, but for those loops."""


@dataclass(frozen=True)
class Dispatched:
    """A program's dispatches, and their programs."""

    dispatches: Sequence[Dispatch]
    programs: Mapping[str, str] = field(default_factory=dict)
    """For the name of a dispatch the text of a module, which has a function that runs it."""
    flags: Sequence[str] = ()
    """IREE's flags for these modules."""
    libraries: str = ""
    """The libraries that they call."""

    def compile(self, name: str) -> tuple[bytes, str]:
        """The artefact of the program of a dispatch, and the name of its function."""
        text = self.programs[name]
        (entry,) = _BENCHMARK.findall(text)[:1]
        if self.libraries:
            added = f'{_REFLECTION}, irax.libraries = "{self.libraries}"'
            text = text.replace(_REFLECTION, added)
        return compiler.resume(text.encode(), "executable-configurations", self.flags), entry


def dispatched(lowered: Module, target: str) -> Dispatched:
    """The dispatches of a module as it leaves `lowering.lower`, in the order of the program.

    Raises:
        CompileError: IREE refuses the module.
        ValueError: there is no such target, or it is not one of IREE's.
    """
    data, text = mlir.bytecode(lowered), mlir.text_of(lowered.operation)
    flags = all_flags(lowered, target)
    flags += linking_flags(data, text, flags)
    flow = after_phase("flow", data, flags, "", target)
    with tempfile.TemporaryDirectory() as folder:
        dump = f"--iree-hal-dump-executable-benchmarks-to={folder}"
        with invocation(flow, (*flags, dump)) as run:
            run.begin_after("flow")
            run.end_with("executable-configurations")
            run.execute()
        written = [path.read_text("utf-8") for path in Path(folder).glob("*.mlir")]
    found = list(_dispatches(mlir.parse_module(flow)))
    programs: dict[str, str] = {}
    for program in written:
        for entry in _BENCHMARK.findall(program):
            for dispatch in found:
                if entry.endswith(f"_{dispatch.name}"):
                    programs.setdefault(dispatch.name, program)
    called = _LIBRARIES.search(text)
    return Dispatched(found, programs, flags, called[1] if called else "")


def _dispatches(module: Module) -> Iterator[Dispatch]:
    inside = {_symbol(view.operation): view.operation for view in module.body.operations}
    for operation in nested(module.operation):
        if operation.name != "flow.dispatch":
            continue
        entries: Any = operation.attributes["entry_points"]
        executable, name = entries[0].value
        holder = inside.get(executable)
        locations = [operation.location]
        if holder is not None:
            locations += [o.location for o in nested(holder)]
        written = sum(_bytes(x.type) for x in operation.results)
        moved = written + sum(_bytes(x.type) for x in operation.operands)
        runs, loops = _runs(operation)
        yield Dispatch(name, moved, written, locations, loops, runs)


def _symbol(operation: Operation) -> str:
    name: Any = operation.attributes.get("sym_name", None)
    return "" if name is None else name.value


def _bytes(type_: Any) -> float:
    shape = getattr(type_, "shape", None)
    if shape is None:
        return 0
    width = re.search(r"(\d+)", str(type_.element_type).removeprefix("complex<"))
    bits = int(width[1]) if width is not None else 64
    parts = 2 if str(type_.element_type).startswith("complex") else 1
    sizes = [size for size in shape if size > 0]
    return math.prod(sizes) * max(bits, 8) / 8 * parts


def _runs(operation: Operation) -> tuple[float, list[Location]]:
    """The number of runs in a call, as far as loops say, and the loops that do not."""
    runs, loops = 1.0, []
    for outer in enclosing(operation):
        if outer.name == "scf.for":
            bounds = [mlir.integer_of(x) for x in list(outer.operands)[:3]]
            if None in bounds:
                loops.append(outer.location)
            else:
                first, last, step = bounds
                runs *= max(0, math.ceil((last - first) / step))  # type: ignore[operator]
        elif outer.name == "scf.while":
            loops.append(outer.location)
    return runs, loops
