"""`ds` in indices, against NumPy's slices."""

import functools

import numpy as np
import pytest

import irax
import irax.numpy as jnp

X = np.arange(42.0, dtype=np.float32).reshape(6, 7)
ROWS = np.array([2, 0, 2])


def places(n, start, size, stride=1):
    """The elements that a part reads: it begins earlier where it would reach beyond the end."""
    start = start + n if start < 0 else start
    start = min(max(start, 0), n - ((size - 1) * stride + 1))
    return np.arange(size) * stride + start


@pytest.mark.parametrize("transform", [lambda f: f, irax.jit], ids=["at once", "traced"])
@pytest.mark.parametrize("start", [-9, -2, 0, 3, 5, 9])
def test_reads(transform, start):
    read = transform(lambda x, i: x[irax.ds(i, 2)])
    np.testing.assert_array_equal(read(jnp.asarray(X), start), X[places(6, start, 2)])


ROW, COLUMN = (functools.partial(places, n) for n in X.shape)
DS = irax.ds
CASES = {
    "one": (lambda i: DS(i, 3), lambda i: ROW(i, 3)),
    "two": (lambda i: (DS(i, 2), DS(i, 4)), lambda i: np.ix_(ROW(i, 2), COLUMN(i, 4))),
    "strided": (lambda i: (..., DS(i, 3, 2)), lambda i: (..., COLUMN(i, 3, 2))),
    "a number": (lambda i: (i, DS(i, 2)), lambda i: (i, COLUMN(i, 2))),
    "a slice": (lambda i: (slice(1, 5, 2), DS(i, 2)), lambda i: (slice(1, 5, 2), COLUMN(i, 2))),
    "None": (lambda i: (DS(i, 2), None), lambda i: (ROW(i, 2), None)),
    "an array": (lambda i: (ROWS, DS(i, 2)), lambda i: np.ix_(ROWS, COLUMN(i, 2))),
    "before one": (lambda i: (DS(i, 3, 2), ROWS), lambda i: np.ix_(ROW(i, 3, 2), ROWS)),
    "none": (lambda i: DS(i, 0), lambda i: np.arange(0)),
}


def read(i):
    return {name: jnp.asarray(X)[ours(i)] for name, (ours, _) in CASES.items()}


def added(i):
    return {name: jnp.asarray(X).at[ours(i)].add(2.0) for name, (ours, _) in CASES.items()}


@pytest.mark.parametrize("transform", [lambda f: f, irax.jit], ids=["evaluated", "compiled"])
def test_beside_other_indices(transform):
    both = transform(lambda i: (read(i), added(i)))
    for start in (0, 1):
        parts, sums = both(start)
        for name, (_, numpys) in CASES.items():
            np.testing.assert_array_equal(parts[name], X[numpys(start)], name)
            wanted = X.copy()
            np.add.at(wanted, numpys(start), 2.0)
            np.testing.assert_array_equal(sums[name], wanted, name)


def test_batches_beside_other_indices():
    for name, many in irax.vmap(read)(jnp.array([0, 1])).items():
        wanted = [X[CASES[name][1](start)] for start in (0, 1)]
        np.testing.assert_array_equal(many, np.stack(wanted), name)


def test_updates_out_of_range():
    x = jnp.arange(6)
    for update in (
        lambda x, i: x.at[irax.ds(i, 2)].set(-1),
        irax.jit(lambda x, i: x.at[irax.ds(i, 2)].set(-1)),
    ):
        np.testing.assert_array_equal(update(x, 5), x)
        np.testing.assert_array_equal(update(x, 4), [0, 1, 2, 3, -1, -1])
    np.testing.assert_array_equal(x.at[irax.ds(5, 2)].set(-1, mode="clip"), [0, 1, 2, 3, -1, -1])
    np.testing.assert_array_equal(x.at[irax.ds(5, 2)].get(mode="fill", fill_value=9), [9, 9])


def test_gradients():
    f = lambda x, i: jnp.sum(x[irax.ds(i, 2), irax.ds(i, 3, 2)] ** 3)
    irax.test_util.check_grads(lambda x: f(x, 1), (X / 10,), order=2)


def test_of_refs():
    ref = irax.new_ref(jnp.arange(5))
    ref[irax.ds(1, 2)] = jnp.array([8, 9])
    np.testing.assert_array_equal(ref[irax.ds(jnp.int32(1), 3)], [8, 9, 3])


def test_without_a_start():
    x = jnp.arange(5)
    np.testing.assert_array_equal(x[irax.ds(3)], [0, 1, 2])
    np.testing.assert_array_equal(x[irax.ds(None)], x)


def test_errors():
    with pytest.raises(TypeError, match="ds: start must be an integer"):
        irax.ds(1.5, 2)
    with pytest.raises(TypeError, match="ds: size must be an int that is known"):
        irax.jit(lambda n: jnp.arange(5)[irax.ds(0, n)])(2)
    with pytest.raises(ValueError, match="ds: size must not be negative"):
        irax.ds(0, -1)
    with pytest.raises(ValueError, match="ds: stride must be positive"):
        irax.ds(0, 1, -1)
    with pytest.raises(TypeError, match="7 elements of a dimension of size 6"):
        jnp.asarray(X)[irax.ds(0, 7)]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((None,), [0, 1, 2, 3, 4, 5]),
        ((None, None, 2), [0, 2, 4]),
        ((None, 4), [0, 1, 2, 3]),
        ((None, 3, 2), [0, 2, 4]),
    ],
)
def test_a_start_of_none_is_the_first_element(given, expected):
    np.testing.assert_array_equal(jnp.arange(6)[irax.ds(*given)], expected)
