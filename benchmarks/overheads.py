"""Overheads beside JAX: tracing, calling a tiny program, operations outside of jit.

python -m benchmarks.overheads
"""

from __future__ import annotations

import argparse
from typing import Any

import irax
import irax.numpy as jnp
from benchmarks.timing import median, rival, seconds


def main() -> None:
    """The command line: `python -m benchmarks.overheads [--also PLATFORM]`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--also", metavar="PLATFORM", help="run irax's on pjrt:cpu, ... as well")
    also = parser.parse_args().also
    jax = rival()
    rows = [
        ("trace, per operation", _trace_cost),
        ("call of a tiny jitted f", _call_cost),
        ("x + y outside jit", _eager_cost),
        ("grad outside jit", _eager_grad_cost),
    ]
    print(f"{'overhead':26}{'irax us':>12}{'jax us':>12}{'ratio':>8}")
    for name, cost in rows:
        ours = cost(irax, jnp)
        line = f"{name:26}{ours * 1e6:12.1f}"
        if jax is not None:
            theirs = cost(jax, jax.numpy)
            line += f"{theirs * 1e6:12.1f}{ours / theirs:8.2f}"
        if also is not None:
            with irax.default_device(also):
                line += f"{cost(irax, jnp) * 1e6:12.1f}"
        print(line, flush=True)


def _trace_cost(lib: Any, np_like: Any) -> float:
    count = 500

    def chain(x: Any) -> Any:
        for _ in range(count):
            x = np_like.sin(x)
        return x

    x = np_like.ones(4)

    def trace() -> Any:
        return lib.eval_shape(lambda x: chain(x), x)

    return median(seconds(trace)) / count


def _call_cost(lib: Any, np_like: Any) -> float:
    function = lib.jit(lambda x: x + 1.0)
    x = np_like.ones(16)
    return median(seconds(lambda: function(x)))


def _eager_cost(lib: Any, np_like: Any) -> float:
    x, y = np_like.ones(16), np_like.ones(16)
    return median(seconds(lambda: x + y))


def _eager_grad_cost(lib: Any, np_like: Any) -> float:
    gradient = lib.grad(lambda x: np_like.sum(np_like.sin(x) * x))
    x = np_like.ones(16)
    return median(seconds(lambda: gradient(x)))


if __name__ == "__main__":
    main()
