"""Eigenvalues of general square matrices, eig and schur, which only LAPACK computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Type, Value, shape_of
from irax_compiler.ops import comparison, elementwise
from irax_compiler.ops.attributes import FLAG, attribute
from irax_compiler.ops.composite import register_composed
from irax_compiler.ops.core import Tangent, UnsupportedOp, full
from irax_compiler.ops.fft import complex_dtype
from irax_compiler.ops.linalg import arithmetic
from irax_compiler.ops.linalg.lu import Solve
from irax_compiler.ops.linalg.matrices import (
    INT32,
    LibraryOp,
    adapted,
    along,
    diagonal,
    identity,
    largest_from,
    numbers,
    of_finite,
    reciprocal_beside_diagonal,
    squares,
    total,
    where,
)
from irax_compiler.ops.linalg.spectral import Spectrum
from irax_compiler.ops.linalg.triangular import adjoint, matmul, transposed
from irax_compiler.ops.scipy_modules import needed
from irax_compiler.ops.transformation import Differentiation, Evaluation


@register_composed
@dataclass(frozen=True)
class Eig(LibraryOp, Spectrum):
    """The eigenvalues and the eigenvectors, as columns of norm 1 whose largest element is real."""

    name = "irax.eig"
    place = 0
    vectors: bool = attribute(FLAG, default=True)

    @classmethod
    def flops(cls, operation: Operation) -> float:
        op = cls.read(operation)
        assert isinstance(op, Eig)
        return arithmetic.of_matrices(operation, lambda _, n: arithmetic.eig(n, op.vectors))

    def library_types(self, type_: Type) -> Sequence[Type]:
        extents = mlir.shape_of_type(type_)
        dtype = complex_dtype(mlir.dtype_of_type(type_))
        values = mlir.tensor_type(extents[:-1], dtype)
        return [values, mlir.tensor_type(extents, dtype)] if self.vectors else [values]

    def evaluate(self, call: Evaluation, x: np.ndarray) -> tuple[np.ndarray, ...]:
        dtype = complex_dtype(x.dtype)
        if not self.vectors:
            return of_finite(lambda x: [np.linalg.eigvals(x).astype(dtype)], x)
        return of_finite(lambda x: [part.astype(dtype) for part in np.linalg.eig(x)], x)

    def _inner(self, tangent: Value, vectors: Value) -> Value:
        """V^-1 dA V."""
        return Solve()(vectors, matmul(adapted(tangent, vectors), vectors))

    def slopes(self, tangent: Value, results: Sequence[Value]) -> Value:
        return diagonal(self._inner(tangent, results[1]))

    def tangents(self, tangent: Value, results: Sequence[Value]) -> Sequence[Tangent]:
        """Return dw = diag(V^-1 dA V) and dV = V (F * V^-1 dA V) with F = 1 / (w_j - w_i), 0 on the
        diagonal. Vectors of equal values have no derivative: F is infinite. Of each column of dV,
        the part that would change its norm and the phase of its largest element is removed.
        """
        values, vectors = results
        inner = self._inner(tangent, vectors)
        extents = shape_of(inner)
        gaps = elementwise.subtract(along(values, extents, 2), along(values, extents, 1))
        moved = matmul(vectors, elementwise.multiply(reciprocal_beside_diagonal(gaps), inner))
        stretch = elementwise.real(
            total(elementwise.multiply(elementwise.conjugate(vectors), moved), 2)
        )
        sizes = elementwise.abs(transposed(vectors))
        place = largest_from(sizes, full((), 0, INT32))
        at = comparison.equal(numbers(extents, 2), along(place, extents, 2))
        turn = elementwise.divide(
            elementwise.imag(total(where(at, moved), 2)),
            elementwise.real(total(where(at, vectors), 2)),
        )
        excess = along(elementwise.complex_(stretch, turn), extents, 2)
        moved = elementwise.subtract(moved, elementwise.multiply(vectors, excess))
        return [diagonal(inner), moved]


def left_vectors(right: Value) -> Value:
    """Return left eigenvectors as columns: the rows of the inverse of the right ones, conjugated,
    of norm 1, the largest element real.
    """
    left = adjoint(Solve()(right, identity(right)))
    extents = shape_of(left)
    sizes = elementwise.abs(transposed(left))
    at = comparison.equal(
        numbers(extents, 2), along(largest_from(sizes, full((), 0, INT32)), extents, 2)
    )
    largest = total(where(at, left), 2)
    norm = elementwise.sqrt(total(squares(left), 2))
    phase = elementwise.divide(
        elementwise.conjugate(elementwise.sign(largest)), adapted(norm, largest)
    )
    return elementwise.multiply(left, along(phase, extents, 2))


@register_composed
@dataclass(frozen=True)
class Schur(LibraryOp):
    """T and Z with A = Z T Z^H, Z unitary, T an upper triangle; for real matrices Z is real, and T
    has blocks of 2 x 2 on its diagonal for pairs of complex eigenvalues.
    """

    name = "irax.schur"

    @classmethod
    def flops(cls, operation: Operation) -> float:
        return arithmetic.of_matrices(operation, lambda _, n: arithmetic.eig(n, True))

    def library_types(self, type_: Type) -> Sequence[Type]:
        return [type_, type_]

    def evaluate(self, call: Evaluation, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        linalg = needed("linalg", "Schur's form of a matrix")
        triangles, bases = np.empty_like(x), np.empty_like(x)
        for place in np.ndindex(*x.shape[:-2]):
            if not x[place].size:
                continue
            if np.isfinite(x[place]).all():
                triangles[place], bases[place] = linalg.schur(x[place])
            else:
                triangles[place] = bases[place] = np.nan
        return triangles, bases

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        raise UnsupportedOp("irax.schur has no derivative; eigh, eig and svd have")
