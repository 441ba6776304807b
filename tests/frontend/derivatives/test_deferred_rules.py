"""Derivative rules run when a derivative is taken, and only then."""

import functools
import re
import types
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax

X = jnp.arange(1.0, 4.0)


class Noting:
    """10 x as the derivative of x, by rules that note when they run."""

    def __init__(self, kind):
        self.ran = []
        if kind == "jvp":
            self.f = irax.custom_jvp(lambda x: x * 1)
            self.f.defjvp(self.jvp)
        else:
            self.f = irax.custom_vjp(lambda x: x * 1)
            self.f.defvjp(self.fwd, self.bwd)

    def jvp(self, primals, tangents):
        self.ran.append("jvp")
        return self.f(*primals), 10 * primals[0] * tangents[0]

    def fwd(self, x):
        self.ran.append("fwd")
        return self.f(x), x

    def bwd(self, x, ct):
        self.ran.append("bwd")
        return (10 * x * ct,)


def loaded_elsewhere(function):
    """A function as a process that has none of its Python functions reads it from a file."""
    text = str(irax.make_ir(function)(1.0))
    return irax.ir.load(re.sub(r'rules = "[^"]*"', 'rules = "of another process"', text))


KINDS = {"jvp": ["jvp"], "vjp": ["fwd", "bwd"]}
PRIMAL = {
    "jit": lambda f: irax.jit(f)(2.0),
    "vmap": lambda f: irax.vmap(f)(X)[1],
    "scan": lambda f: lax.scan(lambda c, _: (f(c), None), 2.0, None, 3)[0],
    "while": lambda f: lax.while_loop(lambda c: c < 2, lambda c: f(c) + 1, 0.0),
    "derivative of something else": lambda f: irax.grad(lambda x: x * f(lax.stop_gradient(x)))(2.0),
    "checkpoint": lambda f: irax.checkpoint(f)(2.0),
}


@pytest.mark.parametrize("run", PRIMAL.values(), ids=PRIMAL)
@pytest.mark.parametrize("kind", KINDS)
def test_no_rule_runs_without_a_derivative(kind, run):
    noting = Noting(kind)
    assert run(noting.f) == 2
    assert noting.ran == []


@pytest.mark.parametrize("kind, expected", KINDS.items())
def test_each_rule_runs_once_for_a_derivative(kind, expected):
    for wrap in (lambda f: f, irax.jit, irax.checkpoint):
        noting = Noting(kind)
        assert irax.grad(wrap(noting.f))(2.0) == 20
        assert noting.ran == expected
    noting = Noting(kind)
    np.testing.assert_array_equal(irax.grad(lambda x: irax.vmap(noting.f)(x).sum())(X), 10 * X)
    assert noting.ran == expected


