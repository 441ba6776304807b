"""Kernels of elementwise operations on arrays that are put together of parts."""

from irax_compiler.passes.kernels.piecewise.piecewise import Piecewise as Piecewise
