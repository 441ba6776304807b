"""Indices and counts in each integer dtype mean the same places, at once and compiled.

Expected values are NumPy's, for the same indices in int64.
"""

import re

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax, nn
from irax.ops import segment_sum

N = 300
"""More than an int8 or a uint8 can count."""
X = np.arange(float(N), dtype=np.float32)
NARROW = ["int8", "uint8", "int16", "uint16"]
DTYPES = [*NARROW, "int32", "uint32"]


def indices(dtype):
    """The ends of an array and of the dtype, those that fit."""
    limits = np.iinfo(dtype)
    least, most = max(limits.min, -N), min(limits.max, N - 1)
    return np.unique([least, least // 2, 0, 99, 100, most - 1, most])


def added(places, values):
    out = np.zeros(N, np.float32)
    np.add.at(out, places, values)
    return out


def one_put(places, mode):
    out = X.copy()
    np.put(out, places, np.arange(100.0, 100.0 + len(places)), mode=mode)
    return out


def put(x, i, mode):
    return jnp.put(x, i, jnp.arange(100.0, 100.0 + i.size), mode=mode, inplace=False)


def sliced(places):
    starts = np.clip(np.where(places < 0, places + N, places), 0, N - 2)
    return np.stack([starts, starts + 1], 1)


dims = lax.GatherDimensionNumbers((), (0,), (0,))
written = lax.ScatterDimensionNumbers((), (0,), (0,))

FUNCTIONS = {
    "getitem": (lambda x, i: x[i], lambda p: X[p]),
    "take": (lambda x, i: jnp.take(x, i, 0), lambda p: X[p]),
    "take_clip": (
        lambda x, i: jnp.take(x, i, 0, mode="clip"),
        lambda p: X.take(p, mode="clip"),
    ),
    "take_wrap": (
        lambda x, i: jnp.take(x[:290], i, 0, mode="wrap"),
        lambda p: X[:290].take(p, mode="wrap"),
    ),
    "along": (lambda x, i: jnp.take_along_axis(x, i, 0), lambda p: np.take_along_axis(X, p, 0)),
    "along_fill": (
        lambda x, i: jnp.take_along_axis(x[:200], i, 0, mode="fill"),
        lambda p: np.where(
            (p >= -200) & (p < 200), X[:200][np.clip(p, -200, 199)], np.float32(np.nan)
        ),
    ),
    "along_clip": (
        lambda x, i: jnp.take_along_axis(x[:200], i, 0, mode="clip"),
        lambda p: X[:200][np.clip(np.where(p < 0, p + 200, p), 0, 199)],
    ),
    "along_gradient": (
        lambda x, i: irax.grad(lambda x: jnp.take_along_axis(x, i, 0).sum())(x),
        lambda p: added(p, 1),
    ),
    "take_gradient": (
        lambda x, i: irax.grad(lambda x: jnp.take(x, i).sum())(x),
        lambda p: added(p, 1),
    ),
    "at_add": (lambda x, i: jnp.zeros(N).at[i].add(1.0), lambda p: added(p, 1)),
    "put": (lambda x, i: put(x, i, None), lambda p: one_put(p, "raise")),
    "put_clip": (lambda x, i: put(x, i, "clip"), lambda p: one_put(p, "clip")),
    "put_wrap": (lambda x, i: put(x, i, "wrap"), lambda p: one_put(p, "wrap")),
    "dynamic_slice": (
        lambda x, i: jnp.stack([lax.dynamic_slice(x, (i[k],), (2,)) for k in range(i.size)]),
        sliced,
    ),
    "dynamic_slice_of_lanes": (
        lambda x, i: irax.vmap(lambda k: lax.dynamic_slice(x, (k,), (2,)))(i),
        sliced,
    ),
    "ravel_clip": (
        lambda x, i: jnp.ravel_multi_index((i, i), (3, N), mode="clip"),
        lambda p: np.ravel_multi_index((p, p), (3, N), mode="clip"),
    ),
    "ravel_wrap": (
        lambda x, i: jnp.ravel_multi_index((i, i), (3, 7 * N), mode="wrap", order="F"),
        lambda p: np.ravel_multi_index((p, p), (3, 7 * N), mode="wrap", order="F"),
    ),
    "unravel": (
        lambda x, i: jnp.stack(jnp.unravel_index(i, (N, 2))),
        lambda p: np.stack(np.unravel_index(p % (2 * N), (N, 2))),
    ),
    "choose": (
        lambda x, i: jnp.choose(i, [jnp.float32(k) for k in range(140)], mode="clip"),
        lambda p: np.clip(p, 0, 139),
    ),
    "choose_wrap": (
        lambda x, i: jnp.choose(i, [jnp.float32(k) for k in range(140)], mode="wrap"),
        lambda p: p % 140,
    ),
    "delete": (
        lambda x, i: jnp.delete(x, i[:2], assume_unique_indices=True),
        lambda p: np.delete(X, p[:2]),
    ),
    "insert": (lambda x, i: jnp.insert(x, i, -1.0), lambda p: np.insert(X, p, -1.0)),
    "one_hot": (lambda x, i: nn.one_hot(i, N), lambda p: (p[:, None] == np.arange(N)) * 1),
    "segments": (
        lambda x, i: segment_sum(jnp.ones(i.size), i, num_segments=N),
        lambda p: added(p[p >= 0], 1),
    ),
    "gather": (
        lambda x, i: lax.gather(x, i[:, None], dims, (1,), mode="clip"),
        lambda p: X[np.clip(p, 0, N - 1)],
    ),
    "scatter": (
        lambda x, i: lax.scatter_add(jnp.zeros(N), i[:, None], jnp.ones(i.size), written),
        lambda p: added(p[p >= 0], 1),
    ),
    "reduceat": (
        lambda x, i: jnp.add.reduceat(x, i[2:4]),
        lambda p: np.add.reduceat(X, p[2:4]),
    ),
}
"""Functions of an array and indices, and what they give for indices in int64."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", DTYPES)
def test_indices_of_each_dtype(dtype):
    places = indices(dtype)

    def all_of_them(x, i):
        return {name: FUNCTIONS[name][0](x, i) for name in FUNCTIONS}

    given = jnp.asarray(places.astype(dtype))
    for found in (all_of_them(jnp.asarray(X), given), irax.jit(all_of_them)(X, given)):
        for name in FUNCTIONS:
            np.testing.assert_array_equal(found[name], FUNCTIONS[name][1](places), err_msg=name)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", DTYPES)
def test_counts_of_each_dtype(dtype):
    counts = np.array([100, 120, 90])
    given = jnp.asarray(counts.astype(dtype))
    expected = np.repeat(np.arange(3), counts)

    def repeated(counts):
        return jnp.repeat(jnp.arange(3), counts, total_repeat_length=310)

    for function in (repeated, irax.jit(repeated)):
        np.testing.assert_array_equal(function(given), expected)
    np.testing.assert_array_equal(jnp.repeat(jnp.arange(3), given), expected)
    one = jnp.repeat(jnp.arange(5), given[0], total_repeat_length=500)
    np.testing.assert_array_equal(one, np.repeat(np.arange(5), 100))
    factors = jnp.arange(1.0, 4.0)[:, None, None] * jnp.ones((1, 1, 1))
    products = lax.ragged_dot(jnp.ones((310, 1)), factors, given)
    np.testing.assert_array_equal(products[:, 0], expected + 1)


def test_repeat_of_many_parts():
    # 20000 parts of 8: the sums of counts that may be as large as the result need 64 bits.
    counts = np.full(20_000, 8, np.int32)
    found = irax.jit(lambda n: jnp.repeat(jnp.arange(20_000), n, total_repeat_length=160_010))(
        counts
    )
    expected = np.repeat(np.arange(20_000), counts)
    np.testing.assert_array_equal(found[:160_000], expected)
    np.testing.assert_array_equal(found[160_000:], 19_999)


def test_counts_whose_sum_is_too_large():
    counts = jnp.array([2, 2**31 - 1, 2**31 - 1], jnp.int32)
    found = irax.jit(lambda c: jnp.repeat(jnp.arange(3), c, total_repeat_length=5))(counts)
    np.testing.assert_array_equal(found, [0, 0, 1, 1, 1])
    with pytest.raises(TypeError, match="repeats must be integers"):
        jnp.repeat(jnp.arange(3), jnp.array([1.5, 2.0, 0.0]), total_repeat_length=5)


def test_unsigned_indices_beyond_int32():
    """As int32 they would be negative, and count from the end."""
    i, x = jnp.array([3_000_000_000, 3], jnp.uint32), jnp.asarray(X)
    np.testing.assert_array_equal(jnp.take(x, i, mode="clip"), [299, 3])
    np.testing.assert_array_equal(jnp.take_along_axis(x, i, 0), [np.nan, 3])
    np.testing.assert_array_equal(jnp.take(x, i, mode="wrap"), [3_000_000_000 % N, 3])
    np.testing.assert_array_equal(jnp.put(x, i, -1.0, inplace=False)[299], -1)
    sliced = irax.jit(lambda i: lax.dynamic_slice(x, (i,), (2,)))(i[0])
    np.testing.assert_array_equal(sliced, [298, 299])


def test_dtypes_of_places():
    """They are those of the indices, as in JAX, where these hold all places."""
    i = jnp.array([5, 2], jnp.int8)
    assert [p.dtype for p in jnp.unravel_index(i, (3, 100))] == [np.int8] * 2
    assert jnp.unravel_index(i, (3, 300))[1].dtype == np.int32
    assert jnp.ravel_multi_index((i, i), (12, 10), mode="clip").dtype == np.int8
    assert jnp.ravel_multi_index((i, i), (13, 10), mode="clip").dtype == np.int32
    with pytest.raises(ValueError, match="int8 cannot hold all places"):
        jnp.ravel_multi_index((i, i), (13, 10), dtype="int8")


@pytest.mark.parametrize(
    ("dtype", "wide"),
    [("int8", True), ("int32", True), ("uint32", True), ("int64", True), ("int32", False)],
)
def test_places_beyond_int32(dtype, wide):
    """An index and the size of the dimension are added in int64."""
    shape = irax.ShapeDtypeStruct((2**31 + 5,), np.int8)
    functions = [
        lambda x, i: x[i],
        lambda x, i: x.at[i].set(1),
        lambda x, i: jnp.take(x, i),
        lambda x, i: jnp.take_along_axis(x, i, 0),
        lambda x, i: jnp.put(x, i, 1, inplace=False),
        lambda x, i: lax.dynamic_slice(x, (i[0],), (2,)),
        lambda x, i: lax.dynamic_slice(x, (-3,), (2,)),
        lambda x, i: x.at[-3].set(1),
    ]
    with irax.enable_x64(wide):
        indices = irax.ShapeDtypeStruct((2,), np.dtype(dtype))
        for function in functions:
            text = irax.jit(function).lower(shape, indices).as_text()
            assert set(INDICES.findall(text)) == {"i64"}, text


INDICES = re.compile(r"tensor<2147483653xi8>, (?:tensor<1xi8>, )?tensor<[0-9x]*(u?i[0-9]+)>")
"""The dtype of the indices, in the type of a gather, a scatter or a dynamic slice."""
