"""Fourier transforms as kernels."""

from irax_compiler.passes.fourier.fourier import Fourier as Fourier
