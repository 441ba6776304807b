"""Kernels of cumulative reductions."""
