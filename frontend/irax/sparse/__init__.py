"""Sparse derivatives: Jacobians and Hessians that have a few elements in a row.

A pattern says which elements can be other than zero; it is derived from the program, not from
values. Columns that share no row get one color, and one directional derivative then gives all of
them, so a Jacobian takes as many products as there are colors, however many unknowns.

    pattern = sparsity(residual)(x)          where the Jacobian has elements
    coloring = color(pattern)                which columns (or rows) go together
    jacobian(residual)(x)                    the elements, as a BCOO array

Arguments and results are pytrees; a matrix has a row for each element of the result and a column
for each element of the arguments, one leaf after the other, in row-major order.
"""

from __future__ import annotations

from irax.sparse.colors import Coloring as Coloring
from irax.sparse.colors import color as color
from irax.sparse.derivatives import grad_and_hessian as grad_and_hessian
from irax.sparse.derivatives import hessian as hessian
from irax.sparse.derivatives import jacobian as jacobian
from irax.sparse.derivatives import value_and_hessian as value_and_hessian
from irax.sparse.derivatives import value_and_jacobian as value_and_jacobian
from irax.sparse.patterns import SparsityPattern as SparsityPattern
from irax.sparse.patterns import hessian_sparsity as hessian_sparsity
from irax.sparse.patterns import sparsity as sparsity

__all__ = [
    "Coloring",
    "SparsityPattern",
    "color",
    "grad_and_hessian",
    "hessian",
    "hessian_sparsity",
    "jacobian",
    "sparsity",
    "value_and_hessian",
    "value_and_jacobian",
]
