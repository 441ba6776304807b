"""Python integers beside arrays of integers: compared exactly, as by NumPy, and never wrapped."""

import operator

import ml_dtypes
import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.core.dtypes.python_ints import range_of

ORDERS = ("lt", "le", "gt", "ge", "eq", "ne")
DTYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32")
NUMBERS = (-(2**70), -(2**40), -70000, -129, -128, 127, 128, 255, 300, 65536, 2**31, 2**32, 2**70)


def elements(dtype):
    info = np.iinfo(dtype)
    return np.array([info.min, 0, 1, info.max], dtype)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.filterwarnings("ignore:.*so this is the same for all elements")
def test_comparisons_are_numpys(dtype):
    x = elements(dtype)

    def compared(x):
        pairs = [pair for n in NUMBERS for pair in ((x, n), (n, x))]
        return [getattr(operator, order)(*pair) for order in ORDERS for pair in pairs]

    expected = compared(x)
    for found in (compared(jnp.asarray(x)), irax.jit(compared)(x), irax.vmap(compared)(x)):
        np.testing.assert_array_equal(np.array(found), np.array(expected))


def test_functions_that_compare():
    x = jnp.array([1, 2, 250], "uint8")
    for function in (jnp.less, jnp.less, jnp.less):  # replayed, too
        assert function(x, 300).all()
        assert not function(x, 5).all()
    assert not jnp.isin(x, 300).any()
    assert jnp.isin(x, 300, invert=True).all()
    assert (jnp.zeros(2, "bool") < 2**40).all()
    wrapped = jnp.array([44], "uint8")  # 300 - 256
    for function in (jnp.isclose, jnp.allclose, jnp.array_equiv):
        assert not function(wrapped, 300).any()
        assert function(wrapped, 44).all()
    assert jnp.isclose(wrapped, 300, atol=256).all()
    assert not jnp.array_equal(wrapped[0], 300)
    np.testing.assert_array_equal(jnp.setdiff1d(wrapped, 300), [44])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", DTYPES)
def test_bounds_that_take_nothing_away(dtype):
    x = elements(dtype)
    for f in (lambda x: jnp.clip(x, -(2**20), 2**20), lambda x: jnp.clip(x, -(2**30), 1)):
        np.testing.assert_array_equal(f(jnp.asarray(x)), f(x) if "32" in dtype else _clip(f, x))
        np.testing.assert_array_equal(irax.jit(f)(x), f(jnp.asarray(x)))


def _clip(f, x):
    return np.asarray(f(jnp.asarray(x.astype("int32")))).astype(x.dtype)


def test_extrema_that_begin_with_a_number():
    x = jnp.array([1, 250], "uint8")
    assert (x.max(initial=-1), x.min(initial=300)) == (250, 1)
    assert x.max().dtype == x.max(initial=-1).dtype == np.uint8
    for call in (lambda: x.max(initial=300), lambda: x.min(initial=-1)):
        with pytest.raises(OverflowError, match="doesn't fit into uint8"):
            call()


