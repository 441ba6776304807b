"""Simulations and statistics: loops that carry a state."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.peers.program import Drawn, Race, f32, fast, parallel

BODIES, STEPS = 128, 100


def _bodies(lib: Any, jnp: Any) -> Any:
    def forces(x: Any, mass: Any) -> Any:
        apart = x[None] - x[:, None]
        cubed = (jnp.sum(apart * apart, -1) + 0.01) ** -1.5
        return jnp.sum(apart * (cubed * mass)[..., None], 1)

    def run(x: Any, v: Any, mass: Any) -> Any:
        def step(_: Any, state: Any) -> Any:
            x, v = state
            v = v + 1e-4 * forces(x, mass)
            return x + 1e-4 * v, v

        return lib.lax.fori_loop(0, STEPS, step, (x, v))[0]

    return run


def _bodies_torch(torch: Any) -> Any:
    def run(x: Any, v: Any, mass: Any) -> Any:
        for _ in range(STEPS):
            apart = x[None] - x[:, None]
            cubed = ((apart * apart).sum(-1) + 0.01) ** -1.5
            v = v + 1e-4 * (apart * (cubed * mass)[..., None]).sum(1)
            x = x + 1e-4 * v
        return x

    return run


def _bodies_loop(numba: Any) -> Any:
    rate, near = np.float32(1e-4), np.float32(0.01)

    @fast(numba)
    def run(x: Any, v: Any, mass: Any) -> Any:
        n = x.shape[0]
        px, py, pz = x[:, 0].copy(), x[:, 1].copy(), x[:, 2].copy()
        v = v.copy()
        for _ in range(STEPS):
            for i in range(n):
                ax = ay = az = np.float32(0)
                for j in range(n):
                    dx, dy, dz = px[j] - px[i], py[j] - py[i], pz[j] - pz[i]
                    square = dx * dx + dy * dy + dz * dz + near
                    weight = mass[j] / (square * np.sqrt(square))
                    ax += dx * weight
                    ay += dy * weight
                    az += dz * weight
                v[i, 0] += rate * ax
                v[i, 1] += rate * ay
                v[i, 2] += rate * az
            for i in range(n):
                px[i] += rate * v[i, 0]
                py[i] += rate * v[i, 1]
                pz[i] += rate * v[i, 2]
        out = np.empty_like(x)
        out[:, 0], out[:, 1], out[:, 2] = px, py, pz
        return out

    return run


def _heat(lib: Any, jnp: Any) -> Any:
    def run(x: Any) -> Any:
        def step(_: Any, x: Any) -> Any:
            around = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
            return x.at[1:-1, 1:-1].set(0.6 * x[1:-1, 1:-1] + 0.1 * around)

        return lib.lax.fori_loop(0, 100, step, x)

    return run


def _heat_torch(torch: Any) -> Any:
    def run(x: Any) -> Any:
        x = x.clone()
        for _ in range(100):
            around = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
            x[1:-1, 1:-1] = 0.6 * x[1:-1, 1:-1] + 0.1 * around
        return x

    return run


def _heat_loop(numba: Any) -> Any:
    most, little = np.float32(0.6), np.float32(0.1)

    @parallel(numba)
    def run(x: Any) -> Any:
        x = x.copy()
        y = x.copy()
        for _ in range(100):
            for i in numba.prange(1, x.shape[0] - 1):
                for j in range(1, x.shape[1] - 1):
                    around = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]
                    y[i, j] = most * x[i, j] + little * around
            x, y = y, x
        return x

    return run


def _paths(lib: Any, jnp: Any) -> Any:
    def run(start: Any, noise: Any) -> Any:
        def step(x: Any, dw: Any) -> Any:
            x = x + 0.5 * (1.0 - x) * 0.01 + 0.2 * jnp.sqrt(jnp.abs(x)) * 0.1 * dw
            return x, None

        return lib.lax.scan(step, start, noise)[0]

    return run


def _paths_torch(torch: Any) -> Any:
    def run(x: Any, noise: Any) -> Any:
        for dw in noise:
            x = x + 0.5 * (1.0 - x) * 0.01 + 0.2 * torch.sqrt(torch.abs(x)) * 0.1 * dw
        return x

    return run


def _paths_loop(numba: Any) -> Any:
    drift, spread = np.float32(0.005), np.float32(0.02)

    @parallel(numba)
    def run(start: Any, noise: Any) -> Any:
        out = np.empty_like(start)
        for block in numba.prange(start.size // 100):
            low = block * 100
            x = start[low : low + 100].copy()
            for k in range(noise.shape[0]):
                for i in range(100):
                    root = math.sqrt(abs(x[i]))
                    x[i] += drift * (np.float32(1) - x[i]) + spread * root * noise[k, low + i]
            out[low : low + 100] = x
        return out

    return run


def _hmc(lib: Any, jnp: Any) -> Any:
    """20 samples of 10 leapfrog steps of a logistic regression; the noise is given."""

    def run(x: Any, y: Any, start: Any, kicks: Any, levels: Any) -> Any:
        def energy(w: Any) -> Any:
            return jnp.sum(lib.nn.softplus(-y * (x @ w))) + 0.5 * jnp.sum(w * w)

        slope = lib.grad(energy)

        def sample(w: Any, drawn: Any) -> Any:
            kick, level = drawn

            def leap(_: Any, state: Any) -> Any:
                w, p = state
                p = p - 0.005 * slope(w)
                w = w + 0.01 * p
                return w, p - 0.005 * slope(w)

            new, p = lib.lax.fori_loop(0, 10, leap, (w, kick))
            before = energy(w) + 0.5 * jnp.sum(kick * kick)
            after = energy(new) + 0.5 * jnp.sum(p * p)
            w = jnp.where(level < before - after, new, w)
            return w, w

        return lib.lax.scan(sample, start, (kicks, levels))[1]

    return run


def _hmc_torch(torch: Any) -> Any:
    softplus = torch.nn.functional.softplus

    def run(x: Any, y: Any, w: Any, kicks: Any, levels: Any) -> Any:
        def energy(w: Any) -> Any:
            return softplus(-y * (x @ w)).sum() + 0.5 * (w * w).sum()

        def slope(w: Any) -> Any:
            return x.T @ (-y * torch.sigmoid(-y * (x @ w))) + w

        samples = []
        for kick, level in zip(kicks, levels, strict=True):
            new, p = w, kick
            for _ in range(10):
                p = p - 0.005 * slope(new)
                new = new + 0.01 * p
                p = p - 0.005 * slope(new)
            before = energy(w) + 0.5 * (kick * kick).sum()
            after = energy(new) + 0.5 * (p * p).sum()
            w = torch.where(level < before - after, new, w)
            samples.append(w)
        return torch.stack(samples)

    return run


def _bounces(lib: Any, jnp: Any) -> Any:
    """A ball that bounces, by steps of Heun's, until it has hit the floor 20 times."""

    def run(height: Any, speed: Any) -> Any:
        def going(state: Any) -> Any:
            return state[3] < 20

        def step(state: Any) -> Any:
            h, v, t, hits = state
            slope = -9.81 - 0.1 * v
            slope2 = -9.81 - 0.1 * (v + 1e-3 * slope)
            new_h = h + 1e-3 * (v + 0.5e-3 * slope)
            new_v = v + 0.5e-3 * (slope + slope2)
            hit = new_h < 0
            part = jnp.where(hit, h / (h - new_h), 1.0)
            landed = v + part * (new_v - v)
            return (
                jnp.where(hit, 0.0, new_h),
                jnp.where(hit, -0.9 * landed, new_v),
                t + part * 1e-3,
                hits + hit.astype(jnp.int32),
            )

        return lib.lax.while_loop(going, step, (height, speed, 0.0, 0))[2]

    return run


