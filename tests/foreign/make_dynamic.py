"""Exports programs with symbolic dimensions by JAX: `python -m tests.foreign.make_dynamic`.

dynamic/NAME.mlir is the module, with `?` in its types; dynamic/NAME.npz has, for each of several
sizes, arguments and what JAX returns for them: `argument0_2` and `result0_2` for the size 2.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from tests import oracle

from irax_compiler import mlir

FOLDER = Path(__file__).parent / "dynamic"
SIZES = (2, 3, 7)


def normalized(x):
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


def loss(w, x):
    return -jax.nn.log_softmax(jnp.tanh(x @ w))[:, 0].mean()


PROGRAMS: dict[str, tuple[Any, list[str], list[str]]] = {
    "argmax": (lambda x: x.argmax(-1), ["n, 3"], []),
    "attention": (
        lambda q, k: jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, k)) @ k,
        ["b, n, 4"] * 2,
        [],
    ),
    "broadcast": (lambda x, y: x[:, None] * y + x.shape[0], ["n", "m"], []),
    "convolution": (
        lambda x, k: jax.lax.conv(x, k, (1, 1), "SAME"),
        ["n, 2, 4, 4", "3, 2, 3, 3"],
        [],
    ),
    "cross_entropy": (jax.value_and_grad(loss), ["4, 3", "n, 4"], []),
    "diagonal": (lambda x: jnp.tril(x) + jnp.eye(x.shape[0]), ["n, n"], []),
    "expression": (lambda x, y: jnp.concatenate([x, y]), ["n, 3", "2*n, 3"], []),
    "flip": (lambda x: x[::-1], ["n, 3"], []),
    "gelu": (jax.nn.gelu, ["n, 3"], []),
    "gradient": (jax.grad(lambda x: (jnp.sin(x) ** 2).sum() * x.shape[0]), ["n, 3"], []),
    "iota": (lambda x: jnp.arange(x.shape[0]) * x[:, 0], ["n, 3"], []),
    "layer_norm": (normalized, ["n, 4"], []),
    "logsumexp": (lambda x: jax.nn.logsumexp(x, 0), ["n, 3"], []),
    "matmul": (lambda x, y: x @ y, ["n, m", "m, 4"], []),
    "maximum": (lambda x: jnp.where(x > 0, x, 0).max(0), ["n, 3"], []),
    "mean": (lambda x: (x.mean(), x.std(0)), ["n, 3"], []),
    "mlp": (lambda w, x: jnp.tanh(x @ w + 1.0), ["4, 3", "n, 4"], []),
    "one_hot": (lambda x: jax.nn.one_hot(jnp.arange(x.shape[0]), x.shape[0]), ["n, 3"], []),
    "outer": (jax.vmap(lambda x: jnp.outer(x, x)), ["n, 3"], []),
    "pad": (lambda x: jnp.pad(x, ((1, 2), (0, x.shape[0]))), ["n, 3"], []),
    "reshape": (lambda x: x.T.reshape(3, -1, 1), ["n, 3"], []),
    "rows": (lambda x: (x[:-1] + x[1:], x[-1]), ["n, 3"], ["n >= 2"]),
    "same": (lambda x, y: x + y, ["n, 3"] * 2, []),
    "softmax": (jax.nn.softmax, ["n, m"], []),
    "sort": (lambda x: jnp.sort(x, 0), ["n, 3"], []),
    "take": (lambda x: x[jnp.array([0, 1, 1])], ["n, 3"], []),
    "third": (lambda x: x.sum(0) * (x.shape[0] // 3), ["n, 3"], []),
    "total": (lambda x: x.sum((0, 1)), ["n, m, 3"], []),
    "transpose": (lambda x: x.transpose(2, 0, 1), ["n, m, 3"], []),
    "variance": (lambda x: x.var(1), ["n, m"], []),
}


def make(name: str) -> None:
    function, shapes, constraints = PROGRAMS[name]
    scope = export.SymbolicScope(constraints)
    specs = [
        jax.ShapeDtypeStruct(export.symbolic_shape(s, scope=scope), jnp.float32) for s in shapes
    ]
    text = export.export(jax.jit(function))(*specs).mlir_module()
    module = mlir.parse_module(text)  # without the locations, which are most of it
    (FOLDER / f"{name}.mlir").write_text(mlir.text_of(module.operation))
    arrays = {}
    for n in SIZES:
        values = {"n": n, "m": n + 1, "b": 2}
        known = [[int(eval(size, {}, values)) for size in s.split(",")] for s in shapes]
        random = np.random.default_rng(n)
        given = [random.normal(size=shape).astype(np.float32) for shape in known]
        results = oracle.results(function, *given)
        arrays |= {f"argument{i}_{n}": x for i, x in enumerate(given)}
        arrays |= {f"result{i}_{n}": x for i, x in enumerate(results)}
    np.savez_compressed(FOLDER / f"{name}.npz", **arrays)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for program in PROGRAMS:
        make(program)
