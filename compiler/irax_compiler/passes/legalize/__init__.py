"""Rewrites of StableHLO to what a target takes and gets right: one small cure for each defect."""

from irax_compiler.passes.legalize.legalize import CURES, Legalize

__all__ = ["CURES", "Legalize"]
