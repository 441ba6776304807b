"""Legalizations: patterns for operations that a target gets wrong, refuses, or is slow at.

    @legalizes("stablehlo.add")
    def add_of_booleans(operation):
        '''What goes wrong without it.'''
        if <it doesn't apply>:
            return None
        return [<the values that take the place of the operation's results>]

A legalization builds its operations with irax's own op builders. It may apply to what it builds: it
is not asked again about that. What it builds has its name in the location.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from irax_compiler import mlir
from irax_compiler.mlir import Operation
from irax_compiler.ops.core import Op
from irax_compiler.passes.rewriting import Pattern, Replacement, Subject, matched


@dataclass(frozen=True)
class Legalization(Pattern):
    """A rewrite of operations that a target does not have as StableHLO has them."""

    def replacement(self, operation: Operation, op: Op | None) -> Replacement:
        with mlir.named(self.name, operation.location):
            return super().replacement(operation, op)


def legalizes(*subjects: Subject) -> Callable[[Callable[..., Replacement]], Legalization]:
    """Decorator: the function is a legalization of operations that are one of some ops, or that
    have one of some names.
    """
    names, kinds = matched(subjects)
    return lambda build: Legalization(build.__name__, names, kinds, build)
