"""Kernels of one part after another as one kernel."""

from irax_compiler.passes.chain.chain import Chain as Chain
