"""Transforms of a few complex numbers in registers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from irax_compiler.mlir import Value
from irax_compiler.ops.registers import emit

Complex = tuple[Value, Value]
"""Vectors of real and of imaginary parts."""


def product(x: Complex, y: Complex) -> Complex:
    """Build the product of complex numbers."""
    (a, b), (c, d) = x, y
    re = emit("math.fma", a, c, emit("arith.negf", emit("arith.mulf", b, d)))
    return re, emit("math.fma", a, d, emit("arith.mulf", b, c))


def _sum(x: Complex, y: Complex) -> Complex:
    return emit("arith.addf", x[0], y[0]), emit("arith.addf", x[1], y[1])


def _difference(x: Complex, y: Complex) -> Complex:
    return emit("arith.subf", x[0], y[0]), emit("arith.subf", x[1], y[1])


@dataclass(frozen=True)
class Butterfly:
    """The transform of a few complex numbers."""

    number: Callable[[float], Value]
    is_inverse: bool

    def of(self, x: Sequence[Complex]) -> list[Complex]:
        n = len(x)
        if n == 1:
            return list(x)
        if n == 2:
            return [_sum(*x), _difference(*x)]
        if n % 2 == 0:
            return self._of_even(x)
        return self._of_odd(x)

    def _of_even(self, x: Sequence[Complex]) -> list[Complex]:
        """Build the transform from those of the elements with even and with odd numbers."""
        n = len(x)
        even, odd = self.of(x[::2]), self.of(x[1::2])
        turned = [self._turned(z, k, n) for k, z in enumerate(odd)]
        pairs = list(zip(even, turned, strict=True))
        return [_sum(*p) for p in pairs] + [_difference(*p) for p in pairs]

    def _turned(self, z: Complex, k: int, n: int) -> Complex:
        """Multiply by exp(-2 pi i k / n), for k < n / 2."""
        if k == 0:
            return z
        if 4 * k == n:
            return self._quarter(z)
        angle = 2 * np.pi * k / n
        sine = np.sin(angle) if self.is_inverse else -np.sin(angle)
        return product(z, (self.number(np.cos(angle)), self.number(sine)))

    def _quarter(self, z: Complex) -> Complex:
        """Multiply by -i, or by i."""
        re, im = z
        if self.is_inverse:
            return emit("arith.negf", im), re
        return im, emit("arith.negf", re)

    def _of_odd(self, x: Sequence[Complex]) -> list[Complex]:
        """Build the transform from sums and differences of elements j and n - j."""
        n = len(x)
        pairs = [(x[j], x[n - j]) for j in range(1, n // 2 + 1)]
        sums, differences = [_sum(*p) for p in pairs], [_difference(*p) for p in pairs]
        total = x[0]
        for z in sums:
            total = _sum(total, z)
        found = [total] * n
        for k in range(1, n // 2 + 1):
            angles = [2 * np.pi * (j * k % n) / n for j in range(1, n // 2 + 1)]
            even = self._combined(x[0], sums, [np.cos(a) for a in angles])
            odd = self._quarter(self._combined(None, differences, [np.sin(a) for a in angles]))
            found[k], found[n - k] = _sum(even, odd), _difference(even, odd)
        return found

    def _combined(
        self, start: Complex | None, numbers: Sequence[Complex], weights: Sequence[float]
    ) -> Complex:
        """A sum of complex numbers times real ones."""
        parts: list[Value] = []
        for part in (0, 1):
            total = None if start is None else start[part]
            for z, weight in zip(numbers, weights, strict=True):
                w = self.number(weight)
                if total is None:
                    total = emit("arith.mulf", z[part], w)
                else:
                    total = emit("math.fma", z[part], w, total)
            assert total is not None
            parts.append(total)
        return parts[0], parts[1]
