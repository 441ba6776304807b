"""custom_vmap and sequential_vmap."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax.custom_batching import custom_vmap, sequential_vmap
from irax_compiler.ops.core import UnsupportedOp

X = jnp.arange(6.0).reshape(3, 2)


def ruled(calls):
    """A function whose rule adds 100, so that it can be told apart, and notes how it was called."""

    @custom_vmap
    def f(tree, y=1.0):
        return {"sum": tree["x"] + y, "y": y}

    @f.def_vmap
    def rule(axis_size, in_batched, tree, y):
        calls.append((axis_size, in_batched, jnp.shape(tree["x"]), jnp.shape(y)))
        has_lanes = in_batched[0]["x"] or in_batched[1]
        x = tree["x"] if in_batched[0]["x"] or not in_batched[1] else tree["x"][None]
        y_out = y if in_batched[1] else jnp.asarray(y)
        inner = y.reshape(axis_size, *[1] * (x.ndim - 1)) if in_batched[1] else y
        return {"sum": x + inner + 100, "y": y_out}, {"sum": has_lanes, "y": in_batched[1]}

    return f


def test_the_rule_is_called_with_lanes_first():
    calls = []
    f = ruled(calls)
    assert f({"x": 1.0})["sum"] == 2
    found = irax.vmap(f, in_axes=({"x": 1}, None))({"x": X}, 3.0)
    np.testing.assert_array_equal(found["sum"], X.T + 103)
    np.testing.assert_array_equal(found["y"], [3, 3])
    assert calls == [(2, [{"x": True}, False], (2, 3), ())]
    compiled = irax.jit(irax.vmap(f, in_axes=(None, 0)))({"x": X}, jnp.arange(2.0))
    np.testing.assert_array_equal(compiled["sum"], X + np.arange(2.0)[:, None, None] + 100)


def test_within_other_transformations():
    f = ruled([])

    def g(x):
        return irax.vmap(lambda row: f({"x": row})["sum"])(x).sum()

    assert g(X) == irax.jit(g)(X) == np.sum(np.asarray(X) + 101)
    np.testing.assert_array_equal(irax.grad(g)(X), np.ones((3, 2)))
    nested = irax.vmap(irax.vmap(lambda x: f({"x": x})["sum"]))(X)
    assert nested.shape == (3, 2)


def test_values_from_outside():
    big, scale = jnp.arange(40.0), 2.0

    @custom_vmap
    def f(x):
        return x * big[3] * scale

    f.def_vmap(lambda n, batched, x: (x * big[3] * scale + 1, True))
    np.testing.assert_array_equal(irax.vmap(f)(X[:, 0]), np.asarray(X[:, 0]) * 6 + 1)

    def leaks(y):
        g = custom_vmap(lambda x: x)
        g.def_vmap(lambda n, batched, x: (x * y, True))
        return irax.vmap(g)(X)

    with pytest.raises(UnsupportedOp, match="traced value from outside"):
        irax.jit(leaks).trace(1.0)


@pytest.mark.parametrize(
    ("rule", "error", "message"),
    [
        (None, AttributeError, "no rule yet"),
        (lambda n, batched, x: x, TypeError, "must return a pair"),
        (lambda n, batched, x: (x[0], True), ValueError, "said to have 3 lanes"),
        (lambda n, batched, x: (x, [True, True]), ValueError, "out_batched"),
        (lambda n, batched, x: ([x], True), ValueError, "expected that of the function's result"),
    ],
)
def test_errors(rule, error, message):
    f = custom_vmap(lambda x: x)
    if rule is not None:
        f.def_vmap(rule)
    with pytest.raises(error, match=message):
        irax.vmap(f)(X)


def test_sequentially():
    seen = []

    @sequential_vmap
    def f(x, y):
        irax.debug.callback(lambda x: seen.append(x.shape), x)
        return x * y

    np.testing.assert_array_equal(irax.vmap(f, in_axes=(0, None))(X, 2.0), 2 * np.asarray(X))
    assert seen == [(2,)] * 3


@pytest.mark.parametrize("order", [("def_vmap", "defjvp"), ("defjvp", "def_vmap")])
@pytest.mark.parametrize("outer_first", [False, True])
def test_rules_of_other_kinds_go_to_the_function_inside(order, outer_first):
    wraps = [irax.custom_jvp, irax.custom_batching.custom_vmap]
    f = jnp.sin
    for wrap in reversed(wraps) if outer_first else wraps:
        f = wrap(f)
    rules = {
        "def_vmap": lambda size, batched, x: (jnp.sin(x) + 10.0, batched[0]),
        "defjvp": lambda primals, tangents: (f(*primals), 3.0 * tangents[0]),
    }
    for name in order:
        getattr(f, name)(rules[name])
    x = jnp.arange(2.0)
    np.testing.assert_allclose(irax.vmap(f)(x), np.sin(x) + 10.0, rtol=1e-6)
    _, tangent = irax.jvp(f, (1.0,), (2.0,))
    assert float(tangent) == 6.0


def test_other_names_are_not_there():
    with pytest.raises(AttributeError, match="no attribute 'define'"):
        irax.custom_jvp(jnp.sin).define  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'rule'"):
        irax.custom_batching.custom_vmap(jnp.sin).rule  # noqa: B018


# ---- derivatives in forward mode -----------------------------------------------------------------


@custom_vmap
def scaled_sine(x, y):
    return {"product": jnp.sin(x) * y, "count": 3}


@scaled_sine.def_vmap
def scaled_sine_rule(size, in_batched, x, y):
    found = {"product": 10.0 * jnp.cos(x) * y, "count": jnp.full((size,), 3)}
    return found, {"product": True, "count": True}


POINTS, T = jnp.array([0.0, 0.5]), jnp.array([1.0, 2.0])
COS, SIN = np.cos([0.0, 0.5]), np.sin([0.0, 0.5])


@pytest.mark.parametrize("jit", [False, True])
def test_lanes_of_a_jvp_are_those_of_the_derivative_of_the_rule(jit):
    def derivative(x, t):
        out, moved = irax.jvp(lambda x: scaled_sine(x, 2.0), (x,), (t,))
        return out["product"], moved["product"]

    lanes = irax.vmap(derivative)
    out, moved = (irax.jit(lanes) if jit else lanes)(POINTS, T)
    np.testing.assert_allclose(out, 20 * COS, rtol=1e-5)
    np.testing.assert_allclose(moved, -20 * SIN * T, rtol=1e-5)
    # One of the two has no lanes of its own.
    np.testing.assert_allclose(
        irax.vmap(derivative, (0, None))(POINTS, 3.0)[1], -60 * SIN, rtol=1e-5
    )
    np.testing.assert_allclose(irax.vmap(derivative, (None, 0))(0.5, T)[0], 20 * COS[1], rtol=1e-5)
    np.testing.assert_allclose(derivative(0.5, 1.0)[1], 2 * COS[1], rtol=1e-6)


def test_second_derivatives_and_values_from_outside():
    scale = jnp.float32(7.0)

    @custom_vmap
    def f(x):
        return scale * x

    f.def_vmap(lambda size, in_batched, x: (scale * x**3, in_batched[0]))
    once = lambda x: irax.jvp(f, (x,), (1.0,))[1]
    twice = lambda x: irax.jvp(once, (x,), (1.0,))[1]
    np.testing.assert_allclose(irax.vmap(once)(T), 21 * np.asarray(T) ** 2)
    np.testing.assert_allclose(irax.vmap(twice)(T), 42 * np.asarray(T))
    assert irax.grad(f)(1.0) == 7.0
    np.testing.assert_allclose(irax.vmap(irax.grad(f))(T), [7.0, 7.0])


def test_the_value_beside_a_jacobian_has_no_lanes():
    f = custom_vmap(jnp.sin)
    f.def_vmap(lambda size, in_batched, x: (10 * jnp.cos(x), in_batched[0]))
    x = jnp.arange(3.0)
    expected = -10 * np.sin(x)
    np.testing.assert_allclose(irax.vmap(irax.jacfwd(f))(x), expected, rtol=1e-6)


@pytest.mark.parametrize("kind", ["jvp", "vjp"])
def test_rules_of_lanes_that_have_derivative_rules(kind):
    """The lanes of a derivative are those of the derivative of the rule for lanes."""
    if kind == "jvp":
        cosine = irax.custom_jvp(jnp.cos)
        cosine.defjvps(lambda t, _, x: -10 * t * jnp.sin(x))
    else:
        cosine = irax.custom_vjp(jnp.cos)
        cosine.defvjp(lambda x: (jnp.cos(x), x), lambda x, ct: (-10 * ct * jnp.sin(x),))
    f = custom_vmap(jnp.sin)
    f.def_vmap(lambda size, is_mapped, x: (cosine(x), is_mapped[0]))
    x = np.arange(3, dtype=np.float32)
    if kind == "jvp":
        values, tangents = irax.vmap(lambda x, t: irax.jvp(f, (x,), (t,)))(x, x + 1)
        np.testing.assert_allclose(values, np.cos(x), rtol=1e-6)
        np.testing.assert_allclose(tangents, -10 * np.sin(x) * (x + 1), rtol=1e-6)
    found = irax.grad(lambda x: irax.vmap(f)(x).sum())(x)
    np.testing.assert_allclose(found, -10 * np.sin(x), rtol=1e-6)
