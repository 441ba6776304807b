"""irax.lax.linalg: matrices, which are the last two dimensions of an array."""

from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.lax.linalg.factorizations import EighImplementation as EighImplementation
from irax.lax.linalg.factorizations import EigImplementation as EigImplementation
from irax.lax.linalg.factorizations import SvdAlgorithm as SvdAlgorithm
from irax.lax.linalg.factorizations import cholesky as cholesky
from irax.lax.linalg.factorizations import eig as eig
from irax.lax.linalg.factorizations import eigh as eigh
from irax.lax.linalg.factorizations import lu as lu
from irax.lax.linalg.factorizations import qdwh as qdwh
from irax.lax.linalg.factorizations import qr as qr
from irax.lax.linalg.factorizations import schur as schur
from irax.lax.linalg.factorizations import svd as svd
from irax.lax.linalg.reflections import hessenberg as hessenberg
from irax.lax.linalg.reflections import householder_product as householder_product
from irax.lax.linalg.reflections import ormqr as ormqr
from irax.lax.linalg.reflections import tridiagonal as tridiagonal
from irax.lax.linalg.triangular import cholesky_update as cholesky_update
from irax.lax.linalg.triangular import lu_pivots_to_permutation as lu_pivots_to_permutation
from irax.lax.linalg.triangular import symmetric_product as symmetric_product
from irax.lax.linalg.triangular import triangular_solve as triangular_solve
from irax.lax.linalg.triangular import tridiagonal_solve as tridiagonal_solve

__getattr__: _GetAttr = _refuse_names(__name__)
