"""The linking of programs that are shared libraries."""

from __future__ import annotations

import platform
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from irax_compiler import blas
from irax_compiler.iree import addresses, shared_library, temporary
from irax_compiler.iree.invocation import CompileError
from irax_compiler.iree.objects import Object
from irax_compiler.versions import bundled_tool

LINKER = "--iree-llvmcpu-system-linker-path="
"""The flag that has the command of the linker."""
_NOTHING = 'f() { echo > "$2"; }; f'
"""The beginning of a command that writes a line to the file that is to be the library, in place of
linking it: IREE cannot do without one."""
_KEPT = "--iree-llvmcpu-keep-linker-artifacts=true"
"""Has IREE tell where the object of a library is, and leave it there."""
_TOLD = "linker artifacts for"
"""The words after which IREE says, in a line of its own, where a library is."""
_AS_NEEDED = "--as-needed"


def flags(module: bytes) -> tuple[str, ...]:
    """Return IREE's flags for a module whose program finds C's functions, and those of libraries
    that it calls, where it is loaded. On Linux the linker is the one that comes with IREE,
    elsewhere the system's.
    """
    chosen = ("--iree-llvmcpu-link-embedded=false",)
    tool = bundled_tool("iree-lld")
    if sys.platform != "linux" or tool is None:
        return chosen
    library = blas.library() if blas.is_called(module) else None
    command = [
        *(str(tool), "-flavor", "gnu", "--gc-sections", *addresses.definitions(module)),
        *(() if library is None else (_AS_NEEDED, str(library))),
    ]
    return (*chosen, f"{LINKER}{shlex.join(command)}")


@dataclass(frozen=True)
class Linker:
    """A linker of objects that IREE makes."""

    command: Sequence[str]

    @classmethod
    def of(cls, flags: Sequence[str]) -> Linker | None:
        """Return the linker that flags name, if they do."""
        named = [x.removeprefix(LINKER) for x in flags if x.startswith(LINKER)]
        return cls(shlex.split(named[-1])) if named else None

    @staticmethod
    def without(flags: Sequence[str]) -> tuple[str, ...]:
        """Return flags with which IREE does not link, and tells where the object is."""
        kept = (f"{LINKER}{_NOTHING}" if x.startswith(LINKER) else x for x in flags)
        return (*kept, _KEPT)

    def link(self, objects: Sequence[bytes]) -> bytes:
        """Return the library of objects, of which the first has the query.

        Raises:
            CompileError: they cannot be linked.
        """
        if platform.machine() == "x86_64":
            after = dict(zip(self.command, self.command[1:], strict=False))
            library = after.get(_AS_NEEDED)
            known = addresses.of(self.command)
            try:
                others = library and {blas.PREFIX: shared_library.name_of(Path(library))}
                return shared_library.link([Object(x) for x in objects], others or {}, known)
            except shared_library.Refused:
                pass
        return self._by_command(objects)

    def _by_command(self, objects: Sequence[bytes]) -> bytes:
        with tempfile.TemporaryDirectory(prefix="irax-", dir=temporary.folder()) as folder:
            inputs = [Path(folder, f"{i}.o") for i in range(len(objects))]
            for path, data in zip(inputs, objects, strict=True):
                path.write_bytes(data)
            made = Path(folder, "library.so")
            options = ("-o", made, "-nostdlib", "-static", "-shared", "--strip-debug")
            done = subprocess.run(
                [*self.command, *options, *inputs], check=False, capture_output=True, text=True
            )
            if done.returncode:
                raise CompileError(f"IREE's linker failed:\n{done.stderr}")
            return made.read_bytes()


def taken(remarks: Sequence[str]) -> bytes:
    """Return the object of which IREE remarks where it left it, and remove it there.

    Raises:
        CompileError: IREE does not say so, or it is not there.
    """
    for remark in remarks:
        first, path, *_ = *remark.splitlines(), ""
        if _TOLD in first:
            library = Path(path.strip())
            written = library.with_suffix(".o")
            try:
                return written.read_bytes()
            except OSError as error:
                raise CompileError(f"no object of the program's kernels: {error}") from None
            finally:
                for each in (library, written):
                    each.unlink(missing_ok=True)
    raise CompileError("IREE does not tell where the object of the program's kernels is")
