"""Reductions as kernels of their own."""

from irax_compiler.passes.reductions.reductions import Reductions as Reductions
