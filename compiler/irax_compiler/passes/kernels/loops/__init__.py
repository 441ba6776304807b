"""Rewrites of loops into forms that IREE runs fast."""

from irax_compiler.passes.kernels.loops.interrupt_checks import InterruptChecks
from irax_compiler.passes.kernels.loops.loops import Loops, LowerCountedLoops
from irax_compiler.passes.kernels.loops.peel_host_calls import PeelHostCalls

__all__ = ["InterruptChecks", "Loops", "LowerCountedLoops", "PeelHostCalls"]
