"""Random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.program import Program, f32, of, program

KEY = of("uint32", 2, below=2**31)


def _draw(name: str, draw: Callable[..., Any], *arguments: Any) -> Program:
    """A program `draw(random, jnp, key, *arguments)`."""

    def make(lib: Any, jnp: Any) -> Any:
        return lambda key, *arguments: draw(lib.random, jnp, key, *arguments)

    return program(name, make, KEY, *arguments)


def _dropout(random: Any, jnp: Any, key: Any, x: Any) -> Any:
    return jnp.where(random.bernoulli(key, 0.9, x.shape), x / 0.9, 0)


def _walk(random: Any, jnp: Any, key: Any) -> Any:
    first, second = random.split(key)
    return jnp.cumsum(random.normal(first, (1000,))) + random.uniform(second, (1000,))


PROGRAMS = [
    _draw("split in 10", lambda random, jnp, key: random.split(key, 10)),
    _draw("normal 10", lambda random, jnp, key: random.normal(key, (10,))),
    _draw("uniform 1e6", lambda random, jnp, key: random.uniform(key, (1_000_000,))),
    _draw("normal 1e6", lambda random, jnp, key: random.normal(key, (1_000_000,))),
    _draw("integers 1e6", lambda random, jnp, key: random.randint(key, (1_000_000,), 0, 10)),
    _draw("exponential 1e5", lambda random, jnp, key: random.exponential(key, (100_000,))),
    _draw(
        "categorical 1000x100",
        lambda random, jnp, key, x: random.categorical(key, x),
        f32(1000, 100),
    ),
    _draw(
        "choice of 1000 with p",
        lambda random, jnp, key, p: random.choice(
            key, 1000, (100,), p=jnp.abs(p) / jnp.sum(jnp.abs(p))
        ),
        f32(1000),
    ),
    _draw("permutation 10000", lambda random, jnp, key: random.permutation(key, 10_000)),
    _draw("dropout 512x1024", _dropout, f32(512, 1024)),
    _draw("gamma 10000", lambda random, jnp, key: random.gamma(key, 2.5, (10_000,))),
    _draw("random walk 1000", _walk),
]
