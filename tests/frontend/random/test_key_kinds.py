"""Keys of each generator: the words and numbers are JAX's, and keys of two kinds never mix."""

import math
import pickle
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import random
from irax.extend import random as extend_random
from irax.random import counters

KINDS = {
    "threefry2x32": "key<fry>",
    "threefry4x32": "key<fry4>",
    "philox2x32": "key<phx2>",
    "philox4x32": "key<phx4>",
    "rbg": "key<rbg>",
    "unsafe_rbg": "key<urbg>",
}
OTHERS = list(KINDS)[1:]


def drawn(m, kind):
    key = m.random.key(42, impl=kind)
    keys = m.random.split(key, (3, 2))
    moved = m.numpy.where(np.array([True, False]), keys[:2], keys[2][::-1])
    return [
        *map(m.random.key_data, (key, keys, moved, m.random.fold_in(key, 7))),
        m.random.key_data(m.numpy.take(keys, np.array([1, 9]), 0)),
        *(m.random.bits(key, (5, 3), dtype) for dtype in ("uint8", "uint16", "uint32")),
        m.random.uniform(key, (4,)),
        keys == keys[0],
        keys != keys[:, ::-1],
    ]


@pytest.mark.parametrize("kind", OTHERS)
def test_numbers_are_those_of_jax(kind):
    jax = pytest.importorskip("jax", reason="compares with JAX")
    for found, expected in zip(drawn(irax, kind), drawn(jax, kind), strict=True):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


@pytest.mark.parametrize("kind", OTHERS)
def test_numbers_of_64_bits_are_those_of_jax(kind):
    jax = pytest.importorskip("jax", reason="compares with JAX")
    with irax.enable_x64(True), jax.enable_x64(True):
        for m in (lambda m: m.random.key_data(m.random.key(2**40 + 3, impl=kind)),) + (
            lambda m: m.random.bits(m.random.key(1, impl=kind), (4,), "uint64"),
        ):
            np.testing.assert_array_equal(m(irax), m(jax))


def test_known_answers():
    """The known answers that Random123 comes with."""
    ones = np.uint32(0xFFFFFFFF)
    pi = [np.uint32(x) for x in (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)]
    more = [np.uint32(x) for x in (0xA4093822, 0x299F31D0, 0x082EFA98, 0xEC4E6C89)]
    with np.errstate(over="ignore"):
        found = [
            counters._philox2([ones], ones, ones),
            counters._philox2([np.uint32(0x13198A2E)], *pi[:2]),
            counters._philox4([ones] * 2, *[ones] * 4),
            counters._philox4(more[:2], *pi),
            counters._threefry4([ones] * 4, *[ones] * 4),
            counters._threefry4(more, *pi),
        ]
    assert [[f"{int(x):08x}" for x in words] for words in found] == [
        ["2c3f628b", "ab4fd7ad"],
        ["dd7ce038", "f62a4c12"],
        ["408f276d", "41c83b0e", "a20bc7c6", "6d5451fd"],
        ["d16cfe09", "94fdcceb", "5001e420", "24126ea1"],
        ["2a881696", "57012287", "f6c7446e", "a16a6732"],
        ["59cd1dbb", "b8879579", "86b5d00c", "ac8b6d84"],
    ]


@pytest.mark.slow
def test_compiled():
    def draw(*keys):
        each = [random.bits(random.fold_in(k, 3), (3,)) for k in keys]
        return each, [random.split(k)[::-1] for k in keys]

    keys = [random.key(1, impl=kind) for kind in OTHERS]
    bits, new = irax.jit(draw)(*keys)
    expected, expected_new = draw(*keys)
    np.testing.assert_array_equal(bits, expected)
    for found, keys_there in zip(new, expected_new, strict=True):
        assert found.dtype == keys_there.dtype
        assert (found == keys_there).all()


def test_kinds():
    for kind, name in KINDS.items():
        key = random.key(0, impl=kind)
        assert key.dtype.name == name
        assert random.key_impl(key) == kind
        assert random.key_dtype(kind) == key.dtype == random.key(0, dtype=key.dtype).dtype
        assert random.wrap_key_data(random.key_data(key), impl=kind) == key
        assert pickle.loads(pickle.dumps(key)) == key
        assert irax.eval_shape(random.split, key).dtype == key.dtype
        assert irax.vmap(random.split)(random.split(key, 3)).shape == (3, 2)
    assert len({random.key_dtype(kind) for kind in KINDS}) == len(KINDS)


