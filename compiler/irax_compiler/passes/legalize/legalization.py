"""Legalizations: patterns for operations that a target gets wrong, refuses, or is slow at.

    @legalizes("stablehlo.add", kind="bug", of="IREE")
    def add_of_booleans(operation):
        '''What goes wrong without it.'''
        if <it doesn't apply>:
            return None
        return [<the values that take the place of the operation's results>]

A legalization builds operations with irax's op builders. It is not applied to operations that it
built itself. Its name is in the location of each of them.

It states the defect that it works around. `tests/upstream` has a program that shows the defect, by
which `make upstream` tells when the legalization is no longer needed. Defects that end a process,
or reach memory that is not the program's, are stated in words alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from irax_compiler import mlir
from irax_compiler.mlir import Operation
from irax_compiler.ops.core import Op
from irax_compiler.passes.rewriting import Pattern, Replacement, Subject, matched
from irax_compiler.sizes import InconclusiveDimensionOperation

Kind = Literal["bug", "missing", "slow"]
"""The kind of defect worked around: wrong results or fatal ones; missing features; slow code."""


@dataclass(frozen=True)
class Legalization(Pattern):
    """A rewrite of operations that a target does not support with StableHLO's semantics."""

    kind: Kind
    of: tuple[str, ...]
    """The software that it works around: "IREE", "XLA", "Mesa", ..."""
    reproduction: str
    """The name of the program in `tests/upstream` that shows the defect; "" for a fatal one."""
    fatal: str = ""
    """The end of the process, or of its arrays, without the legalization, and the version."""
    issue: str = ""
    """The address of the upstream issue of a fatal defect, if one is known."""
    fixed_in: str | None = None
    """The first version of that software that does not need it; None if there is none yet."""

    def replacement(self, operation: Operation, op: Op | None) -> Replacement:
        """Return what the pattern puts in the place of an operation; None if it does not match.

        Raises:
            InconclusiveDimensionOperation: a defect of some sizes, and the size is symbolic. What
                is missing a compiler tells by itself, and what is slow is right.
        """
        try:
            with mlir.named(self.name, operation.location):
                return super().replacement(operation, op)
        except InconclusiveDimensionOperation:
            if self.kind == "bug":
                raise
            return None


def legalizes(
    *subjects: Subject,
    kind: Kind,
    of: str | tuple[str, ...],
    reproduction: str = "",
    fatal: str = "",
    issue: str = "",
    fixed_in: str | None = None,
) -> Callable[[Callable[..., Replacement]], Legalization]:
    """Decorator for legalizations of the given ops or operation names. The options are fields of
    `Legalization`; `reproduction` is the function's name by default, and none of a fatal defect.
    """
    names, kinds = matched(subjects)
    software = (of,) if isinstance(of, str) else of

    def legalization(build: Callable[..., Replacement]) -> Legalization:
        name = build.__name__
        shown = "" if fatal else reproduction or name
        return Legalization(
            name, names, kinds, build, kind, software, shown, fatal, issue, fixed_in
        )

    return legalization
