"""The shapes of tiles of products of matrices, and the products for which code of tiles pays."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from irax_compiler import chips
from irax_compiler.chips import AVX2, AVX512
from irax_compiler.passes.kernels.executables import SHARE

DTYPES = np.dtype(np.float32), np.dtype(np.float64)
"""The dtypes of the numbers."""
FEWEST = {16: 8, 32: 12}
"""The fewest vectors of a tile that keep a processor's multipliers busy, by the number of its
registers, which hold the vectors of a tile, a row of the panel, a number, and what LLVM needs."""
MASKED = 1.5
"""The factor by which a tile takes longer that reads rows of a matrix by masks."""


def pay_for_products(dtype: np.dtype) -> bool:
    """Return True if large products of a dtype are faster as code of irax's own. With 16 registers
    they take as long as OpenBLAS's, and with transposed left factors one and a half times as long.
    """
    return dtype in DTYPES and chips.vector_registers() == AVX512


def pay_for_pairs() -> bool:
    """Return True if the processor multiplies pairs of bfloat16 faster than floats."""
    return chips.multiplies_blocks() or chips.multiplies_bfloat16()


def pay_for_convolution(dtype: np.dtype, operations: int) -> bool:
    """Return True if a convolution of so many multiplications and additions is faster as code of
    irax's own: with few output features too, though vectors have lanes to spare then.
    """
    is_fast = chips.vector_registers() in (AVX2, AVX512)
    return is_fast and dtype in DTYPES and operations >= SHARE


@dataclass(frozen=True)
class Shape:
    """The rows and the vectors of a tile."""

    rows: int
    vectors: int
    lanes: int
    """The elements of a vector."""

    @classmethod
    @functools.lru_cache(maxsize=1024)
    def best(
        cls, rows: int, columns: int, lanes: int, registers: int, reads_matrix: bool = False
    ) -> Shape:
        """Return the shape with which lines of `rows` and `columns` take the least time on a
        processor with so many registers. With `reads_matrix`, a tile of all rows reads the matrix
        where it is.
        """
        vectors = (1, 2, 3, 4) if columns <= lanes else (2, 3, 4)
        fewest, most = FEWEST[registers], registers - 2
        found = [cls(r, v, lanes) for v in vectors for r in range(-(-fewest // v), most // v)]
        return min(found, key=lambda x: x._time(rows, columns, reads_matrix))

    def _time(self, rows: int, columns: int, reads_matrix: bool) -> float:
        """The sums that are computed, those beyond the edges too, and a part of the loads."""
        width = self.columns
        covered = -(-rows // self.rows) * self.rows * (-(-columns // width) * width)
        is_masked = reads_matrix and rows <= self.rows and columns % width > 0
        return covered * (1 + (1 / self.rows + 1 / self.vectors) / 4) * (MASKED if is_masked else 1)

    @property
    def columns(self) -> int:
        """The columns of a tile."""
        return self.vectors * self.lanes
