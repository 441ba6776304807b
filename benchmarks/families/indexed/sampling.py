"""Loops of samplers."""

from __future__ import annotations

from typing import Any

from benchmarks.program import f32, i32, program


def _nuts(lib: Any, jnp: Any) -> Any:
    """A sampler with trees built step by step: checkpoints in arrays, loops in loops, branches."""
    lax, random = lib.lax, lib.random

    def log_density(q: Any) -> Any:
        return -0.5 * jnp.sum(q * q * jnp.arange(1.0, q.shape[0] + 1))

    gradient = lib.grad(log_density)

    def leapfrog(state: Any, eps: Any) -> Any:
        q, p = state
        p = p + 0.5 * eps * gradient(q)
        q = q + eps * p
        return q, p + 0.5 * eps * gradient(q)

    def energy(state: Any) -> Any:
        return log_density(state[0]) - 0.5 * jnp.sum(state[1] ** 2)

    def turning(p_left: Any, p_right: Any, p_sum: Any) -> Any:
        rho = p_sum - (p_left + p_right) / 2
        return (jnp.dot(p_left, rho) <= 0) | (jnp.dot(p_right, rho) <= 0)

    def bits(n: Any) -> Any:
        def count(c: Any) -> Any:
            n, total = c
            return n >> 1, total + (n & 1)

        return lax.while_loop(lambda c: c[0] > 0, count, (n, jnp.int32(0)))[1]

    def trailing_ones(n: Any) -> Any:
        return lax.while_loop(
            lambda c: (c[0] & 1) == 1, lambda c: (c[0] >> 1, c[1] + 1), (n, jnp.int32(0))
        )[1]

    def is_iterative_turning(checks: Any, p: Any, p_sum: Any, low: Any, high: Any) -> Any:
        ps, sums = checks

        def body(state: Any) -> Any:
            i, _ = state
            part = p_sum - sums[i] + ps[i]
            return i - 1, turning(ps[i], p, part)

        return lax.while_loop(lambda s: (s[0] >= low) & ~s[1], body, (high, jnp.bool_(False)))[1]

    def subtree(key: Any, start: Any, going: Any, depth: Any, first: Any) -> Any:
        steps = 2**depth
        n = start[0].shape[0]
        checks = (jnp.zeros((6, n)), jnp.zeros((6, n)))

        def body(state: Any) -> Any:
            i, now, chosen, weight, p_sum, checks, _, key = state
            key, draw = random.split(key)
            now = leapfrog(now, going * 0.1)
            q, p = now
            new = energy(now) - first
            p_sum = p_sum + p
            total = jnp.logaddexp(weight, new)
            accept = jnp.log(random.uniform(draw)) < new - total
            chosen = jnp.where(accept, q, chosen)
            high = bits(i >> 1)
            low = high - trailing_ones(i) + 1
            checks = lax.cond(
                i % 2 == 0,
                lambda c: (c[0].at[high].set(p), c[1].at[high].set(p_sum)),
                lambda c: c,
                checks,
            )
            turned = lax.cond(
                i % 2 == 0,
                lambda: jnp.bool_(False),
                lambda: is_iterative_turning(checks, p, p_sum, low, high),
            )
            return i + 1, now, chosen, total, p_sum, checks, turned | (new < -1000), key

        init = (0, start, start[0], -jnp.inf, jnp.zeros(n), checks, jnp.bool_(False), key)
        _, now, chosen, weight, p_sum, _, turned, _ = lax.while_loop(
            lambda s: (s[0] < steps) & ~s[6], body, init
        )
        return now, chosen, weight, p_sum, turned

    def sample(q: Any, key: Any) -> Any:
        key, momentum = random.split(key)
        start = (q, random.normal(momentum, q.shape))
        first = energy(start)

        def body(state: Any) -> Any:
            depth, left, right, chosen, weight, p_sum, _, key = state
            key, side, draw, inside = random.split(key, 4)
            going = jnp.where(random.bernoulli(side), 1.0, -1.0)
            edge = tuple(jnp.where(going > 0, r, a) for a, r in zip(left, right, strict=True))
            now, new, new_weight, sums, turned = subtree(inside, edge, going, depth, first)
            left = tuple(jnp.where(going > 0, a, b) for a, b in zip(left, now, strict=True))
            right = tuple(jnp.where(going > 0, b, a) for a, b in zip(right, now, strict=True))
            accept = ~turned & (jnp.log(random.uniform(draw)) < new_weight - weight)
            chosen = jnp.where(accept, new, chosen)
            p_sum = p_sum + sums
            turned = turned | turning(left[1], right[1], p_sum)
            weight = jnp.logaddexp(weight, new_weight)
            return depth + 1, left, right, chosen, weight, p_sum, turned, key

        init = (0, start, start, q, jnp.float32(0), start[1], jnp.bool_(False), key)
        state = lax.while_loop(lambda s: (s[0] < 6) & ~s[6], body, init)
        return state[3]

    def run(q: Any, seed: Any) -> Any:
        def step(q: Any, key: Any) -> Any:
            q = sample(q, key)
            return q, q

        return lax.scan(step, q, random.split(random.PRNGKey(seed), 20))[1]

    return run


def _metropolis(lib: Any, jnp: Any) -> Any:
    random = lib.random

    def run(x: Any, seed: Any) -> Any:
        def step(x: Any, key: Any) -> Any:
            first, second = random.split(key)
            new = x + 0.5 * random.normal(first, x.shape)
            ratio = jnp.sum(x * x - new * new) / 2
            x = jnp.where(jnp.log(random.uniform(second)) < ratio, new, x)
            return x, x

        return lib.lax.scan(step, x, random.split(random.PRNGKey(seed), 200))[1]

    return run


def _gibbs(lib: Any, jnp: Any) -> Any:
    """An Ising model, site by site, in random order."""

    def run(board: Any, places: Any, draws: Any) -> Any:
        n = board.shape[0]

        def step(board: Any, x: Any) -> Any:
            place, draw = x
            i, j = place // n, place % n
            near = board[(i + 1) % n, j] + board[(i - 1) % n, j]
            near = near + board[i, (j + 1) % n] + board[i, (j - 1) % n]
            up = draw < lib.nn.sigmoid(0.8 * near)
            return board.at[i, j].set(jnp.where(up, 1.0, -1.0)), None

        return lib.lax.scan(step, jnp.sign(board), (places, draws))[0]

    return run


PROGRAMS = [
    program("NUTS 10", _nuts, f32(10), i32()),
    program("Metropolis 200x10", _metropolis, f32(10), i32()),
    program("Ising 16x16", _gibbs, f32(16, 16), i32(2000, below=256), f32(2000)),
]
