"""Rewrites of StableHLO to what a target takes and gets right: a small one for each defect."""

from irax_compiler.passes.legalize.legalize import Legalize, LegalizeChlo

__all__ = ["Legalize", "LegalizeChlo"]
