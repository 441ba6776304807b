"""Making arrays, against NumPy."""

import copy
import pickle

import numpy as np
import pytest
from tests.frontend.numpy_helpers import run, traced

import irax
import irax.numpy as jnp


def same(result, expected):
    """One array that equals NumPy's, but for the width of its dtype."""
    result = np.asarray(result)
    expected = np.asarray(expected)
    assert result.shape == expected.shape
    assert result.dtype.kind == expected.dtype.kind
    np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-6)


CALLS = {
    "zeros": ((3,), ((2, 0),), ((2, 3), "int32"), (4, bool)),
    "ones": ((3,), ((),), ((2, 3), "float16")),
    "full": ((3, 1.5), ((2, 2), 7, "uint8"), ((2, 3), np.arange(3))),
    "arange": ((4,), (0,), (2, 7), (2, 9, 3), (5, 0, -2), (0.0, 1.0, 0.25), (3, None, None, "f4")),
    "linspace": (
        (0, 1, 5),
        (0, 1, 5, False),
        (2.0, 2.0, 1),
        (0, 1, 0),
        (0, 10, 4, True, False, int),
    ),
    "logspace": ((0, 2, 3), (0, 3, 4, True, 2.0)),
    "eye": ((3,), (2, 4), (4, 2, -1), (3, 3, 5), (0,), (2, 2, 0, "int32")),
    "identity": ((3,),),
    "tri": ((3,), (2, 4, 1), (3, 3, -1)),
    "tril": ((np.arange(12.0).reshape(3, 4),), (np.arange(8).reshape(2, 2, 2), -1)),
    "triu": ((np.arange(12.0).reshape(3, 4),), (np.arange(8).reshape(2, 2, 2), 1)),
    "diag": ((np.arange(3),), (np.arange(3), 2), (np.arange(2), -1), (np.eye(3, 4), 1)),
    "diagonal": (
        (np.arange(12).reshape(3, 4),),
        (np.arange(12).reshape(3, 4), 2),
        (np.arange(12).reshape(3, 4), -2),
        (np.arange(12).reshape(3, 4), 9),
        (np.arange(24).reshape(2, 3, 4), 1, 2, 0),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_against_numpy(name):
    for args in CALLS[name]:
        expected = getattr(np, name)(*args)
        same(getattr(jnp, name)(*args), expected)
        # The same with nothing but constants inside a trace.
        (value,), _ = traced(lambda x, a=args: getattr(jnp, name)(*a), 0)
        same(value, expected)


def test_several_results():
    x, y, z = np.arange(2), np.arange(3.0), np.arange(1)
    for options in ({}, {"indexing": "ij"}, {"sparse": True}, {"indexing": "ij", "sparse": True}):
        for result, expected in zip(
            run(lambda *v, o=options: jnp.meshgrid(*v, **o), x, y, z),
            np.meshgrid(x, y, z, **options),
            strict=True,
        ):
            same(result, expected)
    same(jnp.indices((2, 3)), np.indices((2, 3)))
    for result, expected in zip(jnp.indices((2, 3), sparse=True), np.indices((2, 3), sparse=True)):  # noqa: B905
        same(result, expected)
    for name, args in (
        ("tril_indices", (3, 1)),
        ("triu_indices", (3, -1, 4)),
        ("diag_indices", (3,)),
    ):
        for result, expected in zip(
            getattr(jnp, name)(*args), getattr(np, name)(*args), strict=True
        ):
            same(result, expected)
    numbers, step = jnp.linspace(0, 1, 5, retstep=True)
    same(numbers, np.linspace(0, 1, 5))
    assert float(step) == 0.25


def test_shapes_of_all_kinds():
    for shape in ((2, 3), [2, 3], np.array([2, 3]), jnp.array([2, 3]), (np.int64(2), jnp.int32(3))):
        assert jnp.zeros(shape).shape == (2, 3)
    for shape in (2, np.int32(2), jnp.int32(2)):
        assert jnp.ones(shape).shape == (2,)


def test_like():
    x = jnp.ones((2, 3), "float16")
    assert jnp.zeros_like(x).aval == x.aval
    assert jnp.ones_like(x, shape=(4,)).shape == (4,)
    same(jnp.full_like(x, 3, dtype=int), np.full((2, 3), 3))
    same(jnp.full_like(x, np.arange(3.0)), np.full((2, 3), np.arange(3), "float16"))
    assert float(traced(lambda x: jnp.zeros_like(x).sum(), 2.0)[0][0]) == 0


def test_linspace_of_arrays():
    start, stop = np.zeros(2, np.float32), np.array([1, 3], np.float32)
    for axis in (0, -1):
        (result,) = run(lambda a, b, d=axis: jnp.linspace(a, b, 4, axis=d), start, stop)
        same(result, np.linspace(start, stop, 4, axis=axis))


# ---- array ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        3,
        2.5,
        [1, 2],
        (1, 2.5),
        [[True, False]],
        [[1, 2], (3, 4)],
        range(3),
        [np.float32(1), 2],
        [np.arange(2), [3, 4]],
        np.arange(6).reshape(2, 3).T,
        [],
        [[], []],
        memoryview(b"abc"),
    ],
)
def test_array_of_data(data):
    same(jnp.array(data), np.array(data))
    same(jnp.asarray(data, dtype="float32"), np.array(data, dtype="float32"))


