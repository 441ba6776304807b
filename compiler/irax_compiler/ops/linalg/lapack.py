"""Definitions of the custom calls of LAPACK's functions that XLA's CPU backend emits.

Options are character codes: U(pper), L(ower), V(ectors), N(othing), ... LAPACK numbers rows from 1.
Its last result, `info`, is 0 for success.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from irax_compiler import mlir
from irax_compiler.mlir import Type, Value, dtype_of, dtype_of_type, shape_of
from irax_compiler.ops import comparison, conversion, elementwise, slicing
from irax_compiler.ops.core import UnsupportedOp, full, full_like
from irax_compiler.ops.linalg import tridiagonal
from irax_compiler.ops.linalg.eigen import Eig, Schur, left_vectors
from irax_compiler.ops.linalg.householder import (
    Hessenberg,
    HouseholderProduct,
    HouseholderQr,
    QrOrder,
)
from irax_compiler.ops.linalg.lu import Lu, rows_taken
from irax_compiler.ops.linalg.matrices import INT32, adapted, diagonal, part
from irax_compiler.ops.linalg.spectral import Eigh, Svd
from irax_compiler.ops.linalg.triangular import (
    Cholesky,
    TriangularSolve,
    adjoint,
    matmul,
    transposed,
    triangle,
)
from irax_compiler.ops.reductions import reduce

Values = Sequence[Value]
Options = Mapping[str, Any]


def _succeeded(types: Sequence[Type]) -> Value:
    return zeros(types[-1])


def zeros(type_: Any) -> Value:
    """Zeros of a type."""
    return full(mlir.shape_of_type(type_), 0, dtype_of_type(type_))


def _potrf(types: Sequence[Type], options: Options, operands: Values) -> Values:
    (x,) = operands
    lower = options["uplo"] == "L"
    factor = Cholesky(lower)(x)
    rank = len(shape_of(factor))
    is_nan = comparison.not_equal(factor, factor)
    failed = reduce.Reduce("or", (rank - 2, rank - 1))(is_nan, full((), False, np.dtype(bool)))
    kept = triangle(x, lower=not lower, offset=1 if lower else -1)  # LAPACK leaves it as it is
    return [elementwise.add(factor, kept), conversion.convert(failed, INT32)]


def _getrf(types: Sequence[Type], options: Options, operands: Values) -> Values:
    factors, pivots, _ = Lu().build(operands)
    return [factors, elementwise.add(pivots, full_like(pivots, 1)), _succeeded(types)]


def _trsm(types: Sequence[Type], options: Options, operands: Values) -> Values:
    kinds = {"N": "NO_TRANSPOSE", "T": "TRANSPOSE", "C": "ADJOINT"}
    op = TriangularSolve(
        left_side=options["side"] == "L",
        lower=options["uplo"] == "L",
        unit_diagonal=options["diag"] == "U",
        transpose_a=kinds[options["trans_x"]],
    )
    return op.build(operands)


def _gtsv(types: Sequence[Type], options: Options, operands: Values) -> Values:
    low, middle, high, b = (
        operands  # LAPACK leaves factors in place of the bands; nobody reads them
    )
    return [low, middle, high, tridiagonal.solve(low, middle, high, b), _succeeded(types)]


# ---- reflections ---------------------------------------------------------------------------------


def _geqrf(types: Sequence[Type], options: Options, operands: Values) -> Values:
    return HouseholderQr().build(operands)


def _geqp3(types: Sequence[Type], options: Options, operands: Values) -> Values:
    (x, _) = operands  # the second says which columns may move: all
    (order,) = QrOrder().build([x])
    packed, taus = HouseholderQr().build([transposed(rows_taken(transposed(x), order))])
    return [packed, elementwise.add(order, full_like(order, 1)), taus]


def _orgqr(types: Sequence[Type], options: Options, operands: Values) -> Values:
    return HouseholderProduct().build(operands)


def _ormqr(types: Sequence[Type], options: Options, operands: Values) -> Values:
    packed, taus, c = operands
    *batch, m, n = shape_of(packed)
    no = (0,) * (len(batch) + 2)
    wide = slicing.Pad(no, (*no[:-1], m - n), no)(packed, full((), 0, dtype_of(packed)))
    q = HouseholderProduct()(wide, taus)
    q = adjoint(q) if options["transpose"] else q
    return [matmul(q, c) if options["left"] else matmul(c, q)]


def _gehrd(types: Sequence[Type], options: Options, operands: Values) -> Values:
    n = shape_of(operands[0])[-1]
    if (options["low"], options["high"]) != (1, n):
        raise UnsupportedOp(f"rows {options['low']} to {options['high']} of 1 to {n} alone")
    return [*Hessenberg().build(operands), _succeeded(types)]


def _sytrd(types: Sequence[Type], options: Options, operands: Values) -> Values:
    (x,) = operands
    if options["uplo"] == "U":  # read from the end, it is the lower one
        last = len(shape_of(x)) - 1
        square, line = slicing.Reverse((last - 1, last)), slicing.Reverse((last - 1,))
        found = _sytrd(types, {"uplo": "L"}, [square(x)])
        return [square(found[0]), *(line(v) for v in found[1:4]), found[4]]
    below = triangle(x, offset=-1)
    on_it = adapted(elementwise.real(elementwise.subtract(triangle(x), below)), x)
    whole = elementwise.add(elementwise.add(below, adjoint(below)), on_it)
    packed, taus = Hessenberg().build([whole])
    n = shape_of(x)[-1]
    beside = part(packed, slice(1, n), slice(0, n - 1))
    kept = elementwise.add(triangle(packed), triangle(x, lower=False, offset=1))
    lines = [elementwise.real(diagonal(v)) for v in (packed, beside)]
    return [kept, *lines, taus, _succeeded(types)]


# ---- eigenvalues ---------------------------------------------------------------------------------


def _syevd(types: Sequence[Type], options: Options, operands: Values) -> Values:
    x = operands[0] if options["uplo"] == "L" else adjoint(operands[0])
    if options["mode"] == "N":
        return [x, *Eigh(vectors=False).build([x]), _succeeded(types)]
    return [*Eigh(vectors=True).build([x]), _succeeded(types)]


def _gesdd(types: Sequence[Type], options: Options, operands: Values) -> Values:
    (x,) = operands
    *_, m, n = shape_of(x)
    if options["mode"] == "N":
        (s,) = Svd(full=False, vectors=False).build([x])
        return [x, s, zeros(types[2]), zeros(types[3]), _succeeded(types)]
    full_ = options["mode"] == "A" and m != n
    u, s, vh = Svd(full=full_, vectors=True).build([x])
    return [x, s, u, vh, _succeeded(types)]


def _geev(types: Sequence[Type], options: Options, operands: Values) -> Values:
    wanted = (options["compute_left"] == "V", options["compute_right"] == "V")
    values, left, right = eigen_parts(types[-3], wanted, operands)
    parts = [values]
    if dtype_of(operands[0]).kind != "c":
        parts = [elementwise.real(values), elementwise.imag(values)]
    return [*parts, left, right, _succeeded(types)]


def eigen_parts(type_: Type, wanted: tuple[bool, bool], operands: Values) -> Values:
    """Return eigenvalues, and left and right eigenvectors, zeros where these are not wanted."""
    values, *found = Eig(vectors=any(wanted)).build(operands)
    left = left_vectors(found[0]) if wanted[0] else zeros(type_)
    return [values, left, found[0] if wanted[1] else zeros(type_)]


def _gees(types: Sequence[Type], options: Options, operands: Values) -> Values:
    if options["sort"] != "N":
        raise UnsupportedOp("sorted eigenvalues")
    t, z = Schur().build(operands)
    on_it = diagonal(t)
    values = [on_it]
    if dtype_of(t).kind != "c":
        values = [on_it, _imaginary(t)]
    return [t, z, *values, zeros(types[-2]), _succeeded(types)]


def _imaginary(t: Value) -> Value:
    """Return the imaginary parts of the eigenvalues of 2 x 2 blocks, whose diagonal elements LAPACK
    makes equal.
    """
    n, last = shape_of(t)[-1], len(shape_of(t)) - 2
    below = diagonal(part(t, slice(1, n), slice(0, n - 1)))
    above = diagonal(transposed(part(t, slice(0, n - 1), slice(1, n))))
    roots = [elementwise.sqrt(elementwise.abs(v)) for v in (below, above)]
    size = elementwise.multiply(*roots)
    none, end = (0,) * (last + 1), (*(0,) * last, 1)
    zero = full((), 0, dtype_of(t))
    first = slicing.Pad(none, end, none)(size, zero)
    return elementwise.subtract(first, slicing.Pad(end, none, none)(size, zero))


# ---- the table -----------------------------------------------------------------------------------

Definition = Callable[[Sequence[Type], Options, Values], Values]
_REAL, _COMPLEX, _ANY = "sd", "cz", "sdcz"
_FUNCTIONS: dict[str, tuple[str, Definition]] = {
    "geev": (_ANY, _geev),
    "gees": (_ANY, _gees),
    "gehrd": (_ANY, _gehrd),
    "geqp3": (_ANY, _geqp3),
    "geqrf": (_ANY, _geqrf),
    "gesdd": (_ANY, _gesdd),
    "gesvd": (_ANY, _gesdd),
    "getrf": (_ANY, _getrf),
    "gtsv": (_ANY, _gtsv),
    "heevd": (_COMPLEX, _syevd),
    "hetrd": (_COMPLEX, _sytrd),
    "orgqr": (_REAL, _orgqr),
    "ormqr": (_REAL, _ormqr),
    "potrf": (_ANY, _potrf),
    "syevd": (_REAL, _syevd),
    "sytrd": (_REAL, _sytrd),
    "trsm": (_ANY, _trsm),
    "ungqr": (_COMPLEX, _orgqr),
    "unmqr": (_COMPLEX, _ormqr),
}


FUNCTIONS = {name: definition for name, (_, definition) in _FUNCTIONS.items()}
"""The definitions of functions, by their names without a letter for the dtype."""


def of_call(definition: Definition) -> Callable[..., Values]:
    """The definition, as one of a custom call."""

    def define(op: Any, attributes: dict[str, Any], operands: Values) -> Values:
        config = attributes.get("mhlo.backend_config", attributes.get("backend_config", ()))
        options = {item.name: _option(item.attr) for item in config}
        try:
            return definition(op.types, options, operands)
        except UnsupportedOp as error:
            why = str(error)
        except KeyError as error:
            why = f"it has no option {error}"
        except (IndexError, TypeError, ValueError) as error:
            why = f"its operands are not those of this function ({error})"
        target = attributes["call_target_name"]
        raise UnsupportedOp(f"{op.name} of {target}: {why}: not supported")

    return define


def _option(attribute: Any) -> Any:
    """A letter for its code, an 8-bit number; other values as they are."""
    is_code = str(attribute.type) in ("ui8", "i8")
    return chr(attribute.value) if is_code else attribute.value


TARGETS = {
    f"lapack_{kind}{name}_ffi": of_call(definition)
    for name, (kinds, definition) in _FUNCTIONS.items()
    for kind in kinds
}
"""The definitions of LAPACK's custom calls, by their target names."""
