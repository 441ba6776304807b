"""Products of matrices by BLAS, as dispatches of IREE's."""

from irax_compiler.passes.kernels.blas.blas import Blas as Blas
