"""Arithmetic of integers and booleans."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.program import i32, of, program

MILLION = i32(1_000_000)
_wide = partial(program, x64=True)


def _hash(lib: Any, jnp: Any) -> Any:
    def mixed(x: Any) -> Any:
        x = (x ^ (x >> 16)) * jnp.uint32(0x45D9F3B)
        return x ^ (x >> 16)

    return lambda x: mixed(mixed(x))


def _collatz(lib: Any, jnp: Any) -> Any:
    """The steps until all numbers were 1, at most 100."""

    def step(i: Any, state: Any) -> Any:
        x, count = state
        following = jnp.where(x % 2 == 0, x // 2, 3 * x + 1)
        return jnp.where(x > 1, following, x), count + (x > 1)

    return lambda x: lib.lax.fori_loop(0, 100, step, (x, jnp.zeros_like(x)))


PROGRAMS = [
    program("int32 3x + y 1e6", lambda lib, jnp: lambda x, y: 3 * x + y, MILLION, MILLION),
    program("int32 x // 7 1e6", lambda lib, jnp: lambda x: x // 7, MILLION),
    program(
        "int32 x % y 1e5", lambda lib, jnp: lambda x, y: x % (y + 1), i32(100_000), i32(100_000)
    ),
    program("int32 sum 1e6", lambda lib, jnp: lambda x: jnp.sum(x), MILLION),
    program("int32 max rows 1000x1000", lambda lib, jnp: lambda x: jnp.max(x, 1), i32(1000, 1000)),
    program("int32 cumsum 1e5", lambda lib, jnp: lambda x: jnp.cumsum(x), i32(100_000)),
    program("int32 sort 1e5", lambda lib, jnp: lambda x: jnp.sort(x), i32(100_000, below=1 << 30)),
    program("int32 matmul 256", lambda lib, jnp: lambda x, y: x @ y, i32(256, 256), i32(256, 256)),
    program("uint32 hash 1e6", _hash, of("uint32", 1_000_000, below=1 << 31)),
    program(
        "uint8 blend 1e6",
        lambda lib, jnp: lambda x, y: (x >> 1) + (y >> 1),
        of("uint8", 1_000_000, below=255),
        of("uint8", 1_000_000, below=255),
    ),
    program("int8 3x + 1 1e6", lambda lib, jnp: lambda x: 3 * x + 1, of("int8", 1_000_000)),
    program(
        "int8 matmul 256 to int32",
        lambda lib, jnp: lambda x, y: lib.lax.dot(x, y, preferred_element_type=jnp.int32),
        of("int8", 256, 256),
        of("int8", 256, 256),
    ),
    program(
        "bool xor and 1e6",
        lambda lib, jnp: lambda x, y: (x ^ y) & x,
        of("bool", 1_000_000),
        of("bool", 1_000_000),
    ),
    program("popcount 1e6", lambda lib, jnp: lambda x: lib.lax.population_count(x), MILLION),
    program("Collatz 1000", _collatz, i32(1000)),
    _wide(
        "int64 3x + y 1e6", lambda lib, jnp: lambda x, y: 3 * x + y, *[of("int64", 1_000_000)] * 2
    ),
    _wide("int64 sum 1e6", lambda lib, jnp: lambda x: jnp.sum(x), of("int64", 1_000_000)),
    _wide("int64 x // 7 1e5", lambda lib, jnp: lambda x: x // 7, of("int64", 100_000)),
]
