"""Measures programs beside JAX, and checks that their results are the same.

Each family is measured in a process of its own. A program that ends the process, or takes longer
than a limit, becomes a row that says so; the rest of its family goes on in another process.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from benchmarks.families import FAMILIES
from benchmarks.program import Program
from benchmarks.results import Measured, Row
from benchmarks.timing import alternate, median, rival

START = 60.0
"""Seconds that a process may take to begin."""


@dataclass(frozen=True)
class Settings:
    """Settings of a measurement."""

    turn: float = 0.1
    """Seconds for which a library is measured, before it is the other's turn."""
    limit: float = 120.0
    """Seconds that a program may take, with compilation, in both libraries."""
    processor_time: bool = False
    """Measure the time of the process's threads on processors, rather than the clock's."""
    also: str | None = None
    """Another of irax's platforms."""


def measure_all(chosen: dict[str, list[str]], settings: Settings) -> Iterator[Row]:
    """Measure the programs of each family, by their names."""
    for family, names in chosen.items():
        waiting = list(names)
        while waiting:
            for row in _measured_by_one_process(family, waiting, settings):
                waiting.remove(row.name)
                yield row


def _measured_by_one_process(family: str, names: list[str], settings: Settings) -> Iterator[Row]:
    """Rows until a program fails to make one: the last row then says how."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(theirs, family, names, settings), daemon=True)
    process.start()
    theirs.close()
    limit = settings.limit + START
    try:
        for name in names:
            if not ours.poll(limit):
                yield Row(family, name, failure=f"took longer than {limit:.0f} s")
                return
            try:
                yield ours.recv()
            except EOFError:
                process.join()
                yield Row(family, name, failure=f"ended the process, status {process.exitcode}")
                return
            limit = settings.limit
    finally:
        process.kill()
        process.join()


def _work(connection: Connection, family: str, names: list[str], settings: Settings) -> None:
    """The process: sends a row for each name."""
    programs = {program.name: program for program in FAMILIES[family]}
    with tempfile.TemporaryDirectory() as cache:
        os.environ["IRAX_CACHE_DIR"] = cache
        for name in names:
            try:
                row = measure(family, programs[name], settings)
            except Exception as error:
                first_line = str(error).strip().partition("\n")[0]
                row = Row(family, name, failure=f"{type(error).__name__}: {first_line}")
            connection.send(row)


def measure(family: str, program: Program, settings: Settings) -> Row:
    """Measure a program in this process."""
    import irax
    import irax.numpy

    jax = rival()
    runs = [_Run(program, irax, irax.numpy)]
    if jax is not None:
        runs.append(_Run(program, jax, jax.numpy))
    if settings.also is not None:
        runs.append(_Run(program, irax, irax.numpy, irax.devices(settings.also)[0]))
    row = Row(family, program.name)
    for run in runs[1:]:
        row.failure = row.failure or _difference(runs[0].result, run.result, program.tolerance)
    clock = time.process_time if settings.processor_time else time.perf_counter
    times = alternate(tuple(run.call for run in runs), turn=settings.turn, clock=clock)
    measured = [
        Measured(min(found), median(found), run.compiling, run.memory())
        for run, found in zip(runs, times, strict=True)
    ]
    row.irax = measured.pop(0)
    row.jax = None if jax is None else measured.pop(0)
    row.also = measured.pop() if measured else None
    return row


class _Run:
    """A program in a library, compiled."""

    def __init__(self, program: Program, lib: Any, jnp: Any, device: Any = None) -> None:
        self._lib = lib
        self._option: Callable[[], AbstractContextManager[Any]] = (
            (lambda: lib.enable_x64(True)) if program.x64 else nullcontext
        )
        generator = np.random.default_rng(0)
        drawn = lib.tree_util.tree_map(lambda x: x.draw(generator), program.arguments)
        with self._option():
            self._function = lib.jit(program.make(lib, jnp))
            self._arguments = lib.device_put(drawn, device)
        start = time.perf_counter()
        self.result: list[Any] = [np.asarray(x) for x in lib.tree_util.tree_leaves(self.call())]
        self.compiling = time.perf_counter() - start

    def call(self) -> Any:
        """Its result, when it is complete."""
        with self._option():
            return self._lib.block_until_ready(self._function(*self._arguments))

    def memory(self) -> int | None:
        """The bytes of arguments, results and temporaries; None if the library cannot tell."""
        try:
            with self._option():
                told = self._function.lower(*self._arguments).compile().memory_analysis()
        except Exception:
            return None  # the times are worth a row without it
        sizes = told.argument_size_in_bytes + told.output_size_in_bytes + told.temp_size_in_bytes
        return sizes - told.alias_size_in_bytes


def _difference(ours: list[Any], theirs: list[Any], tolerance: float) -> str:
    """Return a sentence if results differ, "" if they do not."""
    for a, b in zip(ours, theirs, strict=True):
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            return f"wrong result: {a.dtype}{[*a.shape]}, not {b.dtype}{[*b.shape]}"
        wide = np.complex128 if b.dtype.kind == "c" else np.float64
        a, b = a.astype(wide), b.astype(wide)
        bound = tolerance * np.max(np.abs(b), initial=0.0, where=np.isfinite(b))
        wrong = ~np.isclose(a, b, rtol=tolerance, atol=bound, equal_nan=True)
        if wrong.any():
            return f"wrong result: {wrong.sum()} of {wrong.size} elements differ"
    return ""
