"""Kernels of one part after another as one kernel."""

from irax_compiler.passes.kernels.fuse_kernels.fuse_kernels import FuseKernels as FuseKernels
