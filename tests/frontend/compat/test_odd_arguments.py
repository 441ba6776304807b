"""Arguments that are no arrays, or only stand for one, as JAX takes them."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.extend.core import jaxpr_as_fun


def test_tokens_pass_through_functions():
    token = lax.create_token()
    assert irax.jit(lax.create_token)() == token
    assert irax.jit(lambda t, x: (lax.after_all(t), x + 1))(token, 1.0) == (token, 2.0)
    assert lax.scan(lambda c, _: ((c[0], c[1] + 1), None), (token, 1.0), None, 3)[0][1] == 4
    assert lax.fori_loop(0, 3, lambda _, c: (c[0], c[1] + 1), (token, 1.0)) == (token, 4.0)
    assert lax.cond(True, lambda t: t, lambda t: t, token) == token
    np.testing.assert_array_equal(irax.vmap(lambda x: (token, x))(np.arange(2))[1], [0, 1])


def test_barriers_leave_refs_as_they_are():
    ref = irax.new_ref(jnp.float32(1.0))
    y, same = lax.optimization_barrier((jnp.float32(2.0), ref))
    assert y == 2
    assert same is ref

    @irax.jit
    def f(ref, y):
        y, ref = lax.optimization_barrier((y, ref))
        ref[...] += y
        return ref[...]

    assert f(ref, 2.0) == 3
    assert ref[...] == 3


def test_jaxprs_of_functions_of_named_axes():
    def f(x):
        return (x - lax.psum(x, "i") + lax.axis_index("i")) / lax.axis_size("j")

    made = irax.make_jaxpr(f, axis_env=[("i", 4), ("j", 2)])
    assert made.__name__ == "make_jaxpr(f)"
    jaxpr = made(2.0)
    names = [e.primitive.name for e in jaxpr.eqns]
    assert names.count("all_reduce") == names.count("axis_index") == 1
    mapped = irax.vmap(lambda x: jaxpr_as_fun(jaxpr)(x)[0], axis_name="i")
    x = np.arange(4, dtype=np.float32)
    np.testing.assert_array_equal(mapped(x), (x - 6 + np.arange(4)) / 2)
    with pytest.raises(NameError, match="unbound axis name 'i'"):
        irax.make_jaxpr(f)(2.0)


def test_structs_of_what_is_no_array():
    for dtype in (np.bytes_, np.object_, "U3"):
        struct = irax.ShapeDtypeStruct((2,), dtype)
        assert struct.dtype == np.dtype(dtype)
        with pytest.raises(TypeError):
            irax.eval_shape(lambda x: x, struct)


class Shy:
    """Has an array, and no text."""

    def __call__(self):
        return 1

    def __repr__(self):
        raise ValueError("no text")

    def __jax_array__(self):
        return jnp.float32(3)


def test_objects_that_only_stand_for_something():
    assert jnp.isscalar(Shy())
    jitted = irax.jit(Shy())
    assert jitted() == 1
    assert "Shy" in repr(jitted)


def test_kinds_of_numbers_are_told_without_a_transfer():
    with irax.transfer_guard("disallow"):
        for number in (True, 1, 1.0, np.float32(1)):
            assert jnp.isrealobj(number)
        assert jnp.iscomplexobj(1j)


def test_numbers_of_parts_that_are_no_whole_numbers():
    with pytest.raises(TypeError, match=r"must be an int, got 2\.5"):
        jnp.split(np.arange(4), 2.5)


def test_masks_are_left_off_where_an_array_is_asked_for():
    masked = np.ma.array([1, 2], mask=[True, False])
    np.testing.assert_array_equal(jnp.array(masked), [1, 2])
    with pytest.raises(ValueError, match="no arrays with a mask"):
        jnp.sin(masked)
