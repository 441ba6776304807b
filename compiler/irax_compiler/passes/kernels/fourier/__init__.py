"""Fourier transforms as kernels."""

from irax_compiler.passes.kernels.fourier.fourier import Fourier as Fourier