U8 = np.array([1, 2, 250], "uint8")
I8 = np.array([1, -2, 100], "int8")
REFUSED = {
    "add": lambda: jnp.asarray(U8) + 300,
    "subtract": lambda: 300 - jnp.asarray(U8),
    "multiply": lambda: jnp.asarray(U8) * 256,
    "and": lambda: jnp.asarray(U8) & 0x1FF,
    "or": lambda: jnp.asarray(I8) | 0xFF,
    "shift": lambda: jnp.left_shift(jnp.asarray(U8), 300),
    "quotient": lambda: jnp.asarray(U8) // 300,
    "remainder": lambda: 300 % jnp.asarray(U8),
    "in place": lambda: jnp.asarray(I8) + 200,
    "maximum": lambda: jnp.maximum(jnp.asarray(U8), 300),
    "minimum": lambda: jnp.minimum(jnp.asarray(U8), -1),
    "clip": lambda: jnp.clip(jnp.asarray(I8), 128, 200),
    "gcd": lambda: jnp.gcd(jnp.asarray(U8), 300),
    "where": lambda: jnp.where(jnp.asarray(U8) > 1, jnp.asarray(U8), 300),
    "select": lambda: jnp.select([jnp.asarray(U8) > 1], [jnp.asarray(U8)], 300),
    "piecewise": lambda: jnp.piecewise(jnp.asarray(U8), [jnp.asarray(U8) > 1], [300, 0]),
    "full": lambda: jnp.full((2,), 300, "uint8"),
    "full of 32 bits": lambda: jnp.full((2,), 2**40, "int32"),
    "full_like": lambda: jnp.full_like(jnp.asarray(U8), 300),
    "lax.full": lambda: lax.full((2,), 200, "int8"),
    "lax.full_like": lambda: lax.full_like(jnp.asarray(U8), 300),
    "lax.add": lambda: lax.add(jnp.asarray(U8), 300),
    "lax.lt": lambda: lax.lt(jnp.asarray(U8), 300),
    "lax.pad": lambda: lax.pad(jnp.asarray(U8), 300, [(1, 1, 0)]),
    "lax.reduce": lambda: lax.reduce(jnp.asarray(U8), 300, lax.max, (0,)),
    "set": lambda: jnp.asarray(U8).at[0].set(300),
    "at add": lambda: jnp.asarray(U8).at[0].add(-129),
    "get": lambda: jnp.asarray(U8).at[9].get(mode="fill", fill_value=300),
    "take": lambda: jnp.take(jnp.asarray(U8), jnp.array([9]), mode="fill", fill_value=300),
    "pad": lambda: jnp.pad(jnp.asarray(U8), 1, constant_values=300),
    "sum": lambda: jnp.sum(jnp.asarray(U8), initial=300, dtype="uint8"),
    "diff": lambda: jnp.diff(jnp.asarray(U8), prepend=300),
    "append": lambda: jnp.append(jnp.asarray(U8), 300),
    "insert": lambda: jnp.insert(jnp.asarray(U8), 0, 300),
    "hstack": lambda: jnp.hstack([jnp.asarray(U8), 300]),
    "put": lambda: jnp.put(jnp.asarray(U8), 0, 300, inplace=False),
    "fill_diagonal": lambda: jnp.fill_diagonal(jnp.ones((2, 2), "uint8"), 300, inplace=False),
    "unique": lambda: jnp.unique(jnp.asarray(U8), size=5, fill_value=300),
    "dynamic": lambda: lax.dynamic_update_index_in_dim(jnp.asarray(U8), 300, 0, 0),
    "array": lambda: jnp.array([jnp.uint8(1), 300]),
    "r_": lambda: jnp.r_[jnp.asarray(U8), 300],
    "block": lambda: jnp.block([jnp.asarray(U8), 300]),
    "outer": lambda: jnp.multiply.outer(jnp.asarray(U8), 300),
    "at": lambda: jnp.add.at(jnp.asarray(U8), 0, 300, inplace=False),
    "unwrap": lambda: jnp.unwrap(jnp.asarray(U8), period=300),
    "clip of a number": lambda: jnp.clip(300, jnp.asarray(U8), 255),
    "int4": lambda: jnp.ones(2, "int4") + 8,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(name):
    for call in (REFUSED[name], irax.jit(REFUSED[name])):
        with pytest.raises(OverflowError, match=r"doesn't fit into u?int\d+, the dtype that"):
            call()


def test_the_message_names_the_function_the_range_and_the_cure():
    with pytest.raises(OverflowError) as caught:
        jnp.asarray(U8) + 300
    for part in ("add: the integer 300", "0 to 255", ".astype(irax.numpy.int32)", "write 44"):
        assert part in str(caught.value)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32"])
def test_negative_numbers_stand_for_bits_of_unsigned_dtypes(dtype):
    x, ones = jnp.array([1, 2], dtype), np.iinfo(dtype).max
    kept = [x | -1, jnp.full((2,), -1, dtype), x.at[:].set(-1), jnp.full_like(x, -1)]
    assert all((y == ones).all() for y in kept)
    np.testing.assert_array_equal(x + -1, np.array([0, 1], dtype))
    with pytest.warns(UserWarning, match=f"no {dtype} is -1.*JAX compares with {ones}"):
        assert not (kept[0] == -1).any()


def test_numbers_that_fit_stay_as_they_are():
    assert (jnp.array([2], "uint32") + 2**31 == np.uint32(2**31 + 2)).all()
    assert (jnp.ones(2) * 2**40 == 2.0**40).all()
    assert (jnp.ones(2, "bool") + 300 == 301).all()
    np.testing.assert_array_equal(jnp.arange(0, 256, 64, "uint8"), np.arange(0, 256, 64, "uint8"))
    assert lax.convert_element_type(300, "uint8") == 44  # asked for
    assert jnp.put(jnp.zeros(400, "uint8"), 300, 7, inplace=False)[300] == 7


@pytest.mark.parametrize("dtype", [ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, "int64"])
def test_ranges(dtype):
    least, greatest, pattern = range_of(np.dtype(dtype))
    info = np.iinfo(dtype) if dtype == "int64" else ml_dtypes.iinfo(dtype)
    assert (least, greatest) == (info.min, info.max)
    assert pattern == (info.min if info.min else -(info.max + 1) // 2)
