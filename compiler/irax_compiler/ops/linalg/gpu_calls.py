"""Definitions of the custom calls of cuSOLVER's, cuSPARSE's and ROCm's functions, which JAX writes
for GPUs. They take and return what LAPACK's do, by other names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from irax_compiler.mlir import Type, Value, dtype_of, shape_of, shape_of_type
from irax_compiler.ops import comparison, elementwise, shape
from irax_compiler.ops.core import UnsupportedOp, zeros_like
from irax_compiler.ops.formula import Number, where
from irax_compiler.ops.linalg import lapack, tridiagonal
from irax_compiler.ops.linalg.triangular import adjoint, matmul, transposed
from irax_compiler.ops.loop_builders import fold_rows
from irax_compiler.ops.random_bits import three_fry
from irax_compiler.ops.reduction_builders import reduce_sum

Values = Sequence[Value]
Options = Mapping[str, Any]


def _side(options: Options) -> dict[str, str]:
    return {"uplo": "L" if options["lower"] else "U"}


def _potrf(types: Sequence[Type], options: Options, operands: Values) -> Values:
    return lapack.FUNCTIONS["potrf"](types, _side(options), operands)


def _syevd(types: Sequence[Type], options: Options, operands: Values) -> Values:
    return lapack.FUNCTIONS["syevd"](types, {**_side(options), "mode": "V"}, operands)


def _gesvdj(types: Sequence[Type], options: Options, operands: Values) -> Values:
    """The right vectors are columns, where those of LAPACK are rows."""
    mode = ("A" if options["full_matrices"] else "S") if options["compute_uv"] else "N"
    x, s, u, vh, info = lapack.FUNCTIONS["gesdd"](types, {"mode": mode}, operands)
    return [x, s, u, adjoint(vh) if options["compute_uv"] else vh, info]


def _gesvd(types: Sequence[Type], options: Options, operands: Values) -> Values:
    """The right vectors are rows. Of a transposed matrix they come first."""
    mode = ("A" if options["full_matrices"] else "S") if options["compute_uv"] else "N"
    x, s, *vectors, info = lapack.FUNCTIONS["gesdd"](types, {"mode": mode}, operands)
    if options["transposed"] and options["compute_uv"]:
        vectors.reverse()
    return [x, s, *vectors, info]


def _sytrd(types: Sequence[Type], options: Options, operands: Values) -> Values:
    return lapack.FUNCTIONS["sytrd"](types, _side(options), operands)


def _geev(types: Sequence[Type], options: Options, operands: Values) -> Values:
    """Two columns of real numbers are the parts of two conjugate vectors."""
    (x,) = operands
    if options["left"]:
        raise UnsupportedOp("left eigenvectors")
    values, left, right = _eigen(types[3], options, operands)
    if options["right"] and dtype_of(x).kind != "c":
        parts = Number(elementwise.real(right)), Number(elementwise.imag(right))
        turns = _of_columns(elementwise.imag(values), shape_of(x))
        right = where(Number(turns) < 0, -parts[1], parts[0]).value
    return [x, values, left, right, lapack.zeros(types[4])]


def _hybrid_eig(types: Sequence[Type], options: Options, operands: Values) -> Values:
    values, *vectors = _eigen(types[-2], options, operands)
    parts = [values]
    if dtype_of(operands[0]).kind != "c":
        parts = [elementwise.real(values), elementwise.imag(values)]
    return [*parts, *vectors, lapack.zeros(types[-1])]


def _eigen(type_: Type, options: Options, operands: Values) -> Values:
    return lapack.eigen_parts(type_, (options["left"], options["right"]), operands)


def _of_columns(x: Value, extents: Sequence[int]) -> Value:
    """An element of `x` for each column of matrices, repeated."""
    rank = len(extents)
    return shape.BroadcastInDim(tuple(extents), (*range(rank - 2), rank - 1))(x)


def _syrk(types: Sequence[Type], options: Options, operands: Values) -> Values:
    """The sum of alpha A A^T and beta C."""
    a, c, alpha, beta = operands
    turned = transposed(a)
    product = matmul(turned, a) if options["transpose"] else matmul(a, turned)
    terms = zip((alpha, beta), (product, c), strict=True)
    extents = tuple(shape_of(c))
    return [
        elementwise.add(
            *(elementwise.multiply(shape.BroadcastInDim(extents, ())(k), x) for k, x in terms)
        )
    ]


def _threefry2x32(types: Sequence[Type], options: Options, operands: Values) -> Values:
    first, second, *words = map(Number, operands)
    return [x.value for x in three_fry([first, second], words)]


def _permutation(types: Sequence[Type], options: Options, operands: Values) -> Values:
    """The permutation of rows that exchanges amount to."""
    (pivots,) = operands
    extents = shape_of_type(types[0])
    last = len(extents) - 1
    numbers = shape.Iota(extents, dtype_of(pivots), last)()
    count = shape_of(pivots)[-1]
    steps = shape.Iota((count, *extents[:-1]), dtype_of(pivots), 0)()
    rows = shape.Transpose((last, *range(last)))(pivots)

    def wide(x: Value) -> Value:
        return shape.BroadcastInDim(extents, tuple(range(last)))(x)

    def exchanged(order: Value, step: Value, pivot: Value) -> Sequence[Value]:
        at_step, at_pivot = (comparison.equal(numbers, wide(x)) for x in (step, pivot))
        none = zeros_like(order)
        mine, other = (
            wide(reduce_sum(comparison.select(at, order, none), (last,)))
            for at in (at_step, at_pivot)
        )
        return [comparison.select(at_step, other, comparison.select(at_pivot, mine, order))]

    return fold_rows(exchanged, [numbers], [steps, rows])


def _gtsv2(types: Sequence[Type], options: Options, operands: Values) -> Values:
    return [tridiagonal.solve(*operands)]


_SOLVER: dict[str, Callable[[Sequence[Type], Options, Values], Values]] = {
    "geev": _geev,
    "geqrf": lapack.FUNCTIONS["geqrf"],
    "gesdd": _gesvd,
    "gesvd": _gesvd,
    "gesvdj": _gesvdj,
    "gesvdp": _gesvdj,
    "getrf": lapack.FUNCTIONS["getrf"],
    "orgqr": lapack.FUNCTIONS["orgqr"],
    "ormqr": lapack.FUNCTIONS["ormqr"],
    "potrf": _potrf,
    "syevd": _syevd,
    "syrk": _syrk,
    "sytrd": _sytrd,
}

_OTHERS: dict[str, Callable[[Sequence[Type], Options, Values], Values]] = {
    "_lu_pivots_to_permutation": _permutation,
    "_threefry2x32_ffi": _threefry2x32,
    "hybrid_eig_comp": _hybrid_eig,
    "hybrid_eig_real": _hybrid_eig,
    "hybrid_geqp3": lapack.FUNCTIONS["geqp3"],
    "sparse_gtsv2_ffi": _gtsv2,
}

TARGETS = {
    **{
        f"{platform}solver_{name}_ffi": lapack.of_call(definition)
        for platform in ("cu", "hip")
        for name, definition in _SOLVER.items()
    },
    **{
        f"{platform}{name}": lapack.of_call(definition)
        for platform in ("cu", "hip")
        for name, definition in _OTHERS.items()
    },
}
"""The definitions of the calls, by their target names."""