def _bounces_loop(numba: Any) -> Any:
    f = np.float32
    gravity, drag, dt, half, back = f(-9.81), f(0.1), f(1e-3), f(0.5e-3), f(-0.9)

    @fast(numba)
    def run(height: Any, speed: Any) -> Any:
        h, v, t, hits = f(height.item()), f(speed.item()), f(0), 0
        while hits < 20:
            slope = gravity - drag * v
            slope2 = gravity - drag * (v + dt * slope)
            new_h = h + dt * (v + half * slope)
            new_v = v + half * (slope + slope2)
            part = f(1)
            if new_h < 0:
                part = h / (h - new_h)
                new_v = back * (v + part * (new_v - v))
                new_h = f(0)
                hits += 1
            h, v = new_h, new_v
            t += part * dt
        return t

    return run


def _mandelbrot(lib: Any, jnp: Any) -> Any:
    def run(re: Any, im: Any) -> Any:
        def step(_: Any, state: Any) -> Any:
            x, y, count = state
            inside = x * x + y * y < 4
            new_x, new_y = x * x - y * y + re, 2 * x * y + im
            return (
                jnp.where(inside, new_x, x),
                jnp.where(inside, new_y, y),
                count + inside.astype(jnp.int32),
            )

        zeros = jnp.zeros_like(re)
        return lib.lax.fori_loop(0, 50, step, (zeros, zeros, jnp.zeros(re.shape, jnp.int32)))[2]

    return run


