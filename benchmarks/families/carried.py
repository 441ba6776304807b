"""Loops that update large arrays in each step, beside products, sorts and searches."""

from __future__ import annotations

from typing import Any

from benchmarks.program import Program, f32, i32, program, weights


def _history(lib: Any, jnp: Any) -> Any:
    """Steps of a matrix, each kept in an array."""

    def run(start: Any, kept: Any) -> Any:
        def step(state: Any, i: Any) -> Any:
            w, kept = state
            change = 0.01 * (w @ w)
            w = w - change
            return (w, kept.at[i].set(w)), jnp.sum(change * change)

        return lib.lax.scan(step, (start, kept), jnp.arange(50))

    return run


def _decoding(steps: int, length: int) -> Program:
    """Attention to a cache of keys that are values too, to which each step adds one."""

    def make(lib: Any, jnp: Any) -> Any:
        def run(cache: Any, query: Any) -> Any:
            def step(i: Any, state: Any) -> Any:
                cache, query = state
                cache = cache.at[:, i].set(query)
                scores = jnp.einsum("htd,hd->ht", cache, query)
                weights = lib.nn.softmax(jnp.where(jnp.arange(length) <= i, scores, -1e9))
                return cache, jnp.einsum("ht,htd->hd", weights, cache)

            return lib.lax.fori_loop(0, steps, step, (cache, query))[1]

        return run

    return program(f"KV cache 8x{length}x64", make, f32(8, length, 64), f32(8, 64))


def _sorted(lib: Any, jnp: Any) -> Any:
    """A sort in each step, of which an element is kept."""

    def run(kept: Any, x: Any) -> Any:
        def step(i: Any, state: Any) -> Any:
            kept, x = state
            x = 0.9 * jnp.sort(x)
            return kept.at[i].set(x[0]), x

        return lib.lax.fori_loop(0, 50, step, (kept, x))

    return run


def _scattered(lib: Any, jnp: Any) -> Any:
    return lambda x, at, y: lib.lax.fori_loop(0, 20, lambda i, x: x.at[at].add(y), x)


def _sampled(lib: Any, jnp: Any) -> Any:
    """Formulas of many elements, of which one is kept."""

    def run(kept: Any, y: Any) -> Any:
        def step(i: Any, state: Any) -> Any:
            kept, y = state
            y = 1.01 * jnp.sin(y)
            return kept.at[i].set(y[i]), y

        return lib.lax.fori_loop(0, 50, step, (kept, y))

    return run


def _search(lib: Any, jnp: Any) -> Any:
    """A breadth-first search along one edge of each node, with a queue."""

    def run(edges: Any) -> Any:
        def step(state: Any) -> Any:
            queue, first, end, seen = state
            node = edges[queue[first]]
            new = ~seen[node]
            queue = jnp.where(new, queue.at[end].set(node), queue)
            return queue, first + 1, end + new.astype(jnp.int32), seen.at[node].set(True)

        start = (jnp.zeros(100_000, jnp.int32), 0, 1, jnp.zeros(100_000, bool))
        return lib.lax.while_loop(lambda state: state[1] < state[2], step, start)[2]

    return run


def _relaxed(lib: Any, jnp: Any) -> Any:
    def step(i: Any, x: Any) -> Any:
        around = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
        return x.at[1:-1, 1:-1].set(0.25 * around)

    return lambda x: lib.lax.fori_loop(0, 50, step, x)


PROGRAMS = [
    program("history 50x256x256", _history, weights(256, 256), f32(50, 256, 256)),
    _decoding(100, 512),
    _decoding(100, 2048),
    program("sort 1000 beside 1e6", _sorted, f32(1_000_000), f32(1000)),
    program(
        "scatter 20000 to 1e6, 20 times",
        _scattered,
        f32(1_000_000),
        i32(20_000, below=1_000_000),
        f32(20_000),
    ),
    program("sines of 3e5 beside 1e6", _sampled, f32(1_000_000), f32(300_000)),
    program("breadth-first search 1000", _search, i32(1000, below=1000)),
    program("Jacobi 1000x1000", _relaxed, f32(1000, 1000)),
]
