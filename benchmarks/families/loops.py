"""Loops: scalar steps, short and long vectors, conditions on arrays, rows read and written."""

from __future__ import annotations

from typing import Any

from benchmarks.program import Program, f32, i32, program, weights


def _counting(lib: Any, jnp: Any) -> Any:
    def advance(state: Any) -> Any:
        return state[0] + 1, state[1] * 0.999 + 0.5

    return lambda x: lib.lax.while_loop(lambda state: state[0] < 10_000, advance, (0, x))[1]


def _sines(size: int) -> Program:
    def make(lib: Any, jnp: Any) -> Any:
        return lambda x: lib.lax.fori_loop(0, 1000, lambda i, x: jnp.sin(x) + 0.1 * x, x)

    return program(f"fori 1000 sines of {size}", make, f32(size))


def _filled(lib: Any, jnp: Any) -> Any:
    """An array that a loop writes one element at a time, each from the one before."""
    return lambda x: lib.lax.fori_loop(1, 1000, lambda i, a: a.at[i].set(0.5 * a[i - 1] + a[i]), x)


def _averages(lib: Any, jnp: Any) -> Any:
    """Exponential averages of rows: a scan that reads and writes rows."""

    def step(mean: Any, x: Any) -> Any:
        mean = 0.9 * mean + 0.1 * x
        return mean, mean

    return lambda xs: lib.lax.scan(step, xs[0], xs)[1]


def _averages_gradient(lib: Any, jnp: Any) -> Any:
    averages = _averages(lib, jnp)
    return lib.grad(lambda xs: jnp.sum(averages(xs) ** 3))


def _shrinking(lib: Any, jnp: Any) -> Any:
    """Steps until the norm is small: a condition on an array."""
    return lambda x: lib.lax.while_loop(
        lambda x: jnp.sum(x * x) > 1e-3, lambda x: 0.98 * jnp.sin(x), x
    )


def _newton(lib: Any, jnp: Any) -> Any:
    """Cube roots by Newton's method, each until it converges."""

    def root(a: Any) -> Any:
        def step(state: Any) -> Any:
            x, _ = state
            return x - (x**3 - a) / (3 * x * x), x

        return lib.lax.while_loop(lambda s: jnp.abs(s[0] - s[1]) > 1e-4, step, (a, a + 1))[0]

    return lambda a: lib.vmap(root)(1 + jnp.abs(a))


def _power_iteration(lib: Any, jnp: Any) -> Any:
    def run(a: Any, v: Any) -> Any:
        def step(i: Any, v: Any) -> Any:
            v = a @ v
            return v / jnp.sqrt(jnp.sum(v * v))

        return lib.lax.fori_loop(0, 50, step, v)

    return lambda root, v: run(root @ root.T, v)


def _squaring(lib: Any, jnp: Any) -> Any:
    """A product of matrices in each step."""
    return lambda a, x: lib.lax.fori_loop(0, 20, lambda i, x: jnp.tanh(a @ x), x)


def _jacobi(lib: Any, jnp: Any) -> Any:
    def step(i: Any, u: Any) -> Any:
        inner = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
        return u.at[1:-1, 1:-1].set(inner)

    return lambda u: lib.lax.fori_loop(0, 100, step, u)


def _mandelbrot(lib: Any, jnp: Any) -> Any:
    def step(i: Any, state: Any) -> Any:
        x, y, count, a, b = state
        inside = x * x + y * y < 4
        x, y = jnp.where(inside, x * x - y * y + a, x), jnp.where(inside, 2 * x * y + b, y)
        return x, y, count + inside, a, b

    def counts(a: Any, b: Any) -> Any:
        state = (jnp.zeros_like(a), jnp.zeros_like(a), jnp.zeros(a.shape, jnp.int32), a, b)
        return lib.lax.fori_loop(0, 50, step, state)[2]

    return counts


def _distances(lib: Any, jnp: Any) -> Any:
    """All shortest paths, by Floyd and Warshall: reads a row and a column in each step."""

    def step(k: Any, d: Any) -> Any:
        return jnp.minimum(d, d[:, k, None] + d[k])

    return lambda d: lib.lax.fori_loop(0, 128, step, jnp.abs(d))


def _viterbi(lib: Any, jnp: Any) -> Any:
    """The best path through states: maxima and their places, forwards, then backwards."""

    def path(transitions: Any, scores: Any) -> Any:
        def forward(best: Any, score: Any) -> Any:
            through = best[:, None] + transitions
            return jnp.max(through, 0) + score, jnp.argmax(through, 0)

        best, came_from = lib.lax.scan(forward, scores[0], scores[1:])

        def back(state: Any, place: Any) -> Any:
            return place[state], state

        return lib.lax.scan(back, jnp.argmax(best), came_from, reverse=True)[1]

    return path


