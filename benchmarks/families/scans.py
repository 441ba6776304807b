"""Scans of small matrices in parallel: products of many matrices that are computed where they are
read, sliced, selected and transposed.
"""

from __future__ import annotations

from typing import Any

from benchmarks.program import Program, f32, program


def _with_first(jnp: Any, first: Any, others: Any, steps: int) -> Any:
    """An array of equal elements, of which the first is another."""
    is_first = jnp.arange(steps).reshape(steps, *[1] * first.ndim) == 0
    return jnp.where(is_first, first, others)


def _pairs(steps: int, transposed: bool = False) -> Program:
    """The first step of a scan: products of neighbours."""

    def make(lib: Any, jnp: Any) -> Any:
        def f(first: Any, others: Any) -> Any:
            x = _with_first(jnp, first, others, steps)
            left, right = x[1::2], x[::2]
            return left @ (right.mT if transposed else right)

        return f

    name = f"pairs of {steps} matrices{', transposed' if transposed else ''}"
    return program(name, make, f32(2, 2), f32(2, 2))


def _scanned(steps: int, size: int) -> Program:
    def make(lib: Any, jnp: Any) -> Any:
        def f(first: Any, others: Any) -> Any:
            x = _with_first(jnp, first, others, steps)
            return lib.lax.associative_scan(lambda left, right: right @ left, x)

        return f

    matrix = f32(size, size, scale=0.5 / size**0.5)
    return program(f"products of {steps} matrices {size}x{size}", make, matrix, matrix)


def _linear(steps: int) -> Program:
    """A linear recurrence of vectors, of which the first has no predecessor."""

    def make(lib: Any, jnp: Any) -> Any:
        def combine(left: Any, right: Any) -> Any:
            (a, x), (b, y) = left, right
            return b @ a, (b @ x[..., None])[..., 0] + y

        def f(a: Any, x: Any) -> Any:
            matrices = _with_first(jnp, jnp.zeros_like(a), a, steps)
            return lib.lax.associative_scan(combine, (matrices, x))[1]

        return f

    return program(f"recurrence of {steps} vectors", make, f32(2, 2, scale=0.3), f32(steps, 2))


def _filtered(steps: int) -> Program:
    """A Kalman filter of two variables (Särkkä and García-Fernández, 2021)."""

    def make(lib: Any, jnp: Any) -> Any:
        def combine(left: Any, right: Any) -> Any:
            (a, b, c, j, e), (a2, b2, c2, j2, e2) = left, right
            m = jnp.eye(2) + c @ j2
            det = m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]
            inverse = jnp.array([[m[1, 1], -m[0, 1]], [-m[1, 0], m[0, 0]]]) / det
            gain, back = a2 @ inverse, a.T @ inverse.T
            return (
                gain @ a,
                gain @ (b + c @ e2) + b2,
                gain @ c @ a2.T + c2,
                back @ j2 @ a + j,
                back @ (e2 - j2 @ b) + e,
            )

        def f(move: Any, row: Any, observed: Any) -> Any:
            noise, seen = 0.1 * jnp.eye(2), 0.5
            spread = seen + row @ noise @ row
            kept = jnp.eye(2) - jnp.outer(noise @ row / spread, row)
            towards = move.T @ row / spread
            others = (
                kept @ move,
                jnp.outer(observed, noise @ row / spread),
                kept @ noise,
                jnp.outer(towards, row @ move),
                jnp.outer(observed, towards),
            )
            gain = row / (seen + row @ row)
            zeros = jnp.zeros((2, 2))
            first = zeros, gain * observed[0], jnp.eye(2) - jnp.outer(gain, row), zeros, zeros[0]
            elements = [_with_first(jnp, x, y, steps) for x, y in zip(first, others, strict=True)]
            return lib.lax.associative_scan(lib.vmap(combine), tuple(elements))[1:3]

        return f

    return program(f"filter of {steps} steps", make, f32(2, 2, scale=0.5), f32(2), f32(steps))


PROGRAMS = [
    *map(_pairs, (64, 512, 1000, 8000)),
    *(_pairs(n, transposed=True) for n in (512, 8000)),
    *(_scanned(n, 2) for n in (64, 512, 1000, 8000)),
    *(_scanned(n, 4) for n in (512, 1000)),
    *map(_linear, (512, 4000)),
    *map(_filtered, (64, 512, 4000)),
]
