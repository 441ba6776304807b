"""irax.lax.linalg: matrices, which are the last two dimensions of an array."""

from irax.core.absent_names import GetAttr as _GetAttr
from irax.core.absent_names import refuse_names as _refuse_names
from irax.lax.factorizations import EighImplementation as EighImplementation
from irax.lax.factorizations import EigImplementation as EigImplementation
from irax.lax.factorizations import SvdAlgorithm as SvdAlgorithm
from irax.lax.factorizations import cholesky as cholesky
from irax.lax.factorizations import eig as eig
from irax.lax.factorizations import eigh as eigh
from irax.lax.factorizations import lu as lu
from irax.lax.factorizations import qdwh as qdwh
from irax.lax.factorizations import qr as qr
from irax.lax.factorizations import schur as schur
from irax.lax.factorizations import svd as svd
from irax.lax.reflections import hessenberg as hessenberg
from irax.lax.reflections import householder_product as householder_product
from irax.lax.reflections import ormqr as ormqr
from irax.lax.reflections import tridiagonal as tridiagonal
from irax.lax.triangular import cholesky_update as cholesky_update
from irax.lax.triangular import lu_pivots_to_permutation as lu_pivots_to_permutation
from irax.lax.triangular import symmetric_product as symmetric_product
from irax.lax.triangular import triangular_solve as triangular_solve
from irax.lax.triangular import tridiagonal_solve as tridiagonal_solve

__getattr__: _GetAttr = _refuse_names(__name__)
