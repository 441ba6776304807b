"""Loops in the form in which IREE runs them fast."""

from irax_compiler.passes.loops.loops import Loops

__all__ = ["Loops"]
