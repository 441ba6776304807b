"""Loops that index arrays at computed places: environments, samplers, solvers, searches."""

from __future__ import annotations

from typing import Any

from benchmarks.program import f32, i32, of, program, weights


def _advantages(lib: Any, jnp: Any) -> Any:
    """Generalized advantage estimates, as of PPO."""

    def run(rewards: Any, values: Any, dones: Any) -> Any:
        def step(after: Any, x: Any) -> Any:
            advantage, next_value = after
            reward, value, done = x
            alive = 1.0 - done
            delta = reward + 0.99 * next_value * alive - value
            advantage = delta + 0.99 * 0.95 * alive * advantage
            return (advantage, value), advantage

        start = (jnp.zeros_like(values[-1]), values[-1])
        xs = (rewards, values, dones.astype(jnp.float32))
        return lib.lax.scan(step, start, xs, reverse=True)[1]

    return run


def _cart_pole(lib: Any, jnp: Any) -> Any:
    """Steps of an environment with a policy of two layers, and random actions and restarts."""
    random, lax = lib.random, lib.lax

    def reset(key: Any) -> Any:
        return random.uniform(key, (4,), minval=-0.05, maxval=0.05)

    def advance(s: Any, action: Any) -> Any:
        x, v, angle, w = s
        force = jnp.where(action == 1, 10.0, -10.0)
        sine, cosine = jnp.sin(angle), jnp.cos(angle)
        push = (force + 0.05 * w**2 * sine) / 1.1
        turn = (9.8 * sine - cosine * push) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
        pull = push - 0.05 * turn * cosine / 1.1
        return jnp.stack([x + 0.02 * v, v + 0.02 * pull, angle + 0.02 * w, w + 0.02 * turn])

    def run(params: Any, seed: Any) -> Any:
        def step(state: Any, _: Any) -> Any:
            key, s = state
            key, act, again = random.split(key, 3)
            logits = jnp.tanh(s @ params["a"]) @ params["b"]
            action = random.categorical(act, logits)
            new = advance(s, action)
            done = (jnp.abs(new[0]) > 2.4) | (jnp.abs(new[2]) > 0.2)
            new = jnp.where(done, reset(again), new)
            log_p = lib.nn.log_softmax(logits)[action]
            return (key, new), (s, action, log_p, done)

        def rollout(key: Any) -> Any:
            return lax.scan(step, (key, reset(key)), None, length=128)[1]

        return lib.vmap(rollout)(random.split(random.PRNGKey(seed), 4))

    return run


def _ring_buffer(lib: Any, jnp: Any) -> Any:
    """The mean of the last rows, and one that was some steps ago."""

    def run(buffer: Any, xs: Any) -> Any:
        size = buffer.shape[0]

        def step(state: Any, x: Any) -> Any:
            i, buffer = state
            buffer = buffer.at[i % size].set(x)
            return (i + 1, buffer), buffer[(i - 3) % size] + jnp.mean(x)

        return lib.lax.scan(step, (0, buffer), xs)

    return run


def _histogram(lib: Any, jnp: Any) -> Any:
    def run(counts: Any, places: Any) -> Any:
        def step(i: Any, counts: Any) -> Any:
            return counts.at[places[i]].add(1)

        return lib.lax.fori_loop(0, places.shape[0], step, counts)

    return run


def _rows(lib: Any, jnp: Any) -> Any:
    """Rows of an array, each from that before."""

    def run(rows: Any) -> Any:
        def step(i: Any, rows: Any) -> Any:
            return rows.at[i].set(0.5 * rows[i - 1] + rows[i])

        return lib.lax.fori_loop(1, rows.shape[0], step, rows)

    return run


def _random_rows(lib: Any, jnp: Any) -> Any:
    """Rows of a large table that steps change: additions, and maxima, at places that are read."""

    def run(table: Any, places: Any, xs: Any) -> Any:
        def step(table: Any, x: Any) -> Any:
            place, row = x
            table = table.at[place].add(0.1 * (row - table[place]))
            return table, jnp.sum(table[place])

        return lib.lax.scan(step, table, (places, xs))

    return run


