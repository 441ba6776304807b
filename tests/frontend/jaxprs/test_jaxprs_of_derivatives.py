"""Jaxprs of what transformations make: equations in place of calls, as JAX writes them."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.core.avals import ShapedArray
from irax.extend.core import primitives
from irax.jaxprs.running import eval_jaxpr

X = np.array([0.5, -1.0, 2.0], np.float32)


def _names(f, *args):
    return [eqn.primitive.name for eqn in irax.make_jaxpr(f)(*args).eqns]


@pytest.mark.parametrize(
    ("transformed", "names"),
    [
        (irax.vmap(lambda x: jnp.sin(x) * x), ["sin", "mul"]),
        (lambda x: irax.jvp(jnp.sin, (x,), (x,)), ["sin", "cos", "mul"]),
        (irax.grad(lambda x: jnp.sum(jnp.sin(x))), ["sin", "cos", "reduce_sum"]),
        (irax.vmap(irax.grad(irax.grad(jnp.sin))), ["sin", "cos"]),
        (lambda x: irax.linearize(jnp.sin, x)[1](x), ["sin", "cos", "mul"]),
    ],
)
def test_equations_of_a_transformed_function_are_no_calls(transformed, names):
    found = _names(transformed, X)
    assert "jit" not in found
    assert found[: len(names)] == names


def test_a_derivative_of_a_jitted_function_is_jitted():
    def f(x):
        return jnp.sum(irax.jit(jnp.sin)(x))

    eqns = irax.make_jaxpr(irax.grad(f))(X).eqns
    calls = [eqn for eqn in eqns if eqn.primitive.name == "jit"]
    assert [eqn.params["name"] for eqn in calls] == ["sin", "sin"]


def test_a_function_that_is_differentiated_twice_has_its_equations_twice():
    def f(x):
        g = irax.grad(lambda x: jnp.sum(jnp.tanh(x) ** 3 * np.arange(3, dtype=np.float32)))
        return g(x) + g(2 * x)

    jaxpr = irax.make_jaxpr(f)(X)
    (found,) = eval_jaxpr(jaxpr, jaxpr.consts, X)
    np.testing.assert_allclose(found, f(X), rtol=1e-6)


def test_a_checkpoint_is_an_equation_with_the_parameters_of_jax():
    (eqn,) = irax.make_jaxpr(irax.checkpoint(jnp.sin))(X).eqns
    assert eqn.primitive is primitives.remat_p
    assert eqn.primitive.name == "remat2"
    assert eqn.params["prevent_cse"] is True
    assert [e.primitive.name for e in eqn.params["jaxpr"].eqns] == ["sin"]
    other = irax.make_jaxpr(jnp.cos)(X)
    (found,) = eqn.primitive.bind(X, **eqn.params | {"jaxpr": other})
    np.testing.assert_allclose(found, np.cos(X), rtol=1e-6)


@pytest.mark.parametrize("shape", [(1,), (3, 1), (1, 3)])
def test_a_cumulative_sum_along_one_element_is_one(shape):
    axis = shape.index(1)
    jaxpr = irax.make_jaxpr(lambda x: lax.cumsum(x, axis))(np.ones(shape, np.float32))
    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ["cumsum"]
    x = np.random.default_rng(0).normal(size=shape)
    np.testing.assert_allclose(eval_jaxpr(jaxpr, jaxpr.consts, x.astype(np.float32))[0], x)


def test_primitives_of_the_library_compute_and_tell_types():
    aval = ShapedArray((3,), np.float32)
    assert primitives.sin_p.abstract_eval(aval)[0] == aval
    assert primitives.copy_p.abstract_eval(aval)[0] == aval
    assert primitives.top_k_p.abstract_eval(aval, k=2)[0][1].shape == (2,)
    np.testing.assert_allclose(primitives.integer_pow_p.bind(X, y=3), X**3)
    assert primitives.argmax_p.bind(X, axes=(0,), index_dtype=np.int32) == 2
    first, rest = primitives.split_p.bind(X, sizes=(1, 2), axis=0)
    np.testing.assert_array_equal(first, X[:1])
    np.testing.assert_array_equal(rest, X[1:])
    total = irax.vmap(
        lambda x: primitives.psum_p.bind(x, axes=("i",), axis_index_groups=None)[0], axis_name="i"
    )
    np.testing.assert_allclose(total(X), np.full(3, X.sum()))
    slope = irax.jit(irax.grad(lambda x: jnp.sum(primitives.copy_p.bind(x) ** 2)))
    np.testing.assert_allclose(slope(X), 2 * X)
