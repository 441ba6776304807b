"""Scalar formulas applied to arrays in one operation."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache, partial

import numpy as np

from irax_compiler.mlir import Value, dtype_of, shape_of
from irax_compiler.ops.computation import Computation
from irax_compiler.ops.elementwise_map import Map
from irax_compiler.ops.formula import Number


def by_scalars(formula: Callable[..., Number], *operands: Value) -> Value:
    """Apply an elementwise formula to arrays of one shape by a `stablehlo.map`. Applied to the
    arrays themselves, IREE would store the intermediate results that the formula uses twice.
    """
    extents = shape_of(operands[0])
    if not extents:
        return formula(*map(Number, operands)).value
    dtypes = tuple(dtype_of(x) for x in operands)
    if isinstance(formula, partial):  # equal ones are made anew for each operation
        given = tuple(sorted(formula.keywords.items()))
        computation = _computation(formula.func, formula.args, given, dtypes)
    else:
        computation = _computation(formula, (), (), dtypes)
    return Map(computation, tuple(range(len(extents))))(*operands)


@lru_cache(maxsize=256)
def _computation(
    formula: Callable[..., Number],
    first: tuple[Hashable, ...],
    named: tuple[tuple[str, Hashable], ...],
    dtypes: tuple[np.dtype, ...],
) -> Computation:
    """Return the computation of a formula, given its first and its named arguments, for scalars."""
    given = partial(formula, *first, **dict(named))
    return Computation.build(dtypes, lambda *scalars: [given(*map(Number, scalars)).value])
