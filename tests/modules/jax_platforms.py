"""Write modules that JAX exports for processors, GPUs and TPUs: NAME_PLATFORM.mlir, and the same
name with .npz: arguments, and what JAX computes on the processor. It runs where JAX is installed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export

RANDOM = np.random.default_rng(0)
PLATFORMS = ("cpu", "cuda", "rocm", "tpu")


def draw(*shape: int) -> Any:
    return jnp.asarray(RANDOM.normal(size=shape), "float32")


A = draw(3, 4, 4)
S = A @ A.swapaxes(1, 2) + 4 * jnp.eye(4)
WORDS = jnp.asarray([1, 2], "uint32")

FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "normal": (lambda k: jax.random.normal(jax.random.wrap_key_data(k), (5,)), (WORDS,)),
    "solve": (jnp.linalg.solve, (A, draw(3, 4, 2))),
    "det": (jnp.linalg.det, (A,)),
    "inverse": (jnp.linalg.inv, (A,)),
    "qr": (lambda x: jnp.linalg.qr(x)[1], (draw(5, 3),)),
    "eigvalsh": (jnp.linalg.eigvalsh, (S,)),
    "cholesky": (jnp.linalg.cholesky, (S,)),
    "svd": (lambda x: jnp.abs(jnp.linalg.svd(x, full_matrices=False)[2]), (draw(5, 3),)),
    "top_k": (lambda x: jax.lax.top_k(x, 2)[0], (draw(3, 6),)),
    "cumsum": (jnp.cumsum, (draw(7),)),
    "sort": (jnp.sort, (draw(7),)),
    "solve_triangular": (
        lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True),
        (S[0], draw(4, 2)),
    ),
    "fft": (lambda x: jnp.abs(jnp.fft.fft(x)), (draw(8),)),
}


def write(folder: Path, name: str) -> None:
    function, arrays = FUNCTIONS[name]
    result = np.asarray(jax.jit(function)(*arrays))
    named = {f"argument{i}": np.asarray(x) for i, x in enumerate(arrays)}
    for platform in PLATFORMS:
        made = export.export(jax.jit(function), platforms=[platform])(*arrays)
        (folder / f"{name}_{platform}.mlir").write_text(made.mlir_module())
        np.savez(folder / f"{name}_{platform}.npz", result=result, **named)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for one in FUNCTIONS:
        write(target, one)
    (target / "versions.txt").write_text(f"JAX {jax.__version__}")
