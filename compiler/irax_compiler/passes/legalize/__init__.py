"""Legalizations: rewrites of StableHLO into a form that a target compiles correctly, one small
rewrite per defect.
"""

from irax_compiler.passes.legalize.legalize import Legalize, LegalizeChlo

__all__ = ["Legalize", "LegalizeChlo"]
