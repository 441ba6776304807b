"""First calls of programs of few and of many steps, of 50 kinds of steps, and of their gradients.

    IRAX_NUM_THREADS=1 python -m benchmarks.growth
    python -m benchmarks.growth --library jax --only sort pad

Each line has the CPU seconds of a program of 8 steps and of one of 24, and marks those that took
more than their number. A program that takes longer than the limit is told as such.
"""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

STEPS = (8, 24)
LIMIT = 60
"""The seconds that a program may take."""
Step = Callable[[Any, int], Any]


def steps(lib: Any) -> dict[str, tuple[np.ndarray, Step]]:
    """Return what a step begins with and the step, by its name."""
    jnp, lax, nn = lib.numpy, lib.lax, lib.nn
    places = np.arange(5000, dtype=np.int32)
    row = np.linspace(0.1, 1, 5000, dtype=np.float32)
    matrix = np.linspace(0.1, 1, 3600, dtype=np.float32).reshape(60, 60) / 60
    image, waves = row[:4000].reshape(4, 10, 10, 10), row[:1024].astype(np.complex64)
    ones, eye = np.ones((10, 10, 3, 3), np.float32) * 0.01, np.eye(60, dtype=np.float32)
    knots = np.linspace(0, 1, 20, dtype=np.float32)

    def around(y: Any) -> Any:
        padded = jnp.pad(y, 1)
        across = padded[1:-1, 2:] + padded[1:-1, :-2]
        return (padded[2:, 1:-1] + padded[:-2, 1:-1] + across) / 4

    def moved(y: Any) -> Any:
        return sum(jnp.roll(y, by, axis) for by in (1, -1) for axis in (0, 1)) / 4

    return {
        "product": (matrix, lambda y, i: jnp.tanh(y @ matrix + i)),
        "outer product": (row[:300], lambda y, i: (jnp.outer(y, y) @ y) / 300 + i),
        "update": (row, lambda y, i: y.at[i : i + 10].add(y[i + 20 : i + 30])),
        "scatter": (row, lambda y, i: y.at[places[:50] * 7].add(y[places[:50] + i])),
        "gather": (row, lambda y, i: y[places[::-1]] + jnp.sum(y[:7]) * 0.01),
        "sort": (row, lambda y, i: jnp.sort(y) * jnp.cos(y)),
        "cumsum": (row, lambda y, i: jnp.cumsum(y) / 5000 + y[::-1]),
        "cummax": (row, lambda y, i: lax.cummax(y) - y * 0.1),
        "reductions": (matrix, lambda y, i: y - y.mean(0) + y.max(1, keepdims=True) * 0.1),
        "softmax": (matrix, lambda y, i: nn.softmax(y, -1) + y.T * 0.1),
        "logsumexp": (matrix, lambda y, i: y - nn.logsumexp(y, axis=0)),
        "argmax": (matrix, lambda y, i: y.at[jnp.argmax(y, 0), places[:60]].multiply(0.5)),
        "where": (row, lambda y, i: jnp.where(y > 0.5, y * 0.9, jnp.where(y < 0.2, y + 0.1, y))),
        "select": (row, lambda y, i: jnp.select([y < 0.2, y < 0.5], [y, y * 2], y * 3) * 0.4),
        "edges": (row, lambda y, i: jnp.pad(y[1:-1], 1, mode="edge") * 0.9 + y * 0.1),
        "pad": (matrix, lambda y, i: around(y)),
        "roll": (matrix, lambda y, i: moved(y)),
        "two shifts": (row, lambda y, i: jnp.concatenate([y[1:], y[:1]]) / 2 + jnp.roll(y, i) / 4),
        "slice": (row, lambda y, i: lax.dynamic_update_slice(y, _taken(lax, y, i) * 2, (i * 3,))),
        "cond": (row, lambda y, i: lax.cond(y[0] > i, lambda y: y * 2, lambda y: y + 1, y)),
        "fori_loop": (row, lambda y, i: lax.fori_loop(0, 3, lambda j, z: z * 0.9 + j, y)),
        "scan": (matrix, lambda y, i: lax.scan(lambda c, r: (c + r, c * r), y[0], y)[1]),
        "solve": (matrix + eye, lambda y, i: jnp.linalg.solve(y + eye, y) + eye),
        "norm": (row, lambda y, i: y / jnp.linalg.norm(y) + i),
        "variance": (matrix, lambda y, i: (y - y.mean(1, keepdims=True)) / (y.var() + 1)),
        "convolution": (image, lambda y, i: lax.conv(y, ones, (1, 1), "SAME")),
        "window": (matrix, lambda y, i: lax.reduce_window(y, 0.0, lax.add, (3, 3), (1, 1), "SAME")),
        "complex": (waves, lambda y, i: y * y * (1 + 0.1j) + jnp.conj(y) * 0.1),
        "FFT": (waves, lambda y, i: jnp.fft.fft(y) / 1024 + y),
        "integers": (places, lambda y, i: (y * 3 + 1) ^ (y >> 2) & (y + i)),
        "top_k": (matrix, lambda y, i: lax.top_k(y, 30)[0] @ matrix[:30]),
        "reshape": (matrix, lambda y, i: y.reshape(30, 120).T.reshape(60, 60) + y * 0.5),
        "transpose": (matrix, lambda y, i: (y.T * 0.5 + y)[::-1]),
        "polynomial": (row, lambda y, i: jnp.polyval(np.arange(4, dtype=np.float32), y) * 0.1),
        "scalar": (row[50], lambda y, i: jnp.sin(y) * y + jnp.where(y > 0.3, y, i * 0.1)),
        "stack": (row, lambda y, i: jnp.stack([y[:2500], y[2500:]]).sum(0).repeat(2) * 0.4),
        "interpolation": (row, lambda y, i: jnp.interp(y, knots, knots**2)),
        "special": (row, lambda y, i: lib.scipy.special.erf(y) + lax.lgamma(y + 1) * 0.1),
        "parts": (matrix, lambda y, i: jnp.concatenate([y[:20] * 2, y[20:40], y[40:] + 1])),
        "median": (matrix, lambda y, i: y - jnp.median(y, 1, keepdims=True) * 0.1),
        "checkpoint": (row, lambda y, i: lib.checkpoint(lambda z: jnp.sin(z) * z)(y) + y * 0.1),
        "vmap": (matrix, lambda y, i: lib.vmap(lambda r: r / jnp.sum(r * r + 1) + r[::-1])(y)),
        "segment_sum": (row, lambda y, i: _segments(lib, y, places % 50)[places % 50] * 0.01),
        "triangles": (matrix, lambda y, i: jnp.tril(y) + jnp.triu(y.T, 1) * 0.5),
        "random": (row, lambda y, i: y + lib.random.normal(lib.random.key(i), y.shape) * 0.1),
        "diagonal": (matrix, lambda y, i: jnp.diag(jnp.diagonal(y)) * 0.5 + y),
    }


