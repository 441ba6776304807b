"""Bytecode is tried out in another process before it is read in this one.

MLIR's reader believes the numbers that it reads: of a damaged file it makes billions of regions, or
ends the process. So `iree-opt`, which has the same reader and starts in 40 ms, reads it first, with
so much memory and time as a sound file of that length needs.
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path

_MEMORY, _MEMORY_PER_BYTE = 2 << 30, 64
_SECONDS, _SECONDS_PER_BYTE = 10, 1e-6
_DAMAGED = "not a valid MLIR module: damaged bytecode, of which MLIR's reader"
_FLAGS = ("-", "--allow-unregistered-dialect", "--emit-bytecode", "-o", os.devnull)


def read_elsewhere(bytecode: bytes) -> None:
    """Does nothing where MLIR's reader takes the bytecode, or refuses it in the proper way.

    Raises:
        ValueError: it would end the process, or take all of its memory or time.
    """
    reader = _reader()
    if reader is None:
        return
    process = subprocess.Popen(
        [reader, *_FLAGS],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "LLVM_DISABLE_SYMBOLIZATION": "1"},
    )
    with process:
        _limit_memory(process.pid, _MEMORY + _MEMORY_PER_BYTE * len(bytecode))
        try:
            with suppress(BrokenPipeError):
                process.communicate(bytecode, timeout=_SECONDS + _SECONDS_PER_BYTE * len(bytecode))
        except subprocess.TimeoutExpired:
            process.kill()
            raise ValueError(f"{_DAMAGED} does not come to an end") from None
    if process.returncode < 0:
        name = signal.Signals(-process.returncode).name
        raise ValueError(f"{_DAMAGED} ends with {name}")


def _limit_memory(process: int, limit: int) -> None:
    """Where the system has no such limits, that of time is the only one."""
    with suppress(ImportError, AttributeError, OSError, ValueError):
        import resource

        resource.prlimit(process, resource.RLIMIT_AS, (limit, limit))


@cache
def _reader() -> str | None:
    from irax_compiler.targets.invocation import bundled_tool

    path: Path | None = bundled_tool("iree-opt")
    return None if path is None else str(path)
