"""Random bits: values that documents print, and JAX's for both orders of drawing."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import random
from irax.random.threefry import hash_words

HAS_JAX = importlib.util.find_spec("jax") is not None

A = np.array([0.3, 1.0, 2.5, 30.0], np.float32)
P = np.array([0.1, 0.2, 0.3, 0.35], np.float32)
SHARES = np.array([0.5, 0.1, 0.9, 0.3, 0.7], np.float32)
M = np.arange(12, dtype=np.int32).reshape(3, 4)
COV = np.array([[2.0, 0.5], [0.5, 1.0]], np.float32)

DRAWS = {
    "split": lambda r, k: r.split(k, 5),
    "split shape": lambda r, k: r.split(k, (2, 3)),
    "fold_in": lambda r, k: r.fold_in(k, 7),
    "bits": lambda r, k: r.bits(k, (3, 5)),
    "bits 8": lambda r, k: r.bits(k, (7,), np.uint8),
    "bits 16": lambda r, k: r.bits(k, (7,), np.uint16),
    "uniform": lambda r, k: r.uniform(k, (3, 5)),
    "uniform bounds": lambda r, k: r.uniform(k, (9,), minval=-2.0, maxval=3.0),
    "uniform f16": lambda r, k: r.uniform(k, (9,), np.float16),
    "uniform bf16": lambda r, k: r.uniform(k, (9,), jnp.bfloat16),
    "normal": lambda r, k: r.normal(k, (1000,)),
    "normal scalar": lambda r, k: r.normal(k),
    "randint": lambda r, k: r.randint(k, (50,), -3, 1000),
    "randint u8": lambda r, k: r.randint(k, (50,), 0, 256, np.uint8),
    "randint i16": lambda r, k: r.randint(k, (50,), -300, 300, np.int16),
    "randint empty range": lambda r, k: r.randint(k, (5,), 3, 3),
    "permutation": lambda r, k: r.permutation(k, 10),
    "permutation of rows": lambda r, k: r.permutation(k, np.arange(12).reshape(4, 3)),
    "permutation of columns": lambda r, k: r.permutation(k, np.arange(12).reshape(4, 3), 1),
    "permutation independent": lambda r, k: r.permutation(
        k, np.arange(12).reshape(4, 3), independent=True
    ),
    "bernoulli": lambda r, k: r.bernoulli(k, 0.3, (40,)),
    "bernoulli by p": lambda r, k: r.bernoulli(k, np.linspace(0, 1, 9, dtype=np.float32)),
    "categorical": lambda r, k: r.categorical(k, np.log(np.array([[1.0, 2, 3], [3, 2, 1]], "f"))),
    "categorical shape": lambda r, k: r.categorical(
        k, np.zeros((2, 3), "f"), axis=-1, shape=(5, 2)
    ),
    "gumbel": lambda r, k: r.gumbel(k, (9,)),
    "exponential": lambda r, k: r.exponential(k, (9,)),
    "truncated_normal": lambda r, k: r.truncated_normal(k, -1.0, 2.0, (9,)),
    "choice": lambda r, k: r.choice(k, 10, (4,)),
    "choice without replacement": lambda r, k: r.choice(k, 10, (4,), replace=False),
    "choice of columns": lambda r, k: r.choice(k, M, (2, 2), axis=1),
    "choice of columns without replacement": lambda r, k: r.choice(k, M, (3,), False, axis=1),
    "choice by p": lambda r, k: r.choice(k, 4, (20,), p=P),
    "choice by p without replacement": lambda r, k: r.choice(k, 4, (3,), False, P),
    "choice of none": lambda r, k: r.choice(k, 4, (0,)),
    "categorical broadcast": lambda r, k: r.categorical(k, np.zeros((3, 1), "f"), 0, (5, 4)),
    "categorical without replacement": lambda r, k: r.categorical(
        k, np.log(np.stack([P, P[::-1]], 1)), 0, (3, 2), replace=False
    ),
    "uniform per element": lambda r, k: r.uniform(k, (2, 3), minval=np.zeros((2, 1)), maxval=A[:3]),
    "normal f16": lambda r, k: r.normal(k, (9,), np.float16),
    "normal bf16": lambda r, k: r.normal(k, (9,), jnp.bfloat16),
    "normal complex": lambda r, k: r.normal(k, (9,), np.complex64),
    "truncated_normal per element": lambda r, k: r.truncated_normal(k, -A, A),
    "bernoulli high": lambda r, k: r.bernoulli(k, 0.3, (40,), "high"),
    "gumbel high": lambda r, k: r.gumbel(k, (9,), mode="high"),
    "gumbel highest": lambda r, k: r.gumbel(k, (200,), mode="highest"),
    "rademacher": lambda r, k: r.rademacher(k, (20,)),
    "rademacher float": lambda r, k: r.rademacher(k, (20,), np.float16),
    "cauchy": lambda r, k: r.cauchy(k, (9,)),
    "laplace": lambda r, k: r.laplace(k, (9,)),
    "logistic": lambda r, k: r.logistic(k, (9,)),
    "pareto": lambda r, k: r.pareto(k, A),
    "rayleigh": lambda r, k: r.rayleigh(k, A, (2, 4)),
    "triangular": lambda r, k: r.triangular(k, -A, A / 2, A, (3, 4)),
    "weibull_min": lambda r, k: r.weibull_min(k, 2.0, 1.5, (9,)),
    "lognormal": lambda r, k: r.lognormal(k, A),
    "lognormal complex": lambda r, k: r.lognormal(k, 0.5, (5,), np.complex64),
    "maxwell": lambda r, k: r.maxwell(k, (9,)),
    "double_sided_maxwell": lambda r, k: r.double_sided_maxwell(k, 1.0, A, (3,)),
    # JAX's loses digits where the mean is large.
    "wald": lambda r, k: r.wald(k, A[:3], (4, 3)),
    "multivariate_normal": lambda r, k: r.multivariate_normal(k, A[:2], COV, (3,)),
    "multivariate_normal batch": lambda r, k: r.multivariate_normal(k, M[:, :2] * 1.0, COV),
    "orthogonal": lambda r, k: r.orthogonal(k, 3, (2,)),
    "orthogonal wide": lambda r, k: r.orthogonal(k, 2, m=4),
    "orthogonal complex": lambda r, k: r.orthogonal(k, 3, dtype=np.complex64),
    "gamma": lambda r, k: r.gamma(k, A, (5, 4)),
    "gamma scalar": lambda r, k: r.gamma(k, 3),
    "loggamma": lambda r, k: r.loggamma(k, A * 0.01),
    "beta": lambda r, k: r.beta(k, A, 2.0),
    "dirichlet": lambda r, k: r.dirichlet(k, A, (3,)),
    "chisquare": lambda r, k: r.chisquare(k, A),
    "f": lambda r, k: r.f(k, A, 5.0),
    "t": lambda r, k: r.t(k, A, (2, 4)),
    "generalized_normal": lambda r, k: r.generalized_normal(k, 3.0, (9,)),
    "ball": lambda r, k: r.ball(k, 3, 1.5, (4,)),
    "geometric": lambda r, k: r.geometric(k, P, (7, 4)),
    "poisson": lambda r, k: r.poisson(k, np.array([0, 0.5, 3, 11, 200, 1e6, -1, np.nan], "f")),
    "poisson i8": lambda r, k: r.poisson(k, 4.0, (6,), np.int8),
    "binomial": lambda r, k: r.binomial(k, np.array([1, 20, 20, 1e3, 1e6], "f"), SHARES),
    "binomial edges": lambda r, k: r.binomial(
        k,
        np.array([5, 5, 5, 5, -1, np.inf, np.nan, 0], "f"),
        np.array([0, 1, -0.1, 1.1, 0.5, 0.5, 0.5, 0.5], "f"),
    ),
    "binomial f16": lambda r, k: r.binomial(k, 10, 0.4, (4,), np.float16),
    "multinomial": lambda r, k: r.multinomial(k, 100, np.tile(P / P.sum(), (2, 1))),
    "clone": lambda r, k: r.clone(k),
    "typed": lambda r, k: r.key_data(r.split(r.fold_in(r.wrap_key_data(k), 3), (2, 1))),
}


@pytest.mark.skipif(not HAS_JAX, reason="JAX, the oracle, is not installed")
@pytest.mark.parametrize("partitionable", [False, True], ids=["older", "partitionable"])
@pytest.mark.parametrize("draw", DRAWS)
def test_same_as_jax(draw, partitionable):
    import jax

    from irax.config import threefry_partitionable

    with jax.threefry_partitionable(partitionable):
        expected = np.asarray(DRAWS[draw](jax.random, jax.random.PRNGKey(3)))
    with threefry_partitionable(partitionable):
        found = np.asarray(DRAWS[draw](random, random.PRNGKey(3)))
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    if found.dtype.kind in "iub":
        np.testing.assert_array_equal(found, expected)
    else:
        close = 2e-2 if found.dtype.itemsize == 2 else 2e-5
        wide = np.complex128 if found.dtype.kind == "c" else np.float64
        found, expected = found.astype(wide), expected.astype(wide)
        np.testing.assert_allclose(found, expected, rtol=close, atol=close / 10)


def test_known_answers_of_threefry():
    # Salmon et al., Random123, known-answer tests of threefry2x32 with 20 rounds.
    zero, ones = np.uint32(0), np.uint32(0xFFFFFFFF)
    vectors = [
        ((zero, zero), (zero, zero), (0x6B200159, 0x99BA4EFE)),
        ((ones, ones), (ones, ones), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ]
    for key, counts, expected in vectors:
        key, counts = (np.array(v, np.uint32) for v in (key, counts))
        found = hash_words(jnp.asarray(key), jnp.asarray(counts[:1]), jnp.asarray(counts[1:]))
        np.testing.assert_array_equal(np.concatenate(found), expected)


@pytest.mark.parametrize(
    ("partitionable", "keys", "number"),
    [
        (True, [[1797259609, 2579123966], [928981903, 3453687069]], 1.6226422),
        (False, [[4146024105, 967050713], [2718843009, 1272950319]], -0.20584236),
    ],
)
def test_printed_values(partitionable, keys, number):
    key = random.PRNGKey(0)
    with irax.threefry_partitionable(partitionable):
        np.testing.assert_array_equal(random.split(key), keys)
        np.testing.assert_allclose(random.normal(key, (1,)), [number], rtol=1e-6)


def test_the_bits_are_partitionable_by_default():
    np.testing.assert_allclose(random.normal(random.PRNGKey(0)), 1.6226422, rtol=1e-6)


def test_seeds():
    np.testing.assert_array_equal(random.PRNGKey(-1), [0, 0xFFFFFFFF])
    np.testing.assert_array_equal(random.PRNGKey(jnp.asarray(5)), [0, 5])
    with irax.enable_x64(True):
        np.testing.assert_array_equal(random.PRNGKey(2**40 + 3), [256, 3])
    with pytest.raises(TypeError, match="integer scalar"):
        random.PRNGKey(1.5)


def test_typed_keys():
    key = random.key(7)
    assert key.shape == ()
    keys = random.split(key, 3)
    assert keys.shape == (3,)
    np.testing.assert_array_equal(random.key_data(keys), random.split(random.PRNGKey(7), 3))
    drawn = irax.vmap(lambda k: random.normal(k, (2,)))(keys)
    np.testing.assert_array_equal(drawn, np.stack([random.normal(k, (2,)) for k in keys]))


@pytest.mark.slow
def test_compiled_draws_are_the_same():
    def draw(key):
        k1, k2 = random.split(key)
        return (
            random.bits(k1, (5,)),
            random.permutation(k2, 7),
            random.normal(k1, (5,)),
            random.randint(k2, (5,), 0, 100),
        )

    key = random.PRNGKey(11)
    for eager, compiled in zip(draw(key), irax.jit(draw)(key), strict=True):
        np.testing.assert_allclose(eager, compiled, rtol=1e-5)


@pytest.mark.slow
def test_booleans_beside_bytes_of_them():
    """A kernel of IREE's cannot return both."""

    @irax.jit
    def draw(key):
        kept = irax.random.bernoulli(key, 0.7, (64, 64))
        return kept, kept.astype(jnp.int8)

    kept, of_bytes = draw(irax.random.key(0))
    np.testing.assert_array_equal(kept, irax.random.bernoulli(irax.random.key(0), 0.7, (64, 64)))
    np.testing.assert_array_equal(of_bytes, kept)


