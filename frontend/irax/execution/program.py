"""The programs of a function that was traced for one signature, one for each device."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from irax.config import config
from irax.core import nans, source
from irax.core.array import ConcreteArray, device_of
from irax.core.avals import ShapedArray
from irax.core.shardings.explicit_axes import are_in_types
from irax.core.shardings.mesh_devices import device_of_mesh, device_of_place
from irax.core.shardings.shardings import Sharding
from irax.core.tracing import Traced, concrete_array, padded
from irax.core.trees.known_structures import Taken, taking
from irax.execution import backend
from irax.execution.bound_call import (
    BoundCall,
    Results,
    bound_call,
    check_given_once,
    forget,
    results_as,
    tree_of_leaves,
)
from irax.execution.callbacks import recorded, replayed
from irax.execution.diagnostics import progress, reports, watched
from irax.execution.moves import check_move
from irax_compiler import api, mlir
from irax_compiler.spans import Span, collecting, span
from irax_runtime.device import Buffer, Device, Executable
from irax_runtime.interruptible import Begun
from irax_runtime.mesh import MeshDevice, devices_of

_beginning = threading.Lock()
"""Held while another thread is told to compile a program: one thread for each program."""


_HEAD_START = 0.1
"""The most seconds that the evaluator has for the first call before the compiler begins."""


@dataclass(frozen=True)
class DeviceProgram:
    """A program for one device."""

    executable: Executable
    captured: list[Buffer]
    """The captured arrays, which are further arguments, wherever they were put, and then numbers of
    the function."""
    results: Results


@dataclass
class Program:
    """A function traced for one signature; it is compiled when it is first called to be run."""

    traced: Traced
    out_tree: Any
    donated: Sequence[int] = ()
    """The leaves of arguments whose memory may be used for results."""
    when: str | None = None
    """When it is compiled, as the option `compile` says; None leaves it to that option."""
    commits: bool = False
    """True if results are committed to the device, since the function has one of its own."""
    moves: bool = False
    """True if arguments that were put elsewhere are copied to that device."""
    out_shardings: Sequence[Sharding | None] = ()
    """The shardings of the leaves of its results, as far as the option of that name tells them."""
    programs: dict[Device | str | None, DeviceProgram] = field(default_factory=dict)
    """The program for each device asked for; None is the default device."""
    compiling: threading.RLock = field(default_factory=threading.RLock)
    """Held while a program is made. That runs no code of the user's, so threads that wait for it
    wait for nothing that could wait for them."""
    begun: dict[Device | str | None, Begun] = field(default_factory=dict)
    """The compilations that other threads do."""
    take: Taken | None = None
    """Takes arguments to their leaves, where some are pytrees or given by name."""
    evaluated: threading.Event = field(default_factory=threading.Event)
    """Set when the evaluator has run a call."""
    spans: list[Span] = field(default_factory=list[Span])
    """The times that tracing and compiling took."""

    def argument_avals(self) -> list[ShapedArray]:
        """The types of the leaves of its arguments."""
        traced = self.traced
        parameters = mlir.arguments(mlir.functions(traced.builder.module)[traced.name])
        own = parameters[: len(parameters) - len(traced.captures)]
        weak = padded(traced.weak_arguments, own)
        return [
            ShapedArray(mlir.shape_of(x), mlir.dtype_of(x), w)
            for x, w in zip(own, weak, strict=True)
        ]

    def uses_argument(self, number: int) -> bool:
        """Return True if the function uses the elements of a leaf of its arguments."""
        traced = self.traced
        parameters = mlir.arguments(mlir.functions(traced.builder.module)[traced.name])
        return mlir.num_uses(parameters[number], 1) > 0

    def donated_avals(self) -> list[ShapedArray]:
        """The leaves whose memory may be used for results."""
        avals = self.argument_avals()
        return [avals[i] for i in self.donated]

    def run(self, leaves: Sequence[Any], asked: Device | str | None, fixed: bool = False) -> Any:
        """Runs the compiled function on the leaves of its arguments.

        It runs on the device that is asked for, unless arguments were put on another one; to be
        `fixed` on the one makes that an error.
        """
        if config.no_execution:
            raise RuntimeError(
                f"jit: {self.traced.name} would run at {source.user_line()}, and the option "
                "no_execution is on"
            )
        program = self.programs.get(asked)
        if program is None:
            there = None if fixed else self._there(leaves)
            if there is not None and there is not self.device(asked):
                return self.run(leaves, there, fixed=True)
            if self._is_compiled_meanwhile(asked):
                return self._run_evaluated(leaves, asked)
            program = self.compile(asked)
        device = program.executable.device
        committed = self._commits_on(device)
        buffers: list[Any] = []
        if config.guards_transfers:
            for x in leaves:
                check_move(x, device)
        for x in leaves:
            array: Any = x if type(x) is ConcreteArray else concrete_array(x)
            buffer = array._buffer
            if buffer is None or buffer.device is not device:
                if array.committed and not fixed:
                    there = self._there(leaves)
                    return self.run(leaves, there, fixed=True)
                buffer = (array.on(device) if self.moves else array).buffer(device)
            if array.committed:
                committed = True
            buffers.append(buffer)
        buffers += program.captured
        if self.donated:
            check_given_once(buffers, self.donated)
        if config.debug_nans or config.debug_infs:
            found = self._run_checked(program.executable, buffers)
        elif config.profiling:
            with span("execute", self.traced.name, device=device), watched.called(self):
                found = program.executable.run(buffers)
                for result in found:
                    result.wait()
        else:
            found = program.executable.run(buffers)
        forget(leaves, self.donated)
        return program.results(found, committed)

    def bound(
        self,
        leaves: Sequence[Any],
        tree: Any,
        asked: Device | str | None,
        state: Any,
        divides: Sequence[bool] | None = None,
    ) -> BoundCall | None:
        """Return the short way of calls like one that has just run, with these leaves, and if it
        `divides` some (see `bound_call`), divided as these. None if there is none, as where results
        are looked at, or calls recorded.
        """
        if config.debug_nans or config.debug_infs or config.profiling or config.guards_transfers:
            return None
        there = None if self.commits else self._there(leaves)
        follows = there is not None and there is not self.device(asked)
        program = self.programs.get(there if follows else asked)
        if program is None:
            return None
        captured, results = program.captured, program.results
        if self.take is None and tree != tree_of_leaves(len(leaves)):
            self.take = taking(tree)
        run = program.executable
        is_on_mesh = isinstance(run.device, MeshDevice)
        if divides is not None and not is_on_mesh:
            return None
        if divides is None and is_on_mesh and are_in_types():
            divides = [False] * len(leaves)
        return bound_call(
            run,
            leaves,
            self.take,
            captured,
            results,
            state,
            self.donated,
            commits=self._commits_on(run.device),
            follows=follows,
            divides=divides,
        )

    def _commits_on(self, device: Device) -> bool:
        """Return True if results on a device are committed to it, wherever arguments were put."""
        builder = self.traced.builder
        if self.commits or isinstance(device, MeshDevice) or device is builder.place:
            return True
        return builder.has_memories  # which results are in as far as they are committed

    def _run_checked(self, executable: Any, buffers: list[Any]) -> list[Any]:
        """Run the program, and if it returns a nan, say which operation made it."""
        kept = {i: buffers[i].numpy().copy() for i in self.donated}
        with recorded() as results_of_callbacks:
            results = executable.run(buffers)
        bad = nans.found_in([x.numpy() for x in results])
        if bad is not None:
            with replayed(results_of_callbacks):
                module, name = self.traced.builder.module, self.traced.name
                own = buffers[: len(mlir.arguments(mlir.functions(module)[name]))]
                arguments = [kept[i] if i in kept else x.numpy() for i, x in enumerate(own)]
                nans.explain(bad, self.traced, arguments)
        return results

    def _is_compiled_meanwhile(self, asked: Device | str | None) -> bool:
        """Return True if another thread is to compile the program while this one goes on; it begins
        to, if it has not.

        Raises:
            CompileError: it has tried.
        """
        when = self.when or config.compile
        if when == "at_once" or config.stepwise or isinstance(self.device(asked), MeshDevice):
            return False
        if asked not in self.begun:
            self._write_lowerings()
        with _beginning:
            begun = self.begun.get(asked)
            if begun is None:
                self.begun[asked] = Begun(self._compile_after_a_call, asked)
                return True
        if not begun.is_done():
            return True
        begun.outcome()
        return False

    def _compile_after_a_call(self, asked: Device | str | None) -> DeviceProgram:
        """Compile the program once the evaluator has run a call, unless that takes long: lowering
        would take Python's lock from it.
        """
        self.evaluated.wait(_HEAD_START)
        return self.compile(asked)

    def _run_evaluated(self, leaves: Sequence[Any], asked: Device | str | None) -> Any:
        """Runs the function in the evaluator, as long as there is no program."""
        device = self.device(asked)
        arrays = [concrete_array(x) for x in (*leaves, *self.traced.captures)]
        name = self.traced.name
        committed = self._commits_on(device) or any(x.committed for x in arrays)
        with span("evaluate", name, device=device):
            found = self.traced.builder.evaluator(name, [x.value for x in arrays])
        self.evaluated.set()
        for i in self.donated:
            buffer: Any = arrays[i].buffer(device)
            buffer.delete()
        forget(leaves, self.donated)
        results = results_as(self.out_tree, self.traced.results)
        return results([device.put(x) for x in found], committed)

    def compile(self, asked: Device | str | None) -> DeviceProgram:
        """The program for a device, as it stands in `programs`; made if it is not there yet."""
        self._write_lowerings()
        with self.compiling:
            if asked not in self.programs:
                device = self.device(asked)
                same = (p for p in self.programs.values() if p.executable.device is device)
                self.programs[asked] = next(same, None) or self._program(device)
            return self.programs[asked]

    def _write_lowerings(self) -> None:
        """Has the lowerings of the user's primitives run, which are code of the user's."""
        api.write_lowerings(self.traced.builder.module, self.traced.name)

    def device(self, asked: Device | str | None) -> Device:
        """Return the device that it is for, where arguments were put nowhere: the one that is asked
        for, or that which it names.
        """
        place = self.traced.builder.place if asked is None else None
        return backend.resolve_device(asked) if place is None else device_of_place(place)

    def usual_device(self) -> Any:
        """Return the device to ask for, where the function has none of its own and arguments were
        put nowhere: that of the context. None for that which it names, or the first.
        """
        if self.traced.builder.place is not None:
            return None
        mesh = config.mesh
        return config.default_device if mesh is None else device_of_mesh(mesh)

    def _there(self, leaves: Sequence[Any]) -> Device | None:
        """Return the device that arguments were put on, or that of the mesh which the program
        names, or else that of the context's, if it is alike.

        Raises:
            ValueError: arguments were put on other devices than the program names, or than the mesh
                of the context has.
        """
        there: Any = device_of(leaves, self.traced.name)
        named = self.traced.builder.place
        place = config.mesh if named is None else named
        if there is None or place is None:
            return there
        own: Any = device_of_place(place)
        if named is None and isinstance(there, MeshDevice):
            return own if own.is_like(there) else there
        if devices_of(own) == devices_of(there):
            return own
        raise ValueError(
            f"{self.traced.name}: received incompatible devices: arguments are on {there!r}, and "
            f"the function names {named!r}; move them there with irax.device_put"
        )

    def numbers_apart(self, device: Device) -> tuple[mlir.Module, list[np.ndarray[Any, Any]]]:
        """Return what is compiled for a device, and the numbers that it takes after all else."""
        return backend.numbers_apart(self.traced.builder.module, self.traced.name, device)

    def _program(self, device: Device) -> DeviceProgram:
        module, name = self.traced.builder.module, self.traced.name
        reports.compiled_for(name, device, [p.executable.device for p in self.programs.values()])
        with (
            collecting(self.spans),
            reports.timed("compiled", name, device),
            progress.shown(name),
        ):
            apart, numbers = self.numbers_apart(device)
            executable = backend.compile(apart, name, device, self.donated, module)
        captures = [x for x in self.traced.captures if isinstance(x, ConcreteArray)]
        captured = [x.on(device).buffer(device) for x in captures] + [*map(device.put, numbers)]
        return DeviceProgram(executable, captured, results_as(self.out_tree, self.traced.results))
