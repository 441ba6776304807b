"""Loops of reinforcement learning and of networks trained step by step."""

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


def _q_learning(lib: Any, jnp: Any) -> Any:
    def run(q: Any, states: Any, actions: Any, rewards: Any) -> Any:
        def step(q: Any, x: Any) -> Any:
            s, a, r, after = x
            goal = r + 0.9 * jnp.max(q[after])
            return q.at[s, a].add(0.1 * (goal - q[s, a])), q[s, a]

        return lib.lax.scan(step, q, (states[:-1], actions[:-1], rewards[:-1], states[1:]))

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
    program(
        "Q learning 64x4",
        _q_learning,
        f32(64, 4),
        i32(500, below=64),
        i32(500, below=4),
        f32(500),
    ),
    program("sum tree 512", _sum_tree, i32(500, below=512), f32(500)),
    program("RNN steps 10x20x8x16", _nested, weights(16, 16), f32(10, 20, 8, 16)),
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
