"""Loops that call the host in few of their steps: the calls are those of the plain loop."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax

N = 50


def noting(when, seen, fails=False):
    def note(x):
        seen.append(float(x))
        if fails:
            raise ValueError("too large")

    def body(carry):
        i, x = carry
        x = x + 3 - lax.cond(x > 40, lambda: 40.0, lambda: 0.0)

        def host():
            irax.debug.callback(note, x, ordered=True)
            return x + 1

        return i + 1, lax.cond(when(i), host, lambda: x)

    return body


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "when",
    [
        lambda i: i % 7 == 3,
        lambda i: i >= 0,
        lambda i: i == N - 1,
        lambda i: i < 0,
        lambda i: i == 0,
    ],
)
@pytest.mark.parametrize("is_scan", [False, True])
def test_calls_are_those_of_each_step(when, is_scan):
    def loop(body, x):
        if is_scan:
            return lax.scan(lambda c, _: (body(c), None), (0, x), length=N)[0]
        return lax.while_loop(lambda c: c[0] < N, body, (0, x))

    seen: list[float] = []
    found = irax.jit(lambda x: loop(noting(when, seen), x))(jnp.float32(1))
    irax.effects_barrier()
    expected_seen: list[float] = []
    with irax.disable_jit():
        expected = loop(noting(when, expected_seen), jnp.float32(1))
    irax.effects_barrier()
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(seen, expected_seen)


def test_an_exception_ends_the_loop():
    seen: list[float] = []
    body = noting(lambda i: i == 5, seen, fails=True)
    f = irax.jit(lambda x: lax.while_loop(lambda c: c[0] < N, body, (0, x)))
    with pytest.raises(ValueError, match="too large"):
        f(jnp.float32(1))
    assert len(seen) == 1


def test_the_steps_without_a_call_are_a_kernel():
    f = irax.jit(lambda x: lax.while_loop(lambda c: c[0] < N, noting(lambda i: i == 5, []), (0, x)))
    text = f.lower(jnp.float32(1)).as_text("peel-host-calls")
    assert text.count("stablehlo.while") == 3
    assert f.lower(jnp.float32(1)).as_text("loops").count("stablehlo.while") == 1


# ---- forms of programs ---------------------------------------------------------------------------

Call = Callable[[str, Any], Any]
"""Tells the host a name and a number, which it returns."""


def two_calls(call: Call, x):
    def body(carry):
        i, x = carry
        x = lax.cond(i % 7 == 3, lambda: call("a", x) + 1, lambda: x * 1.5)
        return i + 1, lax.cond(x > 30, lambda: call("b", x) - 30, lambda: x)

    return lax.while_loop(lambda c: c[0] < N, body, (0, x))


def two_calls_of_a_branch(call: Call, x):
    def body(carry):
        i, x = carry
        host = lambda x: call("b", call("a", x) * 0.5)
        return i + 1, lax.cond(i % 5 == 4, host, lambda x: x + 0.5, x)

    return lax.while_loop(lambda c: c[0] < N, body, (0, x))


def switch(call: Call, x):
    def body(carry):
        i, x = carry
        branches = [
            lambda x: x + 1,
            lambda x: call("a", x),
            lambda x: x * 1.25,
            lambda x: call("b", x) - 2,
            lambda x: -x,
        ]
        return i + 1, lax.switch(i % 5, branches, x)

    return lax.while_loop(lambda c: c[0] < N, body, (0, x))


def branch_in_branch(call: Call, x):
    def body(carry):
        i, x = carry

        def deep(x):
            return lax.cond(x > 4, lambda x: call("a", x) - 7, lambda x: x + 2, x)

        def other(x):
            return lax.cond(i == 10, lambda x: call("b", x), lambda x: x, x)

        return i + 1, lax.cond(i % 3 == 0, deep, other, x)

    return lax.while_loop(lambda c: c[0] < N, body, (0, x))


def loop_in_loop(call: Call, x):
    def body(i, x):
        def inner(j, x):
            return lax.cond((i + j) % 9 == 8, lambda x: call("a", x), lambda x: x + 0.25, x)

        x = lax.fori_loop(0, 4, inner, x)
        return lax.cond(i % 7 == 6, lambda x: call("b", x) * 0.5, lambda x: x, x)

    return lax.fori_loop(0, N, body, x)


def loop_before_branch(call: Call, x):
    def body(i, x):
        x = lax.fori_loop(0, i % 4, lambda _, x: x * 1.1, x)
        return lax.cond(x > 5, lambda x: call("a", x) - 5, lambda x: x, x)

    return lax.fori_loop(0, N, body, x)


def loop_in_branch(call: Call, x):
    def body(i, x):
        def inner(j, x):
            return lax.cond(j == i % 5, lambda x: call("a", x), lambda x: x * 0.9, x)

        return lax.cond(i % 4 == 1, lambda x: lax.fori_loop(0, 3, inner, x), lambda x: x + 1, x)

    return lax.fori_loop(0, N, body, x)


def scan(call: Call, x):
    def body(c, y):
        c = lax.cond(y > 2, lambda c: call("a", c) - 1, lambda c: c + y, c)
        c = lax.cond(c < 0, lambda c: call("b", c) + 5, lambda c: c, c)
        return c, (c, y * c)

    return lax.scan(body, x, jnp.sin(jnp.arange(20.0) * x) * 3)


def update(call: Call, x):
    def body(carry):
        i, x = carry
        x = x.at[i % 4].add(1.0)
        return i + 1, lax.cond(x[i % 4] > 2.5, lambda x: x * call("a", 0.5), lambda x: x, x)

    return lax.while_loop(lambda c: c[0] < N, body, (0, x * jnp.ones(4)))


FORMS = [
    two_calls,
    two_calls_of_a_branch,
    switch,
    branch_in_branch,
    loop_in_loop,
    loop_before_branch,
    loop_in_branch,
    scan,
    update,
]
STAGES = ["stablehlo", "peel-host-calls"]


def to_host(seen: list[tuple[str, float]]) -> Call:
    def call(name: str, x):
        irax.debug.callback(lambda x: seen.append((name, float(x))), x, ordered=True)
        return x

    return call


@pytest.mark.sampled(6)
@pytest.mark.parametrize("form", FORMS)
def test_calls_of_each_form_are_those_of_each_step(form):
    x = jnp.float32(1.5)
    seen: list[tuple[str, float]] = []
    f = irax.jit(lambda x: form(to_host(seen), x))
    loops, split = (f.lower(x).as_text(stage).count("stablehlo.while") for stage in STAGES)
    assert split > loops
    found = f(x)
    irax.effects_barrier()
    expected_seen: list[tuple[str, float]] = []
    with irax.disable_jit():
        expected = form(to_host(expected_seen), x)
    irax.effects_barrier()
    assert [name for name, _ in seen] == [name for name, _ in expected_seen]
    assert {name for name, _ in seen} >= {"a"}
    np.testing.assert_allclose([x for _, x in seen], [x for _, x in expected_seen], rtol=1e-5)
    for x, y in zip(irax.tree.leaves(found), irax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5)


def squared(seen: list[float], c, y):
    """A step that tells the host what it squares."""

    def host(c):
        irax.debug.callback(lambda c: seen.append(float(c)), c)
        return c * c

    return lax.cond(y > 2.5, host, lambda c: c * y + 0.1, c)


def doubled(c, y):
    """A step that has the host double what it carries."""

    def host(c):
        out = irax.ShapeDtypeStruct((), np.float32)
        double = lambda x: np.asarray(x * 2, np.float32)
        return irax.pure_callback(double, out, c, vmap_method="expand_dims")

    return lax.cond(y > 2.5, host, lambda c: c + y, c)


@pytest.mark.slow
@pytest.mark.parametrize("is_kept", [True, False])
def test_derivatives_of_loops_with_calls(is_kept: bool):
    def loop(seen, x):
        step = lambda c, y: squared(seen, c, y)
        step = step if is_kept else irax.checkpoint(step)
        return lax.scan(lambda c, y: (step(c, y), None), x, jnp.arange(1.0, 9) % 4)[0]

    seen: list[float] = []
    found = irax.jit(irax.value_and_grad(lambda x: loop(seen, x)))(jnp.float32(0.5))
    irax.effects_barrier()
    c, slope, expected = np.float32(0.5), 1.0, []
    for y in np.arange(1, 9) % 4:
        if y > 2.5:
            expected.append(c)
            c, slope = c * c, 2 * c * slope
        else:
            c, slope = c * y + np.float32(0.1), y * slope
    np.testing.assert_allclose(found, [c, slope], rtol=1e-5)
    np.testing.assert_allclose(sorted({*seen}), sorted(expected), rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("is_grad", [False, True])
def test_vmapped_loops_with_calls(is_grad: bool):
    def loop(x):
        step = (lambda c, y: squared([], c, y)) if is_grad else doubled
        return lax.scan(lambda c, y: (step(c, y), None), x, jnp.arange(1.0, 9) % 4)[0]

    f = irax.grad(loop) if is_grad else loop
    xs = jnp.arange(3.0) / 2
    found = irax.jit(irax.vmap(f))(xs)
    with irax.disable_jit():
        expected = [f(x) for x in xs]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_lanes_of_which_each_calls_in_steps_of_its_own():
    """The host is called for lanes that do not want it too, and what it returns is not used."""

    def body(carry):
        i, x = carry

        def host(x):
            out = irax.ShapeDtypeStruct((), np.float32)
            half = lambda x: np.asarray(x * 0.5, np.float32)
            return irax.pure_callback(half, out, x, vmap_method="sequential")

        return i + 1, lax.cond(x > 2.5, host, lambda x: x + 1, x)

    def f(x):
        return lax.while_loop(lambda c: c[0] < N, body, (0, x))[1]

    xs = jnp.arange(3.0)
    found = irax.jit(irax.vmap(f))(xs)
    with irax.disable_jit():
        expected = [f(x) for x in xs]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