def _taken(lax: Any, y: Any, i: int) -> Any:
    return lax.dynamic_slice(y, (lax.convert_element_type(y[0], np.int32) + i,), (100,))


def _segments(lib: Any, y: Any, places: np.ndarray) -> Any:
    return lib.ops.segment_sum(y, places, 50)


def chain(step: Step, count: int) -> Callable[[Any], Any]:
    """Return the function of so many steps."""

    def function(y: Any) -> Any:
        for i in range(count):
            y = step(y, i)
        return y

    return function


def seconds(lib: Any, function: Callable[[Any], Any], x: np.ndarray) -> float:
    """Return the CPU seconds of a first call; infinity for one that takes longer than the limit."""
    signal.alarm(LIMIT)
    try:
        before = time.process_time()
        lib.block_until_ready(lib.jit(function)(x))
        return time.process_time() - before
    except TimeoutError:
        return float("inf")
    finally:
        signal.alarm(0)


def _expire(*_: object) -> None:
    raise TimeoutError


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", choices=("irax", "jax"), default="irax")
    parser.add_argument("--only", nargs="*", help="names of steps (default: all)")
    given = parser.parse_args()
    signal.signal(signal.SIGALRM, _expire)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["IRAX_CACHE_DIR"] = folder
        lib = importlib.import_module(given.library)
        for module in ("scipy.special", "random", "nn", "ops"):
            importlib.import_module(f"{given.library}.{module}")
        for name, (x, step) in steps(lib).items():
            if given.only and name not in given.only:
                continue
            for kind in ("value", "gradient") if x.dtype.kind == "f" else ("value",):
                functions = [chain(step, count) for count in STEPS]
                if kind == "gradient":
                    functions = [_gradient(lib, function) for function in functions]
                few, many = (seconds(lib, function, x) for function in functions)
                is_more = many > 1 and many > few * STEPS[1] / STEPS[0]
                print(f"{name:16}{kind:10}{few:8.2f}{many:8.2f}{' more' * is_more}", flush=True)


def _gradient(lib: Any, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lib.grad(lambda x: lib.numpy.sum(lib.numpy.abs(function(x))))


if __name__ == "__main__":
    main()
