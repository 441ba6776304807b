"""Traces of the user's own, as interpreters of JAX's libraries write them."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.compat.jax import core
from irax.extend.core import set_current_trace, take_current_trace

pytestmark = pytest.mark.filterwarnings("ignore:jax.core.trace_state_clean")  # gone in JAX 0.12

X = np.array([1.0, 2.0, 3.0], np.float32)


class Seen(core.Tracer):
    def __init__(self, trace, held):
        super().__init__(trace, irax.typeof(held))
        self.held = held


class Watching(core.Trace):
    """Does what the trace around does, and writes down the primitives."""

    def __init__(self, around, names):
        super().__init__()
        self.around, self.names = around, names

    def held(self, x):
        return x.held if isinstance(x, Seen) and x._trace is self else x

    def process_primitive(self, primitive, tracers, params):
        self.names.append(str(primitive))
        given = [self.held(x) for x in tracers]
        found = primitive.bind_with_trace(self.around, given, list(map(irax.typeof, given)), params)
        several = primitive.multiple_results
        return [Seen(self, x) for x in found] if several else Seen(self, found)


def watched(function, names=None):
    def called(*args):
        with take_current_trace() as around:
            trace = Watching(around, [] if names is None else names)
            with set_current_trace(trace):
                out = function(*(Seen(trace, x) for x in args))
            return irax.tree.map(trace.held, out)

    return called


PROGRAMS = {
    "operators": (lambda x: jnp.sin(x) * 2 + x, np.sin(X) * 2 + X, ["sin", "mul", "add"]),
    "jit": (irax.jit(lambda x: x * 2), X * 2, ["jit"]),
    "scan": (lambda x: lax.scan(lambda c, r: (c + r, c * r), 0.0, x)[1], [0, 2, 9], ["scan"]),
    "while": (lambda x: lax.while_loop(lambda c: c[0] < 10, lambda c: c * 2, x), X * 16, ["while"]),
    "counted": (
        lambda x: lax.fori_loop(0, x[2].astype(int), lambda i, c: c + i, x),
        X + 3,
        ["while"],
    ),
    "cond": (lambda x: lax.cond(x[0] > 0, jnp.negative, jnp.abs, x), -X, ["gt", "cond"]),
    "switch": (lambda x: lax.switch(x[0].astype(int), [jnp.abs, jnp.negative], x), -X, ["cond"]),
    "grad": (irax.grad(lambda x: jnp.sum(x**3)), 3 * X**2, ["mul"]),
    "vmap": (irax.vmap(lambda x: x * 2 + 1), X * 2 + 1, ["mul", "add"]),
    "update": (lambda x: x.at[1].set(5.0)[::-1], [3, 5, 1], ["rev"]),
    "constants": (lambda x: jnp.arange(3.0), [0, 1, 2], ["iota"]),
    "none": (lambda x: jnp.float32(len(x)), 3, []),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_operations_go_to_the_trace(name):
    function, expected, primitives = PROGRAMS[name]
    seen = []
    np.testing.assert_allclose(watched(function, seen)(X), expected, rtol=1e-6)
    assert set(primitives) <= set(seen)
    np.testing.assert_allclose(watched(watched(function))(X), expected, rtol=1e-6)
    np.testing.assert_allclose(irax.jit(watched(function))(X), expected, rtol=1e-6)
    assert core.trace_state_clean()


def test_transformations_around_a_trace():
    np.testing.assert_allclose(irax.vmap(watched(lambda x: x * 2))(X), X * 2)
    slope = irax.grad(lambda x: watched(lambda x: jnp.sum(jnp.sin(x) * x))(x))(X)
    np.testing.assert_allclose(slope, np.cos(X) * X + np.sin(X), rtol=1e-6)


def test_rules_stay_with_their_functions():
    @irax.custom_jvp
    def double(x):
        return x * 2

    double.defjvp(lambda primals, tangents: (primals[0] * 2, tangents[0] * 7))
    np.testing.assert_array_equal(irax.grad(lambda x: watched(double)(x).sum())(X), [7, 7, 7])


def test_tracers_hold_no_elements():
    for needs in (float, bool, lambda x: np.asarray(x)):
        with pytest.raises(TypeError, match=r"Seen<float32\[\]> is not known"):
            watched(lambda x, needs=needs: needs(x[0]))(X)
    assert isinstance(watched(lambda x: jnp.ones(2))(X), irax.Array)


def test_blocks_of_traces():
    with take_current_trace() as outside, set_current_trace(outside):
        assert jnp.ones(2).sum() == 2
    assert isinstance(outside, core.Trace)
    with pytest.raises(TypeError, match="process_primitive"), set_current_trace("a name"):
        pass

    def kinds(x):
        with take_current_trace() as around, set_current_trace(around):
            return isinstance(x, core.Tracer), isinstance(x, Seen), x + 1

    is_tracer, is_seen, more = irax.jit(kinds)(X)
    assert (is_tracer, is_seen) == (True, False)
    np.testing.assert_array_equal(more, X + 1)
