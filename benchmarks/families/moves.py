"""Programs that move elements: gathers, scatters, concatenations, pads, transposes."""

from __future__ import annotations

from typing import Any

from benchmarks.program import f32, i32, of, program

SQUARE = f32(1000, 1000)
TABLE = f32(10_000, 256)
TOKENS = i32(4096, below=10_000)
PLACES = i32(1_000_000, below=1_000_000)


def _embedding_gradient(lib: Any, jnp: Any) -> Any:
    return lib.grad(lambda table, tokens, g: jnp.sum(table[tokens] * g))


def _take(mode: str | None) -> Any:
    return lambda lib, jnp: lambda x, i: jnp.take(x, i, axis=0, mode=mode)


def _updates(lib: Any, jnp: Any) -> Any:
    """Several updates of one array, one after the other."""
    return lambda x, i, j, v: x.at[i].add(v).at[j].set(v).at[i + 1].max(v)


PROGRAMS = [
    program(
        "updates at 1000 of 1e6, thrice",
        _updates,
        f32(1_000_000),
        i32(1000, below=999_000),
        i32(1000, below=999_000),
        f32(1000),
    ),
    program("gather rows 4096 of 256", lambda lib, jnp: lambda x, i: x[i], TABLE, TOKENS),
    program("gather rows 4096 of 7", lambda lib, jnp: lambda x, i: x[i], f32(10_000, 7), TOKENS),
    program(
        "gather columns 512", lambda lib, jnp: lambda x, i: x[:, i], SQUARE, i32(512, below=1000)
    ),
    program("gather scalars 1e6", lambda lib, jnp: lambda x, i: x[i], f32(1_000_000), PLACES),
    program("take 4096 clip", _take("clip"), TABLE, TOKENS),
    program("take 4096 wrap", _take("wrap"), TABLE, TOKENS),
    program("take 4096 fill", _take("fill"), TABLE, TOKENS),
    program(
        "take_along_axis 1000x1000",
        lambda lib, jnp: lambda x, i: jnp.take_along_axis(x, i, 1),
        SQUARE,
        i32(1000, 1000, below=1000),
    ),
    program("embedding gradient", _embedding_gradient, TABLE, TOKENS, f32(4096, 256)),
    program(
        "scatter-add rows 4096",
        lambda lib, jnp: lambda x, i, u: x.at[i].add(u),
        TABLE,
        TOKENS,
        f32(4096, 256),
    ),
    program(
        "scatter-set rows 512",
        lambda lib, jnp: lambda x, u: x.at[1:1025:2].set(u),
        TABLE,
        f32(512, 256),
    ),
    program(
        "histogram 1e5 in 100",
        lambda lib, jnp: lambda i: jnp.zeros(100).at[i].add(1.0),
        i32(100_000),
    ),
    program(
        "segment_sum 1e5 in 1000",
        lambda lib, jnp: lambda x, i: lib.ops.segment_sum(x, i, 1000),
        f32(100_000),
        i32(100_000, below=1000),
    ),
    program(
        "concatenate 2 x 1e6",
        lambda lib, jnp: lambda x, y: jnp.concatenate([x, y]),
        f32(1_000_000),
        f32(1_000_000),
    ),
    program(
        "concatenate columns 4 x 1000x250",
        lambda lib, jnp: lambda *xs: jnp.concatenate(xs, 1),
        *[f32(1000, 250)] * 4,
    ),
    program("stack 4 x 1e6", lambda lib, jnp: lambda *xs: jnp.stack(xs), *[f32(1_000_000)] * 4),
    program(
        "stack last 3 x 1e5", lambda lib, jnp: lambda *xs: jnp.stack(xs, -1), *[f32(100_000)] * 3
    ),
    program("pad 1000x1000", lambda lib, jnp: lambda x: jnp.pad(x, 3), SQUARE),
    program(
        "pad images 8x56x56x64",
        lambda lib, jnp: lambda x: jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))),
        f32(8, 56, 56, 64),
    ),
    program("flip rows 1000x1000", lambda lib, jnp: lambda x: jnp.flip(x, 1), SQUARE),
    program("flip columns 1000x1000", lambda lib, jnp: lambda x: jnp.flip(x, 0), SQUARE),
    program("roll 1e6", lambda lib, jnp: lambda x: jnp.roll(x, 17), f32(1_000_000)),
    program(
        "one-hot 4096 of 1000",
        lambda lib, jnp: lambda i: lib.nn.one_hot(i, 1000),
        i32(4096, below=1000),
    ),
    program("transpose 2048x2048", lambda lib, jnp: lambda x: x.T + 0, f32(2048, 2048)),
    program("transpose 1000x1000", lambda lib, jnp: lambda x: x.T + 0, SQUARE),
    program(
        "transpose heads 8x128x8x64",
        lambda lib, jnp: lambda x: jnp.transpose(x, (0, 2, 1, 3)) + 0,
        f32(8, 128, 8, 64),
    ),
    program("slice strided 1e6", lambda lib, jnp: lambda x: x[1::2] + x[::2], f32(1_000_000)),
    program(
        "tile 100x100 by 10x10", lambda lib, jnp: lambda x: jnp.tile(x, (10, 10)), f32(100, 100)
    ),
    program("repeat 1e5 x 10", lambda lib, jnp: lambda x: jnp.repeat(x, 10), f32(100_000)),
    program("tril 1000x1000", lambda lib, jnp: lambda x: jnp.tril(x), SQUARE),
    program(
        "searchsorted 1e5 in 1000",
        lambda lib, jnp: lambda x, y: jnp.searchsorted(jnp.sort(x), y),
        f32(1000),
        f32(100_000),
    ),
    program("sort 1e5", lambda lib, jnp: lambda x: jnp.sort(x), f32(100_000)),
    program("argsort rows 1000x100", lambda lib, jnp: lambda x: jnp.argsort(x, 1), f32(1000, 100)),
    program("top_k 10 of 1000x1000", lambda lib, jnp: lambda x: lib.lax.top_k(x, 10), SQUARE),
    program(
        "uint8 images to float32",
        lambda lib, jnp: lambda x: x.astype(jnp.float32) / 255,
        of("uint8", 64, 64, 64, 3, below=255),
    ),
]