def _mandelbrot_torch(torch: Any) -> Any:
    def run(re: Any, im: Any) -> Any:
        x, y = torch.zeros_like(re), torch.zeros_like(im)
        count = torch.zeros(re.shape, dtype=torch.int32)
        for _ in range(50):
            inside = x * x + y * y < 4
            new_x, new_y = x * x - y * y + re, 2 * x * y + im
            x, y = torch.where(inside, new_x, x), torch.where(inside, new_y, y)
            count = count + inside
        return count

    return run


def _mandelbrot_loop(numba: Any) -> Any:
    @parallel(numba)
    def run(re: Any, im: Any) -> Any:
        out = np.empty(re.shape, np.int32)
        for i in numba.prange(re.shape[0]):
            for j in range(re.shape[1]):
                x = y = np.float32(0)
                count = 0
                while count < 50 and x * x + y * y < 4:
                    x, y = x * x - y * y + re[i, j], np.float32(2) * x * y + im[i, j]
                    count += 1
                out[i, j] = count
        return out

    return run


def _k_means(lib: Any, jnp: Any) -> Any:
    def run(x: Any, centres: Any) -> Any:
        def step(_: Any, centres: Any) -> Any:
            distances = jnp.sum(centres * centres, 1) - 2 * x @ centres.T
            chosen = lib.nn.one_hot(jnp.argmin(distances, 1), centres.shape[0])
            return (chosen.T @ x) / jnp.maximum(jnp.sum(chosen, 0), 1)[:, None]

        return lib.lax.fori_loop(0, 10, step, centres)

    return run


def _k_means_torch(torch: Any) -> Any:
    def run(x: Any, centres: Any) -> Any:
        for _ in range(10):
            nearest = torch.cdist(x, centres).argmin(1)
            sums = torch.zeros_like(centres).index_add_(0, nearest, x)
            counts = torch.bincount(nearest, minlength=centres.shape[0])
            centres = sums / counts.clamp(min=1)[:, None]
        return centres

    return run


def _k_means_loop(numba: Any) -> Any:
    @fast(numba)
    def run(x: Any, centres: Any) -> Any:
        centres = centres.copy()
        for _ in range(10):
            sums, counts = np.zeros_like(centres), np.zeros(centres.shape[0], np.int32)
            for i in range(x.shape[0]):
                best, least = 0, np.float32(1e30)
                for k in range(centres.shape[0]):
                    distance = np.float32(0)
                    for j in range(x.shape[1]):
                        distance += (x[i, j] - centres[k, j]) ** 2
                    if distance < least:
                        best, least = k, distance
                counts[best] += 1
                for j in range(x.shape[1]):
                    sums[best, j] += x[i, j]
            for k in range(centres.shape[0]):
                centres[k] = sums[k] / np.float32(max(counts[k], 1))
        return centres

    return run


def _distances(lib: Any, jnp: Any) -> Any:
    def run(x: Any, y: Any) -> Any:
        return jnp.sqrt(jnp.sum((x[:, None] - y[None]) ** 2, -1))

    return run


def _distances_loop(numba: Any) -> Any:
    @parallel(numba)
    def run(x: Any, y: Any) -> Any:
        out = np.empty((x.shape[0], y.shape[0]), np.float32)
        for i in numba.prange(x.shape[0]):
            for j in range(y.shape[0]):
                total = np.float32(0)
                for k in range(x.shape[1]):
                    total += (x[i, k] - y[j, k]) ** 2
                out[i, j] = math.sqrt(total)
        return out

    return run


def _kalman(lib: Any, jnp: Any) -> Any:
    """A filter of four states, of which two are seen."""

    def run(move: Any, seen: Any) -> Any:
        noise, error = 0.01 * jnp.eye(4), 0.1 * jnp.eye(2)
        view = jnp.eye(2, 4)

        def step(carry: Any, z: Any) -> Any:
            x, p = carry
            x, p = move @ x, move @ p @ move.T + noise
            gain = jnp.linalg.solve(view @ p @ view.T + error, view @ p).T
            x = x + gain @ (z - view @ x)
            return (x, p - gain @ view @ p), x

        return lib.lax.scan(step, (jnp.zeros(4), jnp.eye(4)), seen)[1]

    return run


def _kalman_torch(torch: Any) -> Any:
    def run(move: Any, seen: Any) -> Any:
        noise, error = 0.01 * torch.eye(4), 0.1 * torch.eye(2)
        view = torch.eye(2, 4)
        x, p, found = torch.zeros(4), torch.eye(4), []
        for z in seen:
            x, p = move @ x, move @ p @ move.T + noise
            gain = torch.linalg.solve(view @ p @ view.T + error, view @ p).T
            x = x + gain @ (z - view @ x)
            p = p - gain @ view @ p
            found.append(x)
        return torch.stack(found)

    return run


