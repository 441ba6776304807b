"""irax.ops, against NumPy."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import ops

DATA = np.array([[1.0, 5], [2, 6], [-3, 7], [4, 8]], np.float32)
IDS = np.array([0, 2, 2, 0])


@pytest.mark.parametrize(
    "segment, fold, start",
    [
        (ops.segment_sum, np.add, 0),
        (ops.segment_prod, np.multiply, 1),
        (ops.segment_max, np.maximum, -np.inf),
        (ops.segment_min, np.minimum, np.inf),
    ],
)
def test_segments(segment, fold, start):
    expected = np.full((3, 2), start, np.float32)
    fold.at(expected, IDS, DATA)
    np.testing.assert_array_equal(segment(DATA, IDS), expected)
    traced = irax.vmap(lambda data, ids: segment(data, ids, 3))(DATA[None], IDS[None])[0]
    np.testing.assert_array_equal(traced, expected)
    longer = segment(jnp.asarray(DATA), IDS, num_segments=4)
    np.testing.assert_array_equal(longer[:3], expected)
    np.testing.assert_array_equal(longer[3], np.float32(start))


def test_segments_of_integers():
    ids = np.array([0, 0])
    assert ops.segment_max(np.array([3, -7], np.int8), ids, 2).tolist() == [3, -128]
    assert ops.segment_min(np.array([3, 7], np.uint8), ids, 2).tolist() == [3, 255]
    assert ops.segment_max(np.array([True, False]), ids, 2).tolist() == [True, False]


def test_segments_leave_out_of_range_ids_out():
    got = ops.segment_sum(np.ones(4), np.array([0, -1, 5, 1]), num_segments=2)
    np.testing.assert_array_equal(got, [1, 1])
    assert ops.segment_sum(np.ones(0), np.zeros(0, int)).shape == (0,)
    assert ops.segment_sum(np.ones(2), np.array([0, 1]), num_segments=0).shape == (0,)


def test_segment_sum_gradient():
    weights = np.array([[1.0, 2], [3, 4], [5, 6]], np.float32)
    grad = irax.grad(lambda data: jnp.sum(weights * ops.segment_sum(data, IDS)))(DATA)
    np.testing.assert_array_equal(grad, weights[IDS])


def test_segments_of_a_scalar():
    assert ops.segment_sum(2.0, 2).tolist() == [0, 0, 2]
    assert ops.segment_sum(2.0, np.array([0, 2, 2])).tolist() == [2, 0, 4]
    assert ops.segment_prod(3, np.array([[1, 1], [0, 1]])).tolist() == [3, 27]


def test_refused_segments():
    with pytest.raises(
        TypeError, match=r"segment_ids must have an integer dtype, got float32\[2\]"
    ):
        ops.segment_sum(np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match=r"got \(3,\) for \(2, 2\)"):
        ops.segment_max(np.ones((2, 2)), np.arange(3))
    with pytest.raises(ValueError, match="num_segments must not be negative, got -1"):
        ops.segment_sum(np.ones(2), np.arange(2), num_segments=-1)
    with pytest.raises(irax.errors.ConcretizationTypeError, match="needs num_segments"):
        irax.vmap(lambda ids: ops.segment_sum(np.ones(2), ids))(np.arange(2)[None])


def test_old_spellings():
    x = jnp.array([1, 2, 3])
    assert ops.index_update(x, 0, 123).tolist() == [123, 2, 3]
    assert ops.index_update(x, ops.index[1:], 0).tolist() == [1, 0, 0]
    assert ops.index_add(x, ops.index[::2], 1).tolist() == [2, 2, 4]
    assert ops.index_mul(x, ops.index[-1], 5).tolist() == [1, 2, 15]
    assert ops.index_min(x, ops.index[:], 2).tolist() == [1, 2, 2]
    assert ops.index_max(np.arange(3), ops.index[np.array([0, 1])], 1).tolist() == [1, 1, 2]
    assert x.tolist() == [1, 2, 3]


@pytest.mark.parametrize("name", ["segment_sum", "segment_prod", "segment_max", "segment_min"])
def test_rows_by_buckets(name):
    function = getattr(ops, name)
    data = np.random.default_rng(0).uniform(1, 2, (11, 2)).astype(np.float32)
    ids = np.array([0, 2, 1, 2, 2, 0, 1, 1, 9, -1, 0])
    whole = function(data, ids, 4)
    for size in (1, 3, 11, 20):
        np.testing.assert_allclose(function(data, ids, 4, bucket_size=size), whole, rtol=1e-6)
    with pytest.raises(ValueError, match="bucket_size"):
        function(data, ids, 4, bucket_size=0)
