"""Elementwise operations, reductions and moves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.peers.program import Drawn, Race, f32, i32, parallel

STRIKES = Drawn(lambda g: g.uniform(80, 120, 1_000_000).astype(np.float32))
TIMES = Drawn(lambda g: g.uniform(0.1, 2, 1_000_000).astype(np.float32))


def _black_scholes(lib: Any, jnp: Any) -> Any:
    def call(strike: Any, time: Any) -> Any:
        spread = 0.3 * jnp.sqrt(time)
        d1 = (jnp.log(100.0 / strike) + (0.02 + 0.045) * time) / spread
        cdf = lib.scipy.stats.norm.cdf
        return 100.0 * cdf(d1) - strike * jnp.exp(-0.02 * time) * cdf(d1 - spread)

    return call


def _black_scholes_torch(torch: Any) -> Any:
    def call(strike: Any, time: Any) -> Any:
        spread = 0.3 * torch.sqrt(time)
        d1 = (torch.log(100.0 / strike) + (0.02 + 0.045) * time) / spread
        cdf = torch.special.ndtr
        return 100.0 * cdf(d1) - strike * torch.exp(-0.02 * time) * cdf(d1 - spread)

    return call


def _black_scholes_loop(numba: Any) -> Any:
    half = np.float32(0.5**0.5)

    @numba.njit(fastmath=True)
    def cdf(x: Any) -> Any:
        return np.float32(0.5) * np.float32(math.erfc(-x * half))

    @parallel(numba)
    def call(strike: Any, time: Any) -> Any:
        out = np.empty_like(strike)
        for i in numba.prange(strike.size):
            spread = np.float32(0.3) * math.sqrt(time[i])
            d1 = (math.log(np.float32(100) / strike[i]) + np.float32(0.065) * time[i]) / spread
            paid = strike[i] * math.exp(np.float32(-0.02) * time[i])
            out[i] = np.float32(100) * cdf(d1) - paid * cdf(d1 - spread)
        return out

    return call


def _axpy_loop(numba: Any) -> Any:
    @parallel(numba)
    def axpy(x: Any, y: Any) -> Any:
        out = np.empty_like(x)
        for i in numba.prange(x.size):
            out[i] = np.float32(2) * x[i] + y[i]
        return out

    return axpy


def _norm_loop(numba: Any) -> Any:
    @parallel(numba)
    def norm(x: Any) -> Any:
        total = np.float32(0)
        for i in numba.prange(x.size):
            total += x[i] * x[i]
        return np.sqrt(total)

    return norm


def _layer_norm(lib: Any, jnp: Any) -> Any:
    def normalize(x: Any, scale: Any, shift: Any) -> Any:
        mean, variance = jnp.mean(x, -1, keepdims=True), jnp.var(x, -1, keepdims=True)
        return (x - mean) * lib.lax.rsqrt(variance + 1e-5) * scale + shift

    return normalize


def _layer_norm_torch(torch: Any) -> Any:
    return lambda x, scale, shift: torch.nn.functional.layer_norm(x, (1024,), scale, shift)


def _transpose_loop(numba: Any) -> Any:
    @parallel(numba)
    def transpose(x: Any) -> Any:
        out = np.empty((x.shape[1], x.shape[0]), np.float32)
        for i in numba.prange(x.shape[1] // 16):
            for j in range(x.shape[0]):
                for k in range(16):
                    out[i * 16 + k, j] = x[j, i * 16 + k]
        return out

    return transpose


def _update(lib: Any, jnp: Any) -> Any:
    return lambda x, rows: lib.lax.dynamic_update_slice(x, rows, (100, 0))


def _update_torch(torch: Any) -> Any:
    def update(x: Any, rows: Any) -> Any:
        out = x.clone()
        out[100:110] = rows
        return out

    return update


RACES = [
    Race(
        "Black-Scholes of 1e6",
        (STRIKES, TIMES),
        _black_scholes,
        _black_scholes_torch,
        numba=_black_scholes_loop,
    ),
    Race(
        "gelu of 1e6",
        (f32(1_000_000),),
        lambda lib, jnp: lambda x: lib.nn.gelu(x),
        lambda torch: lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
        openvino=True,
    ),
    Race(
        "2 x + y of 1e7",
        (f32(10_000_000), f32(10_000_000)),
        lambda lib, jnp: lambda x, y: 2 * x + y,
        lambda torch: lambda x, y: torch.add(y, x, alpha=2),
        numba=_axpy_loop,
    ),
    Race(
        "softmax 1024x1024",
        (f32(1024, 1024),),
        lambda lib, jnp: lambda x: lib.nn.softmax(x, -1),
        lambda torch: lambda x: torch.softmax(x, -1),
        openvino=True,
    ),
    Race(
        "softmax 1500x1000 over rows",
        (f32(1500, 1000),),
        lambda lib, jnp: lambda x: lib.nn.softmax(x, 0),
        lambda torch: lambda x: torch.softmax(x, 0),
    ),
    Race(
        "layer norm 1024x1024",
        (f32(1024, 1024), f32(1024), f32(1024)),
        _layer_norm,
        _layer_norm_torch,
        openvino=True,
    ),
    Race(
        "norm of 1e7",
        (f32(10_000_000),),
        lambda lib, jnp: lambda x: jnp.linalg.norm(x),
        lambda torch: lambda x: torch.linalg.vector_norm(x),
        numba=_norm_loop,
    ),
    Race(
        "sum of columns 2000x1000",
        (f32(2000, 1000),),
        lambda lib, jnp: lambda x: jnp.sum(x, 0),
        lambda torch: lambda x: torch.sum(x, 0),
    ),
    Race(
        "variance of rows 1000x1000",
        (f32(1000, 1000),),
        lambda lib, jnp: lambda x: jnp.var(x, 1),
        lambda torch: lambda x: torch.var(x, 1, correction=0),
    ),
    Race(
        "argmax of rows 1000x1000",
        (f32(1000, 1000),),
        lambda lib, jnp: lambda x: jnp.argmax(x, 1),
        lambda torch: lambda x: torch.argmax(x, 1),
    ),
    Race(
        "transpose 2048x2048",
        (f32(2048, 2048),),
        lambda lib, jnp: lambda x: jnp.transpose(x) + 0.0,
        lambda torch: lambda x: x.T.contiguous(),
        numba=_transpose_loop,
    ),
    Race(
        "repeat 1e5 ten times",
        (f32(100_000),),
        lambda lib, jnp: lambda x: jnp.repeat(x, 10),
        lambda torch: lambda x: torch.repeat_interleave(x, 10),
    ),
    Race(
        "concatenate 8 of 1000x100",
        ([f32(1000, 100)] * 8,),
        lambda lib, jnp: lambda parts: jnp.concatenate(parts, 1),
        lambda torch: lambda parts: torch.cat(parts, 1),
    ),
    Race(
        "flip rows 1000x1000",
        (f32(1000, 1000),),
        lambda lib, jnp: lambda x: jnp.flip(x, 1),
        lambda torch: lambda x: torch.flip(x, (1,)),
    ),
    Race(
        "update 10 rows of 1000x1000",
        (f32(1000, 1000), f32(10, 1000)),
        _update,
        _update_torch,
    ),
    Race(
        "one-hot of 10000 in 100",
        (i32(10_000),),
        lambda lib, jnp: lambda x: lib.nn.one_hot(x, 100),
        lambda torch: lambda x: torch.nn.functional.one_hot(x.long(), 100).float(),
    ),
]
