"""Places in memory for the arrays between kernels."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax_compiler.passes.repairs.plan_buffers.packing import (
    ALIGNMENT,
    Free,
    Item,
    Used,
    aligned,
    pack,
)


def drawn(seed: int) -> tuple[list[Item], list[Free]]:
    """Return arrays with random lives, and results that are written at some step."""
    rng = np.random.default_rng(seed)
    items = []
    for _ in range(rng.integers(1, 30)):
        first = int(rng.integers(0, 20))
        items.append(Item(int(rng.integers(1, 3000)), first, first + int(rng.integers(0, 6))))
    results = []
    for _ in range(rng.integers(0, 3)):
        size = int(rng.integers(1, 6000))
        middle = size // 2
        parts = [(0, middle), (middle, size - middle)]
        used = [Used(offset, length, int(rng.integers(0, 22))) for offset, length in parts]
        results.append(Free(size, used))
    return items, results


@pytest.mark.parametrize("seed", range(40))
def test_arrays_that_are_alive_at_a_time_are_apart(seed):
    items, results = drawn(seed)
    homes, most = pack(items, results)
    assert len(homes) == len(items)
    for i, (item, home) in enumerate(zip(items, homes, strict=True)):
        end = home.offset + item.size
        assert home.offset % ALIGNMENT == 0
        if home.result is None:
            assert end <= most
        else:
            result = results[home.result]
            assert end <= result.size
            for used in result.used:
                is_apart = end <= used.offset or used.offset + used.size <= home.offset
                assert is_apart or item.last < used.first
        for other, its in zip(items[:i], homes[:i], strict=True):
            if its.result == home.result:
                is_apart = end <= its.offset or its.offset + other.size <= home.offset
                assert is_apart or item.last < other.first or other.last < item.first


def test_a_chain_of_arrays_takes_two_places():
    items = [Item(1000, i, i + 1) for i in range(8)]
    assert pack(items, [])[1] == 2 * aligned(1000)
    assert pack(items, [Free(1024, [Used(0, 1024, 100)])])[1] == aligned(1000)


def planned(f, *arguments):
    return irax.jit(f).lower(*arguments).compile().memory_analysis()


@pytest.mark.slow
def test_temporaries_are_in_memory_of_results():
    x = np.random.default_rng(0).normal(size=(2, 16, 24, 24)).astype(np.float32)
    w = np.random.default_rng(1).normal(size=(16, 16, 3, 3)).astype(np.float32)

    def f(x, w):
        return irax.lax.conv(x, w, (1, 1), "SAME")

    memory = planned(f, x, w)
    assert memory.temp_size_in_bytes < 1.2 * x.nbytes  # not two copies of it
    np.testing.assert_allclose(irax.jit(f)(x, w), f(x, w), rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_large_kernels_do_not_run_at_once_where_this_takes_memory():
    """Windows of images are copied for one tap after the other."""
    x = np.random.default_rng(0).normal(size=(8, 28, 28, 64)).astype(np.float32)
    w = np.random.default_rng(1).normal(size=(3, 3, 64, 64)).astype(np.float32)
    names = ("NHWC", "HWIO", "NHWC")

    def loss(w):
        return jnp.sum(irax.lax.conv_general_dilated(x, w, (1, 1), "SAME", None, None, names) ** 2)

    images = x.size * 4
    memory = planned(irax.grad(loss), w)
    assert memory.temp_size_in_bytes < 4.4 * images
