"""irax.scipy.linalg: SciPy's functions of matrices.

Arguments by which SciPy reuses memory or looks for nan (`overwrite_a`, `check_finite`, ...) are
accepted, without effect.
"""

from irax.execution.replay import replay_functions as _replay_functions
from irax.scipy.linalg.factorizations import cho_factor as cho_factor
from irax.scipy.linalg.factorizations import cholesky as cholesky
from irax.scipy.linalg.factorizations import eigh as eigh
from irax.scipy.linalg.factorizations import eigh_tridiagonal as eigh_tridiagonal
from irax.scipy.linalg.factorizations import hessenberg as hessenberg
from irax.scipy.linalg.factorizations import lu as lu
from irax.scipy.linalg.factorizations import lu_factor as lu_factor
from irax.scipy.linalg.factorizations import polar as polar
from irax.scipy.linalg.factorizations import qr as qr
from irax.scipy.linalg.factorizations import qr_multiply as qr_multiply
from irax.scipy.linalg.factorizations import rsf2csf as rsf2csf
from irax.scipy.linalg.factorizations import schur as schur
from irax.scipy.linalg.factorizations import svd as svd
from irax.scipy.linalg.functions import expm as expm
from irax.scipy.linalg.functions import expm_frechet as expm_frechet
from irax.scipy.linalg.functions import funm as funm
from irax.scipy.linalg.functions import sqrtm as sqrtm
from irax.scipy.linalg.solutions import cho_solve as cho_solve
from irax.scipy.linalg.solutions import det as det
from irax.scipy.linalg.solutions import inv as inv
from irax.scipy.linalg.solutions import lu_solve as lu_solve
from irax.scipy.linalg.solutions import solve as solve
from irax.scipy.linalg.solutions import solve_sylvester as solve_sylvester
from irax.scipy.linalg.solutions import solve_triangular as solve_triangular
from irax.scipy.linalg.special import block_diag as block_diag
from irax.scipy.linalg.special import circulant as circulant
from irax.scipy.linalg.special import companion as companion
from irax.scipy.linalg.special import convolution_matrix as convolution_matrix
from irax.scipy.linalg.special import dft as dft
from irax.scipy.linalg.special import fiedler as fiedler
from irax.scipy.linalg.special import fiedler_companion as fiedler_companion
from irax.scipy.linalg.special import hadamard as hadamard
from irax.scipy.linalg.special import hankel as hankel
from irax.scipy.linalg.special import helmert as helmert
from irax.scipy.linalg.special import hilbert as hilbert
from irax.scipy.linalg.special import invhilbert as invhilbert
from irax.scipy.linalg.special import invpascal as invpascal
from irax.scipy.linalg.special import leslie as leslie
from irax.scipy.linalg.special import pascal as pascal
from irax.scipy.linalg.special import toeplitz as toeplitz

_replay_functions(__name__)
