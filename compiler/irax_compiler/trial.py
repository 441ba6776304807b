"""Trial parsing of bytecode in another process.

MLIR's bytecode reader trusts the file: a damaged one may make it allocate billions of regions, or
end the process. So `iree-opt`, which has the same reader and starts in 40 ms, parses the file
first, with as much memory and time as a valid file of that length needs. A shell limits its memory,
and kills it when this process closes a pipe, which happens at the latest when this process ends.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO

_MEMORY, _MEMORY_PER_BYTE = 2 << 30, 64
_SECONDS, _SECONDS_PER_BYTE = 10, 1e-6
_DAMAGED = "not a valid MLIR module: damaged bytecode, of which MLIR's reader"
_SHELL = "/bin/sh"
_SUPERVISE = """
ulimit -v "$1"; shift
exec 3<&0
"$@" <&3 3<&- >/dev/null & child=$!
{ read -r end; kill -9 $child; } <&1 & watch=$!
wait $child; code=$?
kill -9 $watch
exit $code
"""
"""The script of the shell; its standard output is the pipe to read from. It exits with 128 and the
number of the signal that ended its child. Where memory cannot be limited, it goes on."""
_FLAGS = ("-", "--allow-unregistered-dialect", "--emit-bytecode", "-o", os.devnull)


def read_elsewhere(bytecode: bytes) -> None:
    """Return if MLIR's reader can read the bytecode, or refuses it with an error; raise otherwise.

    Raises:
        ValueError: it would end the process, or take all of its memory or time.
    """
    reader = _reader()
    if reader is None:
        return
    memory = _MEMORY + _MEMORY_PER_BYTE * len(bytecode)
    with tempfile.TemporaryFile() as file:  # to feed a pipe takes longer than to read it
        file.write(bytecode)
        file.seek(0)
        with _supervised([reader, *_FLAGS], memory, file) as process:
            try:
                code = process.wait(_SECONDS + _SECONDS_PER_BYTE * len(bytecode))
            except subprocess.TimeoutExpired:
                raise ValueError(f"{_DAMAGED} does not come to an end") from None
    if code > 128:
        raise ValueError(f"{_DAMAGED} ends with {signal.Signals(code - 128).name}")


@contextmanager
def _supervised(
    command: Sequence[str], memory: int, given: IO[bytes]
) -> Iterator[subprocess.Popen[bytes]]:
    """Context of a process with a memory limit in bytes, which reads a file. It ends with the
    block, or with this process.
    """
    pipe, held = os.pipe()
    try:
        process = subprocess.Popen(
            [_SHELL, "-c", _SUPERVISE, "sh", str(memory >> 10), *command],
            stdin=given,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "LLVM_DISABLE_SYMBOLIZATION": "1"},
        )
    except BaseException:
        os.close(held)
        raise
    finally:
        os.close(pipe)
    with process:
        try:
            yield process
        finally:
            os.close(held)


@cache
def _reader() -> str | None:
    """Return the program that reads bytecode; None if there is none, or no shell to supervise
    it.
    """
    from irax_compiler.versions import bundled_tool

    path: Path | None = bundled_tool("iree-opt")
    return None if path is None or not os.path.exists(_SHELL) else str(path)