def test_moments():
    x = np.asarray(random.normal(random.PRNGKey(1), (100_000,)))
    assert abs(x.mean()) < 0.01
    assert abs(x.std() - 1) < 0.01


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: random.normal(3), TypeError, "expected a key"),
        (lambda: random.normal(random.split(random.key(0))), ValueError, "single key.*vmap"),
        (lambda: random.normal(random.key(0), (2.5,)), TypeError, "shape of ints"),
        (lambda: random.normal(random.key(0), dtype=int), ValueError, "floating-point"),
        (lambda: random.bits(random.key(0), dtype=int), ValueError, "unsigned"),
        (lambda: random.bernoulli(random.key(0), 1), TypeError, "p must be floating-point"),
        (lambda: random.categorical(random.key(0), 1.0), ValueError, "axis of categories"),
        (lambda: random.choice(random.key(0), 3, (4,), replace=False), ValueError, "4 of 3"),
        (lambda: random.randint(random.key(0), (), 1j, 2), TypeError, "minval must be real"),
    ],
)
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


WIDE = {
    "bits": lambda r, k: r.bits(k, (5,), np.uint64),
    "uniform": lambda r, k: r.uniform(k, (5,)),
    "normal": lambda r, k: r.normal(k, (5,), np.complex128),
    "randint": lambda r, k: r.randint(k, (5,), -(2**40), 2**40),
    "randint of int32": lambda r, k: r.randint(k, (5,), 0, 2**31, np.int32),
    "gamma": lambda r, k: r.gamma(k, np.array([0.2, 7.0])),
    "poisson": lambda r, k: r.poisson(k, np.array([0.2, 70.0])),
    "binomial": lambda r, k: r.binomial(k, 1000, np.array([0.001, 0.4])),
    "choice": lambda r, k: r.choice(k, 5, (4,), p=np.full(5, 0.2)),
    "categorical": lambda r, k: r.categorical(k, np.zeros((2, 5)), replace=False, shape=(3, 2)),
    "multinomial": lambda r, k: r.multinomial(k, 50, np.full(5, 0.2)),
    "geometric": lambda r, k: r.geometric(k, 0.1, (5,)),
}


@pytest.mark.skipif(not HAS_JAX, reason="JAX, the oracle, is not installed")
@pytest.mark.parametrize("partitionable", [False, True], ids=["older", "partitionable"])
@pytest.mark.parametrize("draw", WIDE)
def test_same_as_jax_in_64_bits(draw, partitionable):
    import jax

    from irax.config import threefry_partitionable

    with jax.enable_x64(True), jax.threefry_partitionable(partitionable):
        expected = np.asarray(WIDE[draw](jax.random, jax.random.PRNGKey(3)))
    with irax.enable_x64(True), threefry_partitionable(partitionable):
        found = np.asarray(WIDE[draw](random, random.PRNGKey(3)))
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-12 if found.dtype.kind in "fc" else 0)


def test_a_uniform_number_has_the_shape_of_its_lower_bound():
    key = random.key(0)
    number = random.uniform(key)
    for shape in [(), (1,), (1, 1)]:
        found = random.uniform(key, (), minval=np.zeros(shape, np.float32), maxval=np.ones(1))
        assert found.shape == shape
        assert found.item() == number
    with pytest.raises(ValueError, match="broadcast"):
        random.uniform(key, (), minval=np.zeros(3))
