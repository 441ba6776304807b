"""Programs in float64, with the option `enable_x64`."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.program import of, program

_program = partial(program, x64=True, tolerance=1e-9)
_f64 = partial(of, "float64")


def _step(lib: Any, jnp: Any) -> Any:
    def loss(w: Any, x: Any) -> Any:
        return jnp.mean(jnp.tanh(x @ w) ** 2)

    return lambda w, x: w - 0.1 * lib.grad(loss)(w, x)


def _leapfrog(lib: Any, jnp: Any) -> Any:
    """Planets in their field, 100 steps."""

    def force(x: Any) -> Any:
        apart = x[:, None] - x
        return -jnp.sum(apart / (jnp.sum(apart**2, -1, keepdims=True) + 0.1) ** 1.5, 1)

    def step(i: Any, state: Any) -> Any:
        x, v = state
        v = v + 0.01 * force(x)
        return x + 0.01 * v, v

    return lambda x, v: lib.lax.fori_loop(0, 100, step, (x, v))


PROGRAMS = [
    _program("f64 add 1e6", lambda lib, jnp: lambda x, y: x + y, _f64(1_000_000), _f64(1_000_000)),
    _program("f64 exp 1e6", lambda lib, jnp: lambda x: jnp.exp(x), _f64(1_000_000)),
    _program("f64 sin 1e5", lambda lib, jnp: lambda x: jnp.sin(x), _f64(100_000)),
    _program(
        "f64 log tanh 1e5", lambda lib, jnp: lambda x: jnp.log(2 + jnp.tanh(x)), _f64(100_000)
    ),
    _program("f64 sum all 1e6", lambda lib, jnp: lambda x: jnp.sum(x), _f64(1_000_000)),
    _program("f64 sum rows 1000", lambda lib, jnp: lambda x: jnp.sum(x, 1), _f64(1000, 1000)),
    _program("f64 sum columns 1000", lambda lib, jnp: lambda x: jnp.sum(x, 0), _f64(1000, 1000)),
    _program(
        "f64 softmax 1000x1000", lambda lib, jnp: lambda x: lib.nn.softmax(x), _f64(1000, 1000)
    ),
    _program("f64 matmul 100", lambda lib, jnp: lambda x, y: x @ y, _f64(100, 100), _f64(100, 100)),
    _program("f64 matmul 512", lambda lib, jnp: lambda x, y: x @ y, _f64(512, 512), _f64(512, 512)),
    _program("f64 matvec 1000", lambda lib, jnp: lambda x, y: x @ y, _f64(1000, 1000), _f64(1000)),
    _program(
        "f64 gather 1e5",
        lambda lib, jnp: lambda x, i: x[i],
        _f64(100_000),
        of("int64", 100_000, below=100_000),
    ),
    _program("f64 transpose 1000", lambda lib, jnp: lambda x: x.T + 0, _f64(1000, 1000)),
    _program(
        "f64 cholesky 256",
        lambda lib, jnp: lambda x: jnp.linalg.cholesky(x @ x.T + 256 * jnp.eye(256)),
        _f64(256, 256),
    ),
    _program(
        "f64 solve 64",
        lambda lib, jnp: lambda x, y: jnp.linalg.solve(x + 16 * jnp.eye(64), y),
        _f64(64, 64),
        _f64(64),
    ),
    _program(
        "f64 fft 64x1024", lambda lib, jnp: lambda x: jnp.fft.fft(x), of("complex128", 64, 1024)
    ),
    _program("f64 training step", _step, _f64(256, 64, scale=0.1), _f64(128, 256)),
    _program("f64 planets 64x3", _leapfrog, _f64(64, 3), _f64(64, 3)),
]
