"""Loops of solvers: differential equations, least squares, minimization."""

from __future__ import annotations

from typing import Any

from benchmarks.program import f32, program


def _adaptive(lib: Any, jnp: Any) -> Any:
    """A solve of an equation with steps of adapted size; results are written where they belong."""

    def slope(t: Any, y: Any) -> Any:
        x, v = y[0], y[1]
        return jnp.stack([v, 2.0 * (1 - x * x) * v - x])

    def solve(y: Any, times: Any) -> Any:
        def attempt(t: Any, y: Any, h: Any) -> Any:
            k1 = slope(t, y)
            k2 = slope(t + h / 2, y + h / 2 * k1)
            k3 = slope(t + 3 * h / 4, y + 3 * h / 4 * k2)
            new = y + h * (2 / 9 * k1 + 1 / 3 * k2 + 4 / 9 * k3)
            k4 = slope(t + h, new)
            low = y + h * (7 / 24 * k1 + 1 / 4 * k2 + 1 / 3 * k3 + 1 / 8 * k4)
            return (
                new,
                jnp.sqrt(jnp.mean(((new - low) / (1e-4 + 1e-4 * jnp.abs(new))) ** 2)),
                k1,
                k4,
            )

        def body(state: Any) -> Any:
            t, y, h, saved, place, steps = state
            new, error, k1, k4 = attempt(t, y, h)
            accepted = error <= 1.0
            end = t + h

            def save(s: Any) -> Any:
                place, saved = s
                u = (times[place] - t) / h
                a, b = (1 + 2 * u) * (1 - u) ** 2, u * (1 - u) ** 2
                c, d = u * u * (3 - 2 * u), u * u * (u - 1)
                value = a * y + b * h * k1 + c * new + d * h * k4
                return place + 1, saved.at[place].set(value)

            def more(s: Any) -> Any:
                return accepted & (s[0] < times.shape[0]) & (times[s[0]] <= end)

            place, saved = lib.lax.while_loop(more, save, (place, saved))
            factor = jnp.clip(0.9 * error ** (-1 / 3), 0.2, 5.0)
            t, y = jnp.where(accepted, end, t), jnp.where(accepted, new, y)
            return t, y, h * factor, saved, place, steps + 1

        def unfinished(state: Any) -> Any:
            return (state[4] < times.shape[0]) & (state[5] < 4000)

        saved = jnp.zeros((times.shape[0], y.shape[0]))
        init = (jnp.float32(0), y, jnp.float32(0.01), saved, jnp.int32(0), jnp.int32(0))
        return lib.lax.while_loop(unfinished, body, init)[3]

    return lambda y, times: solve(y, jnp.sort(jnp.abs(times)) * 5)


def _adaptive_lanes(lib: Any, jnp: Any) -> Any:
    solve = _adaptive(lib, jnp)
    return lambda ys, times: lib.vmap(solve, (0, None))(ys, times)


def _dense_output(lib: Any, jnp: Any) -> Any:
    """Steps that are saved, and a search among them for each time that is asked for."""

    def run(y: Any, times: Any) -> Any:
        def step(i: Any, state: Any) -> Any:
            t, y, ts, ys = state
            h = 0.01 * (1 + jnp.sum(y * y))
            y = y + h * jnp.stack([y[1], -y[0]])
            t = t + h
            return t, y, ts.at[i + 1].set(t), ys.at[i + 1].set(y)

        n = 256
        start = (
            jnp.float32(0),
            y,
            jnp.full(n, jnp.inf).at[0].set(0),
            jnp.zeros((n, 2)).at[0].set(y),
        )
        _, _, ts, ys = lib.lax.fori_loop(0, n - 1, step, start)

        def value(t: Any) -> Any:
            i = jnp.clip(jnp.searchsorted(ts, t) - 1, 0, n - 2)
            part = (t - ts[i]) / (ts[i + 1] - ts[i])
            return ys[i] + part * (ys[i + 1] - ys[i])

        return lib.lax.map(value, jnp.abs(times))

    return run


