"""Functions of irax.numpy that are objects, and functions of functions."""

import copy
import pickle

import numpy as np
import pytest
from tests.frontend.numpy_helpers import numbers, run

import irax
import irax.numpy as jnp
from irax.test_util import check_grads

# ---- ufuncs --------------------------------------------------------------------------------------

REDUCIBLE = {
    "add": "float32",
    "multiply": "float32",
    "subtract": "float32",
    "divide": "float32",
    "maximum": "float32",
    "minimum": "int32",
    "logaddexp": "float32",
    "logaddexp2": "float32",
    "logical_and": "bool",
    "logical_or": "bool",
    "logical_xor": "bool",
    "bitwise_and": "int32",
    "bitwise_or": "uint8",
    "bitwise_xor": "int32",
}


@pytest.mark.parametrize("name", REDUCIBLE)
def test_methods_of_ufuncs(name):
    ours, theirs = getattr(jnp, name), getattr(np, name)
    assert isinstance(ours, jnp.ufunc)
    x = numbers((4, 3), REDUCIBLE[name], 0.5, 4)
    close = {"rtol": 1e-5, "atol": 1e-6}
    for axis in (0, 1, -1):
        (result,) = run(lambda x, axis=axis: ours.reduce(x, axis), x)
        np.testing.assert_allclose(result, theirs.reduce(x, axis), **close)
        (result,) = run(lambda x, axis=axis: ours.accumulate(x, axis), x)
        np.testing.assert_allclose(result, theirs.accumulate(x, axis), **close)
        places = np.array([0, 2, 1, 1])[: x.shape[axis]]
        (result,) = run(lambda x, axis=axis, at=places: ours.reduceat(x, at, axis), x)
        ends = [*places[1:], x.shape[axis]]
        parts = [
            theirs.reduce(np.take(x, range(i, max(end, i + 1)), axis), axis)
            for i, end in zip(places, ends, strict=True)
        ]
        np.testing.assert_allclose(result, np.stack(parts, axis), **close)
    (result,) = run(lambda x: ours.outer(x[0], x), x)
    np.testing.assert_allclose(result, theirs.outer(x[0], x), **close)
    changed = x[:, 0].copy()
    theirs.at(changed, np.array([1, 1, 3]), x[:3, 1])
    (result,) = run(lambda x: ours.at(x[:, 0], jnp.array([1, 1, 3]), x[:3, 1], inplace=False), x)
    np.testing.assert_allclose(result, changed, **close)


def test_reductions_of_ufuncs_with_options():
    x = numbers((4, 3))
    mask = numbers((4, 3), "bool")
    for name in ("add", "subtract", "logaddexp"):
        ours, theirs = getattr(jnp, name), getattr(np, name)
        (result,) = run(lambda x, f=ours: f.reduce(x, keepdims=True, initial=2.0), x)
        np.testing.assert_allclose(result, theirs.reduce(x, keepdims=True, initial=2.0), rtol=1e-5)
    (result,) = run(lambda x, m: jnp.add.reduce(x, axis=None, where=m), x, mask)
    np.testing.assert_allclose(result, x[mask].sum(), rtol=1e-5)
    (result,) = run(lambda x, m: jnp.logaddexp.reduce(x, where=m), x, mask)
    np.testing.assert_allclose(
        result, np.logaddexp.reduce(x, where=mask, initial=-np.inf), rtol=1e-5
    )
    for name in ("bitwise_and", "bitwise_or", "logical_and"):
        function, bits = getattr(jnp, name), numbers((4, 3), "uint8", 0, 255)
        (result,) = run(lambda x, m, f=function: f.reduce(x, where=m), bits, mask)
        np.testing.assert_array_equal(result, getattr(np, name).reduce(bits, where=mask))
    assert jnp.add.reduce(np.ones(3, np.float32), dtype="int32").dtype == "int32"
    assert float(jnp.logaddexp.reduce(jnp.zeros(0))) == -np.inf
    with pytest.raises(ValueError, match="no identity"):
        jnp.arctan2.reduce(jnp.zeros(0))
    with pytest.raises(ValueError, match="two operands"):
        jnp.negative.reduce(x)
    with pytest.raises(NotImplementedError, match="inplace=False"):
        jnp.add.at(x, 0, 1.0)
    with pytest.raises(NotImplementedError, match="'where'"):
        jnp.add(x, x, where=mask)
    with pytest.raises(TypeError, match="expected 2 operands, got 1"):
        jnp.add(x)
    with pytest.raises(IndexError, match="from 0 to 3"):
        jnp.add.reduceat(x, [4])


