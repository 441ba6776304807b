"""Factorizations by reflections (A. S. Householder, 1958): qr, and Hessenberg's form.

Reflections are packed as LAPACK does: I - tau v v^H, where the first element of v is one and the
others are stored below the diagonal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of, shape_of
from irax_compiler.ops import bitwise, comparison, elementwise, shape, slicing
from irax_compiler.ops.attributes import FLAG, attribute
from irax_compiler.ops.composite import ComposedOp, register_composed
from irax_compiler.ops.core import Tangent, UnsupportedOp, full, full_like, only, zeros_like
from irax_compiler.ops.linalg import arithmetic, triangular
from irax_compiler.ops.linalg.lu import FROM_RIGHT_UPPER
from irax_compiler.ops.linalg.matrices import (
    ALL,
    INT32,
    Factorization,
    adapted,
    along,
    exchanged,
    identity,
    largest_from,
    numbers,
    part,
    per_matrix,
    squares,
    total,
    where,
)
from irax_compiler.ops.linalg.triangular import TriangularSolve, adjoint, matmul, triangle
from irax_compiler.ops.links import Use
from irax_compiler.ops.loop_builders import while_loop
from irax_compiler.ops.scipy_modules import scipy_module
from irax_compiler.ops.sharding_rule import Shape, ShardingRule, of_matrices
from irax_compiler.ops.structured import DefinedOp, evaluate_definition
from irax_compiler.ops.transformation import Differentiation, Evaluation
from irax_compiler.sizes import larger, smaller

SOLVE_UNIT_UPPER = TriangularSolve(True, False, True, "NO_TRANSPOSE")


# ---- qr ------------------------------------------------------------------------------------------


@register_composed
@dataclass(frozen=True)
class Qr(Factorization):
    """A = Q R with orthonormal columns of Q, as many as A has (there are no more than rows), and an
    upper triangle R. If `full`, Q is square, and R has further rows, of zeros.
    """

    name = "irax.qr"
    full: bool = attribute(FLAG, default=False)

    def zeros(self, use: Use, zeros: Sequence[np.ndarray | None]) -> np.ndarray | None:
        if use.result == 0:
            return None
        *batch, m, n = use.results[1]
        return np.broadcast_to(np.tri(m, n, -1, dtype=bool), (*batch, m, n))

    @classmethod
    def flops(cls, operation: Operation) -> float:
        op = cls.read(operation)
        assert isinstance(op, Qr)

        def count(m: int, n: int) -> float:
            made = arithmetic.product_of_reflections(m, m if op.full else n, n)
            return arithmetic.reflections(m, n) + made

        return arithmetic.of_matrices(operation, count)

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        (a,) = operands
        *batch, m, n = shape_of(a)
        if n > m:
            raise UnsupportedOp(f"{self.name}: {m} rows and {n} columns; expected no more columns")
        packed, taus = _reflected(a, 0, n)
        size = m if self.full else n
        wide = packed
        if size > n:
            zero = full((), 0, dtype_of(a))
            no = (0,) * (len(batch) + 2)
            wide = slicing.Pad(no, (*no[:-1], size - n), no)(packed, zero)
        r = triangle(part(packed, slice(0, size), ALL), lower=False)
        return [_product(wide, taus), r]

    def evaluate(self, call: Evaluation, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        q, r = np.linalg.qr(x, "complete" if self.full else "reduced")
        return q, r

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        """S. F. Walter and L. Lehmann, Algorithmic differentiation of linear algebra functions,
        2013, with a real diagonal of R.
        """
        results = transform.results(self, primals)
        q, r = results
        if shape_of(q)[-1] != shape_of(r)[-1]:
            raise UnsupportedOp(
                "irax.qr: the columns of Q that complete it to a square matrix have no derivative, "
                "any basis would do; take the reduced form (full_matrices=False, mode='reduced')"
            )
        if 0 in shape_of(r):
            return results, [zeros_like(q), zeros_like(r)]
        moved = FROM_RIGHT_UPPER(r, only(tangents))
        inner = matmul(adjoint(q), moved)
        # Less what turns Q, it is a triangle: so a column of R depends on those of A up to it.
        below = triangle(inner, offset=-1)
        rest = elementwise.add(triangle(inner, lower=False), adjoint(below))
        if dtype_of(q).kind == "c":
            on_it = elementwise.subtract(triangle(inner), below)
            imaginary = triangular.scaled(elementwise.subtract(on_it, adjoint(on_it)), 0.5)
            rest = elementwise.subtract(rest, imaginary)
        d_q = elementwise.subtract(moved, matmul(q, rest))
        return results, [d_q, matmul(rest, r)]


@register_composed
@dataclass(frozen=True)
class QrOrder(Factorization):
    """Column pivoting: the order of columns in which the diagonal of R does not grow. The next
    column is the one with the largest component orthogonal to the earlier ones.
    """

    name = "irax.qr_order"

    @classmethod
    def flops(cls, operation: Operation) -> float:
        return arithmetic.of_matrices(operation, arithmetic.reflections)

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        a = adjoint(operands[0])
        *batch, n, m = shape_of(a)
        zero, one, limit = (full((), i, INT32) for i in (0, 1, smaller(m, n)))
        row = numbers((*batch, n, m), 2)

        def advance(k: Value, a: Value, order: Value) -> Sequence[Value]:
            left = squares(a)
            chosen = largest_from(total(left, 1), k)
            order, a = exchanged(order, k, chosen, 1), exchanged(a, k, chosen, 2)
            at_k = shape.broadcast_scalar(k, (*batch, n, m))
            vector = total(where(comparison.equal(row, at_k), a), 2)
            size = total(squares(vector), 1)
            nothing = comparison.equal(size, zeros_like(size))
            safe = comparison.select(nothing, full_like(size, 1), size)
            across = shape.reshape(vector, (*batch, 1, m))
            shares = matmul(a, adjoint(across))
            shares = elementwise.divide(shares, adapted(per_matrix(safe, (*batch, n, 1)), a))
            rest = elementwise.subtract(a, matmul(shares, across))
            after = comparison.greater(row, at_k)
            return [elementwise.add(k, one), comparison.select(after, rest, a), order]

        start = [zero, a, numbers((*batch, n), 1)]
        _, _, order = while_loop(lambda k, *_: comparison.less(k, limit), advance, start)
        return [order]

    def evaluate(self, call: Evaluation, x: np.ndarray) -> tuple[np.ndarray]:
        linalg = scipy_module("linalg")
        if linalg is None:
            (order,) = evaluate_definition(self, [x])
            return (order,)
        order = np.empty((*x.shape[:-2], x.shape[-1]), np.int32)
        for place in np.ndindex(*x.shape[:-2]):
            order[place] = np.arange(x.shape[-1])
            if x[place].size:
                found = linalg.qr(x[place], mode="r", pivoting=True, check_finite=False)
                order[place] = found[1]
        return (order,)

    def jvp(
        self, transform: Differentiation, primals: Sequence[Value], tangents: Sequence[Tangent]
    ) -> tuple[Sequence[Value], Sequence[Tangent]]:
        results = transform.results(self, primals)
        return results, [None]


# ---- packed reflections --------------------------------------------------------------------------


class _Packed(DefinedOp, Factorization):
    """A factorization by packed reflections; its derivatives are those of the loop that computes
    them.
    """

    lapack: ClassVar[str]

    def evaluate(self, call: Evaluation, *operands: np.ndarray) -> Sequence[np.ndarray]:
        lapack = scipy_module("linalg.lapack")
        if lapack is None:
            return evaluate_definition(self, operands)
        (x,) = operands
        *batch, m, n = x.shape
        count = self.count(m, n)
        packed, taus = x.copy(), np.zeros((*batch, count), x.dtype)
        names = (self.lapack, f"{self.lapack}_lwork")
        function, room = lapack.get_lapack_funcs(names, dtype=x.dtype)
        if count:  # with less room LAPACK reflects column by column, which takes ten times as long
            elements = int(room(*self.sizes(m, n))[0].real)
            for place in np.ndindex(*batch):
                packed[place], taus[place], *_ = function(x[place], lwork=elements)
        return packed, taus

    @staticmethod
    def sizes(m: int, n: int) -> tuple[int, ...]:
        """Return the sizes that LAPACK asks for, of a matrix with m rows and n columns."""
        return m, n

    @staticmethod
    def count(m: int, n: int) -> int:
        """Return the number of reflections."""
        raise NotImplementedError


@register_composed
@dataclass(frozen=True)
class HouseholderQr(_Packed):
    """R above the diagonal, the reflections whose product is Q below it, and their factors."""

    name = "irax.householder_qr"
    lapack = "geqrf"

    @classmethod
    def flops(cls, operation: Operation) -> float:
        return arithmetic.of_matrices(operation, arithmetic.reflections)

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        *_, m, n = shape_of(operands[0])
        return _reflected(operands[0], 0, smaller(m, n))

    @staticmethod
    def count(m: int, n: int) -> int:
        return smaller(m, n)


@register_composed
@dataclass(frozen=True)
class Hessenberg(_Packed):
    """Return H with A = Q H Q^H, and the factors of the reflections whose product is Q. Below its
    first subdiagonal, H holds these reflections instead of zeros. For Hermitian matrices H is
    tridiagonal.
    """

    name = "irax.hessenberg"
    lapack = "gehrd"

    @classmethod
    def flops(cls, operation: Operation) -> float:
        return arithmetic.of_matrices(operation, lambda _, n: arithmetic.hessenberg(n))

    @staticmethod
    def sizes(m: int, n: int) -> tuple[int, ...]:
        return (n,)

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        return _reflected(operands[0], 1, larger(shape_of(operands[0])[-1] - 1, 0))

    @staticmethod
    def count(m: int, n: int) -> int:
        return larger(n - 1, 0)


@register_composed
@dataclass(frozen=True)
class HouseholderProduct(DefinedOp, ComposedOp):
    """The first columns of the product of packed reflections, as many as the operand has that they
    are in.
    """

    name = "irax.householder_product"
    superlinear = True
    needs_whole = True

    def sharding_rule(self, operands: Sequence[Shape], results: Sequence[Shape]) -> ShardingRule:
        return of_matrices(operands, results)

    @classmethod
    def flops(cls, operation: Operation) -> float:
        count = shape_of(operation.operands[1])[-1]
        return arithmetic.of_matrices(
            operation, lambda m, n: arithmetic.product_of_reflections(m, n, count)
        )

    def define(self, operands: Sequence[Value]) -> Sequence[Value]:
        packed, taus = operands
        columns, count = shape_of(packed)[-1], shape_of(taus)[-1]
        if columns < count:
            raise UnsupportedOp(
                f"{self.name}: {count} factors of reflections for {columns} columns; expected no "
                "more than columns"
            )
        return [_product(packed, taus)]


def _reflected(a: Value, shift: int, count: int) -> Sequence[Value]:
    """Zeros below the diagonal (`shift` 0), or below the one beneath it, where reflections are
    applied from both sides (`shift` 1), in `count` columns: the result with the reflections in
    place of zeros, and their factors.
    """
    *batch, m, n = shape_of(a)
    zero, one, limit = (full((), i, INT32) for i in (0, 1, count))
    column, rows = numbers((*batch, m, n), 1), numbers((*batch, m), 1)

    def advance(k: Value, a: Value, taus: Value) -> Sequence[Value]:
        at_k = shape.broadcast_scalar(k, (*batch, m, n))
        x = total(where(comparison.equal(column, at_k), a), 1)
        top = shape.broadcast_scalar(elementwise.add(k, full((), shift, INT32)), (*batch, m))
        at_top, below = comparison.equal(rows, top), comparison.greater(rows, top)
        v, tau, first = _reflection(x, at_top, below)
        v = elementwise.add(where(below, v), where(at_top, full_like(v, 1)))
        down = shape.reshape(v, (*batch, m, 1))
        products = matmul(adjoint(down), a)
        factor = per_matrix(elementwise.conjugate(tau), (*batch, 1, n))
        across = elementwise.multiply(factor, products)
        reflected = elementwise.subtract(a, matmul(down, across))
        after = comparison.greater(column, at_k)
        changed = comparison.select(after, reflected, a)
        if shift:
            sums = matmul(changed, down)
            scaled = elementwise.multiply(sums, per_matrix(tau, (*batch, m, 1)))
            changed = elementwise.subtract(changed, matmul(scaled, adjoint(down)))
        stored = comparison.select(at_top, per_matrix(first, (*batch, m)), x)
        stored = comparison.select(below, v, stored)
        this_column = comparison.equal(column, at_k)
        changed = comparison.select(this_column, along(stored, (*batch, m, n), 1), changed)
        places = numbers((*batch, count), 1)
        here = comparison.equal(places, shape.broadcast_scalar(k, (*batch, count)))
        taus = comparison.select(here, per_matrix(tau, (*batch, count)), taus)
        return [elementwise.add(k, one), changed, taus]

    start = [zero, a, full((*batch, count), 0, dtype_of(a))]
    if not count:
        return start[1:]
    _, a, taus = while_loop(lambda k, *_: comparison.less(k, limit), advance, start)
    return [a, taus]


def _reflection(x: Value, at_top: Value, below: Value) -> tuple[Value, Value, Value]:
    """The reflection that makes a vector zero below one place: v (where it is below), tau, and the
    real number that is left at the place.
    """
    alpha = total(where(at_top, x), 1)
    tail = total(squares(where(below, x)), 1)
    real = elementwise.real(alpha)
    nothing = comparison.equal(tail, zeros_like(tail))
    if dtype_of(x).kind == "c":
        imaginary = elementwise.imag(alpha)
        is_real = comparison.equal(imaginary, zeros_like(imaginary))
        nothing = bitwise.and_(nothing, is_real)
    size = elementwise.add(squares(alpha), tail)
    size = elementwise.sqrt(comparison.select(nothing, full_like(size, 1), size))
    is_negative = comparison.less(real, zeros_like(real))
    beta = comparison.select(is_negative, size, elementwise.negate(size))
    wide = adapted(beta, x)
    tau = elementwise.divide(elementwise.subtract(wide, alpha), wide)
    tau = comparison.select(nothing, zeros_like(tau), tau)
    depth = elementwise.subtract(alpha, wide)
    depth = comparison.select(nothing, full_like(depth, 1), depth)
    v = elementwise.divide(x, per_matrix(depth, shape_of(x)))
    return v, tau, comparison.select(nothing, alpha, wide)


def _product(packed: Value, taus: Value) -> Value:
    """I - V T V^H, where T is a triangle (R. Schreiber and C. Van Loan, 1989)."""
    *batch, _, n = shape_of(packed)
    count = shape_of(taus)[-1]
    start = identity(packed)
    if not count or 0 in shape_of(packed):
        return start
    corner = part(packed, ALL, slice(0, count))
    v = elementwise.add(triangle(corner, offset=-1), identity(corner))
    down = along(taus, (*batch, count, count), 1)
    products = triangle(matmul(adjoint(v), v), lower=False, offset=1)
    across = along(taus, (*batch, count, n), 1)
    right = elementwise.multiply(across, matmul(adjoint(v), start))
    inner = SOLVE_UNIT_UPPER(elementwise.multiply(down, products), right)
    return elementwise.subtract(start, matmul(v, inner))
