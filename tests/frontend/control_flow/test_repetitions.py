"""Programs that repeat a sequence of operations, and extrema of complex numbers, on the CPU."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irax
from irax import lax
from irax import numpy as jnp
from irax_compiler import mlir
from irax_compiler.lowering import lower
from irax_compiler.passes.core import nested
from irax_compiler.passes.optimize.outline_sequences import OutlineSequences


def _repeated(count: int) -> Callable[..., Any]:
    def repeated(x: Any, y: Any) -> Any:
        for i in range(count):
            z = lax.lgamma(jnp.abs(x) + 0.5) * 1.5 - x * 0.3 + y * y
            x = jnp.where(z > 1, z / 2, jnp.floor(z) * y - x) * 0.5 + i
        return x

    return repeated


X, Y = np.linspace(0.1, 2, 6, dtype=np.float32), np.linspace(1, -1, 6, dtype=np.float32)


def test_results_are_those_of_single_operations():
    found = irax.jit(_repeated(20))(X, Y)
    with irax.disable_jit():
        expected = _repeated(20)(irax.numpy.asarray(X), irax.numpy.asarray(Y))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_results_on_arrays_in_memory():
    x, y = np.linspace(0.1, 2, 1003), np.linspace(1, -1, 1003)
    with irax.enable_x64(True):
        found = irax.jit(_repeated(17))(x, y)
        with irax.disable_jit():
            expected = _repeated(17)(irax.numpy.asarray(x), irax.numpy.asarray(y))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_repeated_sequence_may_have_a_series():
    def repeated(x: Any, y: Any) -> Any:
        for i in range(16):
            z = lax.igamma(abs(x) + 0.5, abs(y) + 0.1) * 1.5 - x * 0.3 + y * y
            x = jnp.where(z > 1, z / 2, jnp.floor(z) * y - x) * 0.5 + i
        return x

    found = irax.jit(repeated)(X, Y)
    with irax.disable_jit():
        expected = repeated(irax.numpy.asarray(X), irax.numpy.asarray(Y))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_repetition_is_two_operations():
    counts = []

    def count(text: str, module: mlir.Module) -> None:
        if text.startswith(OutlineSequences.name):
            (main,) = (f for f in mlir.functions(module).values() if mlir.is_public(f))
            named = [o.name for o in nested(main)]
            counts.append(len(named) - named.count("stablehlo.constant"))

    for times in (20, 40):
        traced = irax.jit(_repeated(times)).lower(X, Y)
        lower(mlir.parse_module(traced.as_text()), "repeated", after=count)
    assert counts[1] - counts[0] <= 2 * 20


@pytest.mark.parametrize("disabled", [False, True])
def test_extrema_of_complex_numbers_are_of_pairs(disabled: bool):
    numbers = [complex(a, b) for a, b in itertools.product((-1, 0, 2), (-3, 0, 1))]
    pairs = [((z.real, z.imag), (w.real, w.imag)) for z in numbers for w in numbers]
    z, w = (np.array([complex(*p[i]) for p in pairs], np.complex64) for i in (0, 1))

    def extrema(z: Any, w: Any) -> Any:
        return lax.max(z, w), lax.min(z, w), lax.clamp(z, w, z + 1)

    with irax.disable_jit(disabled):
        found = irax.jit(extrema)(z, w)
    for result, of_pair in zip(found, (max, min), strict=False):
        np.testing.assert_array_equal(result, [complex(*of_pair(pair)) for pair in pairs])
    bounds = [((a, b), (c, d), (a + 1, b)) for (a, b), (c, d) in pairs]
    clamped = [complex(*min(max(low, x), high)) for low, x, high in bounds]
    np.testing.assert_array_equal(found[2], clamped)
