"""The option `unbiased_random`, and numbers from the tails of the normal distribution."""

import numpy as np
import pytest
import scipy.stats

import irax
import irax.numpy as jnp
from irax import random
from irax.config import unbiased_random
from irax.random import basic

KEY = random.key(3)
COUNT = 100_000


def is_even(counts) -> bool:
    return scipy.stats.chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("width", [32, 64])
def test_a_share_is_exact(width):
    rng = np.random.default_rng(0)
    words = rng.integers(0, 2**width, (3, 500), f"u{width // 8}")
    words[:, :3] = [[0, 2**width - 1, 2**width - 1]] * 3
    exact = [((int(u) << width) + int(v)) * int(s) >> 2 * width for u, v, s in words.T]
    with irax.enable_x64(width == 64):
        found = basic._share(*map(jnp.asarray, words))
    full = words[2] == 0
    assert np.asarray(found)[~full].tolist() == np.array(exact, object)[~full].tolist()
    assert np.asarray(found)[full].tolist() == words[0][full].tolist()


def test_integers_of_a_large_range():
    low, high = np.uint32(5), np.uint32(3_000_000_005)
    draw = lambda: np.asarray(random.randint(KEY, (COUNT,), low, high, "uint32")) - low
    parts = lambda x: np.histogram(x.astype(float), 10, (0, 3e9))[0]
    assert not is_even(parts(draw()))  # JAX's
    with unbiased_random():
        drawn = draw()
        assert is_even(parts(drawn))
        np.testing.assert_array_equal(
            irax.jit(lambda k: random.randint(k, (COUNT,), low, high, "uint32"))(KEY) - low, drawn
        )
        ends = np.iinfo("int32")
        whole = np.asarray(random.randint(KEY, (COUNT,), ends.min, ends.max))
        assert is_even(np.histogram(whole.astype(float), 10, (ends.min, ends.max))[0])
        assert is_even(np.bincount(random.randint(KEY, (COUNT,), 0, 256, "uint8"), minlength=256))
        assert np.asarray(random.randint(KEY, (9,), 4, 4)).tolist() == [4] * 9


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_rare_events(dtype):
    chance = jnp.full(1_000_000, 2.0**-11, dtype)
    with unbiased_random():
        count = int(random.bernoulli(KEY, chance).sum())
    assert abs(count - 1e6 * 2**-11) < 5 * (1e6 * 2**-11) ** 0.5
    if dtype == "bfloat16":
        assert int(random.bernoulli(KEY, chance).sum()) > 7000  # JAX's: one in 128


def test_small_floats_are_rounded_down():
    with unbiased_random():
        x = random.uniform(KEY, (COUNT,), "bfloat16")
        wide = np.asarray(random.uniform(KEY, (COUNT,), "float32"))
        z = random.normal(KEY, (COUNT,), "float16")
    narrow = np.asarray(x).astype("f4")
    assert x.dtype == jnp.bfloat16
    assert (narrow <= wide).all()
    assert (wide - narrow <= wide * 2**-7).all()
    assert 0 < narrow.min() < 1e-3
    assert narrow.max() < 1
    assert float(abs(z).max()) > 3.5


def test_the_option_changes_nothing_else():
    for draw in (
        lambda: random.uniform(KEY, (9,)),
        lambda: random.normal(KEY, (9,)),
        lambda: random.bits(KEY, (9,)),
    ):
        before = np.asarray(draw())
        with unbiased_random():
            np.testing.assert_array_equal(draw(), before)


TAILS = [(4.5, 5.0), (6.0, np.inf), (6.0, 6.1), (-np.inf, -8.0), (20.0, 30.0), (-40.0, -39.0)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_normal_numbers_of_tails(kind):
    compiled = irax.jit(lambda a, b: random.truncated_normal(KEY, a, b, (5000,), kind))
    for low, high in TAILS:
        with irax.enable_x64(kind == "f8"):
            ends = np.array(low, kind), np.array(high, kind)
            x = np.asarray(random.truncated_normal(KEY, *ends, (5000,), kind)).astype(float)
            jitted = compiled(*ends)
        assert ((x > low) & (x < high)).all(), (low, high)
        chance = scipy.stats.kstest(x, scipy.stats.truncnorm(low, high).cdf).pvalue
        assert chance > 1e-3, (low, high)
        np.testing.assert_allclose(jitted, x, rtol=1e-5 if kind == "f4" else 1e-12)


def test_bounds_in_and_out_of_tails():
    low = jnp.array([-1.0, 7.0, -2.0, -9.0])
    high = jnp.array([1.0, 8.0, 2.0, -8.5])
    x = random.truncated_normal(KEY, low, high)
    assert bool(((x > low) & (x < high)).all())
    total = lambda a: random.truncated_normal(KEY, a, a + 1, (3,)).sum()
    with irax.enable_x64(True):
        for place in (6.0, -9.0, 0.5):
            exact = (total(place + 1e-5) - total(place - 1e-5)) / 2e-5
            np.testing.assert_allclose(irax.grad(total)(place), exact, rtol=1e-6)
    half = random.truncated_normal(KEY, 5.0, jnp.inf, (64,), "bfloat16")
    assert np.unique(np.asarray(half).astype(float)).size > 5


@pytest.mark.parametrize("size", [1e7, 1e8])
def test_counts_of_large_means(size):
    with unbiased_random():
        poisson = random.poisson(KEY, jnp.full(10_000, size, "float32"))
        half = random.binomial(KEY, jnp.full(10_000, size, "float32"), 0.5)
    apart = (np.asarray(poisson, float) - size) / size**0.5
    assert scipy.stats.kstest(apart, "norm").pvalue > 1e-3
    apart = (np.asarray(half, float) - size / 2) / (size / 4) ** 0.5
    assert scipy.stats.kstest(apart, "norm").pvalue > 1e-3
    plain = np.asarray(random.poisson(KEY, jnp.full(10_000, size, "float32")), float)
    assert abs(plain.std() / size**0.5 - 1) > 0.05  # JAX's
