"""Stencils: steps that combine each element with its neighbours, with boundaries of some kind."""

from __future__ import annotations

from typing import Any

from benchmarks.program import f32, i32, program


def _life(lib: Any, jnp: Any) -> Any:
    """Conway's Game of Life on a torus."""

    def step(_: Any, cells: Any) -> Any:
        shifts = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
        near = sum(jnp.roll(cells, shift, (0, 1)) for shift in shifts)
        return jnp.where((near == 3) | ((cells == 1) & (near == 2)), 1, 0)

    return lambda cells: lib.lax.fori_loop(0, 50, step, cells)


def _wave(lib: Any, jnp: Any) -> Any:
    """The wave equation, fixed at the boundaries."""

    def step(state: Any, _: Any) -> Any:
        u, v = state
        near = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        v = v + 0.1 * jnp.zeros_like(u).at[1:-1, 1:-1].set(near)
        u = (u + 0.1 * v).at[0].set(0).at[-1].set(0).at[:, 0].set(0).at[:, -1].set(0)
        return (u, v), None

    return lambda u: lib.lax.scan(step, (u, jnp.zeros_like(u)), None, length=50)[0]


def _around(jnp: Any, u: Any) -> Any:
    """The Laplacian on a torus."""
    shifts = [jnp.roll(u, by, axis) for by in (1, -1) for axis in range(u.ndim)]
    return sum(shifts) - len(shifts) * u


def _reaction(lib: Any, jnp: Any) -> Any:
    """Gray and Scott's model of a reaction with diffusion."""

    def step(state: Any, _: Any) -> Any:
        u, v = state
        rate = u * v * v
        u_next = u + 0.16 * _around(jnp, u) - rate + 0.035 * (1 - u)
        return (u_next, v + 0.08 * _around(jnp, v) + rate - 0.095 * v), None

    return lambda u, v: lib.lax.scan(step, (u, v), None, length=50)[0]


def _heat(lib: Any, jnp: Any) -> Any:
    return lambda u: lib.lax.fori_loop(0, 20, lambda _, u: u + 0.1 * _around(jnp, u), u)


def _heat_gradient(lib: Any, jnp: Any) -> Any:
    def loss(u: Any) -> Any:
        def step(u: Any, _: Any) -> Any:
            return u + 0.1 * _around(jnp, u) - 0.01 * u**3, None

        return jnp.sum(lib.lax.scan(step, u, None, length=20)[0] ** 2)

    return lib.grad(loss)


def _edges(lib: Any, jnp: Any) -> Any:
    """Sobel's gradients of images."""
    kernel = jnp.array([[1.0, 0, -1], [2, 0, -2], [1, 0, -1]])

    def magnitude(image: Any) -> Any:
        gx, gy = (lib.scipy.signal.convolve2d(image, k, mode="same") for k in (kernel, kernel.T))
        return jnp.sqrt(gx**2 + gy**2)

    return lib.vmap(magnitude)


def _conjugate_gradients(lib: Any, jnp: Any) -> Any:
    """Solve a discrete Poisson equation, whose matrix is a function that adds to parts."""

    def apply(x: Any) -> Any:
        y = (4.1 * x).at[1:].add(-x[:-1]).at[:-1].add(-x[1:])
        return y.at[:, 1:].add(-x[:, :-1]).at[:, :-1].add(-x[:, 1:])

    return lambda b: lib.scipy.sparse.linalg.cg(apply, b, maxiter=40)[0]


PROGRAMS = [
    program("Game of Life 450x450", _life, i32(450, 450, below=2)),
    program("wave 400x500", _wave, f32(400, 500)),
    program("Gray-Scott 256x256", _reaction, f32(256, 256, scale=0.1), f32(256, 256, scale=0.1)),
    program("heat 64x64x64", _heat, f32(64, 64, 64)),
    program("heat gradient 200x300", _heat_gradient, f32(200, 300)),
    program("Sobel 16x128x128", _edges, f32(16, 128, 128)),
    program("conjugate gradients 400x500", _conjugate_gradients, f32(400, 500)),
]
