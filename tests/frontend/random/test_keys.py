"""Arrays of typed keys: leaves and arrays like any other, moved but not computed with."""

import copy
import pickle

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax, random

KEY = random.key(1)
KEYS = random.split(KEY, 4)
PAIRS = random.split(KEY, (2, 3))

MOVES = {
    "stack": lambda m, n, k: n.stack(list(k)),
    "concatenate": lambda m, n, k: n.concatenate([k, k[:1]]),
    "where": lambda m, n, k: n.where(np.array([True, False, True, False]), k[0], k),
    "select": lambda m, n, k: m.lax.select(n.array(True), k[2], k[3]),
    "tile": lambda m, n, k: n.tile(k, 2),
    "repeat": lambda m, n, k: n.repeat(k, 2),
    "flip": lambda m, n, k: n.flip(k),
    "roll": lambda m, n, k: n.roll(k, 1),
    "newaxis": lambda m, n, k: n.expand_dims(k, 1)[:, None],
    "reshape": lambda m, n, k: k.reshape(2, -1).swapaxes(0, 1).ravel(),
    "squeeze": lambda m, n, k: k[:1].squeeze(),
    "broadcast": lambda m, n, k: n.broadcast_to(k[1], (3,)),
    "indices": lambda m, n, k: k[n.array([2, 0])],
    "beyond": lambda m, n, k: n.take(k, n.array([1, 9])),
    "mask": lambda m, n, k: k[np.array([True, False, True, True])],
    "set": lambda m, n, k: k.at[1].set(k[3]),
    "slice": lambda m, n, k: m.lax.dynamic_slice(k, (1,), (2,)),
    "update": lambda m, n, k: m.lax.dynamic_update_index_in_dim(k, k[3], 1, 0),
    "full_like": lambda m, n, k: n.full_like(k, k[2]),
    "zeros_like": lambda m, n, k: n.zeros_like(k),
    "cond": lambda m, n, k: m.lax.cond(True, lambda x: m.random.split(x)[0], lambda x: x, k[0]),
    "fori_loop": lambda m, n, k: m.lax.fori_loop(0, 3, lambda i, x: m.random.fold_in(x, i), k[0]),
    "scan": lambda m, n, k: m.lax.scan(lambda c, x: (m.random.fold_in(c, 1), x), k[0], k)[0],
    "in_axes": lambda m, n, k: m.vmap(lambda x: x[1], in_axes=-1)(k.reshape(2, 2)),
    "out_axes": lambda m, n, k: m.vmap(lambda x: m.random.split(x, 3), out_axes=-1)(k),
}


@pytest.mark.parametrize("name", MOVES)
def test_moves_are_those_of_jax(name):
    jax = pytest.importorskip("jax", reason="compares with JAX")
    there = MOVES[name](jax, jax.numpy, jax.random.split(jax.random.key(1), 4))
    here = MOVES[name](irax, jnp, KEYS)
    np.testing.assert_array_equal(random.key_data(here), jax.random.key_data(there))


def test_moves_compiled():
    def moved(k, i):
        return k[i], k.at[i].set(k[0]), k == k[i], jnp.stack([k, k]), jnp.where(k == k[i], k[0], k)

    for ours, theirs in zip(irax.jit(moved)(KEYS, 1), moved(KEYS, 1), strict=True):
        if theirs.dtype == bool:
            np.testing.assert_array_equal(ours, theirs)
        else:
            np.testing.assert_array_equal(random.key_data(ours), random.key_data(theirs))


def test_a_key_is_an_array_and_a_leaf():
    assert isinstance(KEY, irax.Array)
    assert (PAIRS.shape, PAIRS.size, PAIRS.nbytes, PAIRS.itemsize) == ((2, 3), 6, 48, 8)
    drawn = irax.tree.map(
        lambda k, n: random.normal(k, (n,)), {"w": KEYS[0], "b": KEYS[1]}, {"w": 2, "b": 3}
    )
    assert irax.tree.map(jnp.shape, drawn) == {"w": (2,), "b": (3,)}
    tree = irax.tree.unflatten(irax.tree.structure(["a", "b"]), KEYS[:2])
    assert irax.tree.leaves(tree)[1] == KEYS[1]
    for other in (copy.deepcopy(KEY), pickle.loads(pickle.dumps(KEY)), irax.device_put(KEY)):
        assert other == KEY


