"""Solvers that use a matrix only by its products with vectors."""

from irax.scipy.sparse import linalg as linalg
