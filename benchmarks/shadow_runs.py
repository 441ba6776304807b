"""The cost of a shadow run beside a run of the evaluator.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.shadow_runs [--ops]

Idle threads of OpenBLAS wait by counting, which would be counted, too.

For each program: the processor's milliseconds of a run by the evaluator, which is the reference of
all compilers; of one in two precisions; of the whole report, which follows the worst element back;
and how many times as long as the first the other two take. The least of several runs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import irax
import irax.numpy as jnp
import irax.scipy.special
from irax import lax
from irax_compiler.ops.evaluation.evaluator import Evaluator
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


def _many() -> dict[str, tuple[Callable[..., Any], list[np.ndarray]]]:
    """Programs of one op or function each, of all kinds."""
    x, m = f32(100_000), f32(300, 300)
    positive = np.abs(x) + np.float32(0.1)
    places = RNG.integers(0, x.size, x.size).astype(np.int32)
    definite = (m @ m.T + 300 * np.eye(300)).astype(np.float32)
    images, kernel = f32(4, 8, 32, 32), f32(8, 8, 3, 3)
    halves = (1, 1, 2, 2)
    names = (
        "sin cos tan exp expm1 tanh floor cbrt arcsinh sum mean max var cumsum sort argsort median"
    )
    found: dict[str, tuple[Callable[..., Any], list[np.ndarray]]] = {
        name: (getattr(jnp, name), [x]) for name in names.split()
    }
    found |= {n: (getattr(jnp, n), [positive]) for n in ("log", "log1p", "sqrt")}
    found |= {n: (getattr(jnp, n), [positive, x]) for n in ("add", "divide", "power", "hypot")}
    special = irax.scipy.special
    of_special = ("erf", "erfc", "ndtr", "gammaln", "digamma", "expi", "i0e", "i1e", "spence")
    found |= {name: (getattr(special, name), [positive]) for name in of_special}
    found |= {n: (getattr(irax.nn, n), [x]) for n in ("sigmoid", "softplus", "gelu", "mish")}
    linear = irax.numpy.linalg
    return found | {
        "sums of rows": (lambda a: jnp.sum(a, axis=1), [m]),
        "sums of columns": (lambda a: jnp.sum(a, axis=0), [m]),
        "sorted rows": (lambda a: jnp.sort(a, axis=1), [m]),
        "transpose": (lambda a: a.T + 1, [m]),
        "concatenate": (lambda a: jnp.concatenate([a, a]) * 2, [x]),
        "gather": (lambda a, i: a[i], [x, places]),
        "scatter": (lambda a, i: jnp.zeros(a.shape, a.dtype).at[i].add(a), [x, places]),
        "where": (lambda a: jnp.where(a > 0, a, -a), [x]),
        "dot": (jnp.dot, [x, x]),
        "matrix by vector": (jnp.matmul, [m, m[0]]),
        "matrices": (jnp.matmul, [m, m]),
        "convolution": (lambda a, w: lax.conv(a, w, (1, 1), "SAME"), [images, kernel]),
        "max pooling": (
            lambda a: lax.reduce_window(a, -jnp.inf, lax.max, halves, halves, "VALID"),
            [images],
        ),
        "fft": (lambda a: jnp.abs(jnp.fft.fft(a)), [f32(4096)]),
        "cholesky": (linear.cholesky, [definite]),
        "solve": (linear.solve, [definite, m]),
        "qr": (lambda a: linear.qr(a)[1], [m[:100, :100].copy()]),
        "svd": (lambda a: linear.svd(a, compute_uv=False), [m[:100, :100].copy()]),
        "while": (
            lambda a: lax.while_loop(
                lambda s: s[0] < 300, lambda s: (s[0] + 1, s[1] * 0.99 + 0.1), (0, a)
            )[1],
            [f32(8)],
        ),
        "map over rows": (lambda a: lax.map(lambda row: jnp.sum(row * row), a), [m]),
        "gradient of a network": (
            irax.grad(lambda w, a: jnp.sum(jnp.tanh(jnp.tanh(a @ w) @ w) ** 2)),
            [f32(64, 64), f32(128, 64)],
        ),
        "tanh of float16": (jnp.tanh, [x.astype(np.float16)]),
    }


def least(call: Callable[[], Any]) -> float:
    """The least time of the processor that a call takes, in milliseconds."""
    found = []
    end = time.perf_counter() + 1
    while len(found) < 4 or (len(found) < 50 and time.perf_counter() < end):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return 1e3 * min(found[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description="The cost of shadow runs")
    parser.add_argument("--ops", action="store_true", help="programs of one op each, of all kinds")
    programs = _many() if parser.parse_args().ops else PROGRAMS
    print("| program | evaluator, ms | shadow run, ms | times | report, ms | times |")
    print("|---|---|---|---|---|---|")
    for name, (f, arrays) in programs.items():
        with irax.enable_x64(any(x.dtype == np.float64 for x in arrays)):
            ir = irax.make_ir(f)(*arrays)
        plain = least(lambda m=ir.module, n=ir.func, a=arrays: Evaluator(m)(n, a))
        both = least(lambda m=ir.module, n=ir.func, a=arrays: shadow.run(m, n, a))
        whole = least(lambda m=ir.module, n=ir.func, a=arrays: report.precision_report(m, n, a))
        cells = [plain, both, both / plain, whole, whole / plain]
        print(f"| {name} | " + " | ".join(f"{x:.3g}" for x in cells) + " |", flush=True)


if __name__ == "__main__":
    main()
