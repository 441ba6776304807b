"""Kernels of elementwise operations on arrays that are broadcast, strided, sliced or transposed."""

from irax_compiler.passes.kernels.elementwise.elementwise import Elementwise as Elementwise
