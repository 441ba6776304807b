"""Random programs of products of matrices that update their donated arguments: compiled, beside
NumPy in float64.

A product may be computed in the memory of what it updates, beside kernels that still read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from tests.differential.random.trials import SEED, batches

import irax
import irax.numpy as jnp

SIZE = 192
_OPERATIONS = {
    "product": lambda lib, x, y: x @ y / 16,
    "product of transposed": lambda lib, x, y: x.T @ y / 16,
    "product with transposed": lambda lib, x, y: x @ y.T / 16,
    "tanh": lambda lib, x, y: lib.tanh(x),
    "add": lambda lib, x, y: x / 2 + y,
    "less the sum": lambda lib, x, y: x - y.sum(0) / 64,
    "add transposed": lambda lib, x, y: x + y.T / 4,
}


@dataclass(frozen=True)
class Program:
    """Operations on the arguments and on the results before, each with the numbers of its operands,
    then the updates of arguments, and vectors that are results too.
    """

    count: int
    operations: Sequence[tuple[str, int, int]]
    updates: Sequence[tuple[int, int, bool]]
    vectors: Sequence[tuple[int, int]]

    @classmethod
    def random(cls, rng: np.random.Generator) -> Program:
        count = int(rng.integers(1, 5))
        names = list(_OPERATIONS)
        operations = [
            (names[rng.integers(len(names))], *map(int, rng.integers(count + i, size=2)))
            for i in range(rng.integers(1, 7))
        ]
        known = count + len(operations)
        updates = [(i, int(rng.integers(known)), bool(rng.integers(2))) for i in range(count)]
        vectors = rng.integers(known, size=(rng.integers(3), 2)).tolist()
        return cls(count, operations, updates, [(a, b) for a, b in vectors])

    def __call__(self, lib: Any, arguments: Sequence[Any]) -> list[Any]:
        values = list(arguments)
        for name, x, y in self.operations:
            values.append(_OPERATIONS[name](lib, values[x], values[y]))
        found = [
            values[x] - 0.1 * (values[y] @ values[x] / 16 if is_product else values[y])
            for x, y, is_product in self.updates
        ]
        return [*found, *(lib.tanh(values[x]).sum(0) + values[y][0] for x, y in self.vectors)]


@pytest.mark.slow
@batches(8, few=24)
def test_random_products(numbers: range) -> None:
    for number in numbers:
        rng = np.random.default_rng((SEED, 130, number))
        program = Program.random(rng)
        given = list(rng.standard_normal((program.count, SIZE, SIZE)).astype(np.float32))
        expected = program(np, [x.astype(np.float64) for x in given])
        donated = tuple(np.flatnonzero(rng.random(program.count) < 0.7).tolist())
        compiled = irax.jit(lambda *x, p=program: p(jnp, x), donate_argnums=donated)
        for a, b in zip(compiled(*map(jnp.array, given)), expected, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-3 * (1 + np.abs(b).max()))