def _levenberg(lib: Any, jnp: Any) -> Any:
    """Fit of a curve by Levenberg and Marquardt, with a branch for accepted steps."""

    def run(xs: Any, ys: Any) -> Any:
        def residuals(p: Any) -> Any:
            return p[0] * jnp.exp(-p[1] * xs * xs) + p[2] - ys

        def body(state: Any) -> Any:
            p, damping, loss, i, _ = state
            r, j = residuals(p), lib.jacfwd(residuals)(p)
            h = j.T @ j + damping * jnp.eye(3)
            new = p - jnp.linalg.solve(h, j.T @ r)
            new_loss = jnp.sum(residuals(new) ** 2)

            def accept(_: Any) -> Any:
                return new, damping * 0.3, new_loss, jnp.abs(loss - new_loss) < 1e-7 * loss

            def refuse(_: Any) -> Any:
                return p, damping * 5.0, loss, damping > 1e8

            p, damping, loss, done = lib.lax.cond(new_loss < loss, accept, refuse, None)
            return p, damping, loss, i + 1, done

        p = jnp.array([1.0, 1.0, 0.0])
        init = (p, jnp.float32(1e-2), jnp.sum(residuals(p) ** 2), 0, False)
        return lib.lax.while_loop(lambda s: (s[3] < 30) & ~s[4], body, init)[0]

    return lambda xs, noise: run(xs, 2.0 * jnp.exp(-0.7 * xs * xs) + 0.3 + 0.01 * noise)


def _lbfgs(lib: Any, jnp: Any) -> Any:
    """Quasi-Newton steps with a history of differences, written in turn."""

    def run(x: Any, scales: Any) -> Any:
        memory, n = 5, x.shape[0]
        value = lambda x: jnp.sum(scales * (x - 1) ** 2) + jnp.sum(x**4) / 10  # noqa: E731
        gradient = lib.grad(value)

        def direction(g: Any, s: Any, y: Any, rho: Any, k: Any) -> Any:
            def first(i: Any, state: Any) -> Any:
                q, alphas = state
                j = (k - 1 - i) % memory
                alpha = rho[j] * jnp.dot(s[j], q)
                return q - alpha * y[j], alphas.at[j].set(alpha)

            q, alphas = lib.lax.fori_loop(0, memory, first, (g, jnp.zeros(memory)))

            def second(i: Any, r: Any) -> Any:
                j = (k + i) % memory
                return r + s[j] * (alphas[j] - rho[j] * jnp.dot(y[j], r))

            return -lib.lax.fori_loop(0, memory, second, 0.1 * q)

        def step(state: Any) -> Any:
            k, x, g, s, y, rho = state
            d = direction(g, s, y, rho, k)
            slope, old = jnp.dot(d, g), value(x)
            t = lib.lax.while_loop(
                lambda t: (value(x + t * d) > old + 1e-4 * t * slope) & (t > 1e-4),
                lambda t: t * 0.5,
                jnp.float32(1),
            )
            new = x + t * d
            new_g = gradient(new)
            j = k % memory
            ds, dy = new - x, new_g - g
            curvature = jnp.dot(ds, dy)
            safe = jnp.where(curvature > 1e-9, 1 / curvature, 0.0)
            return k + 1, new, new_g, s.at[j].set(ds), y.at[j].set(dy), rho.at[j].set(safe)

        zeros = jnp.zeros((memory, n))
        init = (0, x, gradient(x), zeros, zeros, jnp.zeros(memory))
        return lib.lax.while_loop(lambda s: s[0] < 30, step, init)[1]

    return lambda x, scales: run(x, jnp.abs(scales) + 0.1)


def _hessian_product(lib: Any, jnp: Any) -> Any:
    """A product with the Hessian of a loop: jvp of grad."""

    def loss(x: Any) -> Any:
        def step(c: Any, k: Any) -> Any:
            c = jnp.sin(c) * 1.1 + x * 0.1
            return c, c[k]

        return jnp.sum(lib.lax.scan(step, x, jnp.arange(16) % x.shape[0])[1] ** 2)

    return lambda x, v: lib.jvp(lib.grad(loss), (x,), (v,))[1]


PROGRAMS = [
    program("adaptive solve 50", _adaptive, f32(2), f32(50)),
    program("adaptive solve 8x50", _adaptive_lanes, f32(8, 2), f32(50)),
    program("dense output 100", _dense_output, f32(2), f32(100)),
    program("Levenberg-Marquardt 64", _levenberg, f32(64), f32(64)),
    program("Levenberg-Marquardt 1000", _levenberg, f32(1000), f32(1000)),
    program("L-BFGS 20", _lbfgs, f32(20), f32(20)),
    program("Hessian product of a scan", _hessian_product, f32(16), f32(16)),
]