def _power(lib: Any, jnp: Any) -> Any:
    """A while whose condition is a norm: conjugate gradients."""

    def run(a: Any, b: Any) -> Any:
        def going(state: Any) -> Any:
            return jnp.linalg.norm(state[1]) > 1e-3

        def step(state: Any) -> Any:
            x, r, p = state
            ap = a @ p
            rate = (r @ r) / (p @ ap)
            new = r - rate * ap
            return x + rate * p, new, new + (new @ new) / (r @ r) * p

        return lib.lax.while_loop(going, step, (jnp.zeros_like(b), b, b))[0]

    return run


def _power_torch(torch: Any) -> Any:
    def run(a: Any, b: Any) -> Any:
        x, r, p = torch.zeros_like(b), b, b
        while torch.linalg.vector_norm(r) > 1e-3:
            ap = a @ p
            rate = (r @ r) / (p @ ap)
            new = r - rate * ap
            x, r, p = x + rate * p, new, new + (new @ new) / (r @ r) * p
        return x

    return run


def _small(lib: Any, jnp: Any) -> Any:
    return lambda x, w: jnp.tanh(x @ w) + x


def _small_loop(numba: Any) -> Any:
    return fast(numba)(lambda x, w: np.tanh(x @ w) + x)


def _positive(g: Any) -> Any:
    x = g.normal(size=(256, 256)) / 16
    return (x @ x.T + np.eye(256)).astype(np.float32)


GRID = Drawn(lambda g: np.tile(np.linspace(-2, 0.6, 512, dtype=np.float32), (512, 1)))
GRID_T = Drawn(lambda g: np.tile(np.linspace(-1.2, 1.2, 512, dtype=np.float32)[:, None], (1, 512)))
MOVE = Drawn(lambda g: (np.eye(4) + 0.1 * np.eye(4, k=2)).astype(np.float32))
SIGNS = Drawn(lambda g: np.sign(g.normal(size=500)).astype(np.float32))
ABOVE = Drawn(lambda g: np.asarray(10, np.float32))

RACES = [
    Race(
        "n-body, 128 bodies, 100 steps",
        (f32(BODIES, 3), f32(BODIES, 3), f32(BODIES)),
        _bodies,
        _bodies_torch,
        numba=_bodies_loop,
        flops=STEPS * BODIES**2 * 20.0,
    ),
    Race(
        "heat 256x256, 100 steps",
        (f32(256, 256),),
        _heat,
        _heat_torch,
        numba=_heat_loop,
        flops=100 * 254**2 * 6.0,
    ),
    Race(
        "paths of an SDE, 10000 of 100 steps",
        (Drawn(lambda g: np.ones(10_000, np.float32)), f32(100, 10_000)),
        _paths,
        _paths_torch,
        numba=_paths_loop,
    ),
    Race(
        "HMC of a logistic regression 500x16",
        (f32(500, 16), SIGNS, f32(16, scale=0.1), f32(20, 16), f32(20, scale=0.1)),
        _hmc,
        _hmc_torch,
        flops=20 * 20 * 4.0 * 500 * 16,
        tolerance=2e-2,
    ),
    Race(
        "ODE with events: 20 bounces",
        (ABOVE, f32(scale=0.0)),
        _bounces,
        numba=_bounces_loop,
        tolerance=2e-2,  # thousands of steps in float32
    ),
    Race(
        "Mandelbrot 512x512, 50 iterations",
        (GRID, GRID_T),
        _mandelbrot,
        _mandelbrot_torch,
        numba=_mandelbrot_loop,
    ),
    Race(
        "k-means, 10000x16, 32 centres, 10 steps",
        (f32(10_000, 16), f32(32, 16)),
        _k_means,
        _k_means_torch,
        numba=_k_means_loop,
        flops=10 * 2.0 * 10_000 * 16 * 32,
        tolerance=2e-2,
    ),
    Race(
        "pairwise distances 1000x1000x16",
        (f32(1000, 16), f32(1000, 16)),
        _distances,
        lambda torch: lambda x, y: torch.cdist(x, y),
        numba=_distances_loop,
        flops=3.0 * 1000 * 1000 * 16,
    ),
    Race("Kalman filter of 4 states, 200 steps", (MOVE, f32(200, 2)), _kalman, _kalman_torch),
    Race(
        "conjugate gradients of 256",
        (Drawn(_positive), f32(256)),
        _power,
        _power_torch,
        tolerance=2e-2,
    ),
    Race(
        "a small call: tanh(x @ w) + x of 8x8",
        (f32(8, 8), f32(8, 8)),
        _small,
        lambda torch: lambda x, w: torch.tanh(x @ w) + x,
        numba=_small_loop,
    ),
]
