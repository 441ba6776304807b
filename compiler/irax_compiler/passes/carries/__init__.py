"""Loops of IREE's dialect flow that update arrays where they are."""

from irax_compiler.passes.carries.carries import Carries

__all__ = ["Carries"]
