"""Jaxprs of functions that touch Refs."""

import numpy as np

import irax
import irax.numpy as jnp
from irax.jaxprs.running import jaxpr_as_fun


def test_refs_from_outside_and_refs_that_are_arguments():
    ref, read = irax.new_ref(jnp.zeros(3)), irax.new_ref(2.0)

    def f(x, own):
        ref[0] += x
        own[...] = read[...] * ref[0]
        return {"sum": x + own[...]}

    closed, shapes = irax.make_jaxpr(f, return_shape=True)(1.0, irax.new_ref(5.0))
    assert ref[...].tolist() == [0, 0, 0]
    assert shapes["sum"].shape == ()
    assert closed.consts == [ref, read]
    assert [str(a) for a in closed.in_avals] == ["float32[] (weak)", "Ref{float32[]}"]
    assert [e.primitive.name for e in closed.eqns].count("swap") == 2
    text = str(closed)
    assert text.startswith("{ lambda a:Ref{f32[3]} b:Ref{f32[]}; c:f32[] d:Ref{f32[]}. let")
    assert " <- a[...]" in text
    assert "a[...] <- " in text
    assert "b[...] <- " not in text  # it is only read
    for function in (jaxpr_as_fun(closed), irax.jit(jaxpr_as_fun(closed))):
        ref[...] = jnp.zeros(3)
        own = irax.new_ref(0.0)
        assert function(3.0, own) == [9]
        assert (own[...], ref[...].tolist()) == (6, [3, 0, 0])


def test_functions_that_touch_none_are_as_without_refs():
    def f(x):
        return jnp.sin(x) + 1

    alone = str(irax.make_jaxpr(f)(np.ones(2)))
    ref = irax.new_ref(0.0)
    assert str(irax.make_jaxpr(f)(np.ones(2))) == alone
    assert ref[...] == 0
