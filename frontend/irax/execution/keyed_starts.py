"""Starts without a trace: programs that an earlier process traced, by a key that the user gives."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from irax.config import config
from irax.core.array import ConcreteArray
from irax.core.avals import ShapedArray
from irax.core.trees.known_structures import taking
from irax.execution import backend, bound_call
from irax.execution.bound_call import OTHER, results_as, tree_of_leaves
from irax.execution.diagnostics import reports
from irax.execution.jit_parameters import Parameters, Static, signature_of
from irax.execution.loaded import Loaded
from irax.execution.program import DeviceProgram, Program
from irax.execution.programs import Programs
from irax_compiler import cache, kept_programs
from irax_compiler.ops.sums import WHOLE
from irax_compiler.spans import span
from irax_compiler.targets import is_own
from irax_runtime.device import MEMORY_KIND
from irax_runtime.mesh import MeshDevice

_FORM = "2"
"""The form of the records."""
_LEAVES = (ConcreteArray, np.ndarray, np.generic, bool, int, float, complex)
_MOST_CAPTURED = 1 << 22
"""The most bytes of captured arrays in a record."""


@dataclass
class FirstCall:
    """A call of a signature that this process has not traced."""

    function: Callable[..., Any]
    """The function that was jitted."""
    cache_key: str
    donated: Parameters
    programs: Programs
    """Its programs."""
    key: Any
    leaves: Sequence[Any]
    tree: Any
    static: Sequence[Static]
    count: int
    """The number of positional arguments, static ones included."""

    def run(self) -> Any:
        """Run the program that another process kept; return `OTHER` where there is none."""
        if not self._may_start():
            return OTHER
        state = config.state
        found = self.programs.loaded.get(self.key) or self._find()
        result = OTHER if found is None else found.run(self.leaves)
        if found is None or result is OTHER:
            return OTHER
        self.programs.keep_loaded(self.key, found)
        bound = found.bound(self.leaves, state)
        if bound is not None and self.static:
            bound = bound_call.with_static(bound, self.static, self.count)
        if bound is not None:
            self.programs.bind(self.key, bound)
        return result

    def keep(self, program: Program) -> None:
        """Keep the program of a trace for other processes, if it depends on nothing of this one."""
        try:
            name = self._name() if self._may_start() else None
            record = None if name is None else _record(program)
        except _NotKept as error:
            reports.not_kept(self.function, self.programs.history, str(error))
            return
        if name is not None and record is not None:
            cache.store(name, record)

    def _may_start(self) -> bool:
        """Return True unless an option asks to look at a trace, or the program is for other devices
        than the default one.
        """
        return (
            cache.directory() is not None
            and config.default_device is None
            and config.mesh is None
            and not (config.stepwise or config.profiling or config.no_tracing)
            and not config.check_tracer_leaks
            and config.compile == "at_once"
            and all(isinstance(x, _LEAVES) for x in self.leaves)
        )

    def _name(self) -> str | None:
        """Return the name of the record; None where there can be none."""
        device = backend.resolve_device(None)
        facts = kept_programs.facts(device.target)
        if facts is None or isinstance(device, MeshDevice) or not is_own(device.target):
            return None
        function = f"{self.function.__module__}.{self.function.__qualname__}"
        types = [f"{x.dtype.name}{x.shape}{x.weak_type}" for x in map(signature_of, self.leaves)]
        static = [(x.where, type(x.value), x.value) for x in self.static]
        donated = (self.donated[0], sorted(self.donated[1]))
        process = (sys.version, facts, config.traced, backend.device_count())
        text = repr((function, self.cache_key, str(self.tree), types, static, donated, process))
        if " at 0x" in text:
            raise _NotKept("the text of a static argument has its address")
        return cache.key(text.encode(), ["by the user's key", _FORM])

    def _find(self) -> Loaded | None:
        try:
            name = self._name()
        except _NotKept as error:
            reports.not_kept(self.function, self.programs.history, str(error))
            return None
        with span("cache", "look-up by the user's key") as details:
            kept = None if name is None else cache.load(name)
            record = None if kept is None else pickle.loads(kept)
            artefact = None if record is None else cache.load(record[0])
            details["found"] = artefact is not None
        if record is None or artefact is None:
            return None
        _, name_of_main, out_tree, results, captured, donated = record
        device = backend.resolve_device(None)
        executable = backend.loaded(artefact, name_of_main, device)
        if executable is None:
            return None
        buffers = [device.put(x, may_alias=True) for x in captured]
        avals = [ShapedArray(shape, np.dtype(dtype), weak) for shape, dtype, weak in results]
        program = DeviceProgram(executable, buffers, results_as(out_tree, avals))
        is_flat = self.tree == tree_of_leaves(len(self.leaves))
        reports.loaded(self.function, self.programs.history)
        return Loaded(program, donated, None if is_flat else taking(self.tree))


class _NotKept(Exception):
    """A program depends on the process that traced it."""


def _record(program: Program) -> bytes:
    """Return what another process needs of a program.

    Raises:
        _NotKept: the program depends on this process.
    """
    traced = program.traced
    device = backend.resolve_device(None)
    if traced.acts():
        raise _NotKept("the program has side effects")
    if traced.builder.place is not None:
        raise _NotKept("the program is for devices that it names")
    module, numbers = program.numbers_apart(device)
    artefact = kept_programs.key(module, traced.name, device.target, program.donated)
    if artefact is None or cache.load(artefact) is None:
        raise _NotKept("the program is not in the cache, as it depends on this process")
    results = [_plain_aval(x) for x in traced.results]
    captured = [*map(_plain_array, traced.captures), *numbers]
    if sum(x.nbytes for x in captured) > _MOST_CAPTURED:
        raise _NotKept(f"arrays of more than {_MOST_CAPTURED >> 20} MiB are made by the trace")
    found = (artefact, traced.name, program.out_tree, results, captured, list(program.donated))
    try:
        return pickle.dumps(found)
    except Exception as error:  # of the user's classes
        raise _NotKept(f"the structure of the results cannot be pickled: {error}") from None


def _plain_aval(x: ShapedArray) -> tuple[Any, ...]:
    is_plain = type(x) is ShapedArray and not x.vma and x.told is None
    if not is_plain or x.memory_kind != MEMORY_KIND or x.sums != WHOLE:
        raise _NotKept(f"a result has the type {x}")
    if not all(type(size) is int for size in x.shape):
        raise _NotKept(f"a result has the shape {x.shape}")
    return x.shape, x.dtype.name, x.weak_type


def _plain_array(x: Any) -> np.ndarray[Any, Any]:
    if type(x) is not ConcreteArray or x.committed:
        raise _NotKept("an array that was put on a device is used")
    return x.value
