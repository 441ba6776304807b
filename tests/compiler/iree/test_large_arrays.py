"""Large arrays, which the device's allocator has memory for: here, arrays of any size are large."""

from __future__ import annotations

import resource
import sys

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax_compiler.passes.repairs.allocate_large_arrays import AllocateLargeArrays
from irax_compiler.targets import cpu

LARGE = 1 << 26
RNG = np.random.default_rng(0)


@pytest.fixture
def all_are_large(monkeypatch):
    made = []

    class Recorded(AllocateLargeArrays):
        def run(self, module):
            found = super().run(module)
            made.append(found)
            return found

    monkeypatch.setattr(cpu, "passes_on_memory", lambda: (Recorded(least=1),))
    monkeypatch.setattr(cpu, "has_very_large_arrays", lambda text: True)
    return made


def chain(x, y):
    """Results that are temporaries of others, and two that are one array."""
    t = jnp.tanh(x @ y)
    s = jnp.sort(t + 1, 1)
    return t, s[::-1], s @ y, t


def loops(x, y):
    return lax.fori_loop(0, 4, lambda i, c: (jnp.sin(c[1]) @ y, c[0] + i), (x, y))


def branches(x, y):
    return lax.cond(x[0, 0] > 0, lambda: (x @ y, y), lambda: (y, jnp.cumsum(x, 0)))


def host(x, y):
    z = irax.pure_callback(lambda a: np.asarray(a) * 2, irax.ShapeDtypeStruct(x.shape, x.dtype), x)
    return z @ y, z + 1


@pytest.mark.parametrize("function", [chain, loops, branches, host])
@pytest.mark.parametrize("donated", [(), (0,)])
def test_programs_give_the_same(function, donated, all_are_large):
    x, y = RNG.standard_normal((2, 70, 70)).astype(np.float32) / 8
    with irax.disable_jit():
        expected = function(jnp.asarray(x), jnp.asarray(y))
    compiled = irax.jit(lambda *args: function(*args), donate_argnums=donated)
    for _ in range(3):  # the second call has the memory of the first
        found = compiled(jnp.array(x), jnp.asarray(y))
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    assert any(all_are_large) or function in (loops, branches)


def test_results_keep_their_memory(all_are_large):
    add = irax.jit(lambda x: x + 1)
    first = add(jnp.zeros(1000))
    others = [add(jnp.full(1000, i)) for i in range(1, 4)]
    np.testing.assert_array_equal(first, np.ones(1000))
    for i, x in enumerate(others, 1):
        np.testing.assert_array_equal(x, np.full(1000, i + 1))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="counts Linux's page faults")
def test_memory_is_kept_between_calls():
    """Without the pass, each call has fresh pages for the result."""
    size = 3 * LARGE // 4
    add = irax.jit(lambda x: x + 1)
    x = jnp.ones(size, jnp.float32)
    assert add.lower(x).compile().memory_analysis().peak_memory_in_bytes >= 8 * size
    faults = []
    for _ in range(12):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        add(x).block_until_ready()
        faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
    pages = 4 * size // resource.getpagesize()
    assert sorted(faults)[len(faults) // 2] < pages // 10
