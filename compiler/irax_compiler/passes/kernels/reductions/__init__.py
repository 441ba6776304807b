"""Reductions as kernels of their own."""

from irax_compiler.passes.kernels.reductions.reductions import Reductions as Reductions
