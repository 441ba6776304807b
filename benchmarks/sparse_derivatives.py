"""Sparse Jacobians and Hessians, beside asdex on JAX and beside dense derivatives.

    pip install asdex
    python -m benchmarks.sparse_derivatives --sizes 64 256
    python -m benchmarks.sparse_derivatives --dense

For each program: the unknowns, the elements and the colors, which should be the same, the CPU
seconds that the pattern and the colors take, the least time of a compiled call, and the memory that
all of it takes beyond the imports. Each row of each library is a process of its own, the two in
turns. `--dense` compares with `jacfwd` and `hessian`. Where asdex is not installed, refuses a size,
takes longer than `--limit` seconds, or needs more than `--memory` GB, its columns say so. On a busy
machine, `--processor` counts the processor's time of calls, on one core: `taskset -c 0`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Make = Callable[[Any, int], tuple[Callable[..., Any], np.ndarray]]
"""A function and its argument, a vector, from a library such as `jax` and a size."""


def bratu(lib: Any, n: int) -> tuple[Callable[..., Any], np.ndarray]:
    """A nonlinear equation on a square grid."""
    jnp = lib.numpy

    def equations(x: Any) -> Any:
        u = x.reshape(n, n)
        p = jnp.pad(u, 1)
        around = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
        return (4 * u - around - jnp.exp(u)).reshape(-1)

    return equations, np.full(n * n, 0.1, np.float32)


def brusselator(lib: Any, n: int) -> tuple[Callable[..., Any], np.ndarray]:
    """Two reacting substances that diffuse on a periodic grid."""
    jnp = lib.numpy

    def spread(z: Any) -> Any:
        across = jnp.roll(z, 1, 0) + jnp.roll(z, -1, 0)
        return 10 * (across + jnp.roll(z, 1, 1) + jnp.roll(z, -1, 1) - 4 * z)

    def rates(x: Any) -> Any:
        u, v = x.reshape(2, n, n)
        reaction = u * u * v
        both = [1 + reaction - 4.4 * u + spread(u), 3.4 * u - reaction + spread(v)]
        return jnp.stack(both).reshape(-1)

    return rates, np.full(2 * n * n, 0.1, np.float32)


def band(lib: Any, n: int) -> tuple[Callable[..., Any], np.ndarray]:
    """A chain of three diagonals."""
    jnp = lib.numpy
    return lambda x: x[2:] * x[1:-1] + jnp.sin(x[:-2]), np.full(n * n, 0.1, np.float32)


def network(lib: Any, n: int) -> tuple[Callable[..., Any], np.ndarray]:
    """Three convolutions of a signal, of which the input is differentiated."""
    rng = np.random.default_rng(0)
    shapes = (5, 1, 8), (3, 8, 4), (3, 4, 2)
    kernels = [rng.normal(size=shape).astype(np.float32) for shape in shapes]

    def layers(x: Any) -> Any:
        y = x.reshape(1, -1, 1)
        for kernel in kernels:
            y = lib.lax.conv_general_dilated(
                y, kernel, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")
            )
            y = lib.numpy.maximum(y, 0)
        return y.reshape(-1)

    return layers, rng.normal(size=n * n).astype(np.float32)


def rosenbrock(lib: Any, n: int) -> tuple[Callable[..., Any], np.ndarray]:
    """The sum whose Hessian has three diagonals."""
    jnp = lib.numpy

    def total(x: Any) -> Any:
        return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    return total, np.full(n * n, 0.1, np.float32)


def two_bodies(lib: Any, n: int) -> tuple[Callable[..., Any], np.ndarray]:
    """The defects of a trapezoidal rule for a steered orbit, and the cost of steering."""
    jnp = lib.numpy

    def lagrangian(x: Any) -> Any:
        z = x.reshape(-1, 6)
        state, thrust = z[:, :4], z[:, 4:]
        cubes = (state[:, 0] ** 2 + state[:, 1] ** 2 + 0.1) ** 1.5
        pull = -state[:, :2] / cubes[:, None] + thrust
        rate = jnp.concatenate([state[:, 2:], pull], 1)
        defects = state[1:] - state[:-1] - 0.05 * (rate[1:] + rate[:-1])
        return jnp.sum(defects) + jnp.sum(thrust**2)

    return lagrangian, np.full(n * n // 6 * 6, 0.3, np.float32)


PROGRAMS: dict[str, tuple[Make, str]] = {
    "Bratu": (bratu, "jacobian"),
    "Brusselator": (brusselator, "jacobian"),
    "band": (band, "jacobian"),
    "network": (network, "jacobian"),
    "Rosenbrock": (rosenbrock, "hessian"),
    "two bodies": (two_bodies, "hessian"),
}
_SECONDS = 5
MEASURES = ("elements", "colors", "pattern, s", "colors, s", "call, ms", "memory, MB")


def least_time(
    call: Callable[[], Any],
    repeat: int = 100,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """The least time of some calls, of three at least and for a few seconds, in milliseconds."""
    call().block_until_ready()
    found = []
    end = time.perf_counter() + _SECONDS
    while len(found) < 3 or (len(found) < repeat and time.perf_counter() < end):
        start = clock()
        call().block_until_ready()
        found.append(clock() - start)
    return 1e3 * min(found)


def of_irax(make: Make, kind: str, n: int, clock: Callable[[], float]) -> list[float]:
    """Elements, colors, seconds of pattern and colors, milliseconds of a call."""
    irax, sparse = importlib.import_module("irax"), importlib.import_module("irax.sparse")
    f, x = make(irax, n)
    find = sparse.sparsity if kind == "jacobian" else sparse.hessian_sparsity
    mode = "auto" if kind == "jacobian" else "symmetric"
    start = time.process_time()
    pattern = find(f)(x)
    between = time.process_time()
    colors = sparse.color(pattern, mode)
    end = time.process_time()
    compute = irax.jit(getattr(sparse, kind)(f, coloring=colors))
    given = irax.numpy.asarray(x)
    took = [between - start, end - between, least_time(lambda: compute(given).data, clock=clock)]
    return [pattern.nnz, colors.num_colors, *took]


def of_asdex(make: Make, kind: str, n: int, clock: Callable[[], float]) -> list[float]:
    """Figures as of `of_irax`, for asdex on JAX."""
    asdex, jax = importlib.import_module("asdex"), importlib.import_module("jax")
    f, x = make(jax, n)
    given = jax.numpy.asarray(x)
    start = time.process_time()
    pattern = getattr(asdex, f"{kind}_sparsity")(f, given)
    between = time.process_time()
    colors = getattr(asdex, f"{kind}_coloring_from_sparsity")(pattern)
    end = time.process_time()
    compute = jax.jit(getattr(asdex, f"{kind}_from_coloring")(f, colors))
    took = [between - start, end - between, least_time(lambda: compute(given).data, clock=clock)]
    return [pattern.nnz, colors.num_colors, *took]


def peak() -> float:
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(library: str, program: str, n: int, clock: Callable[[], float]) -> None:
    """Print the figures of a program, and the memory that they took, as JSON."""
    modules = {"irax": ("irax.sparse", "scipy.sparse"), "asdex": ("asdex", "jax")}
    for name in modules[library]:
        importlib.import_module(name)
    make, kind = PROGRAMS[program]
    before = peak()
    figures = (of_irax if library == "irax" else of_asdex)(make, kind, n, clock)
    print(json.dumps([*figures, peak() - before]))


def in_process(
    library: str, program: str, n: int, options: argparse.Namespace
) -> list[float] | str:
    """The figures that `measure` prints in a process of its own, or why there are none."""
    command = [sys.executable, "-m", "benchmarks.sparse_derivatives"]
    command += ["--measure", library, program, str(n), "--memory", str(options.memory)]
    command += ["--processor"] * options.processor
    limit = options.limit
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return f"> {limit:g} s"
    if done.returncode:
        last = done.stderr.strip().splitlines() or ["ended"]
        return last[-1].partition(":")[0]
    return json.loads(done.stdout.splitlines()[-1])


def row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def beside_asdex(options: argparse.Namespace) -> None:
    """Print a table of irax and asdex: what both have once, else irax's first."""
    print(row(["program", "unknowns", *MEASURES]))
    print(row(["---"] * (2 + len(MEASURES))))
    for n in options.sizes:
        for name in options.programs:
            ours, theirs = (in_process(who, name, n, options) for who in ("irax", "asdex"))
            if isinstance(ours, str):
                raise SystemExit(f"{name}, {n}: {ours}")
            if isinstance(theirs, str):
                cells = [f"{a:.5g}, {theirs if i == 2 else '-'}" for i, a in enumerate(ours)]
            else:
                cells = [f"{a:.5g}, {b:.5g}" for a, b in zip(ours, theirs, strict=True)]
                cells[:2] = [
                    a.partition(",")[0] if len({*a.split(", ")}) == 1 else a for a in cells[:2]
                ]
            unknowns = PROGRAMS[name][0](np_only, n)[1].size
            print(row([name, unknowns, *cells]), flush=True)


