"""Definitions of the custom calls of factorizations that XLA expands itself, which JAX for TPUs,
TensorFlow and torch_xla write.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from irax_compiler import mlir
from irax_compiler.mlir import Value, shape_of
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.ops.linalg.householder import HouseholderProduct, HouseholderQr
from irax_compiler.ops.linalg.lu import Lu
from irax_compiler.ops.linalg.spectral import Eigh
from irax_compiler.ops.linalg.triangular import adjoint


def _qr(op: Any, attributes: dict[str, Any], operands: Sequence[Value]) -> Sequence[Value]:
    """R and the reflections in one matrix, and their factors."""
    return HouseholderQr().build(operands)


def _product(op: Any, attributes: dict[str, Any], operands: Sequence[Value]) -> Sequence[Value]:
    """The first columns of the product of reflections."""
    return HouseholderProduct().build(operands)


def _lu(op: Any, attributes: dict[str, Any], operands: Sequence[Value]) -> Sequence[Value]:
    """Both factors in one matrix, the pivots, and the permutation."""
    return Lu().build(operands)


def _eigh(op: Any, attributes: dict[str, Any], operands: Sequence[Value]) -> Sequence[Value]:
    """Eigenvectors and eigenvalues, in the order that the types of the results tell.

    `backend_config` is text: `lower,sort,sweeps,tolerance`.
    """
    (x,) = operands
    config: Any = attributes.get("backend_config")
    is_text = isinstance(config, mlir.ir.StringAttr)
    is_upper = is_text and config.value.partition(",")[0].strip() == "0"
    found = Eigh(vectors=True).build([adjoint(x) if is_upper else x])
    ranks = [len(mlir.shape_of_type(t)) for t in op.types]
    if sorted(ranks) != [len(shape_of(x)) - 1, len(shape_of(x))]:
        raise UnsupportedOp(f"{op.name} of Eigh: expected eigenvalues and eigenvectors as results")
    return found if ranks[0] > ranks[1] else found[::-1]


TARGETS = {
    "Eigh": _eigh,
    "LuDecomposition": _lu,
    "ProductOfElementaryHouseholderReflectors": _product,
    "Qr": _qr,
}
"""The definitions of the calls, by their target names."""