def test_backward_rules_wait_for_a_cotangent():
    noting = Noting("vjp")
    assert irax.grad(lambda x: (noting.f(x), x)[1])(2.0) == 1
    assert noting.ran == ["fwd"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("transform", [lambda f: f, irax.jit])
def test_rules_that_call_their_function_with_another_one(kind, transform):
    """Each rule makes a function of its own, so tracing them all would not end."""

    def apply(g, x):
        return g(x)

    if kind == "jvp":
        f = irax.custom_jvp(apply, nondiff_argnums=(0,))
        f.defjvp(lambda g, p, t: (f(g, *p), f(lambda x: 2 * g(x), *p) * t[0]))
    else:
        f = irax.custom_vjp(apply, nondiff_argnums=(0,))
        f.defvjp(
            lambda g, x: (f(g, x), x),
            lambda g, x, ct: (f(lambda x: 2 * g(x), x) * ct,),
        )

    def main(x):
        return f(jnp.sin, x)

    np.testing.assert_allclose(transform(irax.grad(main))(1.0), 2 * np.sin(1), rtol=1e-6)
    second = transform(irax.grad(irax.grad(main)))(1.0)
    np.testing.assert_allclose(second, 4 * np.sin(1), rtol=1e-6)
    loaded = loaded_elsewhere(main)
    np.testing.assert_allclose(irax.grad(loaded)(1.0), 2 * np.sin(1), rtol=1e-6)
    with pytest.raises(NotImplementedError, match="Python functions of the process"):
        irax.grad(irax.grad(loaded))(1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_dumped_module_keeps_rules_that_make_an_equal_function_each_time(kind):
    def apply(g, x):
        return g(x)

    def f(x):
        return ruled(lambda x: 2 * jnp.sin(x), x)

    if kind == "jvp":
        ruled = irax.custom_jvp(apply, nondiff_argnums=(0,))
        ruled.defjvp(lambda g, p, t: (f(*p), 3 * f(*p) * t[0]))
    else:
        ruled = irax.custom_vjp(apply, nondiff_argnums=(0,))
        ruled.defvjp(lambda g, x: (f(x), x), lambda g, x, ct: (3 * f(x) * ct,))
    loaded = loaded_elsewhere(f)
    np.testing.assert_allclose(irax.grad(loaded)(1.0), 6 * np.sin(1), rtol=1e-6)
    np.testing.assert_allclose(irax.grad(irax.grad(loaded))(1.0), 18 * np.sin(1), rtol=1e-6)


def test_a_dumped_module_keeps_rules_of_lanes_and_loops():
    def main(f, x):
        lanes = irax.vmap(f)(x)
        return lax.scan(lambda c, row: (c + f(row), None), 0.0, lanes)[0]

    for kind in KINDS:
        f = Noting(kind).f
        loaded = irax.ir.load(str(irax.make_ir(functools.partial(main, f))(X)))
        np.testing.assert_array_equal(irax.grad(loaded)(X), 100 * X**2)
        second = irax.grad(lambda x, loaded=loaded: irax.grad(loaded)(x).sum())(X)
        np.testing.assert_allclose(second, 1000 * X**2 + 100 * X, rtol=1e-6)


def test_dumping_runs_no_rule_that_raises():
    f = irax.custom_jvp(lambda x: 2 * x)

    @f.defjvp
    def _(primals, tangents):
        raise RuntimeError("no derivative here")

    loaded = loaded_elsewhere(lambda x: f(x))
    assert loaded(3.0) == 6
    with pytest.raises(NotImplementedError, match="Python functions of the process"):
        irax.grad(loaded)(1.0)
    with pytest.raises(RuntimeError, match="no derivative here"):
        irax.grad(f)(1.0)


def scaled(kind):
    """x, with a derivative that is ten times a traced value which only the rules use."""

    def outer(x, z):
        if kind == "jvp":
            f = irax.custom_jvp(lambda x: x * 1)
            f.defjvp(lambda p, t: (f(*p), 10 * z * t[0]))
        elif kind == "fwd":
            f = irax.custom_vjp(lambda x: x * 1)
            f.defvjp(lambda x: (f(x), z), lambda kept, ct: (10 * kept * ct,))
        elif kind == "bwd":
            f = irax.custom_vjp(lambda x: x * 1)
            held = {"z": [z]}
            f.defvjp(lambda x: (f(x), None), lambda _, ct: (10 * held["z"][0] * ct,))
        elif kind == "module":
            f = irax.custom_jvp(lambda x: x * 1)
            settings.scale, settings.itself = z, settings
            f.defjvp(lambda p, t: (f(*p), 10 * settings.itself.scale * t[0]))
        else:
            f = irax.custom_vjp(lambda x: x * 1)
            GLOBAL["z"] = z
            f.defvjp(lambda x: (f(x), None), lambda _, ct: (10 * (lambda: of_global())() * ct,))
        return f(x)

    return outer


GLOBAL = {}
settings: Any = types.ModuleType("settings_of_a_model")


def of_global():
    return GLOBAL["z"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["jvp", "fwd", "bwd", "global", "module"])
def test_rules_that_close_over_traced_values(kind):
    f = scaled(kind)
    np.testing.assert_array_equal(irax.vmap(irax.grad(f))(X, X), 10 * X)
    np.testing.assert_array_equal(irax.grad(lambda x: irax.vmap(f)(x, X).sum())(X), 10 * X)
    assert irax.jit(irax.grad(f))(2.0, 3.0) == 30
    assert irax.grad(irax.jit(f))(2.0, 3.0) == 30
    assert irax.grad(lambda x: irax.jit(lambda z: f(x, z))(3.0))(2.0) == 30
    found = irax.vmap(lambda z: irax.grad(irax.grad(lambda x: f(x, z) * x))(2.0))(X)
    np.testing.assert_array_equal(found, 20 * X)
    assert irax.grad(lambda z: irax.grad(f)(2.0, z))(2.0) == 10


def test_rules_use_large_arrays_from_outside():
    matrix = jnp.arange(100.0).reshape(10, 10)
    f = irax.custom_jvp(lambda x: x)
    f.defjvp(lambda p, t: (f(*p), matrix @ t[0]))
    for gradient in (irax.grad(lambda x: f(x).sum()), irax.jit(irax.grad(lambda x: f(x).sum()))):
        np.testing.assert_array_equal(gradient(jnp.ones(10)), np.sum(matrix, 0))


@pytest.mark.parametrize("kind", KINDS)
def test_rules_know_the_axes_around_their_call(kind):
    def lane(x):
        if kind == "jvp":
            f = irax.custom_jvp(lambda x: x)
            f.defjvp(lambda p, t: (f(*p), lax.psum(p[0], "i") * t[0]))
        else:
            f = irax.custom_vjp(lambda x: x)
            f.defvjp(lambda x: (f(x), lax.psum(x, "i")), lambda kept, ct: (kept * ct,))
        return f(x)

    mapped = irax.vmap(lane, axis_name="i")
    np.testing.assert_array_equal(irax.grad(lambda x: mapped(x).sum())(X), np.full(3, 6.0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_rules_leak_nothing(kind):
    f = Noting(kind).f
    with irax.checking_leaks():
        assert irax.grad(lambda x: f(f(x)))(2.0) == 400
        assert irax.jit(irax.grad(f))(2.0) == 20


def test_rules_that_use_each_other():
    """The derivatives of all orders are not written into the module."""

    @irax.custom_jvp
    def sine(x):
        return jnp.sin(x)

    @irax.custom_jvp
    def cosine(x):
        return jnp.cos(x)

    sine.defjvps(lambda dx, _, x: dx * cosine(x))
    cosine.defjvps(lambda dx, _, x: -dx * sine(x))
    module = str(irax.make_ir(lambda x: sine(2 * x))(1.0))
    assert module.count("stablehlo.cosine") < 4
    assert irax.grad(irax.grad(sine))(1.0) == pytest.approx(-np.sin(1))


@pytest.mark.parametrize("kind", KINDS)
def test_rules_take_the_index_of_their_lane(kind):
    """It has no operand that would tell that it is traced."""

    def weighted(x):
        return x * lax.axis_index("i").astype(x.dtype)

    if kind == "jvp":
        f = irax.custom_jvp(weighted)
        f.defjvp(lambda primals, tangents: (f(*primals), weighted(*tangents)))
    else:
        f = irax.custom_vjp(weighted)
        f.defvjp(lambda x: (f(x), None), lambda _, ct: (weighted(ct),))
    mapped = irax.vmap(f, axis_name="i")
    np.testing.assert_array_equal(irax.grad(lambda x: mapped(x).sum())(X), [0, 1, 2])
    np.testing.assert_array_equal(irax.vmap(irax.grad(f), axis_name="i")(X), [0, 1, 2])
    if kind == "jvp":
        np.testing.assert_array_equal(irax.jvp(mapped, (X,), (X,))[1], X * np.arange(3))


def test_results_that_lanes_share_have_one_cotangent():
    """The numbers are those of JAX 0.12; where it refuses, those of the function without rules."""
    x, summed = jnp.arange(1.0, 4.0), functools.partial(sum, start=0.0)
    seen = []

    @irax.custom_vjp
    def kept(x, w):
        return x + w, 2 * w

    def bwd(_, cts):
        seen.append(jnp.shape(cts[1]))
        return cts[0], cts[1] ** 2

    kept.defvjp(lambda x, w: (kept(x, w), None), bwd)

    def total(w, out_axes=0):
        return summed(o.sum() for o in irax.vmap(kept, (0, None), out_axes)(x, w))

    for program in (
        irax.grad(total),
        irax.jit(irax.grad(total)),
        irax.grad(irax.checkpoint(total)),
    ):
        assert program(2.0) == 9
    assert irax.grad(lambda w: total(w, (0, None)))(2.0) == 1
    rows = irax.grad(
        lambda w: summed(o.sum() for o in irax.vmap(irax.vmap(kept, (0, None)), (None, 0))(x, w))
    )
    assert rows(jnp.ones(2)).tolist() == [9, 9]
    assert (
        irax.vmap(irax.grad(lambda w, x: summed(kept(x, w))), (None, 0))(2.0, x).tolist() == [1] * 3
    )
    assert set(seen) == {()}

    @irax.custom_vjp
    def joined(v):
        return lax.psum(v, "lanes")

    joined.defvjp(lambda v: (joined(v), None), lambda _, ct: (ct,))
    lanes = irax.vmap(lambda v: joined(v) * v, axis_name="lanes")
    assert irax.grad(lambda x: lanes(x).sum())(x).tolist() == [12, 12, 12]

    @irax.custom_vjp
    def exact(x, y):
        return x * y, 3 * y

    exact.defvjp(
        lambda x, y: (exact(x, y), (x, y)), lambda r, ct: (ct[0] * r[1], ct[0] * r[0] + 3 * ct[1])
    )

    def squares(y):
        return summed((o**2).sum() for o in irax.vmap(exact, (0, None))(x, y))

    assert irax.grad(squares)(2.0) == 164
    assert irax.grad(irax.grad(squares))(2.0) == 82

    @irax.custom_vjp
    def constant(x, w):
        return x * w

    constant.defvjp(lambda x, w: (x * w, (x, w)), lambda r, ct: (ct * r[1], jnp.full_like(r[1], 5)))
    assert irax.grad(lambda w: irax.vmap(constant, (0, None))(x, w).sum())(2.0) == 5


def strictly(f):
    def called(x):
        with irax.numpy_dtype_promotion("strict"):
            return f(x)

    return called


def repeated(f):
    return lambda x: lax.scan(lambda c, _: (f(c), None), x, None, 2)[0]


def of_lanes(f):
    return lambda x: irax.vmap(f)(jnp.stack([x, x])).sum()


WHERE = {
    "grad": (lambda f: irax.grad(strictly(f)), "strict"),
    "jit of grad": (lambda f: irax.jit(irax.grad(strictly(f))), "strict"),
    "jit within": (lambda f: irax.jit(irax.grad(strictly(irax.jit(f)))), "strict"),
    "within jit": (lambda f: irax.jit(irax.grad(irax.jit(strictly(f)))), "standard"),
    "lanes": (lambda f: irax.jit(irax.grad(of_lanes(strictly(f)))), "strict"),
    "a loop within": (lambda f: irax.jit(irax.grad(strictly(repeated(f)))), "strict"),
    "within a loop": (lambda f: irax.grad(repeated(strictly(f))), "standard"),
    "checkpoint": (lambda f: irax.grad(irax.checkpoint(strictly(f))), "standard"),
    "second": (lambda f: irax.jit(irax.grad(irax.grad(strictly(f)))), "strict"),
}
"""Derivatives, and the options that JAX's rules run under: where a staged function is called."""


@pytest.mark.parametrize(("derivative", "expected"), WHERE.values(), ids=WHERE)
def test_rules_run_under_the_options_of_the_call(derivative, expected):
    found = []

    def note():
        found.append(irax.config.numpy_dtype_promotion)

    f = irax.custom_jvp(lambda x: x * x)
    f.defjvp(lambda x, t: (note(), (f(*x), 2 * x[0] * t[0]))[1])
    g = irax.custom_vjp(lambda x: x * x)
    g.defvjp(lambda x: (note(), (x * x, x))[1], lambda x, ct: (note(), (2 * x * ct,))[1])
    derivative(f)(1.0)
    assert set(found) == {expected}
    found.clear()
    derivative(g)(1.0)  # the backward pass is no part of the call
    assert set(found) == {expected, "standard"}
    assert found[0] == expected


@pytest.mark.parametrize("staged", [True, False])
def test_rules_compute_with_constants_as_their_function_does(staged):
    found = []  # a linearization keeps other residuals of constants, and may be returned

    def scaled(x):
        two = jnp.ones(()) + 1
        found.append(isinstance(two, irax.core.Tracer))
        return two * x

    f = irax.custom_jvp(scaled)
    f.defjvp(lambda x, t: (scaled(*x), 2.0 * t[0]))
    assert irax.grad(irax.jit(f) if staged else f)(3.0) == 2.0
    assert set(found) == {staged}