def test_array_of_arrays_traced_or_not():
    x = np.arange(3.0, dtype=np.float32)
    (result,) = run(lambda x: jnp.array([x, x + 1]), x)
    same(result, [x, x + 1])
    (result,) = run(lambda x: jnp.array([[x[0], 2.0], [x[1], x[2]]]), x)
    same(result, [[0, 2.0], [1, 2]])
    (result,) = run(lambda x: jnp.array([x[0]] * 3), x)
    same(result, np.zeros(3))
    gradient = irax.grad(lambda v: jnp.array([v, 2 * v, 1.0]).sum())(1.0)
    assert float(gradient) == 3


def test_array_copies_what_numpy_could_change():
    x = np.zeros(2, np.float32)
    y = jnp.asarray(x)
    x[0] = 7
    assert float(y[0]) == 0


def test_array_has_the_least_dimensions_asked_for():
    assert jnp.array(3, ndmin=2).shape == (1, 1)
    assert jnp.array([[1, 2]], ndmin=1).shape == (1, 2)


def test_what_brings_its_own_conversion():
    class Wrapped:
        def __jax_array__(self):
            return jnp.arange(2)

    class Foreign:
        def __array__(self, dtype=None, copy=None):
            return np.arange(3)

    same(jnp.asarray(Wrapped()), np.arange(2))
    same(jnp.asarray(Foreign()), np.arange(3))
    same(jnp.sin(Wrapped()), np.sin(np.arange(2)))


def test_dtypes_as_attributes():
    x = jnp.float32(3)
    assert (x.shape, x.dtype, x.weak_type) == ((), np.float32, False)
    same(jnp.int32([1, 2]), np.array([1, 2]))
    assert jnp.zeros(2, jnp.bfloat16).dtype == jnp.bfloat16
    assert x.dtype == jnp.float32
    assert jnp.float32 == np.float32
    assert jnp.float32 != jnp.float16
    assert not any(jnp.float64 == name for name in (None, "float64", float))
    assert np.dtype(jnp.int8) == np.int8
    assert jnp.issubdtype(jnp.bfloat16, jnp.floating)
    assert not jnp.issubdtype(jnp.int32, jnp.floating)
    assert jnp.result_type(jnp.int8, jnp.float16) == jnp.float16
    assert jnp.finfo(jnp.bfloat16).bits == 16
    assert jnp.iinfo(jnp.int8).max == 127
    assert len({jnp.float32: 1, jnp.int32: 2}) == 2
    assert repr(jnp.float32) == "<class 'irax.numpy.float32'>"
    assert jnp.zeros(1).astype(jnp.int8).dtype == jnp.int8
    assert int(jnp.uint32(2**32 - 1)) == 2**32 - 1
    assert jnp.result_type(None) == jnp.result_type(None, jnp.int8) == np.float32
    with irax.enable_x64(True):
        assert int(jnp.int64(2**40)) == 2**40
        assert jnp.float64(1).dtype == np.float64


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: jnp.array("text"), TypeError, "array: expected"),
        (lambda: jnp.array(None), ValueError, "array: expected"),
        (lambda: jnp.array([1, "a"]), TypeError, "array: expected"),
        (lambda: jnp.array([[1], [2, 3]]), ValueError, "different lengths"),
        (
            lambda: jnp.array([jnp.ones(2), jnp.ones(3)]),
            ValueError,
            r"one shape, got .*\(2,\), \(3,\)",
        ),
        (lambda: jnp.array([2**40]), OverflowError, "does not fit into int32"),
        (lambda: jnp.array([300], dtype="uint8"), OverflowError, "does not fit into uint8"),
        (lambda: jnp.array(-1, "uint8"), OverflowError, "does not fit into uint8"),
        (lambda: jnp.int8(300), OverflowError, "does not fit into int8"),
        (lambda: jnp.array([1], order="F"), NotImplementedError, "order"),
        (lambda: jnp.zeros((2, -1)), TypeError, "zeros: .*at least 0"),
        (lambda: jnp.zeros(2.5), TypeError, "zeros: expected a shape of ints"),
        (lambda: jnp.zeros("ab"), TypeError, "zeros: expected a shape of ints"),
        (lambda: jnp.zeros(2, "nonsense"), TypeError, "zeros: 'nonsense' is not a dtype; give"),
        (lambda: jnp.ones(2).astype("f99"), TypeError, "astype: 'f99' is not a dtype; give"),
        (lambda: jnp.full((2,), jnp.ones(3)), ValueError, r"\(3,\) to shape \(2,\)"),
        (lambda: jnp.diag(jnp.ones((1, 1, 1))), ValueError, "diag: expected 1 or 2"),
        (lambda: jnp.tril(jnp.ones(3)), ValueError, "tril: expected"),
        (lambda: jnp.diagonal(jnp.ones((2, 2)), 0, 1, 1), ValueError, "same axis"),
        (lambda: jnp.linspace(0, 1, 2.5), TypeError, "linspace: num must be an int, got 2.5"),
        (lambda: jnp.tril(jnp.ones((2, 2)), "1"), TypeError, "tril: k must be an int, got '1'"),
        (lambda: jnp.hanning(4.5), TypeError, "hanning: M must be an int, got 4.5"),
        (lambda: irax.make_ir(lambda n: jnp.linspace(0, 1, n))(3), TypeError, "traced"),
        (lambda: jnp.linspace(0, 1, -1), ValueError, "num must be at least 0"),
        (lambda: jnp.meshgrid(jnp.ones(2), indexing="zz"), ValueError, "indexing"),
        (lambda: irax.make_ir(lambda n: jnp.arange(n))(3), TypeError, "arange needs its arguments"),
        (lambda: irax.make_ir(lambda n: jnp.zeros(n))(3), TypeError, "the argument 'shape'"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    "dtype, value", [("uint32", 2**32 - 1), ("uint8", 255), ("uint8", -1), ("float32", 2**40)]
)
def test_ints_fill_arrays_of_dtypes_that_hold_them(dtype, value):
    expected = np.full(2, value).astype(dtype)
    like = np.ones(2, dtype)
    for found in (
        jnp.full_like(like, value),
        irax.lax.full_like(like, value),
        irax.lax.full((2,), value, dtype),
    ):
        np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize(
    "call",
    [
        lambda: jnp.array(1j, "float32"),
        lambda: jnp.asarray([1.0, 1j], dtype="int32"),
        lambda: jnp.full(2, 1j, "float32"),
        lambda: jnp.full_like(jnp.ones(2), 1j),
    ],
)
def test_numbers_do_not_lose_their_imaginary_part(call):
    with pytest.raises(TypeError, match="complex numbers do not fit into"):
        call()


