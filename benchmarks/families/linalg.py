"""Linear algebra of small, batched and larger matrices, and Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.program import Numbers, Program, f32, of, program

Of = Callable[[Any, Any], Any]
"""A function of jnp and a matrix."""


def _of_matrix(name: str, function: Of, *shapes: tuple[int, ...]) -> list[Program]:
    def make(lib: Any, jnp: Any) -> Any:
        return lambda a: function(jnp, a)

    return [
        program(f"{name} {'x'.join(map(str, shape[:-1]))}", make, f32(*shape)) for shape in shapes
    ]


def _definite(jnp: Any, a: Any) -> Any:
    return a @ jnp.swapaxes(a, -1, -2) + a.shape[-1] * jnp.eye(a.shape[-1])


def _near_identity(jnp: Any, a: Any) -> Any:
    return jnp.eye(a.shape[-1]) + a / (2 * a.shape[-1] ** 0.5)


def _cholesky(jnp: Any, a: Any) -> Any:
    return jnp.linalg.cholesky(_definite(jnp, a))


def _qr(jnp: Any, a: Any) -> Any:
    q, r = jnp.linalg.qr(a)
    return jnp.abs(q), jnp.abs(r)


def _svd(jnp: Any, a: Any) -> Any:
    u, s, v = jnp.linalg.svd(a, full_matrices=False)
    return (u * s[..., None, :]) @ v, s


def _eigh(jnp: Any, a: Any) -> Any:
    values, vectors = jnp.linalg.eigh(a + jnp.swapaxes(a, -1, -2))
    return values, (vectors * values[..., None, :]) @ jnp.swapaxes(vectors, -1, -2)


def _solve(lib: Any, jnp: Any) -> Any:
    return lambda a, b: jnp.linalg.solve(_near_identity(jnp, a), b)


def _solve_gradient(lib: Any, jnp: Any) -> Any:
    solve = _solve(lib, jnp)
    return lib.grad(lambda a, b: jnp.sum(solve(a, b) ** 2))


def _triangular(lib: Any, jnp: Any) -> Any:
    def solve(a: Any, b: Any) -> Any:
        return lib.scipy.linalg.solve_triangular(_near_identity(jnp, a), b, lower=True)

    return solve


def _fourier(name: str, function: Of, argument: Numbers) -> Program:
    size = "x".join(map(str, argument.shape))
    return program(f"{name} {size}", lambda lib, jnp: lambda x: function(jnp, x), argument)


PROGRAMS = [
    *_of_matrix("cholesky", _cholesky, (3, 3), (64, 64), (256, 256), (100, 16, 16)),
    *_of_matrix(
        "inverse",
        lambda jnp, a: jnp.linalg.inv(_near_identity(jnp, a)),
        *((64, 64), (256, 256), (100, 8, 8)),
    ),
    *_of_matrix(
        "slogdet", lambda jnp, a: jnp.linalg.slogdet(_near_identity(jnp, a)), (64, 64), (256, 256)
    ),
    *_of_matrix("qr", _qr, (64, 64), (256, 256)),
    *_of_matrix("svd", _svd, (64, 64), (100, 8, 8)),
    *_of_matrix("eigh", _eigh, (64, 64), (256, 256), (100, 8, 8)),
    program("solve 64", _solve, f32(64, 64), f32(64)),
    program("solve 256", _solve, f32(256, 256), f32(256)),
    program("solve 100 x 8", _solve, f32(100, 8, 8), f32(100, 8, 1)),
    program("solve gradient 256", _solve_gradient, f32(256, 256), f32(256)),
    program("triangular solve 256 of 64", _triangular, f32(256, 256), f32(256, 64)),
    _fourier("fft", lambda jnp, x: jnp.fft.fft(x), of("complex64", 64, 1024)),
    _fourier("fft", lambda jnp, x: jnp.fft.fft(x), of("complex64", 100_000)),
    _fourier("rfft", lambda jnp, x: jnp.fft.rfft(x), f32(1000, 100)),
    _fourier("fft2", lambda jnp, x: jnp.abs(jnp.fft.fft2(x)), f32(256, 256)),
]
