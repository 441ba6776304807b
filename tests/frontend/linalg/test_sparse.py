"""Sparse arrays beside their dense forms."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.experimental import sparse
from irax.experimental.sparse import BCOO

DENSE = np.array([[0, 2, 0], [1, 0, 0], [0, 0, -3], [0, 4, 0]], np.float32)
V = np.array([1, 2, 3], np.float32)
W = np.arange(6, dtype=np.float32).reshape(3, 2)


OF_ONE = [
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
    lambda x: sparse.todense(x.sum(0)),
    lambda x: x @ jnp.ones((2, 3, 2)),
    lambda x: jnp.ones((2, 2, 4)) @ x,
]


@pytest.mark.parametrize("transform", [lambda f: f, irax.jit], ids=["evaluated", "compiled"])
def test_operations_are_those_of_dense_arrays(transform):
    results = transform(lambda x: [f(x) for f in OF_ONE])(BCOO.fromdense(DENSE))
    for number, (found, f) in enumerate(zip(results, OF_ONE, strict=True)):
        wanted = f(jnp.asarray(DENSE))
        np.testing.assert_allclose(found, wanted, rtol=1e-6, err_msg=str(number))


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
    with pytest.raises(TypeError, match=r"over dimensions of sizes 3 and 5"):
        x @ jnp.ones(5)
    with pytest.raises(TypeError, match=r"over dimensions of sizes 3 and 4"):
        jnp.ones((2, 3)) @ x
    with pytest.raises(ValueError, match="sums are of sparse arrays of one shape"):
        x + BCOO.fromdense(DENSE.T)
    with pytest.raises(sparse.SparseEfficiencyError, match="zeros in its dense dimensions"):
        x.update_layout(n_dense=1)
    with pytest.raises(NotImplementedError, match="'cos' has no rule"):
        sparse.sparsify(jnp.cos)(x)
    with pytest.raises(ValueError, match="mixes dimensions of the batch"):
        BCOO.fromdense(DENSE, n_batch=1).reshape(12)
    with pytest.raises(ValueError, match="two sparse dimensions"):
        sparse.BCSR.fromdense(V)
    with pytest.raises(irax.errors.ConcretizationTypeError):
        irax.jit(BCOO.fromdense)(DENSE)
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
    with pytest.raises(NotImplementedError, match="dimensions of the batch"):
        x.transpose()


RNG = np.random.default_rng(0)
CUBE = (RNG.normal(size=(2, 3, 4)) * (RNG.uniform(size=(2, 3, 4)) < 0.4)).astype(np.float32)
LAYOUTS = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (3, 0), (0, 3)]
OPERATIONS = {
    "sum of all": lambda x: x.sum(),
    "sum of first": lambda x: x.sum(0),
    "sum of two": lambda x: x.sum((0, 2)),
    "double": lambda x: x + x - x * 3,
    "square": lambda x: x * x,
    "times a row": lambda x: x * jnp.arange(1.0, 5.0),
    "times a column": lambda x: x * jnp.arange(1.0, 4.0).reshape(3, 1),
    "product": lambda x: x @ jnp.ones((4, 2)),
    "product from the left": lambda x: jnp.ones((2, 3)) @ x,
    "row": lambda x: x[1],
    "element of rows": lambda x: x[:, 2],
    "last": lambda x: x[..., -1],
    "part": lambda x: x[:, 1:, ::2],
    "new dimension": lambda x: x[None],
    "column dimension": lambda x: x[..., None],
}


@pytest.mark.parametrize(("n_batch", "n_dense"), LAYOUTS)
def test_dimensions_of_all_kinds(n_batch, n_dense):
    x = BCOO.fromdense(CUBE, n_batch=n_batch, n_dense=n_dense)
    assert (x.n_batch, x.n_sparse, x.n_dense) == (n_batch, 3 - n_batch - n_dense, n_dense)
    for name, function in OPERATIONS.items():
        expected = function(jnp.asarray(CUBE))
        np.testing.assert_allclose(
            sparse.todense(function(x)), expected, rtol=1e-5, atol=1e-6, err_msg=name
        )


@pytest.mark.parametrize(("n_batch", "n_dense"), LAYOUTS)
def test_structure(n_batch, n_dense):
    x = BCOO.fromdense(CUBE, n_batch=n_batch, n_dense=n_dense, nse=12)

    def same(found: object, expected: object) -> None:
        np.testing.assert_array_equal(sparse.todense(found), expected)

    for dimension in range(3):
        same(
            sparse.bcoo_concatenate([x, x * 2.0], dimension=dimension),
            np.concatenate([CUBE, CUBE * 2], dimension),
        )
        same(sparse.bcoo_rev(x, (dimension,)), np.flip(CUBE, dimension))
    starts = [jnp.asarray(1)] * 3
    same(sparse.bcoo_dynamic_slice(x, starts, (1, 2, 2)), CUBE[1:, 1:, 1:3])
    added = sparse.bcoo_broadcast_in_dim(x, shape=(5, 2, 3, 4), broadcast_dimensions=(1, 2, 3))
    same(added, np.broadcast_to(CUBE, (5, 2, 3, 4)))
    same((x + x).sum_duplicates(), 2 * CUBE)
    same(sparse.bcoo_extract(x, CUBE), CUBE)
    for batch, dense in LAYOUTS:
        moved = x.update_layout(n_batch=batch, n_dense=dense, on_inefficient=None)
        assert (moved.n_batch, moved.n_dense) == (batch, dense)
        same(moved, CUBE)


def test_reshape():
    x = BCOO.fromdense(CUBE, n_batch=1)
    np.testing.assert_array_equal(x.reshape(2, 12).todense(), CUBE.reshape(2, 12))
    np.testing.assert_array_equal(x.reshape(2, -1, 2).todense(), CUBE.reshape(2, 6, 2))
    x = BCOO.fromdense(CUBE, n_dense=1)
    np.testing.assert_array_equal(x.reshape(6, 2, 2).todense(), CUBE.reshape(6, 2, 2))


def test_products_of_sparse_arrays():
    matrix = BCOO.fromdense(DENSE)
    np.testing.assert_array_equal((matrix @ matrix.T).todense(), DENSE @ DENSE.T)
    lanes = np.stack([DENSE.T, 2 * DENSE.T])
    np.testing.assert_array_equal(matrix @ lanes, DENSE @ lanes)
    found = matrix @ BCOO.fromdense(lanes)
    np.testing.assert_array_equal(found.todense(), DENSE @ lanes)
    x = BCOO.fromdense(CUBE, n_batch=1)
    numbers = (((2,), (2,)), ((0,), (0,)))
    found = sparse.bcoo_dot_general(x, x, dimension_numbers=numbers)
    np.testing.assert_allclose(found.todense(), CUBE @ CUBE.swapaxes(1, 2), rtol=1e-5)
    found = sparse.bcoo_dot_general(x, CUBE, dimension_numbers=numbers)
    np.testing.assert_allclose(found, CUBE @ CUBE.swapaxes(1, 2), rtol=1e-5)
    places = np.array([[0, 3], [2, 0]])
    sampled = sparse.bcoo_dot_general_sampled(
        DENSE, DENSE.T, places, dimension_numbers=(((1,), (0,)), ((), ()))
    )
    np.testing.assert_array_equal(sampled, (DENSE @ DENSE.T)[tuple(places.T)])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", [sparse.BCSR, sparse.COO, sparse.CSR, sparse.CSC])
def test_other_forms(form):
    x = form.fromdense(DENSE)
    for found, expected in [
        (x, DENSE),
        (x.T, DENSE.T),
        (x @ V, DENSE @ V),
        (x @ W, DENSE @ W),
        (x.T @ jnp.ones(4), DENSE.T @ np.ones(4)),
        (-x * 2.0, -2 * DENSE),
    ]:
        np.testing.assert_array_equal(sparse.todense(found), expected)
    np.testing.assert_array_equal(irax.jit(lambda x: x @ V)(x), DENSE @ V)
    assert (x.nse, x.shape, len(x)) == (4, (4, 3), 4)


def test_compressed_rows():
    x = sparse.BCSR.fromdense(CUBE, n_batch=1, nse=7)
    np.testing.assert_array_equal(x.todense(), CUBE)
    np.testing.assert_array_equal(x.indptr[:, -1], np.count_nonzero(CUBE, axis=(1, 2)))
    joined = sparse.bcsr_concatenate([x, x], dimension=1)
    np.testing.assert_array_equal(joined.todense(), np.concatenate([CUBE, CUBE], 1))
    scipy_sparse = pytest.importorskip("scipy.sparse")
    found = sparse.BCSR.from_scipy_sparse(scipy_sparse.csr_matrix(DENSE))
    np.testing.assert_array_equal(found.todense(), DENSE)


def test_sparsify():
    x = BCOO.fromdense(DENSE)

    def model(x, w):
        y = jnp.tanh(x * 0.5).T @ w
        return irax.lax.fori_loop(0, 3, lambda i, y: y + x.T @ w, y)

    w = jnp.arange(4.0)
    found = irax.jit(sparse.sparsify(model))(x, w)
    np.testing.assert_allclose(found, model(jnp.asarray(DENSE), w), rtol=1e-5)
    scaled = sparse.sparsify(lambda x: irax.lax.cond(True, lambda y: y * 2, lambda y: y, x))(x)
    assert isinstance(scaled, BCOO)
    np.testing.assert_array_equal(scaled.todense(), 2 * DENSE)


def test_gradients_have_the_places_of_their_arguments():
    x = BCOO.fromdense(DENSE)

    def loss(x, v):
        return jnp.sum((x @ v) ** 2)

    expected = irax.grad(loss, (0, 1))(jnp.asarray(DENSE), V)
    value, (by_x, by_v) = sparse.value_and_grad(loss, (0, 1))(x, jnp.asarray(V))
    assert value == loss(DENSE, V)
    np.testing.assert_allclose(by_x.todense(), np.where(DENSE != 0, expected[0], 0), rtol=1e-6)
    np.testing.assert_allclose(by_v, expected[1], rtol=1e-6)
    for jacobian in (sparse.jacfwd, sparse.jacrev):
        rows = jacobian(lambda x: x @ V)(x)
        assert rows.shape == (4, 4, 3)
        dense = irax.jacrev(lambda x: x @ V)(jnp.asarray(DENSE))
        np.testing.assert_array_equal(rows.todense(), dense * (DENSE != 0))


def test_rows_by_narrow_starts_and_values_after_the_last():
    """int8 counts values, of which there are 6, not rows."""
    starts = np.repeat([0, 1, 3, 4], [200, 50, 40, 11]).astype(np.int8)
    values, columns = np.arange(1, 7, dtype=np.float32), np.array([0, 1, 2, 3, 0, 1], np.int32)
    x = sparse.BCSR((values, columns, starts), shape=(300, 4))
    wanted = np.zeros((300, 4), np.float32)
    wanted[[199, 249, 249, 289], [0, 1, 2, 3]] = [1, 2, 3, 4]
    np.testing.assert_array_equal(x.todense(), wanted)
    np.testing.assert_array_equal(irax.jit(lambda x: x @ jnp.ones(4))(x), wanted.sum(1))


def test_lanes():
    x = BCOO.fromdense(CUBE, n_batch=1)
    products = irax.vmap(lambda m: m @ jnp.ones(4))(x)
    np.testing.assert_allclose(products, CUBE @ np.ones(4), rtol=1e-5)
    doubled = irax.vmap(lambda m: m * 2.0)(x)
    assert doubled.shape == CUBE.shape
    np.testing.assert_array_equal(doubled.todense(), 2 * CUBE)


def test_lanes_by_compressed_rows():
    values = np.array([[1, 2], [3, 4], [5, 6]], np.float32)

    def matrix(values):
        return sparse.BCSR((values, np.array([2, 0]), np.array([0, 1, 2])), shape=(2, 3))

    found = irax.vmap(matrix)(values)
    wanted = np.zeros((3, 2, 3), np.float32)
    wanted[:, 0, 2], wanted[:, 1, 0] = values.T
    assert (found.shape, found.n_batch) == (wanted.shape, 1)
    np.testing.assert_array_equal(found.todense(), wanted)
    np.testing.assert_array_equal(irax.vmap(lambda m: m.todense())(found), wanted)


def test_solution():
    matrix = np.array([[4, 1, 0], [0, 3, 1], [1, 0, 5]], np.float32)
    x = sparse.CSR.fromdense(matrix)

    def solution(data, b):
        return sparse.linalg.spsolve(data, x.indices, x.indptr, b)

    np.testing.assert_allclose(solution(x.data, V), np.linalg.solve(matrix, V), rtol=1e-5)
    irax.test_util.check_grads(solution, (x.data, jnp.asarray(V)), order=1, modes=["rev"])


def test_making():
    np.testing.assert_array_equal(sparse.eye(3, 4, k=-1).todense(), np.eye(3, 4, -1))
    for name in ("bcoo", "bcsr", "coo", "csr", "csc"):
        np.testing.assert_array_equal(sparse.eye(2, 3, sparse_format=name).todense(), np.eye(2, 3))
        np.testing.assert_array_equal(
            sparse.empty((2, 3), sparse_format=name).todense(), np.zeros((2, 3))
        )
    x = sparse.random_bcoo(irax.random.key(0), (4, 5), nse=0.5, sorted_indices=True)
    assert x.nse == 10
    assert np.count_nonzero(x.todense()) == 10
    with pytest.raises(ValueError, match="there is no 'dense'"):
        sparse.eye(2, sparse_format="dense")


@pytest.mark.parametrize("key", [irax.random.key(3), irax.random.PRNGKey(3)], ids=["typed", "raw"])
def test_random_arrays_have_the_numbers_of_jax(key):
    """As drawn by JAX 0.12.0.1; a part of the places is rounded up."""
    x = sparse.random_bcoo(key, (4, 5, 6), nse=0.1, n_batch=1)
    assert (x.nse, x.indices.dtype) == (3, jnp.int32)
    np.testing.assert_allclose(np.ravel(x.todense())[[6, 10, 16]], [0.312, 0.009, 0.044], atol=5e-4)
    x = sparse.random_bcoo(
        key, (4, 5, 2), nse=7, n_dense=1, generator=irax.random.normal, sorted_indices=True
    )
    places = [[0, 2], [0, 4], [1, 1], [2, 0], [2, 1], [3, 0], [3, 1]]
    np.testing.assert_array_equal(x.indices, places)
    np.testing.assert_allclose(x.data.sum(), -6.6596, rtol=1e-4)


def test_powers():
    dense = np.array([[0, 1, 0], [2, 0, 3]], np.float32)
    for made in (sparse.BCOO.fromdense(dense), sparse.BCSR.fromdense(dense)):
        np.testing.assert_array_equal((made**3).todense(), dense**3)
        np.testing.assert_array_equal(irax.jit(lambda x: x**2)(made).todense(), dense**2)
        for exponent in (0, -1, np.ones(3)):
            with pytest.raises(NotImplementedError, match="a positive number as the exponent"):
                made**exponent
    twice = sparse.BCOO((jnp.ones(2), jnp.zeros((2, 1), int)), shape=(2,))
    np.testing.assert_array_equal((twice**2).todense(), [4, 0])


INDICES = [
    (jnp.array([2, 0]),),
    (jnp.array([2, 0]), jnp.array([1, -1])),
    (slice(None), jnp.array([[3, 0], [1, 1]])),
    (1, jnp.array([3, 0])),
    (jnp.array([[0], [2]]), jnp.array([1, 3])),
]


@pytest.mark.slow
@pytest.mark.parametrize("n_batch", [0, 1])
def test_arrays_as_indices(n_batch):
    x = np.arange(12.0).reshape(3, 4) * (np.arange(12).reshape(3, 4) % 3 > 0)
    mat = sparse.BCOO.fromdense(jnp.asarray(x), n_batch=n_batch)
    read = lambda mat: [mat[index].todense() for index in INDICES]
    for index, eager, compiled in zip(INDICES, read(mat), irax.jit(read)(mat), strict=True):
        expected = x[tuple(np.asarray(i) if isinstance(i, irax.Array) else i for i in index)]
        np.testing.assert_array_equal(eager, expected)
        np.testing.assert_array_equal(compiled, expected)
    numbers = lax.GatherDimensionNumbers((1,), (0,), (0,))
    with pytest.raises(NotImplementedError, match="mode=fill is not supported"):
        sparse.bcoo_gather(mat, jnp.array([[1]]), numbers, (1, 4), mode="fill")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("padding", ["SAME", "VALID", [(2, 1)], [(0, -1)]])
def test_convolutions(padding):
    row = jnp.array([[[1.0, 0.0, 2.0, 0.0, 3.0]]])
    kernel = jnp.array([[[1.0, 0.0, -0.5]]])
    expected = lax.conv_general_dilated(row, kernel, (1,), padding)
    f = sparse.sparsify(lambda x, k: lax.conv_general_dilated(x, k, (1,), padding))
    mats = sparse.BCOO.fromdense(row), sparse.BCOO.fromdense(kernel)
    pairs = [mats, (row, mats[1]), (mats[0], kernel)]
    for transform in (lambda f: f, irax.jit):
        for found in transform(lambda pairs: [f(x, k) for x, k in pairs])(pairs):
            np.testing.assert_allclose(found.todense(), expected)
    with pytest.raises(NotImplementedError, match="expected rows of shape"):
        sparse.bcoo_conv_general_dilated(mats[0], kernel, window_strides=(2,), padding=padding)
    convolved = sparse.sparsify(jnp.convolve)(mats[0].reshape(5), jnp.array([1.0, 2.0]))
    np.testing.assert_allclose(convolved.todense(), np.convolve([1, 0, 2, 0, 3], [1, 2]))
