"""Requests for 64 bits that get 32 warn at the user's line; asking for no width is fine."""

import warnings

import numpy as np
import pytest

import irax
import irax.numpy as jnp

X = np.ones(3, np.float32)
SIGNAL = np.ones((1, 1, 3), np.float32)

ASKING = {
    "zeros": lambda: jnp.zeros(2, "float64"),
    "ones": lambda: jnp.ones(2, jnp.int64),
    "full": lambda: jnp.full(2, 1, np.float64),
    "full_like": lambda: jnp.full_like(X, 1, dtype="complex128"),
    "arange": lambda: jnp.arange(3, dtype="int64"),
    "linspace": lambda: jnp.linspace(0, 1, 3, dtype="float64"),
    "eye": lambda: jnp.eye(2, dtype="float64"),
    "array": lambda: jnp.array([1.0], dtype="float64"),
    "asarray": lambda: jnp.asarray(1, dtype="uint64"),
    "a dtype, called": lambda: jnp.float64(1),
    "astype": lambda: jnp.asarray(X).astype("float64"),
    "view": lambda: jnp.asarray(X[:2]).view("int64"),
    "sum": lambda: jnp.sum(X, dtype="float64"),
    "cumsum": lambda: jnp.cumsum(X, dtype="float64"),
    "var": lambda: jnp.var(X, dtype="float64"),
    "add.reduce": lambda: jnp.add.reduce(X, dtype="float64"),
    "concatenate": lambda: jnp.concatenate([X], dtype="float64"),
    "einsum": lambda: jnp.einsum("i,i", X, X, preferred_element_type="float64"),
    "dot": lambda: jnp.dot(X, X, preferred_element_type="float64"),
    "fftfreq": lambda: jnp.fft.fftfreq(4, dtype="float64"),
    "convolution": lambda: irax.lax.conv_general_dilated(
        SIGNAL, SIGNAL, (1,), "SAME", preferred_element_type="float64"
    ),
    "lax.argmax": lambda: irax.lax.argmax(X, 0, "int64"),
    "lax.convert": lambda: irax.lax.convert_element_type(X, "float64"),
    "lax.iota": lambda: irax.lax.iota("int64", 3),
    "bits": lambda: irax.random.bits(irax.random.key(0), (2,), "uint64"),
    "normal": lambda: irax.random.normal(irax.random.key(0), (2,), "float64"),
    "randint": lambda: irax.random.randint(irax.random.key(0), (2,), 0, 5, dtype="int64"),
    "one_hot": lambda: irax.nn.one_hot(1, 3, dtype="float64"),
}
NOT_ASKING = {
    "float": lambda: jnp.zeros(2, float),
    "int": lambda: jnp.arange(2, dtype=int),
    "complex": lambda: jnp.asarray(X).astype(complex),
    "Python's numbers": lambda: jnp.asarray([1, 2.5, 1j]),
    "NumPy's arrays": lambda: jnp.asarray(np.ones(2)) + np.arange(2),
    "NumPy's numbers": lambda: jnp.asarray(X) * np.float64(2),
    "device_put": lambda: irax.device_put(np.ones(2)),
    "jit": lambda: irax.vmap(jnp.sin)(np.ones(2)),
}


def heard(call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = call()
    return found, result


@pytest.mark.parametrize("what", ASKING)
def test_asking_for_a_width_that_is_not_there(what):
    (warning,), result = heard(ASKING[what])
    assert warning.category is UserWarning
    assert warning.filename == __file__
    assert "64-bit types are off, so it becomes" in str(warning.message)
    assert result.dtype.itemsize in ((8,) if result.dtype.kind == "c" else (4,))


@pytest.mark.parametrize("what", NOT_ASKING)
def test_asking_for_no_width(what):
    assert heard(NOT_ASKING[what])[0] == []


def test_with_64_bits_nothing_is_said():
    for what, call in (ASKING | NOT_ASKING).items():
        with irax.enable_x64(True):
            assert heard(call)[0] == [], what
    assert jnp.zeros(1).dtype == np.float32