def _kalman(lib: Any, jnp: Any) -> Any:
    def run(a: Any, xs: Any) -> Any:
        def step(state: Any, x: Any) -> Any:
            m, p = state
            m, p = a @ m, a @ p @ a.T + jnp.eye(4)
            gain = p @ jnp.linalg.inv(p + jnp.eye(4))
            m, p = m + gain @ (x - m), p - gain @ p
            return (m, p), m

        return lib.lax.scan(step, (xs[0], jnp.eye(4)), xs)[1]

    return run


def _branching(lib: Any, jnp: Any) -> Any:
    def step(x: Any, kind: Any) -> Any:
        branches = [jnp.sin, jnp.cos, lambda x: 0.5 * x]
        return lib.lax.switch(kind, branches, x), jnp.sum(x)

    return lambda x, kinds: lib.lax.scan(step, x, kinds)


def _ode(lib: Any, jnp: Any) -> Any:
    """Lorenz's equations for many starts, by Runge and Kutta."""

    def slope(s: Any) -> Any:
        x, y, z = s
        return jnp.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    def step(s: Any, _: Any) -> Any:
        k1 = slope(s)
        k2 = slope(s + 0.0005 * k1)
        return s + 0.001 * k2, None

    return lambda s: lib.lax.scan(step, s, None, length=200)[0]


def _edit_distance(lib: Any, jnp: Any) -> Any:
    """The distance of two words: a scan of rows with a scan in each."""

    def distance(first: Any, second: Any) -> Any:
        def row(above: Any, letter: Any) -> Any:
            def cell(left: Any, x: Any) -> Any:
                diagonal, up, other = x
                new = jnp.minimum(jnp.minimum(left, up) + 1, diagonal + (other != letter))
                return new, new

            start = above[0] + 1
            _, rest = lib.lax.scan(cell, start, (above[:-1], above[1:], second))
            return jnp.concatenate([start[None], rest]), None

        start = jnp.arange(second.shape[0] + 1)
        return lib.lax.scan(row, start, first)[0][-1]

    return distance


def _warping(lib: Any, jnp: Any) -> Any:
    """Dynamic time warping, a row after the other, each by cumulative sums and minima."""

    def distance(first: Any, second: Any) -> Any:
        def row(above: Any, costs: Any) -> Any:
            from_above = jnp.minimum(above, jnp.roll(above, 1).at[0].set(jnp.inf))
            total = jnp.cumsum(costs)
            return total + lib.lax.cummin(from_above - (total - costs)), None

        costs = jnp.abs(first[:, None] - second)
        return lib.lax.scan(row, jnp.cumsum(costs[0]), costs[1:])[0][-1]

    return distance


def _associative(lib: Any, jnp: Any) -> Any:
    def combine(left: Any, right: Any) -> Any:
        return left[0] * right[0], left[1] * right[0] + right[1]

    return lambda a, b: lib.lax.associative_scan(combine, (a, b))


def _map(lib: Any, jnp: Any) -> Any:
    return lambda w, xs: lib.lax.map(lambda x: jnp.tanh(w @ x), xs)


PROGRAMS = [
    program("while 10000 scalar steps", _counting, f32()),
    *(_sines(n) for n in (64, 129, 512, 1024, 4096)),
    program("fori 1000 elements set", _filled, f32(1000)),
    program("averages of rows 1000x16", _averages, f32(1000, 16)),
    program("averages of rows 1000x256", _averages, f32(1000, 256)),
    program("averages gradient 1000x256", _averages_gradient, f32(1000, 256)),
    program("while norm of 256", _shrinking, f32(256)),
    program("Newton, vmapped 1000", _newton, f32(1000)),
    program("power iteration 300", _power_iteration, f32(300, 300), f32(300)),
    program("product in each step 128", _squaring, weights(128, 128), f32(128, 128)),
    program("Jacobi 128x128", _jacobi, f32(128, 128)),
    program("Mandelbrot 10000", _mandelbrot, f32(10_000), f32(10_000)),
    program("Floyd-Warshall 128", _distances, f32(128, 128)),
    program("Viterbi 200 x 32", _viterbi, f32(32, 32), f32(200, 32)),
    program("Kalman filter 200 x 4", _kalman, f32(4, 4, scale=0.4), f32(200, 4)),
    program("switch in scan 500", _branching, f32(16), i32(500, below=3)),
    program("Lorenz 3x100", _ode, f32(3, 100)),
    program("edit distance 64", _edit_distance, i32(64, below=4), i32(64, below=4)),
    program("time warping 500", _warping, f32(500), f32(500)),
    program("associative_scan 10000", _associative, f32(10_000, scale=0.3), f32(10_000)),
    program("lax.map 64 x matvec 64", _map, weights(64, 64), f32(64, 64)),
]