class np_only:
    """A library with nothing but NumPy, for the arguments of programs."""

    numpy = np


def beside_dense(sizes: Sequence[int], programs: Sequence[str]) -> None:
    """Print a table of calls of sparse and dense derivatives, in time of the processor."""
    irax = importlib.import_module("irax")
    importlib.import_module("irax.sparse")
    print(row(["program", "unknowns", "sparse, ms", "dense, ms"]))
    print(row(["---"] * 4))
    for n in sizes:
        for name in programs:
            make, kind = PROGRAMS[name]
            f, x = make(irax, n)
            whole = irax.jit(irax.jacfwd(f) if kind == "jacobian" else irax.hessian(f))
            given = irax.numpy.asarray(x)
            compute = irax.jit(getattr(irax.sparse, kind)(f))
            took = (
                least_time(lambda c=compute, g=given: c(g).data, clock=time.process_time),
                least_time(lambda w=whole, g=given: w(g), 3, time.process_time),
            )
            print(row([name, x.size, *(f"{t:.3f}" for t in took)]), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--programs", nargs="+", default=list(PROGRAMS), choices=list(PROGRAMS))
    parser.add_argument("--limit", type=float, default=300, help="seconds for a library and a size")
    parser.add_argument("--memory", type=float, default=0, help="GB for a library and a size")
    parser.add_argument("--processor", action="store_true", help="the processor's time of calls")
    parser.add_argument("--dense", action="store_true", help="compare with dense derivatives")
    parser.add_argument("--measure", nargs=3, metavar=("LIBRARY", "PROGRAM", "SIZE"))
    options = parser.parse_args()
    clock = time.process_time if options.processor else time.perf_counter
    if options.measure:
        library, program, size = options.measure
        if options.memory:
            size_limit = int(options.memory * 1e9)
            resource.setrlimit(resource.RLIMIT_DATA, (size_limit, size_limit))
        measure(library, program, int(size), clock)
    elif options.dense:
        beside_dense(options.sizes, options.programs)
    else:
        beside_asdex(options)


if __name__ == "__main__":
    main()
