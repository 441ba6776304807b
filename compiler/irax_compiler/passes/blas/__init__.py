"""Products of matrices by BLAS, as dispatches of IREE's."""

from irax_compiler.passes.blas.blas import Blas as Blas
