"""Records of programs on disk, by descriptions of the functions that they were traced of."""

from __future__ import annotations

import marshal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np
import optree

from irax.config import config
from irax.core import source
from irax.core.array import ConcreteArray
from irax.core.avals import ShapedArray
from irax.core.tracing import concrete_array
from irax.core.trees.known_structures import Taken, taking
from irax.execution import backend
from irax.execution.bound_call import (
    OTHER,
    BoundCall,
    bound_call,
    forget,
    results_as,
    tree_of_leaves,
)
from irax.execution.jit_parameters import Static, signature_of
from irax.execution.program import DeviceProgram, Program
from irax.execution.untraced import known, own_code, process_state, trees
from irax.execution.untraced.reading import NotDescribed
from irax.execution.untraced.walk import Walk
from irax_compiler import cache, kept_programs
from irax_compiler.spans import span
from irax_compiler.targets import is_own
from irax_runtime.device import MEMORY_KIND, Device
from irax_runtime.mesh import MeshDevice

if TYPE_CHECKING:
    from irax.execution.jitted import PjitFunction

_FORM = "1"
"""The form of the records."""
_LEAVES = (ConcreteArray, np.ndarray, np.generic, bool, int, float, complex)
_MOST_CAPTURED = 1 << 22
"""The most bytes of captured arrays in a record."""


@dataclass
class Untraced:
    """A program of a function that was not traced."""

    program: DeviceProgram
    donated: Sequence[int]
    take: Taken | None

    def run(self, leaves: Sequence[Any]) -> Any:
        """Run the program; return `OTHER` where arguments were put on another device."""
        device = self.program.executable.device
        arrays = [concrete_array(x) for x in leaves]
        if any(_is_elsewhere(x, device) for x in arrays):
            return OTHER
        buffers = [*(x.buffer(device) for x in arrays), *self.program.captured]
        found = self.program.executable.run(buffers)
        forget(leaves, self.donated)
        return self.program.results(found, any(x.committed for x in arrays))

    def bound(self, leaves: Sequence[Any], state: Any) -> BoundCall | None:
        """Return the short way of calls like one that has just run, with these leaves."""
        own = self.program
        given = (own.executable, leaves, self.take, own.captured, own.results, state, self.donated)
        return bound_call(*given)


def _is_elsewhere(x: ConcreteArray, device: Device) -> bool:
    return x.committed and (x._buffer is None or x._buffer.device is not device)


def may_start(jitted: PjitFunction[..., Any], leaves: Sequence[Any]) -> bool:
    """Return True if a program that was traced by another process may run: no option asks to look
    at a trace, and nothing is divided or put on other devices than the default one.
    """
    return (
        jitted.is_plain()
        and cache.directory() is not None
        and config.default_device is None
        and config.mesh is None
        and not (config.stepwise or config.profiling or config.no_tracing)
        and not config.check_tracer_leaks
        and config.compile == "at_once"
        and not _is_watched()
        and all(isinstance(x, _LEAVES) for x in leaves)
    )


def _is_watched() -> bool:
    """Return True while a debugger, a profiler or what measures coverage sees which code runs."""
    monitoring = getattr(sys, "monitoring", None)
    tools = monitoring is not None and any(monitoring.get_tool(i) for i in range(6))
    return tools or sys.gettrace() is not None or sys.getprofile() is not None


