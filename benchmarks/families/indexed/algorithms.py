"""Loops of textbooks' algorithms: sorts, searches, tables, automata."""

from __future__ import annotations

from typing import Any

from benchmarks.program import f32, i32, program


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


PROGRAMS = [
    program("beam search 32", _beam_search, f32(32, 32), f32(32)),
    program("game of life 32x32", _life, i32(32, 32, below=2)),
    program("insertion sort 64", _insertion_sort, f32(64)),
    program("insertion sort 200", _insertion_sort, f32(200)),
    program("insertion sort 16x32", _insertion_sort_lanes, f32(16, 32)),
    program("sorting network 64", _bitonic, f32(64)),
    program("sorting network 1024", _bitonic, f32(1024)),
    program("heap 40", _heap, f32(40)),
    program("heap 400", _heap, f32(400)),
    program("Dijkstra 64", _dijkstra, f32(64, 64)),
    program("Dijkstra 300", _dijkstra, f32(300, 300)),
    program("knapsack 50x500", _knapsack, f32(50), i32(50, below=100)),
    program("common subsequence 60", _common, i32(60, below=4), i32(60, below=4)),
    program("sieve 1000", _sieve, i32()),
    program("stack machine 500", _machine, i32(500, below=3), f32(32)),
]
