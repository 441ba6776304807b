"""Small windows along rows, and of vectors, under jit, compared with NumPy's slices."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import irax
from irax import lax

CASES: list[tuple[Any, ...]] = [
    # dtype, function, what is beyond, shape, sizes, strides, padding, dilations
    (np.float32, (lax.add, np.add), 0, (16, 57, 66), (1, 3, 3), (1, 2, 2), 0, (1, 1, 1)),
    (np.float32, (lax.max, np.maximum), -np.inf, (130, 199), (3, 2), (1, 2), 1, (1, 2)),
    (np.int32, (lax.min, np.minimum), 2**31 - 1, (90, 110), (2, 4), (1, 1), 1, (1, 1)),
    (np.float16, (lax.add, np.add), 0, (30000,), (5,), (3,), 2, (1,)),
    (np.float32, (lax.max, np.maximum), -np.inf, (40, 31, 17), (3, 2, 1), (2, 1, 1), 1, (1, 2, 1)),
    (np.int32, (lax.add, np.add), 0, (2, 40, 31, 16), (1, 4, 3, 1), (1, 3, 2, 1), 2, (1, 1, 1, 1)),
]


def drawn(seed: int) -> tuple[Any, ...]:
    """A case of windows of vectors."""
    g = np.random.default_rng((8, seed))
    rank, dtype = int(g.integers(2, 5)), g.choice([np.float32, np.float64, np.int32, np.int16])
    is_float, pads = np.dtype(dtype).kind == "f", bool(g.integers(0, 3))
    least, most = (-np.inf, np.inf) if is_float else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    functions = [((lax.add, np.add), 0), ((lax.max, np.maximum), least)]
    function, beyond = [*functions, ((lax.min, np.minimum), most)][g.integers(0, 3)]
    side = {2: 700, 3: 40, 4: 22}[rank]
    extents = (*g.integers(side // 2, side, rank - 1), g.choice([8, 16, 24, 33, 64]))
    sizes, strides, dilations = ((*g.integers(1, n, rank - 1), 1) for n in (5, 4, 3))
    return dtype, function, beyond, extents, sizes, strides, int(pads), dilations


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].__name__}-{case[3]}")
def test_windows(case: tuple[Any, ...]) -> None:
    compare(case)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_random_windows_of_vectors(seed: int) -> None:
    compare(drawn(seed))


def compare(case: tuple[Any, ...]) -> None:
    dtype, (function, ufunc), beyond, extents, sizes, strides, pad, dilations = case
    x = (np.random.default_rng(0).normal(size=extents) * 9).astype(dtype)
    if beyond == -np.inf:
        x[3, 4, ...] = np.nan
    padding, init = [(pad, pad) if size > 1 else (0, 0) for size in sizes], dtype(beyond)
    found = irax.jit(
        lambda x: lax.reduce_window(
            x, init, function, sizes, strides, padding, window_dilation=dilations
        )
    )(x)
    wide = np.pad(x.astype(np.float64), padding, constant_values=float(init))
    counts = found.shape
    parts = [
        wide[
            tuple(
                slice(o * d, o * d + (count - 1) * s + 1, s)
                for o, d, s, count in zip(offset, dilations, strides, counts, strict=True)
            )
        ]
        for offset in product(*map(range, sizes))
    ]
    expected = ufunc.reduce(parts)
    np.testing.assert_allclose(
        np.asarray(found, np.float64), expected, rtol=2e-3 if dtype is np.float16 else 1e-5,
        atol=2e-2 if dtype is np.float16 else 2e-5,
    )  # fmt: skip
