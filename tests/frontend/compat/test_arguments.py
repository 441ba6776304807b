"""Arguments of other types than arrays, lists and numbers, as JAX takes them."""

import collections.abc
import enum

import numpy as np
import pytest

import irax
import irax.numpy as jnp


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 3


class Pair(collections.abc.Sequence):
    def __init__(self, *parts):
        self._parts = parts

    def __len__(self):
        return len(self._parts)

    def __getitem__(self, index):
        return self._parts[index]


A, B = np.arange(3.0, dtype=np.float32), np.ones(3, np.float32)
COLLECTIONS = {
    "values": lambda: {"a": jnp.asarray(A), "b": B}.values(),
    "deque": lambda: collections.deque([jnp.asarray(A), B]),
    "sequence": lambda: Pair(A, jnp.asarray(B)),
    "list of a user's": lambda: collections.UserList([A, B]),
}
JOINED = ("concatenate", "stack", "hstack", "vstack", "dstack", "column_stack")


@pytest.mark.parametrize("kind", COLLECTIONS)
def test_collections_of_arrays_are_joined(kind):
    for name in JOINED:
        found = getattr(jnp, name)(COLLECTIONS[kind]())
        np.testing.assert_array_equal(found, getattr(np, name)([A, B]))


def test_collections_become_arrays():
    for kind in ("deque", "sequence", "list of a user's"):
        np.testing.assert_array_equal(jnp.array(COLLECTIONS[kind]()), np.stack([A, B]))
    np.testing.assert_array_equal(jnp.stack({1.0: 0, 2.0: 0}.keys()), [1, 2])
    np.testing.assert_array_equal(jnp.choose(jnp.array([0, 1, 0]), iter([A, B])), [0, 1, 2])


def test_generators_and_dicts_are_refused():
    for wrong in ((x for x in [A, B]), {"a": A}, "ab"):
        with pytest.raises(TypeError, match="concatenate: expected a list or tuple of arrays"):
            jnp.concatenate(wrong)


def test_members_of_enums():
    found = jnp.array([Size.SMALL, Size.LARGE])
    assert found.dtype == jnp.int32
    assert found.tolist() == [1, 3]
    assert jnp.asarray([[Size.LARGE], [2]]).tolist() == [[3], [2]]
    assert irax.nn.one_hot(jnp.array([Size.SMALL]), 2).tolist() == [[0, 1]]


def test_options_by_jax_names():
    before = irax.config.values["jax_enable_checks"]
    try:
        irax.config.update(name="jax_enable_checks", val=not before)
        assert irax.config.values["jax_enable_checks"] is not before
    finally:
        irax.config.update("enable_checks", before)


def test_types_in_a_memory():
    aval = irax.typeof(jnp.ones(2))
    host = type(aval)((2,), aval.dtype, memory_space=irax.memory.Space.Host)
    assert str(host) == "float32<host>[2]"
    struct = irax.ShapeDtypeStruct((2,), "float32", manual_axis_type=None, is_ref=False)
    assert struct == irax.ShapeDtypeStruct.like(jnp.ones(2))


def test_structs_as_arguments_of_jitted_functions_that_do_not_use_them():
    struct = irax.ShapeDtypeStruct((3, 2), "float32")

    @irax.jit
    def f(tree, x):
        return x * tree["a"].shape[0]

    assert [float(f({"a": struct}, 2.0)) for _ in range(2)] == [6, 6]
    assert float(f({"a": jnp.ones((3, 2))}, 2.0)) == 6
    for used in (lambda x: x + 1, lambda x: x):
        for _ in range(2):
            with pytest.raises(TypeError, match="expected an array or a number, got ShapeDtype"):
                irax.jit(used)(struct)


def test_structs_as_arguments_of_jitted_functions_within_others():
    struct = irax.ShapeDtypeStruct((3, 2), "float32")
    f = irax.jit(lambda x, tree: x * x * tree["a"].shape[0])
    assert float(irax.jit(lambda x: f(x, {"a": struct}))(2.0)) == 12
    assert float(irax.grad(lambda x: f(x, tree={"a": struct}))(2.0)) == 12
    assert irax.vmap(lambda x: f(x, {"a": struct}))(jnp.arange(3.0)).tolist() == [0, 3, 12]
    with pytest.raises(TypeError, match="expected an array or a number, got ShapeDtype"):
        irax.jit(lambda x: irax.jit(jnp.add)(x, struct))(1.0)


@pytest.mark.parametrize("axes", [np.array([0, 2]), jnp.array([0, 2]), {0, 2}, np.array([1])])
def test_axes_are_vectors_of_ints_or_sets(axes):
    x = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    listed = tuple(int(a) for a in axes)
    for name in ("sum", "max", "std", "flip", "expand_dims", "any"):
        expected = getattr(np, name)(x, axis=listed)
        np.testing.assert_allclose(getattr(jnp, name)(x, axis=axes), expected, rtol=1e-6)
    np.testing.assert_array_equal(jnp.roll(x, 1, axes), np.roll(x, 1, listed))
    with pytest.raises(TypeError, match="axis must be an int"):
        jnp.sum(x, axis=np.array([0.5]))


@pytest.mark.parametrize("order", [np.array([2, 0, 1]), jnp.array([2, 0, 1]), [2, 0, 1]])
def test_orders_of_axes_are_vectors(order):
    x = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    expected = x.transpose(2, 0, 1)
    np.testing.assert_array_equal(jnp.asarray(x).transpose(order), expected)
    np.testing.assert_array_equal(irax.jit(lambda a: a.transpose(order))(x), expected)
    np.testing.assert_array_equal(np.transpose(jnp.asarray(x), order), expected)


def test_modes_of_one_hot_vectors_have_zeros_beyond():
    x, beyond = jnp.arange(4.0), jnp.array([[1], [7]])
    numbers = irax.lax.GatherDimensionNumbers((), (0,), (0,))
    for mode in ("one_hot", irax.lax.GatherScatterMode.ONE_HOT):
        assert irax.lax.gather(x, beyond, numbers, (1,), mode=mode).tolist() == [1, 0]
        assert jnp.take(x, beyond[:, 0], mode=mode).tolist() == [1, 0]
        assert jnp.take_along_axis(x, beyond[:, 0], 0, mode=mode).tolist() == [1, 0]
        assert x.at[beyond[:, 0]].set(9.0, mode=mode).tolist() == [0, 9, 2, 3]


def test_compiled_functions_take_structs_for_what_they_do_not_use():
    struct = irax.ShapeDtypeStruct((3,), np.float32)
    compiled = irax.jit(lambda x, y: x + 1).lower(struct, struct).compile()
    assert compiled(jnp.ones(3), struct).tolist() == [2, 2, 2]
    with pytest.raises(TypeError, match="ShapeDtypeStruct"):
        compiled(struct, jnp.ones(3))
