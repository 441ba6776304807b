"""Small windows along rows under jit, compared with NumPy's slices."""

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
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].__name__}-{case[3]}")
def test_windows(case: tuple[Any, ...]) -> None:
    dtype, (function, ufunc), beyond, extents, sizes, strides, pad, dilations = case
    x = (np.random.default_rng(0).normal(size=extents) * 9).astype(dtype)
    if beyond == -np.inf:
        x[3, 4] = np.nan
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
