"""The cost of a shadow run beside a run of the evaluator.

    python -m benchmarks.shadow_runs

For each program: the processor's milliseconds of a run by the evaluator, which is the reference of
all compilers; of one in two precisions; of the whole report, which follows the worst element back;
and how many times as long as the first the other two take. The least of several runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import irax
import irax.numpy as jnp
from irax import lax
from irax_compiler.evaluate import Evaluator
from irax_compiler.precision import report, shadow

RNG = np.random.default_rng(0)


def f32(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def elementwise(x: Any) -> Any:
    y = jnp.sin(x) * x + jnp.exp(-x * x)
    return jnp.tanh(y) / (1 + y * y)


def arithmetic(x: Any) -> Any:
    y = x * x + 3 * x - 1
    return (y * y - x) / (1 + y * y)


def loop(x: Any) -> Any:
    """Steps of an oscillator, of two numbers."""

    def step(_: Any, state: Any) -> Any:
        q, p = state
        p = p - 0.01 * q
        return q + 0.01 * p, p

    return lax.fori_loop(0, 500, step, (x[0], x[1]))


def logistic(x: Any) -> Any:
    return lax.fori_loop(0, 500, lambda _, x: 3.9 * x * (1 - x), x)


def scan(x: Any) -> Any:
    def step(carry: Any, row: Any) -> Any:
        carry = jnp.tanh(carry * 0.9 + row)
        return carry, carry

    return lax.scan(step, jnp.zeros(x.shape[1:], x.dtype), x)[1]


def products(a: Any, b: Any) -> Any:
    return jnp.tanh(a @ b) @ b.T


def softmax(x: Any) -> Any:
    x = x - jnp.max(x, -1, keepdims=True)
    e = jnp.exp(x)
    return jnp.log(e / jnp.sum(e, -1, keepdims=True))


def norm(x: Any) -> Any:
    centered = x - jnp.mean(x, -1, keepdims=True)
    return centered / jnp.sqrt(jnp.mean(centered**2, -1, keepdims=True) + 1e-5)


PROGRAMS: dict[str, tuple[Callable[..., Any], list[np.ndarray]]] = {
    "elementwise, 8": (elementwise, [f32(8)]),
    "elementwise, 1e5": (elementwise, [f32(100_000)]),
    "arithmetic, 8": (arithmetic, [f32(8)]),
    "arithmetic, 1e5": (arithmetic, [f32(100_000)]),
    "oscillator, 500 steps": (loop, [f32(2)]),
    "logistic map, 500 steps": (logistic, [np.array([0.3], np.float32)]),
    "scan, 200 rows of 64": (scan, [f32(200, 64)]),
    "products, 128": (products, [f32(128, 128), f32(128, 128)]),
    "products, 512": (products, [f32(512, 512), f32(512, 512)]),
    "softmax, 256 x 256": (softmax, [f32(256, 256)]),
    "layer norm, 256 x 256": (norm, [f32(256, 256)]),
    "arithmetic, 8, float64": (arithmetic, [f32(8).astype(np.float64)]),
    "elementwise, 8, float64": (elementwise, [f32(8).astype(np.float64)]),
    "arithmetic, 1e4, float64": (arithmetic, [f32(10_000).astype(np.float64)]),
    "logistic, 500 steps, float64": (logistic, [np.array([0.3])]),
    "products, 64, float64": (products, [f32(64, 64).astype(np.float64)] * 2),
}


def least(call: Callable[[], Any]) -> float:
    """The least time of the processor that a call takes, in milliseconds."""
    found = []
    end = time.perf_counter() + 2
    while len(found) < 4 or (len(found) < 50 and time.perf_counter() < end):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return 1e3 * min(found[1:])


def main() -> None:
    print("| program | evaluator, ms | shadow run, ms | times | report, ms | times |")
    print("|---|---|---|---|---|---|")
    for name, (f, arrays) in PROGRAMS.items():
        with irax.enable_x64(any(x.dtype == np.float64 for x in arrays)):
            ir = irax.make_ir(f)(*arrays)
        plain = least(lambda m=ir.module, n=ir.func, a=arrays: Evaluator(m)(n, a))
        both = least(lambda m=ir.module, n=ir.func, a=arrays: shadow.run(m, n, a))
        whole = least(lambda m=ir.module, n=ir.func, a=arrays: report.precision_report(m, n, a))
        cells = [plain, both, both / plain, whole, whole / plain]
        print(f"| {name} | " + " | ".join(f"{x:.3g}" for x in cells) + " |", flush=True)


if __name__ == "__main__":
    main()
