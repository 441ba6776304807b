"""Cumulative reductions, and counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers.program import Drawn, Race, f32, fast, i32, parallel


def _loop(step: str) -> Any:
    """A loop over a vector: its carry is a sum, a product or a maximum."""

    def make(numba: Any) -> Any:
        def added(x: Any) -> Any:
            out, carry = np.empty_like(x), np.float32(0)
            for i in range(x.size):
                carry += x[i]
                out[i] = carry
            return out

        def multiplied(x: Any) -> Any:
            out, carry = np.empty_like(x), np.float32(1)
            for i in range(x.size):
                carry *= x[i]
                out[i] = carry
            return out

        def largest(x: Any) -> Any:
            out, carry = np.empty_like(x), x[0]
            for i in range(x.size):
                carry = max(carry, x[i])
                out[i] = carry
            return out

        return fast(numba)({"sum": added, "prod": multiplied, "max": largest}[step])

    return make


def _rows(numba: Any) -> Any:
    @parallel(numba)
    def cumsum(x: Any) -> Any:
        out = np.empty_like(x)
        for i in numba.prange(x.shape[0]):
            carry = np.float32(0)
            for j in range(x.shape[1]):
                carry += x[i, j]
                out[i, j] = carry
        return out

    return cumsum


def _histogram(numba: Any) -> Any:
    @fast(numba)
    def histogram(x: Any) -> Any:
        out = np.zeros(100, np.int64)
        for value in x:
            place = int((value + 4) * np.float32(12.5))
            if 0 <= place < 100:
                out[place] += 1
        return out

    return histogram


def _bincount(numba: Any) -> Any:
    @fast(numba)
    def bincount(x: Any) -> Any:
        out = np.zeros(1000, np.int64)
        for value in x:
            out[value] += 1
        return out

    return bincount


def _searchsorted(numba: Any) -> Any:
    return fast(numba)(lambda edges, x: np.searchsorted(edges, x))


def _interpolated(torch: Any) -> Any:
    def interp(x: Any, places: Any, values: Any) -> Any:
        after = torch.searchsorted(places, x).clamp(1, places.numel() - 1)
        left, right = places[after - 1], places[after]
        share = ((x - left) / (right - left)).clamp(0, 1)
        return torch.lerp(values[after - 1], values[after], share)

    return interp


def _interp(numba: Any) -> Any:
    return fast(numba)(lambda x, places, values: np.interp(x, places, values))


NEAR_ONE = Drawn(lambda g: (1 + 1e-4 * g.normal(size=1_000_000)).astype(np.float32))
EDGES = Drawn(lambda g: np.sort(g.normal(size=1000)).astype(np.float32))

RACES = [
    Race(
        "cumsum of 1e6",
        (f32(1_000_000),),
        lambda lib, jnp: lambda x: jnp.cumsum(x),
        lambda torch: lambda x: torch.cumsum(x, 0),
        numba=_loop("sum"),
    ),
    Race(
        "cumprod of 1e6",
        (NEAR_ONE,),
        lambda lib, jnp: lambda x: jnp.cumprod(x),
        lambda torch: lambda x: torch.cumprod(x, 0),
        numba=_loop("prod"),
        tolerance=5e-2,  # a product of a million factors, one after the other
    ),
    Race(
        "cumulative maximum of 1e6",
        (f32(1_000_000),),
        lambda lib, jnp: lambda x: lib.lax.cummax(x),
        lambda torch: lambda x: torch.cummax(x, 0).values,
        numba=_loop("max"),
    ),
    Race(
        "cumsum of rows 1000x1000",
        (f32(1000, 1000),),
        lambda lib, jnp: lambda x: jnp.cumsum(x, 1),
        lambda torch: lambda x: torch.cumsum(x, 1),
        numba=_rows,
    ),
    Race(
        "histogram of 1e6 in 100 bins",
        (f32(1_000_000),),
        lambda lib, jnp: lambda x: jnp.histogram(x, 100, (-4.0, 4.0))[0],
        lambda torch: lambda x: torch.histc(x, 100, -4.0, 4.0),
        numba=_histogram,
    ),
    Race(
        "bincount of 1e6 below 1000",
        (i32(1_000_000, below=1000),),
        lambda lib, jnp: lambda x: jnp.bincount(x, length=1000),
        lambda torch: lambda x: torch.bincount(x, minlength=1000),
        numba=_bincount,
    ),
    Race(
        "searchsorted of 1e5 in 1000",
        (EDGES, f32(100_000)),
        lambda lib, jnp: lambda edges, x: jnp.searchsorted(edges, x),
        lambda torch: lambda edges, x: torch.searchsorted(edges, x),
        numba=_searchsorted,
    ),
    Race(
        "interpolation of 1e5 in 1000",
        (f32(100_000), EDGES, f32(1000)),
        lambda lib, jnp: lambda x, places, values: jnp.interp(x, places, values),
        _interpolated,
        numba=_interp,
    ),
]
