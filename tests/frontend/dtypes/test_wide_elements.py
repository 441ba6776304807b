"""64-bit elements while 64-bit types are off: those of NumPy that are converted, and arrays that
were made while they were on.
"""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax

LARGE = np.array([1 << 40, (1 << 33) + 5])
"""Integers whose low 32 bits tell nothing of them."""


@pytest.fixture
def wide():
    with irax.enable_x64(True):
        return jnp.arange(1.0, 5.0)


@pytest.mark.parametrize(
    "convert",
    [
        jnp.asarray,
        jnp.array,
        jnp.astype,
        lax.convert_element_type,
        lambda x, dtype: jnp.full(2, x, dtype),
        lambda x, dtype: jnp.full_like(jnp.ones(2, dtype), x),
        lambda x, dtype: jnp.array([x, x], dtype)[0],
        lambda x, dtype: jnp.stack([jnp.asarray(n, dtype) for n in x]),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "bool", "complex64"])
def test_large_integers_of_numpy_are_not_cut_before_they_are_converted(convert, dtype):
    np.testing.assert_array_equal(convert(LARGE, dtype), LARGE.astype(dtype))


def test_large_integers_of_numpy_are_set_as_floats():
    np.testing.assert_array_equal(jnp.zeros(2).at[:].set(LARGE), LARGE.astype("float32"))


def test_doubles_of_numpy_are_rounded_once():
    between = np.array([1 + 2**-11 + 2**-40])  # float32 has no 2**-40: a tie that goes down
    np.testing.assert_array_equal(jnp.asarray(between, "float16"), between.astype("float16"))
    assert jnp.asarray(np.array([16777217.0]), "int32")[0] == 16777217
    assert jnp.asarray(np.array([1e-300]), bool)[0]


def test_a_large_integer_is_a_float_beside_floats():
    for large in (1 << 40, np.int64(1 << 40)):
        np.testing.assert_array_equal(jnp.zeros(2) + large, np.full(2, 2.0**40))
        assert jnp.all(jnp.ones(2) < large)
        with pytest.raises(OverflowError):
            jnp.arange(2) + large


def test_large_integers_stay_where_wide_dtypes_are_allowed():
    with irax.explicit_x64_dtypes("allow"):
        x = jnp.asarray(LARGE, "int64")
        np.testing.assert_array_equal(x, LARGE)
        np.testing.assert_array_equal(x + (1 << 40), LARGE + (1 << 40))
        np.testing.assert_array_equal(jnp.where(x > 0, x, 1 << 40), LARGE)
        np.testing.assert_array_equal(lax.add(x, 1 << 40), LARGE + (1 << 40))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * x,
        lax.exp,
        jnp.sin,
        irax.jit(lambda x: x + x),
        irax.grad(lambda x: (x * x).sum()),
        lambda x: irax.jvp(jnp.sin, (x,), (x,))[1],
        irax.vmap(lambda x: x - x),
        lambda x: x @ x,
        lambda x: jnp.concatenate([x, x]),
        lambda x: jnp.where(x > 2, x, x),
        lambda x: lax.scan(lambda c, n: (c * n, c + n), x[0], x)[1],
        lambda x: lax.while_loop(lambda c: c[0] < 9, lambda c: c + c, x),
        lambda x: irax.linear_transpose(lambda n: n + n, x)(x)[0],
        irax.jacfwd(lambda x: x * x),
    ],
)
def test_arrays_of_64_bits_stay_what_they_are(f, wide, recwarn):
    result = f(wide)
    assert result.dtype == np.float64
    with irax.enable_x64(True):
        np.testing.assert_array_equal(result, f(wide))
    assert not recwarn.list


def test_promotion_makes_what_there_is(wide):
    assert (wide + jnp.ones(4)).dtype == np.float32
    assert (wide * 2.0).dtype == np.float32


def test_a_rule_of_64_bits_has_cotangents_of_64_bits():
    @irax.custom_vjp
    def f(x):
        return x**2.0

    f.defvjp(lambda x: (f(x), jnp.cos(x)), lambda c, ct: (c * ct,))

    def g(x):
        with irax.enable_x64(True):
            return f(jnp.array(x, "float64"))

    slope = irax.grad(g)(5.0)
    assert slope.dtype == np.float32
    np.testing.assert_allclose(slope, np.cos(5.0), rtol=1e-6)


def test_structs_say_what_they_were_told(wide):
    struct = irax.eval_shape(lambda x: x * x, wide)
    assert struct.dtype == np.float64
    assert irax.ShapeDtypeStruct((2,), "int64").dtype == np.int64
    assert irax.eval_shape(lambda x: x, struct).dtype == np.float32
    with pytest.raises(ValueError, match="needs enable_x64"):
        irax.pure_callback(lambda x: x, struct, np.ones(4))
