"""The passes: each a rewrite of a module, StableHLO in and StableHLO out."""

from irax_compiler.passes import (
    annotate,
    batch,
    callbacks,
    check,
    decompose,
    defer,
    fold,
    host,
    jvp,
    legalize,
    linearize,
    loops,
    prune,
    simplify,
    transpose,
    vjp,
    widen,
)
from irax_compiler.passes.core import PASSES, Pass, PassError

__all__ = ["PASSES", "Pass", "PassError"]
