"""Sparse Jacobians and Hessians, beside asdex on JAX and beside dense derivatives.

    pip install asdex
    python -m benchmarks.sparse_derivatives --sizes 64 256
    python -m benchmarks.sparse_derivatives --dense

For each program: the elements and the colors, which should be the same, the CPU seconds that the
pattern and the colors take, and the least time of a compiled call. `--dense` compares with
`jacfwd` and `hessian`. Where asdex is not installed, or refuses a size, its columns are empty.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import irax
import irax.sparse

Make = Callable[[Any, int], tuple[Callable[..., Any], np.ndarray]]


def bratu(jnp: Any, n: int) -> tuple[Callable[..., Any], np.ndarray]:
    """A nonlinear equation on a square grid."""

    def equations(u: Any) -> Any:
        p = jnp.pad(u, 1)
        around = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
        return 4 * u - around - jnp.exp(u)

    return equations, np.full((n, n), 0.1, np.float32)


def brusselator(jnp: Any, n: int) -> tuple[Callable[..., Any], np.ndarray]:
    """Two reacting substances that diffuse on a periodic grid."""

    def spread(z: Any) -> Any:
        across = jnp.roll(z, 1, 0) + jnp.roll(z, -1, 0)
        return 10 * (across + jnp.roll(z, 1, 1) + jnp.roll(z, -1, 1) - 4 * z)

    def rates(both: Any) -> Any:
        u, v = both
        reaction = u * u * v
        return jnp.stack([1 + reaction - 4.4 * u + spread(u), 3.4 * u - reaction + spread(v)])

    return rates, np.full((2, n, n), 0.1, np.float32)


def band(jnp: Any, n: int) -> tuple[Callable[..., Any], np.ndarray]:
    """A chain of three diagonals."""
    return lambda x: x[2:] * x[1:-1] + jnp.sin(x[:-2]), np.full(n * n, 0.1, np.float32)


def rosenbrock(jnp: Any, n: int) -> tuple[Callable[..., Any], np.ndarray]:
    """The sum whose Hessian has three diagonals."""

    def total(x: Any) -> Any:
        return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    return total, np.full(n * n, 0.1, np.float32)


def two_bodies(jnp: Any, n: int) -> tuple[Callable[..., Any], np.ndarray]:
    """The defects of a trapezoidal rule for a steered orbit, and the cost of steering."""

    def lagrangian(z: Any) -> Any:
        state, thrust = z[:, :4], z[:, 4:]
        cubes = (state[:, 0] ** 2 + state[:, 1] ** 2 + 0.1) ** 1.5
        pull = -state[:, :2] / cubes[:, None] + thrust
        rate = jnp.concatenate([state[:, 2:], pull], 1)
        defects = state[1:] - state[:-1] - 0.05 * (rate[1:] + rate[:-1])
        return jnp.sum(defects) + jnp.sum(thrust**2)

    return lagrangian, np.full((n * n // 6, 6), 0.3, np.float32)


PROGRAMS: dict[str, tuple[Make, str]] = {
    "Bratu": (bratu, "jacobian"),
    "Brusselator": (brusselator, "jacobian"),
    "band": (band, "jacobian"),
    "Rosenbrock": (rosenbrock, "hessian"),
    "two bodies": (two_bodies, "hessian"),
}


def least_time(call: Callable[[], Any], repeat: int = 10) -> float:
    """The least time of some calls, in milliseconds."""
    found = []
    for _ in range(repeat + 1):
        start = time.perf_counter()
        call().block_until_ready()
        found.append(time.perf_counter() - start)
    return 1e3 * min(found[1:])


def of_irax(make: Make, kind: str, n: int) -> list[float]:
    """Elements, colors, seconds of pattern and colors, milliseconds of a call."""
    f, x = make(irax.numpy, n)
    sparse = irax.sparse
    start = time.process_time()
    if kind == "jacobian":
        pattern = sparse.sparsity(f)(x)
        between = time.process_time()
        colors = sparse.color(pattern)
        end = time.process_time()
        compute = irax.jit(sparse.jacobian(f, coloring=colors))
    else:
        pattern = sparse.hessian_sparsity(f)(x)
        between = time.process_time()
        colors = sparse.color(pattern, "symmetric")
        end = time.process_time()
        compute = irax.jit(sparse.hessian(f, coloring=colors))
    given = irax.numpy.asarray(x)
    took = [between - start, end - between, least_time(lambda: compute(given).data)]
    return [pattern.nnz, colors.num_colors, *took]


def of_asdex(make: Make, kind: str, n: int) -> list[float]:
    """Figures as of `of_irax`, for asdex on JAX."""
    asdex, jax = importlib.import_module("asdex"), importlib.import_module("jax")
    f, x = make(jax.numpy, n)
    given = jax.numpy.asarray(x)
    start = time.process_time()
    pattern = getattr(asdex, f"{kind}_sparsity")(f, given)
    between = time.process_time()
    colors = getattr(asdex, f"{kind}_coloring_from_sparsity")(pattern)
    end = time.process_time()
    compute = jax.jit(getattr(asdex, f"{kind}_from_coloring")(f, colors))
    took = [between - start, end - between, least_time(lambda: compute(given).data)]
    return [pattern.nnz, colors.num_colors, *took]


def row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def beside_asdex(sizes: Sequence[int]) -> None:
    """Print a table of irax and asdex, and ratios of what they take."""
    print(row(["program", "n", "elements", "colors, both", "pattern, s", "colors, s", "call, ms"]))
    print(row(["---"] * 7))
    for n in sizes:
        for name, (make, kind) in PROGRAMS.items():
            ours = of_irax(make, kind, n)
            try:
                theirs: list[Any] = of_asdex(make, kind, n)
            except (ImportError, ValueError) as error:
                theirs = [type(error).__name__] * 5
            pairs = list(zip(ours, theirs, strict=True))
            counts = [f"{a}" if a == b else f"{a}, {b}" for a, b in pairs[:2]]
            times = [f"{a:.3f}, {b if isinstance(b, str) else f'{b:.3f}'}" for a, b in pairs[2:]]
            print(row([name, make(np, n)[1].size, *counts, *times]), flush=True)


def beside_dense(sizes: Sequence[int]) -> None:
    """Print a table of calls of sparse and dense derivatives."""
    print(row(["program", "n", "sparse, ms", "dense, ms"]))
    print(row(["---"] * 4))
    for n in sizes:
        for name, (make, kind) in PROGRAMS.items():
            f, x = make(irax.numpy, n)
            whole = irax.jit(irax.jacfwd(f) if kind == "jacobian" else irax.hessian(f))
            given = irax.numpy.asarray(x)
            took = of_irax(make, kind, n)[-1], least_time(lambda w=whole, g=given: w(g), 3)
            print(row([name, x.size, *(f"{t:.3f}" for t in took)]), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--dense", action="store_true", help="compare with dense derivatives")
    options = parser.parse_args()
    (beside_dense if options.dense else beside_asdex)(options.sizes)


if __name__ == "__main__":
    main()
