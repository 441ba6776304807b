"""The linkers of programs for this processor, which make shared libraries of object files.

irax links what LLVM writes for x86-64 on Linux itself (`elf`): instead of a linker, IREE gets a
command that leaves the object file as it is. Others are linked by the linker that comes with IREE.
"""

from __future__ import annotations

import functools
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from irax_compiler import chips
from irax_compiler.iree import addresses, blas, elf, temporary
from irax_compiler.iree.invocation import CompileError, bundled_tool

EXPORTED = "iree_hal_executable_library_query"
"""The function of a program's library that IREE's runtime looks up."""

_AS_LIBRARY = ("--iree-llvmcpu-link-embedded=false",)
_COMMAND = "--iree-llvmcpu-system-linker-path="
_LEAVE = 'leave() { for file; do :; done; mv "$file" "$2"; }; leave'
"""A command for a shell that takes the options of a linker, "-o" first and the object file last."""
_OPTIONS = ("-nostdlib", "-static", "-shared", "--strip-debug")


def flags(module: bytes) -> tuple[str, ...]:
    """Return IREE's flags for a program that is a shared library, and that IREE links: on Linux by
    the linker that comes with it, elsewhere by the system's. It finds C's functions, and those of
    libraries that it calls, where it is loaded.
    """
    command = _command(module)
    return (*_AS_LIBRARY, f"{_COMMAND}{shlex.join(command)}") if command else _AS_LIBRARY


@dataclass(frozen=True)
class Linker:
    """The linker of a program for this processor."""

    flags: tuple[str, ...]
    """IREE's flags for it."""
    is_own: bool
    """True if IREE leaves object files, of which `link` makes shared libraries."""
    _module: bytes
    """The module with the calls of functions of libraries and at addresses."""

    def link(self, data: bytes) -> bytes:
        """Return the shared library of an object file.

        Raises:
            CompileError: it cannot be linked.
        """
        defined = {name.encode(): x for name, x in addresses.functions(self._module).items()}
        library = _library(self._module)
        needed = {} if library is None else {blas.SYMBOLS: elf.soname(library)}
        try:
            return elf.link(data, EXPORTED, defined, needed)
        except elf.NotLinked:
            return self._by_process(data)

    def _by_process(self, data: bytes) -> bytes:
        with tempfile.TemporaryDirectory(dir=temporary.folder()) as folder:
            given, made = Path(folder, "kernels.o"), Path(folder, "kernels.so")
            given.write_bytes(data)
            line = [*_command(self._module), "-o", str(made), *_OPTIONS, str(given)]
            done = subprocess.run(line, capture_output=True, text=True, check=False)
            if done.returncode:
                raise CompileError(f"IREE could not link the program:\n  {done.stderr.strip()}")
            return made.read_bytes()


def linker(module: bytes) -> Linker:
    """Return the linker of a module that is compiled for this processor, text or bytecode."""
    if _links_itself():
        return Linker((*_AS_LIBRARY, f"{_COMMAND}{_LEAVE}"), True, module)
    return Linker(flags(module), False, module)


@functools.cache
def _links_itself() -> bool:
    """Return True where irax links programs, which takes a command of the system's."""
    return chips.IS_X86 and sys.platform == "linux" and shutil.which("mv") is not None


def _library(module: bytes) -> Path | None:
    return blas.library() if blas.is_called(module) else None


def _command(module: bytes) -> Sequence[str]:
    """Return the command of the linker that comes with IREE, up to the files; nothing where there
    is none.
    """
    program, library = bundled_tool("iree-lld"), _library(module)
    if sys.platform != "linux" or program is None:
        return ()
    needed = () if library is None else ("--as-needed", str(library))
    return (str(program), "-flavor", "gnu", *addresses.definitions(module), *needed)