def test_shapes_of_keys():
    assert irax.eval_shape(random.split, KEY) == irax.ShapeDtypeStruct((2,), KEY.dtype)
    struct = irax.ShapeDtypeStruct((4,), KEY.dtype)
    assert irax.eval_shape(irax.vmap(random.normal), struct).shape == (4,)
    assert irax.jit(random.normal).lower(struct.update(shape=())).compile()(KEY).shape == ()


def test_derivatives_pass_keys_by():
    def f(x, key):
        return x * random.uniform(key)

    u = random.uniform(KEY)
    assert irax.grad(f)(2.0, KEY) == u
    assert irax.grad(irax.checkpoint(f))(2.0, KEY) == u
    _, pullback = irax.vjp(lambda x, k: x * irax.vmap(random.uniform)(k).sum(), 2.0, PAIRS[0])
    cotangents = pullback(1.0)
    assert (cotangents[1].shape, cotangents[1].dtype) == ((3,), irax.dtypes.float0)

    with_rule = irax.custom_vjp(f)
    with_rule.defvjp(lambda x, key: (f(x, key), key), lambda key, ct: (3 * ct, None))
    assert irax.grad(with_rule)(2.0, KEY) == 3


def test_errors_name_the_argument_at_fault():
    message = r"in_axes of d\['k'\]"
    with pytest.raises(ValueError, match=message):
        irax.vmap(lambda d: d, in_axes=1)({"k": KEYS})


@pytest.mark.parametrize(
    "call",
    [
        lambda: KEY + 1,
        lambda: KEY + KEY,
        lambda: KEYS.sum(),
        lambda: jnp.sin(KEY),
        lambda: KEY < KEY,
        lambda: np.asarray(KEY),
        lambda: float(KEY),
        lambda: bool(KEY),
        lambda: jnp.concatenate([KEYS, jnp.ones(2)]),
        lambda: irax.jit(lambda k: k * 2)(KEY),
        lambda: lax.sort(KEYS),
    ],
)
def test_keys_are_no_numbers(call):
    with pytest.raises(TypeError, match="key"):
        call()


def test_arrays_of_keys_that_are_made_of_a_number():
    made = jnp.full((2,), 7, KEY.dtype)
    np.testing.assert_array_equal(random.key_data(made), [[7, 7], [7, 7]])
    assert jnp.zeros((3,), KEY.dtype).shape == lax.full_like(PAIRS[:, 0], 0, shape=(3,)).shape


def test_too_many_indices():
    for call in (lambda: KEY[0], lambda: KEYS[0, 0], lambda: PAIRS[0, 0, 0], lambda: KEY[..., 0]):
        with pytest.raises(IndexError):
            call()
    assert PAIRS[None, ..., 1].shape == (1, 2)


def test_seeds_have_64_bits():
    assert random.key(np.uint64(2**64 - 1)) == random.key(-1)
    for seed in (2**63, -(2**63) - 1):
        with pytest.raises(OverflowError, match="64 bits"):
            random.key(seed)


def test_shapes_of_more_numbers_than_memory_holds():
    assert irax.eval_shape(lambda k: random.normal(k, (10**12,)), KEY).size == 10**12


def test_prng_keys_are_typed_where_the_option_says_so():
    made = irax.jit(random.PRNGKey)
    words = made(3)
    with irax.enable_custom_prng():
        keys = random.PRNGKey(3), made(3)
    for key in keys:
        assert jnp.issubdtype(key.dtype, irax.dtypes.prng_key)
        np.testing.assert_array_equal(random.key_data(key), words)
    np.testing.assert_array_equal(made(3), words)


def test_keys_out_of_range():
    keys = irax.random.split(irax.random.key(0), 3)
    filled = irax.random.key_data(keys.at[jnp.array([100, 1])].get(mode="fill"))
    np.testing.assert_array_equal(filled[0], [0xFFFFFFFF] * 2)
    np.testing.assert_array_equal(filled[1], irax.random.key_data(keys[1]))
    alone = irax.jit(lambda keys: keys.at[100].get(mode="fill"))(keys)
    np.testing.assert_array_equal(irax.random.key_data(alone), [0xFFFFFFFF] * 2)