def test_complex_numbers_are_true_where_any_part_is_not_zero():
    x = np.array([1j, 0j, 2], np.complex64)
    for found in (
        jnp.array([1j, 0j, 2], bool),
        jnp.asarray(x, bool),
        jnp.asarray(x).astype(bool),
        irax.jit(lambda x: x.astype(bool))(x),
    ):
        np.testing.assert_array_equal(found, x.astype(bool))
    np.testing.assert_array_equal(irax.lax.convert_element_type(x, bool), [False, False, True])


def test_dtypes_are_classes():
    class Step(jnp.int8):
        FIRST = jnp.int8(0)

    assert isinstance(jnp.int8, type)
    assert (repr(jnp.int8), jnp.bool_.__name__) == ("<class 'irax.numpy.int8'>", "bool")
    assert isinstance(np.int8(3), jnp.int8)
    assert not isinstance(jnp.int8(3), jnp.int8)
    assert Step(3).dtype == Step.FIRST.dtype == Step.dtype == np.int8
    for scalar in (jnp.int8, jnp.bfloat16, jnp.bool_):
        assert pickle.loads(pickle.dumps(scalar)) == scalar
        assert copy.deepcopy(scalar) == scalar
        assert np.dtype(scalar) == scalar.dtype
    with pytest.raises(TypeError, match="positional"):
        jnp.int8(1, 2)


def test_asarray_without_a_copy():
    x = np.arange(8, dtype=np.float32)
    shared = jnp.asarray(x, copy=False)
    assert np.shares_memory(np.asarray(shared), x)
    np.testing.assert_array_equal(irax.jit(lambda x: x + 1)(shared), np.arange(8) + 1)
    assert x.flags.writeable
    assert not np.shares_memory(np.asarray(jnp.asarray(x)), x)
    for given in ([1.0, 2.0], (1, 2), 3, 2.5, True, 1j):  # they have no memory to share
        np.testing.assert_array_equal(jnp.asarray(given, copy=False), given)
    for other in (x[::2], x.astype(">f4"), np.arange(3.0)):
        with pytest.raises(ValueError, match="without a copy"):
            jnp.asarray(other, copy=False)
    with pytest.raises(ValueError, match="without a copy"):
        jnp.asarray(x, "int32", copy=False)
