"""Runs cases on compilers outside of this process, and begins anew after what ends or hangs one."""

from __future__ import annotations

import pickle
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

SCRIPT = Path(__file__).with_name("outside.py")
ENDED = "ended the process"
HUNG = "did not end in time"


class Runnable(Protocol):
    """A program and its operands."""

    @property
    def operands(self) -> Sequence[np.ndarray]: ...

    def module(self) -> str: ...


def found_by(python: str, name: str, cases: Sequence[Runnable], limit: float = 900) -> list[Any]:
    """The results of a compiler for each case: arrays, or why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        given, written = Path(folder, "cases"), Path(folder, "found")
        with given.open("wb") as file:
            pickle.dump([(case.module(), list(case.operands)) for case in cases], file)
        written.touch()
        found: list[Any] = [None] * len(cases)
        start = 0
        while start < len(cases):
            why = _run(
                [python, str(SCRIPT), name, str(given), str(written), str(start)], written, limit
            )
            last = -1
            for number, result in _records(written):
                last = max(last, number)
                if result is not None:
                    found[number] = result
            if last < start:
                raise RuntimeError(f"{name} did not begin: {why}")
            if found[last] is None:
                found[last] = why
            start = last + 1
        return found


def _run(command: Sequence[str], written: Path, limit: float) -> str:
    """Run a process that writes a file, until it writes nothing for so many seconds."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        if time.time() - written.stat().st_mtime > limit:
            process.kill()
            process.wait()
            return HUNG
        time.sleep(0.2)
    return ENDED


def _records(path: Path) -> list[tuple[int, Any]]:
    records = []
    with path.open("rb") as file:
        while True:
            try:
                records.append(pickle.load(file))
            except (EOFError, pickle.UnpicklingError):
                return records
