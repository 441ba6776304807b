"""Calls of Python functions, by each of the ways in which they are batched."""

from collections.abc import Sequence

import numpy as np
from tests.differential.harness import Case, i32

from irax_compiler import mlir
from irax_compiler.ops.callback import CALLBACKS, VMAP_METHODS, Callback, Expected
from irax_runtime import host

I32 = np.dtype(np.int32)


def add(arrays: Sequence[np.ndarray], expected: Expected) -> list[np.ndarray]:
    """The sum of two arrays, or of the lanes of two."""
    ((shape, dtype),) = expected
    first, second = arrays
    return [np.broadcast_to(first + second, shape).astype(dtype)]


CALLBACKS["tests.add"] = host.CALLBACKS["tests.add"] = add

CASES = [
    Case(
        method,
        Callback("tests.add", "pure", (mlir.tensor_type((2,), I32),), vmap_method=method),
        [i32(2), i32(2)],
        lambda x, y: x + y,
    )
    for method in VMAP_METHODS
]