@dataclass
class Start:
    """The first call of a signature in this process, before the function is traced."""

    jitted: PjitFunction[..., Any]
    leaves: Sequence[Any]
    tree: Any
    static: Sequence[Static]
    device: Device
    name: str
    """The name of the record."""
    classes: list[type]
    """The classes that the function reaches."""
    warned: int = 0
    reused: int = 0
    """The numbers of warnings, and of earlier traces that traces used, before this one."""

    @classmethod
    def of(
        cls,
        jitted: PjitFunction[..., Any],
        leaves: Sequence[Any],
        tree: Any,
        static: Sequence[Static],
    ) -> Start:
        """Describe a function and its arguments.

        Raises:
            NotDescribed: there is no description.
        """
        device = backend.resolve_device(None)
        if isinstance(device, MeshDevice) or not is_own(device.target):
            raise NotDescribed(f"programs for {device} are not kept")
        name, classes = _described(jitted, leaves, tree, static, device)
        return cls(jitted, leaves, tree, static, device, name, classes)

    def begin(self) -> None:
        """Note that the function is about to be traced."""
        self.warned, self.reused = source.warned(), reused.count

    def find(self) -> Untraced | None:
        """Return the program that another process kept, loaded; None if there is none."""
        with span("cache", "look-up without a trace") as details:
            kept = cache.load(self.name)
            record = None if kept is None else marshal.loads(kept)
            artefact = None if record is None else cache.load(record[0])
            details["found"] = artefact is not None
        if record is None or artefact is None:
            return None
        _, name, nodes, results, captured, donated = record
        out_tree = trees.structure_of(nodes, self.classes)
        executable = backend.loaded(artefact, name, self.device)
        if executable is None:
            return None
        buffers = [self.device.put(_elements(*x), may_alias=True) for x in captured]
        avals = [_aval(*x) for x in results]
        program = DeviceProgram(executable, buffers, results_as(out_tree, avals))
        return Untraced(program, donated, self._take())

    def _take(self) -> Taken | None:
        return None if self.tree == tree_of_leaves(len(self.leaves)) else taking(self.tree)

    def keep(self, program: Program) -> None:
        """Keep the program of the trace for other processes.

        Raises:
            NotDescribed: the trace had effects, or depended on more than the description.
        """
        traced = program.traced
        if traced.acts():
            raise NotDescribed("the program has side effects")
        if traced.builder.place is not None:
            raise NotDescribed("the program is for devices that it names")
        if source.warned() != self.warned:
            raise NotDescribed("the trace warned")
        if reused.count != self.reused:
            raise NotDescribed("it calls a jitted function that was traced before it")
        artefact = kept_programs.key(
            traced.builder.module, traced.name, self.device.target, program.donated
        )
        if artefact is None or cache.load(artefact) is None:
            raise NotDescribed("the program is not kept, as it depends on this process")
        results = [_plain_aval(x) for x in traced.results]
        nodes = trees.plain_of(program.out_tree, self.classes)
        captured = _captured(traced.captures)
        now, _ = _described(self.jitted, self.leaves, self.tree, self.static, self.device)
        if now != self.name:
            raise NotDescribed("the trace changed what the function reads")
        found = (artefact, traced.name, nodes, results, captured, list(program.donated))
        cache.store(self.name, marshal.dumps(found))


class _Reused(threading.local):
    """Counts the traces of earlier calls that traces of this thread were made with."""

    count = 0

    def note(self, function: Any) -> None:
        """Count one more, unless it is of a function that always makes the same."""
        is_function = isinstance(function, FunctionType) and function.__closure__ is None
        self.count += not (is_function and known.is_own(known.home(function)))


reused = _Reused()


def _described(
    jitted: PjitFunction[..., Any],
    leaves: Sequence[Any],
    tree: Any,
    static: Sequence[Static],
    device: Device,
) -> tuple[str, list[type]]:
    """Return the name of the record of a call, and the classes that the function reaches.

    Raises:
        NotDescribed: there is no description.
    """
    facts = kept_programs.facts(device.target)
    if facts is None:
        raise NotDescribed("files of irax are newer than this process")
    walk = Walk()
    try:
        walk.add(f"{sys.version} {optree.__version__} {facts}")
        walk.add(f"{config.traced} {backend.device_count()}")
        walk.add(own_code.state())
        for part in process_state.parts():
            walk.add(part)
        walk.jitted(jitted)
        walk.tree(tree)
        for leaf in leaves:
            walk.aval(signature_of(leaf))
        for item in static:
            walk.value((item.where, item.value))
        walk.finish()
    except NotDescribed:
        raise
    except Exception as error:  # from objects of the user's, or of too many levels
        raise NotDescribed(f"to look at what it reaches raises {error!r}") from None
    return cache.key(walk.digest(), ["without a trace", _FORM]), walk.classes


def _plain_aval(x: ShapedArray) -> tuple[Any, ...]:
    if type(x) is not ShapedArray or x.vma or x.told is not None or x.memory_kind != MEMORY_KIND:
        raise NotDescribed(f"a result has the type {x}")
    if not all(type(size) is int for size in x.shape):
        raise NotDescribed(f"a result has the shape {x.shape}")
    return x.shape, x.dtype.name, x.weak_type


def _aval(shape: tuple[int, ...], dtype: str, weak_type: bool) -> ShapedArray:
    return ShapedArray(shape, np.dtype(dtype), weak_type)


def _captured(arrays: Sequence[Any]) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for x in arrays:
        if type(x) is not ConcreteArray or x.committed:
            raise NotDescribed("an array that was put on a device is used")
        found.append((x.shape, x.dtype.name, x.value.tobytes()))
    if sum(len(data) for *_, data in found) > _MOST_CAPTURED:
        raise NotDescribed(f"arrays of more than {_MOST_CAPTURED >> 20} MiB are made by the trace")
    return found


def _elements(shape: tuple[int, ...], dtype: str, data: bytes) -> np.ndarray[Any, Any]:
    return np.frombuffer(data, np.dtype(dtype)).reshape(shape)
