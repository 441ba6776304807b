"""The measured choice between OpenBLAS and the code that IREE compiles, or a call of NumPy.

`python -m benchmarks.thresholds` measures it, and writes the table that is read here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import repeat
from math import log2
from pathlib import Path
from typing import Any

from irax_compiler.once import once
from irax_compiler.ops.size_code import usual
from irax_compiler.passes.kernels.blas.batches import Batch
from irax_compiler.passes.kernels.blas.layouts import Product
from irax_compiler.passes.kernels.blas.windows import Windows

TABLE = Path(__file__).with_name("measured.json")
"""When and where it was measured; and microseconds that computations take without OpenBLAS, and by
it. The rows begin with extents: how many products of each dtype, m, n, k; images, rows, features,
output features and window of convolutions; rows of the matrices of routines."""
GAIN = 0.9
"""The share of IREE's time below which BLAS pays for convolutions, which IREE fuses with others."""

TRANSPOSED = 1.3
"""The factor by which IREE's code is slower where a factor is a transposed matrix: 1.25 to 2.3 from
64 to 256 rows on the right, 1.6 for 784x128x1024 on the left. The table has no such products. With
smaller matrices it is as fast as with others."""
LARGE = 64
"""The rows, columns or terms from which a transposed factor makes IREE's code slower."""
CALL = 4.6
"""Microseconds of a call, which all times of products contain."""
SIZED = 2.5
"""The factor by which IREE's code is slower where sizes are not known."""
_OF_PRODUCTS = 1.0, 1.0, 1.0, 0.25
"""The weights of a product's extents: the times of both grow with its depth alike."""
_VECTOR = 8
"""IREE's code is another where extents are no multiples of this."""
_NARROW = {"float16": "bfloat16"}
"""Dtypes that are measured by another of the same width."""


def pays(product: Product, dtype: str) -> bool:
    """True if BLAS is faster at a product of arrays of a dtype, judged by the nearest measured
    product.
    """
    extents = tuple(map(usual, (product.count, product.m, product.n, product.k)))
    measured = _measured("products", _NARROW.get(dtype, dtype))
    rows = [row for row in measured if _kind(row) == _kind(extents)]
    if not rows:
        return False
    *_, iree, blas = min(rows, key=lambda row: _distance(row, extents, _OF_PRODUCTS))
    columns = product.lhs.columns, product.rhs.columns
    is_slower = not product.is_of_vector and columns != (1, 1) and max(extents[1:]) >= LARGE
    factor = (TRANSPOSED if is_slower else 1) * (SIZED if product.is_sized else 1)
    return blas - CALL < factor * (iree - CALL)


def pays_as_dispatch(batch: Batch) -> bool:
    """True if a dispatch that calls LAPACK is faster than a call of the host function, in which
    NumPy shares a matrix among all processors; judged by the nearest measured matrix.
    """
    rows = _measured("routines", batch.routine.name)
    size = max(max(shape) for shape in batch.routine.shapes)
    if not rows or size > 2 * rows[-1][0]:
        return False
    *_, host, dispatch = min(rows, key=lambda row: _distance(row, [size]))
    return dispatch < host


def pays_as_products(windows: Windows) -> bool:
    """True if a convolution by products of matrices is faster than IREE's code, judged by the
    nearest measured convolution.
    """
    images, rows, columns, outputs = map(usual, windows.out)
    extents = images, (rows * columns) ** 0.5, windows.array[3], outputs, windows.kernel[0]
    measured = _measured("convolutions", windows.dtype.name)
    if not measured:
        return False
    *_, iree, blas = min(measured, key=lambda row: _distance(row, extents))
    return blas < GAIN * (SIZED if windows.is_sized else 1) * iree


def _measured(part: str, kind: str) -> list[list[float]]:
    return _table()[part]["microseconds"].get(kind, [])


@once
def _table() -> dict[str, Any]:
    return json.loads(TABLE.read_text())


def _kind(extents: Sequence[float]) -> tuple[bool, bool, bool]:
    """The factor that is a vector, if one is; and True if IREE's vectors fit into the extents."""
    _, m, n, k, *_ = extents
    return m == 1, n == 1, all(x == 1 or x % _VECTOR == 0 for x in (m, n, k))


def _distance(
    row: Sequence[float], extents: Sequence[float], weights: Iterable[float] = repeat(1.0)
) -> float:
    triples = zip(row, extents, weights, strict=False)
    return sum(weight * (log2(a) - log2(b)) ** 2 for a, b, weight in triples)
