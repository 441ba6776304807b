"""Solvers that need of a matrix only its products with vectors."""

from irax.scipy.sparse import linalg as linalg