def test_ufuncs_of_functions_of_scalars():
    half_sum = jnp.frompyfunc(lambda x, y: (x + y) / 2, 2, 1)
    theirs = np.frompyfunc(lambda x, y: (x + y) / 2, 2, 1)
    x = numbers((5,))
    wide = x.astype(np.float64)
    for method in ("reduce", "accumulate"):
        (result,) = run(getattr(half_sum, method), x)
        expected = np.asarray(getattr(theirs, method)(wide)).astype(float)
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(half_sum(x[:, None], x), (x[:, None] + x) / 2, rtol=1e-6)

    def add(x, y):
        return x * y

    assert float(jnp.frompyfunc(add, 2, 1).reduce(np.array([2.0, 3.0]))) == 6
    two = jnp.frompyfunc(lambda x: (x, -x), 1, 2)
    assert [y.shape for y in two(x)] == [(5,), (5,)]
    assert (two.nin, two.nout, two.nargs, two.identity) == (1, 2, 1, None)
    with irax.enable_x64(True):
        check_grads(half_sum.reduce, [wide], order=1)


def test_ufuncs_are_objects_of_python():
    assert repr(jnp.add) == "<irax.numpy.ufunc 'add'>"
    for f in (jnp.add, jnp.logaddexp, jnp.negative):
        assert pickle.loads(pickle.dumps(f)) is f
        assert copy.deepcopy(f) is f


# ---- functions of functions ----------------------------------------------------------------------


def test_vectorize():
    x, y = numbers((2, 1, 3)), numbers((4, 3), seed=1)

    def smaller(a, b):
        assert a.shape == b.shape == ()
        return jnp.where(a < b, a, b)

    (result,) = run(jnp.vectorize(smaller), x, y)
    np.testing.assert_array_equal(result, np.minimum(x, y))
    assert jnp.vectorize(smaller)(np.zeros((0, 3)), 1.0).shape == (0, 3)
    assert jnp.vectorize(smaller)(np.zeros((1, 1)), np.ones((1, 1, 1))).shape == (1, 1, 1)
    assert float(jnp.vectorize(smaller)(1.0, 2.0)) == 1.0


def test_vectorize_by_signature():
    matrices, vectors = numbers((5, 1, 2, 3)), numbers((4, 3), seed=1)
    product = jnp.vectorize(lambda a, b: a @ b, signature="(m,n),(n)->(m)")
    (result,) = run(product, matrices, vectors)
    expected = np.vectorize(lambda a, b: a @ b, signature="(m,n),(n)->(m)")(matrices, vectors)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
    both = jnp.vectorize(lambda a: (a.sum(), a * 2), signature="(3)->(),(3)")
    assert [x.shape for x in both(vectors)] == [(4,), (4, 3)]
    with pytest.raises(ValueError, match=r"dimension n of the signature .* is 3"):
        product(matrices, vectors[:, :2])
    with pytest.raises(ValueError, match="too few dimensions"):
        product(vectors[0], vectors)
    with pytest.raises(ValueError, match="cannot read the signature"):
        jnp.vectorize(product, signature="(n,(m)->()")
    with pytest.raises(ValueError, match=r"result 0 .* shape"):
        jnp.vectorize(lambda a: a, signature="(n)->()")(vectors)
    with pytest.raises(TypeError, match="has 1 results"):
        jnp.vectorize(lambda a: (a, a), signature="(n)->(n)")(vectors)


def test_vectorize_leaves_arguments_out():
    x = numbers((2, 3))

    def power(a, n, *, label=None, shift=0.0):
        assert isinstance(n, int)
        assert label == "a"
        return a**n + shift

    f = jnp.vectorize(power, excluded={1, "label"})
    np.testing.assert_allclose(f(x, 2, label="a", shift=x), x**2 + x, rtol=1e-6)
    with pytest.raises(TypeError, match="positions and names"):
        jnp.vectorize(power, excluded={1.5})
    with pytest.raises(TypeError, match="by name"):
        jnp.vectorize(power, signature="()->()")(x, shift=1)


def test_functions_along_axes_have_derivatives():
    with irax.enable_x64(True):
        x = numbers((2, 3, 2), "float64")
        check_grads(lambda x: jnp.apply_along_axis(jnp.cumprod, 1, x), [x], order=1)
        check_grads(jnp.vectorize(lambda a: jnp.sin(a).sum(), signature="(n)->()"), [x], order=1)


def test_ufuncs_of_one_function_are_equal():
    def scaled(x, y):
        return 2 * x * y

    first, second = (jnp.frompyfunc(scaled, 2, 1, identity=0.5) for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)
    assert first != jnp.frompyfunc(scaled, 2, 1)
    assert jnp.add != jnp.multiply
    assert jnp.add == jnp.add


@pytest.mark.parametrize("name", ["nin", "nout", "nargs", "identity"])
def test_properties_of_ufuncs_are_read_only(name):
    getattr(jnp.add, name)
    with pytest.raises(AttributeError):
        setattr(jnp.add, name, None)
