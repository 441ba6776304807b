"""Products of matrices and vectors: shapes, transposes, batches and dtypes."""

from __future__ import annotations

from typing import Any

from benchmarks.program import Numbers, Program, f32, of, program


def _dot(name: str, lhs: Numbers, rhs: Numbers, tolerance: float = 2e-3) -> Program:
    return program(
        name, lambda lib, jnp: lambda x, y: jnp.matmul(x, y), lhs, rhs, tolerance=tolerance
    )


def _square(n: int, dtype: str = "float32", tolerance: float = 2e-3) -> Program:
    name = f"matmul {n}" if dtype == "float32" else f"matmul {n} {dtype}"
    return _dot(name, of(dtype, n, n), of(dtype, n, n), tolerance)


def _einsum(name: str, formula: str, *arguments: Numbers) -> Program:
    return program(name, lambda lib, jnp: lambda *xs: jnp.einsum(formula, *xs), *arguments)


def _fused(lib: Any, jnp: Any) -> Any:
    return lambda x, w, b: lib.nn.relu(x @ w + b)


PROGRAMS = [
    *(_square(n) for n in (8, 64, 100, 300, 512, 784, 1024)),
    *(_square(n, "bfloat16", 2e-2) for n in (256, 1024)),
    _square(512, "float16", 2e-2),
    *(_square(n, "complex64") for n in (64, 300)),
    _dot("matmul 128x784x512", f32(128, 784), f32(784, 512)),
    _dot("matmul 512x784x1024", f32(512, 784), f32(784, 1024)),
    _dot("matmul 32x512x10", f32(32, 512), f32(512, 10)),
    _dot("matmul 1000x3x1000", f32(1000, 3), f32(3, 1000)),
    _dot("matmul 16x64x64", f32(16, 64), f32(64, 64)),
    program("A B^T 1024", lambda lib, jnp: lambda x, y: x @ y.T, f32(1024, 1024), f32(1024, 1024)),
    program(
        "A^T B 784x128x512", lambda lib, jnp: lambda x, y: x.T @ y, f32(128, 784), f32(128, 512)
    ),
    _dot("batched 32 x 128", f32(32, 128, 128), f32(32, 128, 128)),
    _dot("batched 100 x 10", f32(100, 10, 10), f32(100, 10, 10)),
    _dot("batched 1000 x 4", f32(1000, 4, 4), f32(1000, 4, 4)),
    *(_dot(f"matvec {n}", f32(n, n), f32(n)) for n in (300, 2048)),
    *(_dot(f"vecmat {n}", f32(n), f32(n, n)) for n in (300, 2048)),
    program("dot 1e6", lambda lib, jnp: lambda x, y: x @ y, f32(1_000_000), f32(1_000_000)),
    program("outer 1000x1000", lambda lib, jnp: lambda x, y: jnp.outer(x, y), f32(1000), f32(1000)),
    _einsum("einsum of three", "ij,jk,kl->il", f32(100, 200), f32(200, 300), f32(300, 50)),
    _einsum("einsum bilinear", "bi,ijk,bj->bk", f32(64, 32), f32(32, 32, 32), f32(64, 32)),
    _einsum("einsum heads", "bqhd,bkhd->bhqk", f32(8, 128, 4, 64), f32(8, 128, 4, 64)),
    program(
        "dense layer 512x784x1024", _fused, f32(512, 784), f32(784, 1024, scale=0.04), f32(1024)
    ),
    program(
        "distances 500x64",
        lambda lib, jnp: lambda x: jnp.sum((x[:, None] - x) ** 2, -1),
        f32(500, 64),
    ),
]
