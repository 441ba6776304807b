"""Legalizations of functions with the factor exp(-x**2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from irax_compiler.mlir import Operation, Value, dtype_of
from irax_compiler.ops.formula import Number
from irax_compiler.ops.special import chlo_functions, normal
from irax_compiler.passes.legalize.legalization import legalizes


@legalizes(chlo_functions.erfc.name, kind="bug", of="StableHLO")
def complementary_error_function(operation: Operation) -> Sequence[Value] | None:
    """Compute erfc by exp(-x**2) with the rounding error of the square: the expansion of CHLO
    rounds the square, which costs 10 units in the last place of float32, and 200 of float64.
    """
    (x,) = operation.operands
    return [normal.erfc(Number(x)).value] if dtype_of(x) in (np.float32, np.float64) else None
