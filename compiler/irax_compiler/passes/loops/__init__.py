"""Rewrites of loops into forms that IREE runs fast."""

from irax_compiler.passes.loops.host_steps import HostSteps
from irax_compiler.passes.loops.loops import Loops, Rows
from irax_compiler.passes.loops.meters import Meters

__all__ = ["HostSteps", "Loops", "Meters", "Rows"]
