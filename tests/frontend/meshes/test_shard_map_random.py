"""Random programs with random specs under shard_map, beside the same programs of whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import P, lax
from irax.sharding import Mesh
from irax_runtime.iree.cpu import cpu

MESH = Mesh(np.array([cpu(n) for n in range(4)], dtype=object).reshape(2, 2), ("a", "b"))
ENTRIES = (None, "a", "b", ("a", "b"), ("b", "a"))
FUNCTIONS = (jnp.sin, jnp.tanh, lambda x: x * x, lambda x: jnp.where(x > 0, x, 0.5 * x))


def random_spec(rng: np.random.Generator, rank: int) -> Any:
    entries, left = [], {"a", "b"}
    for _ in range(rank):
        entry = ENTRIES[rng.integers(len(ENTRIES))]
        axes = {entry} if isinstance(entry, str) else set(entry or ())
        entries.append(entry if axes <= left else None)
        left -= axes if axes <= left else set()
    return P(*entries)


def axes_of(entry: Any) -> tuple[str, ...]:
    return () if entry is None else (entry,) if isinstance(entry, str) else entry


class Program:
    """A chain of operations on an array and a vector of weights, on shards or on whole arrays."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.spec = random_spec(self.rng, 2)
        self.steps = self.rng.integers(0, 4, 4)
        self.choices = self.rng.integers(0, len(FUNCTIONS), 4)
        self.x = self.rng.normal(size=(8, 8)).astype(np.float32)
        self.w = self.rng.normal(size=8).astype(np.float32)

    def body(self, x: Any, w: Any, is_shard: bool) -> Any:
        """Compute x -> array like x; `w` is divided as the second dimension of x."""
        rows, columns = (axes_of(entry) if is_shard else () for entry in self.spec)

        def total(y: Any, axes: tuple[str, ...]) -> Any:
            return lax.psum(y, axes) if axes else y

        for step, choice in zip(self.steps, self.choices, strict=True):
            f = FUNCTIONS[choice]
            if step == 0:
                x = f(x) * w
            elif step == 1:
                x = x - total(f(x).sum(0, keepdims=True), rows) / 8
            elif step == 2:
                x = x * f(total((x * w).sum(1, keepdims=True), columns))
            else:
                x = lax.scan(lambda c, _, f=f, x=x: (f(c) + x, c.sum()), x, None, length=2)[0]
        return x

    def sharded(self, check_vma: bool) -> Any:
        def run(x: Any, w: Any) -> Any:
            return self.body(x, w, is_shard=True)

        specs = (self.spec, P(self.spec[1]))
        return irax.shard_map(
            run, mesh=MESH, in_specs=specs, out_specs=self.spec, check_vma=check_vma
        )

    def whole(self, x: Any, w: Any) -> Any:
        return self.body(x, w, is_shard=False)


def close(found: Any, expected: Any) -> None:
    for a, b in zip(irax.tree.leaves(found), irax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3 * (1 + np.abs(b).max()))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int):
    program = Program(seed)
    check_vma = bool(seed % 2)
    f, x, w = program.sharded(check_vma), program.x, program.w
    close(f(x, w), program.whole(x, w))

    def loss(g: Any) -> Any:
        return lambda x, w: (jnp.cos(jnp.arange(64.0).reshape(8, 8)) * g(x, w)).sum()

    gradient, expected = (irax.grad(loss(g), (0, 1)) for g in (f, program.whole))
    close(gradient(x, w), expected(x, w))
    if seed < 2:
        close(irax.jit(gradient)(x, w), expected(x, w))
        columns = irax.vmap(f, (2, None), 2)(np.stack([x, 2 * x], 2), w)
        close(columns, irax.vmap(program.whole, (2, None), 2)(np.stack([x, 2 * x], 2), w))
    if seed < 4:
        second, wanted = (
            irax.grad(lambda v, d=d: (d(v, w)[0] ** 2).sum()) for d in (gradient, expected)
        )
        close(second(x), wanted(x))
