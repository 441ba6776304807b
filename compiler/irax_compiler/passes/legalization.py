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
which `make upstream` tells when the legalization is no longer needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from irax_compiler import mlir
from irax_compiler.mlir import Operation
from irax_compiler.ops.core import Op
from irax_compiler.passes.rewriting import Pattern, Replacement, Subject, matched

Kind = Literal["bug", "missing", "slow"]
"""The kind of defect worked around: wrong results or crashes; missing features; slow code."""


@dataclass(frozen=True)
class Legalization(Pattern):
    """A rewrite of operations that a target does not have as StableHLO has them."""

    kind: Kind
    of: tuple[str, ...]
    """The software that it works around: "IREE", "XLA", "Mesa", ..."""
    reproduction: str
    """The name of the program in `tests/upstream` that shows what is worked around."""
    issue: str | None = None
    """The address of the issue upstream, where one is known."""
    fixed_in: str | None = None
    """The version of that software from which on it is not needed; None while it is."""

    def replacement(self, operation: Operation, op: Op | None) -> Replacement:
        with mlir.named(self.name, operation.location):
            return super().replacement(operation, op)


def legalizes(
    *subjects: Subject,
    kind: Kind,
    of: str | tuple[str, ...],
    reproduction: str = "",
    issue: str | None = None,
    fixed_in: str | None = None,
) -> Callable[[Callable[..., Replacement]], Legalization]:
    """Decorator: the function is a legalization of operations that are one of some ops, or that
    have one of some names. The fields are those of `Legalization`; the reproduction is by default
    called as the function is.
    """
    names, kinds = matched(subjects)
    software = (of,) if isinstance(of, str) else of

    def legalization(build: Callable[..., Replacement]) -> Legalization:
        name = build.__name__
        shown = reproduction or name
        return Legalization(name, names, kinds, build, kind, software, shown, issue, fixed_in)

    return legalization
