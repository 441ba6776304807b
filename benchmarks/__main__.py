"""Runs everything and prints medians and ratios; a ratio below 1 says that irax is faster."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import irax
import irax.numpy as jnp
from benchmarks.program import Program
from benchmarks.programs import PROGRAMS
from benchmarks.timing import compare, median, rival, seconds


def main() -> None:
    """The command line: `python -m benchmarks [--only TEXT] [--also PLATFORM]`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="run the programs whose name has this in it")
    parser.add_argument("--also", metavar="PLATFORM", help="run irax's on pjrt:cpu, ... as well")
    options = parser.parse_args()
    only, also = options.only, options.also
    jax = rival()
    if jax is None:
        print("JAX is not installed: no ratios (pip install irax[oracle])\n")
    print(
        f"{'program':26}{'irax us':>12}{'jax us':>12}{'ratio':>8}{'compile s':>11}{'jax s':>8}"
        + (f"{also:>11} us{'ratio':>8}" if also else "")
    )
    for program in PROGRAMS:
        if only in program.name:
            _measure(program, jax, also)
    print()
    _overheads(jax, also)


def _measure(program: Program, jax: Any, also: str | None) -> None:
    ours, our_compile = _prepare(program, irax, jnp)
    rivals = [ours]
    if also is not None:
        rivals.append(_prepare(program, irax, jnp, irax.devices(also)[0])[0])
    if jax is None:
        print(_row(program.name, *compare(*rivals)), flush=True)
        return
    theirs, their_compile = _prepare(program, jax, jax.numpy)
    for a, b in zip(_leaves(ours()), _leaves(theirs()), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-3, err_msg=program.name)
    them, us, *there = compare(theirs, *rivals)
    compiling = f"{our_compile:11.2f}{their_compile:8.2f}"
    elsewhere = "".join(f"{t * 1e6:14.1f}{t / them:8.2f}" for t in there)
    print(_row(program.name, us, them) + f"{us / them:8.2f}{compiling}{elsewhere}", flush=True)


def _row(name: str, *times: float) -> str:
    return f"{name:26}" + "".join(f"{t * 1e6:12.1f}" for t in times)


def _prepare(
    program: Program, lib: Any, np_like: Any, device: Any = None
) -> tuple[Callable[[], Any], float]:
    function = lib.jit(program.make(lib, np_like))
    arguments = lib.device_put(program.arguments, device)

    def run() -> Any:
        return lib.block_until_ready(function(*arguments))

    start = time.perf_counter()
    run()
    return run, time.perf_counter() - start


def _leaves(tree: Any) -> list[Any]:
    return [np.asarray(x) for x in irax.tree_util.tree_leaves(tree)]


def _overheads(jax: Any, also: str | None) -> None:
    """Measure overheads: tracing, calling a tiny program, an operation outside of jit."""
    rows = [
        ("trace, per operation", _trace_cost),
        ("call of a tiny jitted f", _call_cost),
        ("x + y outside jit", _eager_cost),
        ("grad outside jit", _eager_grad_cost),
    ]
    for name, cost in rows:
        ours = cost(irax, jnp)
        line = f"{name:26}{ours * 1e6:12.1f}"
        if jax is not None:
            theirs = cost(jax, jax.numpy)
            line += f"{theirs * 1e6:12.1f}{ours / theirs:8.2f}"
        if also is not None:
            with irax.default_device(also):
                line += f"{cost(irax, jnp) * 1e6:33.1f}"
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