def test_the_default_kind_is_an_option():
    raw = random.PRNGKey(3, impl="philox2x32")
    assert raw.shape == (1,)
    with pytest.raises(TypeError, match=r"shape \(2,\)"):
        random.uniform(raw)
    uniform = irax.jit(lambda: random.uniform(random.key(3)))
    first = uniform()
    with irax.default_prng_impl("philox2x32"):
        assert random.key(3) == random.wrap_key_data(raw)
        assert random.uniform(raw) == uniform() != first


@pytest.mark.parametrize(
    "call, kind",
    [
        (lambda: random.key(0, impl="rgb"), ValueError),
        (lambda: random.key(0, impl=3), TypeError),
        (lambda: random.key(0, impl="rbg", dtype="rbg"), ValueError),
        (lambda: random.wrap_key_data(jnp.zeros(3, "uint32"), impl="rbg"), TypeError),
        (lambda: random.key(0) == random.key(0, impl="philox4x32"), TypeError),
        (lambda: jnp.stack([random.key(0), random.key(0, impl="rbg")]), TypeError),
    ],
)
def test_errors(call, kind):
    with pytest.raises(kind):
        call()


def of_ones_own(shift: int = 0) -> Any:
    """A generator whose numbers are easy to tell."""
    count = lambda shape: jnp.arange(math.prod(shape), dtype="uint32").reshape(shape)
    return extend_random.define_prng_impl(
        key_shape=(2,),
        seed=lambda seed: jnp.stack([seed.astype("uint32"), jnp.uint32(9)]),
        split=lambda key, shape: key + count((*shape, 1)),
        random_bits=lambda key, width, shape: (count(shape) + key[0] * key[1] + shift).astype(
            f"uint{width}"
        ),
        fold_in=lambda key, data: key + data,
        name="mine",
        tag="mine",
    )


def test_generators_of_ones_own():
    mine, other = of_ones_own(), of_ones_own(1)
    words = random.key_data
    key = random.key(5, impl=mine)
    assert str(key.dtype).startswith("key<mine")
    for f in (lambda f: f, irax.jit):
        np.testing.assert_array_equal(
            f(lambda k: random.bits(k, (2, 2)))(key), [[45, 46], [47, 48]]
        )
        assert f(lambda k: random.uniform(k, (3,)))(key).shape == (3,)
    np.testing.assert_array_equal(random.bits(random.key(5, impl=other), (2,)), [46, 47])
    np.testing.assert_array_equal(words(random.split(key, 2)), [[5, 9], [6, 10]])
    np.testing.assert_array_equal(words(random.fold_in(key, 4)), [9, 13])
    folded = irax.vmap(lambda k: random.fold_in(k, 1))(random.split(key, 2))
    np.testing.assert_array_equal(words(folded), [[6, 10], [7, 11]])
    joined = jnp.concatenate([key[None], jnp.where(True, key, key)[None]])
    np.testing.assert_array_equal(words(joined), [[5, 9]] * 2)
    seeds = np.arange(6).reshape(2, 3)
    found = extend_random.random_seed(seeds, mine)
    np.testing.assert_array_equal(words(found)[..., 0], seeds)
    for different in (random.key(5, impl=other), random.key(5)):
        with pytest.raises(TypeError, match="no common dtype"):
            jnp.where(True, key, different)
    with pytest.raises(ValueError, match=r"must be \(n,\)"):
        extend_random.define_prng_impl(
            key_shape=(), seed=len, split=len, random_bits=len, fold_in=len
        )


def test_hashes_of_counts():
    # JAX's numbers
    words = jnp.array([1, 2], "uint32")
    found = extend_random.threefry_2x32(words, jnp.arange(5, dtype="uint32"))
    np.testing.assert_array_equal(
        found, [2052595727, 3504730591, 2527474599, 1880214352, 1914734168]
    )
    found = extend_random.threefry_2x32((words[0], words[1]), jnp.zeros((2, 2), "uint32"))
    np.testing.assert_array_equal(found, [[629071667] * 2, [2343584484] * 2])
    key = extend_random.seed_with_impl(extend_random.rbg_prng_impl, 7)
    assert random.key_impl(key) == "rbg"
    with pytest.raises(TypeError, match="uint32, got int32"):
        extend_random.threefry_2x32(words, jnp.arange(5))