def _q_learning(lib: Any, jnp: Any) -> Any:
    def run(q: Any, states: Any, actions: Any, rewards: Any) -> Any:
        def step(q: Any, x: Any) -> Any:
            s, a, r, after = x
            goal = r + 0.9 * jnp.max(q[after])
            return q.at[s, a].add(0.1 * (goal - q[s, a])), q[s, a]

        return lib.lax.scan(step, q, (states[:-1], actions[:-1], rewards[:-1], states[1:]))

    return run


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


def _beam_search(lib: Any, jnp: Any) -> Any:
    def run(transitions: Any, start: Any) -> Any:
        states, beams, length = transitions.shape[0], 4, 32

        def step(i: Any, state: Any) -> Any:
            scores, last, paths = state
            every = scores[:, None] + transitions[last]
            best, places = lib.lax.top_k(every.reshape(-1), beams)
            beam, token = places // states, places % states
            return best, token, paths[beam].at[:, i].set(token)

        scores = jnp.where(jnp.arange(beams) == 0, 0.0, -jnp.inf) + start[:beams]
        paths = jnp.zeros((beams, length), jnp.int32)
        init = (scores, jnp.zeros(beams, jnp.int32), paths)
        return lib.lax.fori_loop(0, length, step, init)

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


def _life(lib: Any, jnp: Any) -> Any:
    def step(i: Any, board: Any) -> Any:
        near = sum(
            jnp.roll(board, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b
        )
        return ((near == 3) | ((near == 2) & (board == 1))).astype(jnp.int32)

    return lambda board: lib.lax.fori_loop(0, 100, step, board)


def _insertion_sort(lib: Any, jnp: Any) -> Any:
    def sort(x: Any) -> Any:
        def insert(i: Any, x: Any) -> Any:
            key = x[i]

            def move(s: Any) -> Any:
                j, x = s
                return j - 1, x.at[j + 1].set(x[j])

            j, x = lib.lax.while_loop(lambda s: (s[0] >= 0) & (s[1][s[0]] > key), move, (i - 1, x))
            return x.at[j + 1].set(key)

        return lib.lax.fori_loop(1, x.shape[0], insert, x)

    return sort


def _insertion_sort_lanes(lib: Any, jnp: Any) -> Any:
    return lib.vmap(_insertion_sort(lib, jnp))


def _bitonic(lib: Any, jnp: Any) -> Any:
    """A sorting network: partners are taken by index."""

    def run(x: Any) -> Any:
        size = x.shape[0]
        places = jnp.arange(size)
        depth = size.bit_length() - 1

        def outer(k: Any, x: Any) -> Any:
            def inner(j: Any, x: Any) -> Any:
                partner = places ^ (1 << (k - j))
                other = x[partner]
                ascending = (places & (2 << k)) == 0
                lower = places < partner
                return jnp.where(lower == ascending, jnp.minimum(x, other), jnp.maximum(x, other))

            return lib.lax.fori_loop(0, k + 1, inner, x)

        return lib.lax.fori_loop(0, depth, outer, x)

    return run


def _heap(lib: Any, jnp: Any) -> Any:
    """A priority queue: numbers are pushed, then popped."""
    lax = lib.lax

    def swap(heap: Any, i: Any, j: Any) -> Any:
        a, b = heap[i], heap[j]
        return heap.at[i].set(b).at[j].set(a)

    def push(state: Any, x: Any) -> Any:
        heap, size = state
        heap = heap.at[size].set(x)

        def up(s: Any) -> Any:
            i, heap = s
            return (i - 1) // 2, swap(heap, i, (i - 1) // 2)

        _, heap = lax.while_loop(
            lambda s: (s[0] > 0) & (s[1][s[0]] < s[1][(s[0] - 1) // 2]), up, (size, heap)
        )
        return (heap, size + 1), None

    def pop(state: Any, _: Any) -> Any:
        heap, size = state
        top = heap[0]
        size = size - 1
        heap = heap.at[0].set(heap[size]).at[size].set(jnp.inf)

        def least(i: Any, heap: Any) -> Any:
            left, right = 2 * i + 1, 2 * i + 2
            j = jnp.where(heap[left] < heap[i], left, i)
            return jnp.where(heap[right] < heap[j], right, j)

        def down(s: Any) -> Any:
            i, heap = s
            j = least(i, heap)
            return j, swap(heap, i, j)

        _, heap = lax.while_loop(lambda s: least(s[0], s[1]) != s[0], down, (0, heap))
        return (heap, size), top

    def run(xs: Any) -> Any:
        state = (jnp.full(2 * xs.shape[0] + 2, jnp.inf), 0)
        state, _ = lax.scan(push, state, xs)
        return lax.scan(pop, state, None, length=xs.shape[0])[1]

    return run


def _take_along(lib: Any, jnp: Any) -> Any:
    """Composed permutations of rows."""

    def run(x: Any, places: Any) -> Any:
        def step(x: Any, place: Any) -> Any:
            x = jnp.take_along_axis(x, place, 1) + 1.0
            return x, x[:, 0]

        return lib.lax.scan(step, x, places)

    return run


def _one_hot(lib: Any, jnp: Any) -> Any:
    def run(x: Any, places: Any) -> Any:
        def step(x: Any, place: Any) -> Any:
            hot = lib.nn.one_hot(place, x.shape[0])
            return 0.9 * x + hot[:, None] * jnp.mean(x, 0), jnp.sum(x)

        return lib.lax.scan(step, x, places)

    return run


def _dijkstra(lib: Any, jnp: Any) -> Any:
    def run(lengths: Any) -> Any:
        n = lengths.shape[0]

        def step(i: Any, state: Any) -> Any:
            distance, visited = state
            at = jnp.argmin(jnp.where(visited, jnp.inf, distance))
            return jnp.minimum(distance, distance[at] + lengths[at]), visited.at[at].set(True)

        start = (jnp.full(n, jnp.inf).at[0].set(0), jnp.zeros(n, bool))
        return lib.lax.fori_loop(0, n, step, start)[0]

    return lambda x: run(jnp.abs(x))


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


def _set_gradient(lib: Any, jnp: Any) -> Any:
    """The gradient of a scan that writes and reads elements of a carry."""

    def loss(c: Any, xs: Any, places: Any) -> Any:
        def step(c: Any, x: Any) -> Any:
            value, place = x
            new = jnp.sin(c[place] + value) + c[(place + 3) % c.shape[0]]
            return c.at[place].set(new), new

        c, ys = lib.lax.scan(step, c, (xs, places))
        return jnp.sum(c**2) + jnp.sum(ys)

    return lib.grad(loss, (0, 1))


def _set_lanes(lib: Any, jnp: Any) -> Any:
    def run(c: Any, xs: Any, places: Any) -> Any:
        def step(c: Any, x: Any) -> Any:
            value, place = x
            new = 0.5 * c[place] + value
            return c.at[place].set(new), new

        return lib.lax.scan(step, c, (xs, places))

    return lib.vmap(run, (0, 0, 0))


def _set_lanes_gradient(lib: Any, jnp: Any) -> Any:
    lanes = _set_lanes(lib, jnp)
    return lib.grad(lambda c, xs, places: jnp.sum(lanes(c, xs, places)[1] ** 2), (0, 1))


def _knapsack(lib: Any, jnp: Any) -> Any:
    def run(values: Any, sizes: Any) -> Any:
        def item(best: Any, x: Any) -> Any:
            value, size = x
            places = jnp.arange(best.shape[0]) - size
            taken = jnp.where(places >= 0, best[jnp.maximum(places, 0)] + value, -jnp.inf)
            return jnp.maximum(best, taken), None

        return lib.lax.scan(item, jnp.zeros(500), (jnp.abs(values), sizes))[0]

    return run


def _common(lib: Any, jnp: Any) -> Any:
    """The longest common subsequence: a table, written element by element."""

    def run(a: Any, b: Any) -> Any:
        def row(i: Any, table: Any) -> Any:
            def cell(j: Any, table: Any) -> Any:
                same = table[i - 1, j - 1] + 1
                other = jnp.maximum(table[i - 1, j], table[i, j - 1])
                return table.at[i, j].set(jnp.where(a[i - 1] == b[j - 1], same, other))

            return lib.lax.fori_loop(1, b.shape[0] + 1, cell, table)

        table = jnp.zeros((a.shape[0] + 1, b.shape[0] + 1), jnp.int32)
        return lib.lax.fori_loop(1, a.shape[0] + 1, row, table)[-1, -1]

    return run


def _sieve(lib: Any, jnp: Any) -> Any:
    def run(limit: Any) -> Any:
        def outer(state: Any) -> Any:
            i, prime = state

            def cross(s: Any) -> Any:
                j, prime = s
                return j + i, prime.at[j].set(False)

            def strike(prime: Any) -> Any:
                return lib.lax.while_loop(lambda s: s[0] < 1000, cross, (i * i, prime))[1]

            return i + 1, lib.lax.cond(prime[i], strike, lambda p: p, prime)

        start = jnp.ones(1000, bool).at[:2].set(False)
        return lib.lax.while_loop(lambda s: s[0] * s[0] < limit, outer, (2, start))[1]

    return lambda limit: run(limit % 7 + 1000)


def _machine(lib: Any, jnp: Any) -> Any:
    """A stack machine: a switch of instructions that read and write the stack."""

    def run(code: Any, stack: Any) -> Any:
        n = stack.shape[0]

        def push(s: Any) -> Any:
            top, stack = s
            return (top + 1) % n, stack.at[(top + 1) % n].set(stack[top] + 1)

        def add(s: Any) -> Any:
            top, stack = s
            below = (top - 1) % n
            return below, stack.at[below].set(0.5 * (stack[below] + stack[top]))

        def swap(s: Any) -> Any:
            top, stack = s
            below = (top - 1) % n
            a, b = stack[top], stack[below]
            return top, stack.at[top].set(b).at[below].set(a)

        def step(s: Any, op: Any) -> Any:
            s = lib.lax.switch(op, [push, add, swap], s)
            return s, s[1][s[0]]

        return lib.lax.scan(step, (jnp.int32(0), stack), code)

    return run


def _shuffle(lib: Any, jnp: Any) -> Any:
    def run(x: Any, places: Any) -> Any:
        def step(i: Any, x: Any) -> Any:
            j = places[i] % (i + 1)
            a, b = x[i], x[j]
            return x.at[i].set(b).at[j].set(a)

        return lib.lax.fori_loop(0, x.shape[0], step, x)

    return run


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


def _sum_tree(lib: Any, jnp: Any) -> Any:
    """Priorities in a tree of sums: set, then sampled, as by a prioritized replay buffer."""

    def run(tree: Any, places: Any, values: Any) -> Any:
        size = tree.shape[0] // 2

        def write(tree: Any, x: Any) -> Any:
            place, value = x

            def up(s: Any) -> Any:
                i, tree = s
                return i // 2, tree.at[i].set(tree[2 * i] + tree[2 * i + 1])

            node = place + size
            tree = tree.at[node].set(value)
            return lib.lax.while_loop(lambda s: s[0] >= 1, up, (node // 2, tree))[1], None

        tree = lib.lax.scan(write, tree, (places, jnp.abs(values)))[0]

        def find(u: Any) -> Any:
            def down(s: Any) -> Any:
                i, u = s
                left = tree[2 * i]
                right = u >= left
                return 2 * i + right, jnp.where(right, u - left, u)

            return lib.lax.while_loop(lambda s: s[0] < size, down, (jnp.int32(1), u))[0] - size

        return lib.vmap(find)(jnp.linspace(0.0, 0.99, 64) * tree[1])

    return lambda places, values: run(jnp.zeros(1024), places, values)


def _nested(lib: Any, jnp: Any) -> Any:
    """A recurrent network over batches, in a scan of a scan, which steps weights."""

    def run(w: Any, xs: Any) -> Any:
        def loss(w: Any, x: Any) -> Any:
            def cell(h: Any, x: Any) -> Any:
                h = jnp.tanh(h @ w + x)
                return h, h

            return jnp.mean(lib.lax.scan(cell, jnp.zeros(x.shape[1:]), x)[1] ** 2)

        def step(w: Any, x: Any) -> Any:
            value, g = lib.value_and_grad(loss)(w, x)
            return w - 0.1 * g, value

        return lib.lax.scan(step, w, xs)

    return run


def _hessian_product(lib: Any, jnp: Any) -> Any:
    """A product with the Hessian of a loop: jvp of grad."""

    def loss(x: Any) -> Any:
        def step(c: Any, k: Any) -> Any:
            c = jnp.sin(c) * 1.1 + x * 0.1
            return c, c[k]

        return jnp.sum(lib.lax.scan(step, x, jnp.arange(16) % x.shape[0])[1] ** 2)

    return lambda x, v: lib.jvp(lib.grad(loss), (x,), (v,))[1]


PROGRAMS = [
    program("GAE 128x16", _advantages, f32(128, 16), f32(128, 16), i32(128, 16, below=2)),
    program(
        "cart pole 4x128",
        _cart_pole,
        {"a": weights(4, 32), "b": weights(32, 2)},
        i32(),
    ),
    program("ring buffer 16x4", _ring_buffer, f32(16, 4), f32(500, 4)),
    program("ring buffer 1000x64", _ring_buffer, f32(1000, 64), f32(500, 64)),
    program("histogram of 16", _histogram, i32(16), i32(2000, below=16)),
    program("histogram of 300", _histogram, i32(300), i32(2000, below=300)),
    program("histogram of 1e5", _histogram, i32(100_000), i32(2000, below=100_000)),
    program("rows set 1000x256", _rows, f32(1000, 256)),
    program(
        "rows of a table 10000x64",
        _random_rows,
        f32(10_000, 64),
        i32(200, below=10_000),
        f32(200, 64),
    ),
    program(
        "Q learning 64x4",
        _q_learning,
        f32(64, 4),
        i32(500, below=64),
        i32(500, below=4),
        f32(500),
    ),
    program("NUTS 10", _nuts, f32(10), i32()),
    program("adaptive solve 50", _adaptive, f32(2), f32(50)),
    program("adaptive solve 8x50", _adaptive_lanes, f32(8, 2), f32(50)),
    program("dense output 100", _dense_output, f32(2), f32(100)),
    program("beam search 32", _beam_search, f32(32, 32), f32(32)),
    program("Levenberg-Marquardt 64", _levenberg, f32(64), f32(64)),
    program("Levenberg-Marquardt 1000", _levenberg, f32(1000), f32(1000)),
    program("game of life 32x32", _life, i32(32, 32, below=2)),
    program("insertion sort 64", _insertion_sort, f32(64)),
    program("insertion sort 200", _insertion_sort, f32(200)),
    program("insertion sort 16x32", _insertion_sort_lanes, f32(16, 32)),
    program("sorting network 64", _bitonic, f32(64)),
    program("sorting network 1024", _bitonic, f32(1024)),
    program("heap 40", _heap, f32(40)),
    program("heap 400", _heap, f32(400)),
    program("take_along_axis 4x8", _take_along, f32(4, 8), i32(200, 4, 8, below=8)),
    program("take_along_axis 32x64", _take_along, f32(32, 64), i32(50, 32, 64, below=64)),
    program("one-hot writes 16x4", _one_hot, f32(16, 4), i32(500, below=16)),
    program("Dijkstra 64", _dijkstra, f32(64, 64)),
    program("Dijkstra 300", _dijkstra, f32(300, 300)),
    program("Metropolis 200x10", _metropolis, f32(10), i32()),
    program("set gradient 16", _set_gradient, f32(16), f32(200), i32(200, below=16)),
    program("set gradient 500", _set_gradient, f32(500), f32(200), i32(200, below=500)),
    program("set lanes 8x16", _set_lanes, f32(8, 16), f32(8, 200), i32(8, 200, below=16)),
    program("set lanes 64x100", _set_lanes, f32(64, 100), f32(64, 200), i32(64, 200, below=100)),
    program(
        "set lanes gradient 8x16",
        _set_lanes_gradient,
        f32(8, 16),
        f32(8, 200),
        i32(8, 200, below=16),
    ),
    program("knapsack 50x500", _knapsack, f32(50), i32(50, below=100)),
    program("common subsequence 60", _common, i32(60, below=4), i32(60, below=4)),
    program("sieve 1000", _sieve, i32()),
    program("stack machine 500", _machine, i32(500, below=3), f32(32)),
    program("shuffle 1000", _shuffle, f32(1000), i32(1000, below=1000)),
    program("L-BFGS 20", _lbfgs, f32(20), f32(20)),
    program("Ising 16x16", _gibbs, f32(16, 16), i32(2000, below=256), f32(2000)),
    program("sum tree 512", _sum_tree, i32(500, below=512), f32(500)),
    program("RNN steps 10x20x8x16", _nested, weights(16, 16), f32(10, 20, 8, 16)),
    program("Hessian product of a scan", _hessian_product, f32(16), f32(16)),
    program("f64 rows set 300x64", _rows, of("float64", 300, 64), x64=True),
    program(
        "f64 Q learning 64x4",
        _q_learning,
        of("float64", 64, 4),
        of("int64", 500, below=64),
        of("int64", 500, below=4),
        of("float64", 500),
        x64=True,
    ),
]
