"""Integer and boolean bit operations: no derivatives, batched like everything elementwise."""

from __future__ import annotations

import numpy as np

from irax_compiler.ops.elementwise import binary, unary


def _shift_right_logical(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    unsigned = np.dtype(f"u{x.dtype.itemsize}")
    return np.right_shift(x.view(unsigned), y.astype(unsigned)).view(x.dtype)


def _count_leading_zeros(x: np.ndarray) -> np.ndarray:
    bits = 8 * x.dtype.itemsize
    unsigned = x.view(np.dtype(f"u{x.dtype.itemsize}"))
    count = np.full(x.shape, bits, x.dtype)
    for bit in range(bits):
        count = np.where(unsigned >> bit, np.array(bits - 1 - bit, x.dtype), count)
    return count


and_ = binary("and", np.bitwise_and)
or_ = binary("or", np.bitwise_or)
xor = binary("xor", np.bitwise_xor)
not_ = unary("not", np.invert)
shift_left = binary("shift_left", np.left_shift)
shift_right_arithmetic = binary("shift_right_arithmetic", np.right_shift)
shift_right_logical = binary("shift_right_logical", _shift_right_logical)
popcnt = unary("popcnt", lambda x: np.bitwise_count(x).astype(x.dtype))
count_leading_zeros = unary("count_leading_zeros", _count_leading_zeros)
