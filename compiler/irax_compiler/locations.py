"""Origins of operations, as their locations state them: the user's lines, and transformations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from irax_compiler.cells import place
from irax_compiler.mlir import Location, Module, ir, passmanager


def without(module: Module) -> Any:
    """Return a copy of a module's operation without locations."""
    copy = module.operation.clone()
    manager = passmanager.PassManager.parse("any(strip-debuginfo)", module.context)
    manager.run(copy.operation)
    return copy


@dataclass(frozen=True)
class Frame:
    """A line of a file."""

    file: str
    line: int
    names: tuple[str, ...] = ()
    """The names of the transformations that made an operation, the last first: transpose, jvp."""

    def place(self, short: bool = False) -> str:
        """Return the text of the place: `file:line`; the file's name alone where it is `short`."""
        return place(self.file, self.line, short)


def frames(location: Location) -> tuple[Frame, ...]:
    """The line that an operation was written at, then those of the calls that it was inlined from;
    none where that is not known.

    >>> from irax_compiler import mlir
    >>> frames(mlir.file_location("model.py", 3))
    (Frame(file='model.py', line=3, names=()),)
    """
    known: Any = location
    if isinstance(location, ir.FileLineColLoc):
        return (Frame(known.filename, known.start_line),)
    if isinstance(location, ir.CallSiteLoc):
        return frames(known.callee) + frames(known.caller)
    if isinstance(location, ir.NameLoc):
        inner = frames(known.child_loc)
        return tuple(
            replace(frame, names=(known.name_str, *frame.names)) if i == 0 else frame
            for i, frame in enumerate(inner)
        )
    if isinstance(location, ir.FusedLoc):
        return next(filter(None, map(frames, known.locations)), ())
    return ()
