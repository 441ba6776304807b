"""Sparse arrays beside their dense forms."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax.experimental import sparse
from irax.experimental.sparse import BCOO

DENSE = np.array([[0, 2, 0], [1, 0, 0], [0, 0, -3], [0, 4, 0]], np.float32)
V = np.array([1, 2, 3], np.float32)
W = np.arange(6, dtype=np.float32).reshape(3, 2)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x @ V,
        lambda x: x @ W,
        lambda x: W.T @ x.T,
        lambda x: jnp.arange(4.0) @ x,
        lambda x: sparse.todense(x.T),
        lambda x: sparse.todense(2 * x / 4),
        lambda x: sparse.todense(-x * DENSE),
        lambda x: sparse.todense(x + x - x * 3),
        lambda x: x + np.ones_like(DENSE),
        lambda x: x.sum(),
        lambda x: x.sum(0),
        lambda x: x @ jnp.ones((2, 3, 2)),
        lambda x: jnp.ones((2, 2, 4)) @ x,
    ],
)
def test_operations_are_those_of_dense_arrays(f):
    x = BCOO.fromdense(DENSE)
    for found in (f(x), irax.jit(f)(x)):
        np.testing.assert_allclose(found, f(jnp.asarray(DENSE)), rtol=1e-6)


def test_its_form():
    x = BCOO.fromdense(DENSE, nse=6)
    assert (x.shape, x.ndim, x.size, x.nse, x.dtype) == ((4, 3), 2, 12, 6, np.float32)
    np.testing.assert_array_equal(x.todense(), DENSE)
    np.testing.assert_array_equal(x.sum_duplicates().data, [2, 1, -3, 4])
    np.testing.assert_array_equal(sparse.eye(2, 3).todense(), np.eye(2, 3))
    assert repr(x) == "BCOO(float32[4, 3], nse=6)"


def test_padding_counts_for_nothing():
    x = BCOO.fromdense(DENSE, nse=6)
    assert (x * DENSE).sum() == (DENSE * DENSE).sum()
    np.testing.assert_array_equal((x * DENSE) @ V, (DENSE * DENSE) @ V)


def test_errors():
    x = BCOO.fromdense(DENSE)
    with pytest.raises(TypeError, match=r"BCOO @ other: .* size 3 .* has size 5"):
        x @ jnp.ones(5)
    with pytest.raises(TypeError, match=r"other @ BCOO: .* size 4 .* has size 3"):
        jnp.ones((2, 3)) @ x
    with pytest.raises(ValueError, match="each of the 2 dimensions once"):
        x.transpose((0, 0))


def test_derivatives_are_in_the_values():
    x = BCOO.fromdense(DENSE)
    found = irax.grad(lambda data: jnp.sum(BCOO((data, x.indices), shape=x.shape) @ V))(x.data)
    np.testing.assert_array_equal(found, [2, 1, 3, 2])


def test_batches():
    data = np.array([[1, 2], [3, 4]], np.float32)
    indices = np.array([[[0], [2]], [[1], [1]]])
    x = BCOO((data, indices), shape=(2, 3))
    np.testing.assert_array_equal(x.todense(), [[1, 0, 2], [0, 7, 0]])
    with pytest.raises(NotImplementedError, match="dimensions of a batch"):
        x.transpose()
    with pytest.raises(ValueError, match="sparse arrays of one form"):
        x + BCOO.fromdense(DENSE)
