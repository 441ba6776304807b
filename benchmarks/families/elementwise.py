"""Elementwise functions, of small and large arrays."""

from __future__ import annotations

from typing import Any

from benchmarks.program import f32, of, program

MILLION = f32(1_000_000)


def _adam(lib: Any, jnp: Any) -> Any:
    def update(x: Any, g: Any, m: Any, v: Any) -> Any:
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        return x - 1e-3 * (m / 0.1) / (jnp.sqrt(v / 0.001) + 1e-8), m, v

    return lambda x, g, m, v: update(x, g, m, jnp.abs(v))


def _linear_regression(lib: Any, jnp: Any) -> Any:
    def loss(w: Any, x: Any, y: Any) -> Any:
        return jnp.mean((x @ w - y) ** 2)

    return lambda w, x, y: w - 0.1 * lib.grad(loss)(w, x, y)


PROGRAMS = [
    program("add 16", lambda lib, jnp: lambda x: x + 1.0, f32(16)),
    program("add 1e6", lambda lib, jnp: lambda x, y: x + y, MILLION, MILLION),
    program("add 1e6+1", lambda lib, jnp: lambda x: x + 1.0, f32(1_000_001)),
    program("multiply-add 1e7", lambda lib, jnp: lambda x: 2 * x + 1, f32(10_000_000)),
    program(
        "selu 1e6",
        lambda lib, jnp: lambda x: 1.05 * jnp.where(x > 0, x, 1.67 * jnp.exp(x) - 1.67),
        MILLION,
    ),
    program("gelu 1e6", lambda lib, jnp: lambda x: lib.nn.gelu(x), MILLION),
    program("sigmoid 1e6", lambda lib, jnp: lambda x: lib.nn.sigmoid(x), MILLION),
    program(
        "tanh sin log 1e6", lambda lib, jnp: lambda x: jnp.log(1.5 + jnp.sin(jnp.tanh(x))), MILLION
    ),
    program("erf 1e6", lambda lib, jnp: lambda x: lib.scipy.special.erf(x), MILLION),
    program("power 1e6", lambda lib, jnp: lambda x: jnp.abs(x) ** 2.3, MILLION),
    program("log1p expm1 1000", lambda lib, jnp: lambda x: jnp.log1p(jnp.expm1(x) ** 2), f32(1000)),
    program(
        "arctan2 1e5", lambda lib, jnp: lambda x, y: jnp.arctan2(x, y), f32(100_000), f32(100_000)
    ),
    program("clip and compare 1e6", lambda lib, jnp: lambda x: jnp.clip(x, -1, 1) > 0.3, MILLION),
    program(
        "row + column 1000x1000", lambda lib, jnp: lambda x, y: x[:, None] + y, f32(1000), f32(1000)
    ),
    program(
        "bfloat16 2x + y 1e6",
        lambda lib, jnp: lambda x, y: 2 * x + y,
        of("bfloat16", 1_000_000),
        of("bfloat16", 1_000_000),
        tolerance=1e-2,
    ),
    program("float16 tanh 1e6", lambda lib, jnp: lambda x: jnp.tanh(x), of("float16", 1_000_000)),
    program(
        "complex multiply 1e5",
        lambda lib, jnp: lambda x, y: x * y + x,
        of("complex64", 100_000),
        of("complex64", 100_000),
    ),
    program("complex exp 1e5", lambda lib, jnp: lambda x: jnp.exp(x), of("complex64", 100_000)),
    program("Adam 1e6", _adam, MILLION, MILLION, MILLION, MILLION),
    program(
        "tree of 20 x 1000",
        lambda lib, jnp: lambda a: lib.tree_util.tree_map(lambda x: 0.9 * x + 1, a),
        [f32(1000)] * 20,
    ),
    program("linear regression step 100x3", _linear_regression, f32(3), f32(100, 3), f32(100)),
]
