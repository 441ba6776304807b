"""Definitions of the custom calls of cuSOLVER's, cuSPARSE's and ROCm's functions, which JAX writes
for GPUs. They take and return what LAPACK's do, by other names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from irax_compiler.mlir import Type, Value, dtype_of, shape_of, shape_of_type
from irax_compiler.ops import comparison, shape
from irax_compiler.ops.control_flow.building import fold_rows
from irax_compiler.ops.core import zeros_like
from irax_compiler.ops.linalg import lapack, tridiagonal
from irax_compiler.ops.linalg.triangular import adjoint
from irax_compiler.ops.reductions.building import reduce_sum

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
    "geqrf": lapack.FUNCTIONS["geqrf"],
    "gesvdj": _gesvdj,
    "getrf": lapack.FUNCTIONS["getrf"],
    "orgqr": lapack.FUNCTIONS["orgqr"],
    "potrf": _potrf,
    "syevd": _syevd,
}

TARGETS = {
    **{
        f"{platform}solver_{name}_ffi": lapack.of_call(definition)
        for platform in ("cu", "hip")
        for name, definition in _SOLVER.items()
    },
    **{
        f"{platform}_lu_pivots_to_permutation": lapack.of_call(_permutation)
        for platform in ("cu", "hip")
    },
    **{f"{platform}sparse_gtsv2_ffi": lapack.of_call(_gtsv2) for platform in ("cu", "hip")},
}
"""The definitions of the calls, by their target names."""
