"""Measures how long products take by irax's own code, beside IREE's or OpenBLAS's.

    python -m benchmarks.tiles

The limits of `Product.is_of_lines` follow from what it prints: microseconds of a product without
that code and with it, and their ratio. It takes a few minutes on a processor with AVX-512.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import irax
import irax.numpy as jnp
from irax_compiler.passes.kernels.blas import layouts

LIMITS = ("LARGE", "TURNED", "EACH", "WIDE", "ROWS")
PRODUCTS: list[tuple[int, int, int, int]] = [
    *((1, m, k, n) for m in (2, 4, 8, 12) for k, n in ((256, 256), (1024, 1024), (1024, 4096))),
    *((1, m, k, n) for k in (4, 6, 8, 12) for m, n in ((300, 300), (1000, 1000), (5000, 100))),
    *((1, m, k, n) for n in (8, 16, 24, 48) for m, k in ((300, 300), (1000, 1000), (20000, 64))),
    *((256, 32, k, 32) for k in (8, 16, 32)),
    *((256, 16, 16, 16), (1000, 16, 16, 16), (500, 8, 8, 8), (256, 16, 64, 16), (64, 8, 64, 256)),
    *((256, 32, 32, 8), (256, 8, 32, 32), (12, 128, 64, 128), (32, 128, 128, 32)),
]
"""The number of products, and their m, k and n."""
FORMS: dict[str, Callable[[Any, Any], Any]] = {
    "plain": lambda x, y: x @ y,
    "left transposed": lambda x, y: jnp.swapaxes(x, -1, -2) @ y,
    "right transposed": lambda x, y: x @ jnp.swapaxes(y, -1, -2),
}


def main() -> None:
    os.environ["IRAX_CACHE_DIR"] = "off"
    for form, function in FORMS.items():
        for count, m, k, n in PRODUCTS:
            lhs = (count, k, m) if form == "left transposed" else (count, m, k)
            rhs = (count, n, k) if form == "right transposed" else (count, k, n)
            x, y = (jnp.asarray(_drawn(s if count > 1 else s[1:])) for s in (lhs, rhs))
            others, own = (_measure(function, x, y, limit) for limit in (1 << 62, 0))
            size = f"{count} x {m} x {k} x {n}"
            print(f"{form:18}{size:24}{others:10.1f}{own:10.1f}{own / others:8.2f}", flush=True)


def _drawn(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def _measure(function: Callable[[Any, Any], Any], x: Any, y: Any, limit: int) -> float:
    """Return the least microseconds of a call, compiled with a number in place of all limits."""
    before = {name: getattr(layouts, name) for name in LIMITS}
    for name in LIMITS:
        setattr(layouts, name, limit)
    irax.clear_caches()
    try:
        compiled = irax.jit(lambda x, y: function(x, y)).lower(x, y).compile()
    finally:
        for name, value in before.items():
            setattr(layouts, name, value)
    times: list[float] = []
    start = time.perf_counter()
    while len(times) < 10 or time.perf_counter() - start < 0.2:
        begun = time.perf_counter()
        irax.block_until_ready(compiled(x, y))
        times.append(time.perf_counter() - begun)
    return min(times) * 1e6


if __name__ == "__main__":
    main()
