"""Loops that update elements and rows of arrays."""

from __future__ import annotations

from typing import Any

from benchmarks.program import f32, i32, of, program


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


def _shuffle(lib: Any, jnp: Any) -> Any:
    def run(x: Any, places: Any) -> Any:
        def step(i: Any, x: Any) -> Any:
            j = places[i] % (i + 1)
            a, b = x[i], x[j]
            return x.at[i].set(b).at[j].set(a)

        return lib.lax.fori_loop(0, x.shape[0], step, x)

    return run


PROGRAMS = [
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
    program("take_along_axis 4x8", _take_along, f32(4, 8), i32(200, 4, 8, below=8)),
    program("take_along_axis 32x64", _take_along, f32(32, 64), i32(50, 32, 64, below=64)),
    program("one-hot writes 16x4", _one_hot, f32(16, 4), i32(500, below=16)),
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
    program("shuffle 1000", _shuffle, f32(1000), i32(1000, below=1000)),
    program("f64 rows set 300x64", _rows, of("float64", 300, 64), x64=True),
]
