"""Logs of the rules of custom_vjp, which a pullback returns by `with_logs`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp

XS = np.array([0.5, -1.0, 2.0], np.float32)


@irax.custom_vjp
def times(x: Any, y: Any) -> Any:
    return x * y


times.defvjp_with_logs(
    lambda x, y: (x * y, (x, y)),
    lambda kept, ct: (
        (ct * kept[1], ct * kept[0]),
        {"ct": ct, "seen": {"x": kept[0], "many": jnp.int32(-70000), "up": ct > 0}},
    ),
)


def logs_of(f: Callable[..., Any], *primals: Any, ct: Any = 1.0) -> dict[str, Any]:
    cotangents, logs = irax.vjp(f, *primals)[1].with_logs(ct)
    plain = irax.vjp(f, *primals)[1](ct)
    for x, y in zip(irax.tree.leaves(cotangents), irax.tree.leaves(plain), strict=True):
        np.testing.assert_array_equal(x, y)
    return logs


def check(logs: dict[str, Any], ct: Any, x: Any) -> None:
    assert logs.keys() == {"ct", "seen"}
    np.testing.assert_allclose(logs["ct"], ct, rtol=1e-6)
    np.testing.assert_allclose(logs["seen"]["x"], x, rtol=1e-6)
    np.testing.assert_array_equal(logs["seen"]["many"], np.full(np.shape(ct), -70000))
    assert logs["seen"]["many"].dtype == np.int32
    np.testing.assert_array_equal(logs["seen"]["up"], np.asarray(ct) > 0)


@pytest.mark.parametrize("form", [lambda f: f, irax.jit, irax.checkpoint])
def test_logs_of_a_call(form: Any):
    f = form(times)
    check(logs_of(f, 3.0, 4.0, ct=2.0), 2.0, 3.0)
    jitted = irax.jit(lambda x, ct: irax.vjp(f, x, 4.0)[1].with_logs(ct)[1])
    check(jitted(3.0, 2.0), 2.0, 3.0)
    assert irax.grad(f)(3.0, 4.0) == 4.0


def test_logs_of_loops_are_stacked():
    def product(xs: Any, **how: Any) -> Any:
        return irax.lax.scan(lambda c, x: (times(c, x), None), 1.0, xs, **how)[0]

    before = np.array([1.0, 0.5, -0.5])
    after = np.array([-2.0, 2.0, 1.0])
    check(logs_of(product, XS), after, before)
    check(logs_of(irax.jit(product), XS), after, before)
    check(logs_of(irax.checkpoint(product), XS), after, before)
    backwards = logs_of(lambda xs: product(xs, reverse=True), XS)
    check(backwards, [1.0, 0.5, -0.5], [-2.0, 2.0, 1.0])
    steps = logs_of(lambda x: irax.lax.fori_loop(2, 5, lambda i, c: times(c, 2.0 * i), x), 1.0)
    check(steps, [6 * 8, 8, 1], [1, 4, 24])
    rows = logs_of(lambda xs: irax.lax.map(lambda x: times(x, 2.0), xs), XS, ct=XS)
    check(rows, XS, XS)


def test_logs_of_lanes_are_stacked_within_those_of_loops():
    lanes = irax.vmap(times, in_axes=(0, None))
    check(logs_of(lambda x: lanes(x, 2.0), XS, ct=XS), XS, XS)

    def product(first: Any) -> Any:
        return irax.lax.scan(lambda c, x: (times(c, x), None), first, XS)[0]

    expected = np.array([1.0, 0.5, -0.5])[:, None] * XS
    logs = logs_of(lambda xs: irax.vmap(product)(xs), XS, ct=np.ones(3, np.float32))
    np.testing.assert_allclose(logs["seen"]["x"], expected)
    scanned = logs_of(
        lambda xs: irax.lax.scan(lambda c, x: (lanes(c, x), None), xs, XS)[0], XS, ct=XS
    )
    np.testing.assert_allclose(scanned["seen"]["x"], expected)
    outside = irax.vmap(lambda x: irax.vjp(times, x, 2.0)[1].with_logs(1.0)[1])(XS)
    np.testing.assert_allclose(outside["seen"]["x"], XS)


def test_logs_of_branches():
    def f(x: Any) -> Any:
        return irax.lax.cond(x > 0, lambda x: times(x, 2.0), lambda x: times(x, 3.0), x)

    for x in (1.0, -1.0):
        check(logs_of(f, x, ct=2.0), 2.0, x)
    one = irax.lax.switch
    logs = logs_of(lambda x: one(x.astype(int), [jnp.sin, lambda x: times(x, 2.0)], x), 0.0)
    assert logs["ct"] == 0


def test_which_calls_log():
    assert logs_of(jnp.sin, 1.0) == {}
    nested = logs_of(lambda x: irax.vjp(times, x, 2.0)[1](1.0)[0] * x, 1.0)
    assert nested == {}
    with pytest.raises(ValueError, match="two calls of rules log 'ct'"):
        irax.vjp(lambda x: times(times(x, 2.0), 3.0), 1.0)[1](1.0)
    silent = irax.custom_vjp(lambda x: 2 * x)
    silent.defvjp_with_logs(lambda x: (2 * x, None), lambda _, ct: ((2 * ct,), None))
    assert logs_of(silent, 1.0) == {}

    def summed(x: Any) -> Any:
        return irax.lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * x), (0, 1.0))[1]

    assert irax.vjp(lambda x, n: times(x, 2.0) + summed(n), 1.0, 2.0)[0] == 10
    powers = lambda x: irax.lax.while_loop(
        lambda s: s[0] < 3, lambda s: (s[0] + 1, times(s[1], 2.0)), (0, x), max_steps=4
    )[1]
    assert irax.vjp(powers, 1.0)[1](1.0) == (8,)
    with pytest.raises(NotImplementedError, match="nobody counts its rows; it logs 'ct', 'seen'"):
        irax.vjp(powers, 1.0)[1].with_logs(1.0)


def test_kinds_of_rules_that_log():
    added = irax.custom_vjp(lambda x, y: x * y)

    def bwd(kept: Any, ct: Any, to_x: Any, to_y: Any) -> Any:
        to_x.accum(ct * kept[1])
        to_y.accum(ct * kept[0])
        return {"seven": 7 * ct}

    added.defvjp_with_accums(lambda x, y: (x * y, (x, y)), bwd)
    assert logs_of(added, 2.0, 3.0) == {"seven": 7}
    scaled = irax.custom_vjp(lambda n, x: n * x, nondiff_argnums=(0,))
    scaled.defvjp_with_logs(
        lambda n, x: (n * x, None), lambda n, _, ct: ((n * ct,), {"n": n, "ct": ct})
    )
    assert logs_of(lambda x: scaled(3.0, x), 2.0) == {"n": 3, "ct": 1}

    @irax.custom_gradient(with_logs=True)
    def square(x: Any) -> Any:
        return x * x, lambda ct: (2 * ct * x, {"x": x})

    assert logs_of(square, 3.0) == {"x": 3}
    whole = irax.custom_vjp(lambda x: 2 * x)
    whole.defvjp_with_logs(
        lambda x: (2 * x, x),
        lambda x, ct: ((2 * ct,), {"half": x, "complex": x.astype(complex), "bits": x.view("u2")}),
    )
    half = jnp.array([1.5, -2.0], "bfloat16")
    logs = logs_of(whole, half, ct=half)
    for name, dtype in (("half", "bfloat16"), ("complex", "complex64"), ("bits", "uint16")):
        assert logs[name].dtype == dtype
    assert logs["complex"].tolist() == [1.5, -2]
    assert logs["bits"].tolist() == half.view("u2").tolist()


def test_parts_of_pullbacks_with_logs():
    y, pullback, aux = irax.vjp(lambda x, y: (times(x, y), "aux"), 2.0, 3.0, has_aux=True)
    assert (y, aux) == (6, "aux")
    assert pullback.in_tree == irax.tree.structure((0, 0))
    moved = irax.jit(lambda p, ct: p.with_logs(ct))(pullback, 1.0)
    assert moved[0] == (3, 2)
    assert moved[1]["seen"]["x"] == 2
    total = irax.new_ref(1.0)
    cotangents, logs = pullback.with_refs(total, irax.ad.DontWant()).with_logs(1.0)
    assert total[...] == 4
    assert cotangents == (irax.ad.GradRef(), irax.ad.DidntWant())
    assert logs["ct"] == 1
    slope = irax.grad(lambda x: irax.vjp(times, x, 3.0)[1].with_logs(x)[1]["ct"])(2.0)
    assert slope == 1


def test_functions_that_python_looks_into():
    def f(x: Any, n: Any) -> Any:
        return times(x, 2.0) * n if x > n - 3 else x

    for options in ({}, {"in_nzs": (True, False)}):
        out, pullback = irax.vjp(f, 1.0, 3.0, **options)
        assert out == 6
        assert pullback.with_logs(1.0)[1]["ct"] == 3
    total = irax.new_ref(0.0)

    def writes(x: Any) -> Any:
        total[...] += irax.lax.stop_gradient(x)
        return times(x, 2.0)

    assert logs_of(writes, 3.0)["seen"]["x"] == 3
    assert total[...] == 6  # of two calls


def test_functions_that_call_no_such_rules_are_as_they_were():
    seen = []

    @irax.jit
    def inner(x: Any) -> Any:
        seen.append("inner")
        return jnp.sin(x)

    def f(x: Any) -> Any:
        seen.append("f")
        return irax.vmap(inner)(x).sum()

    for _ in range(2):
        _, pullback = irax.vjp(f, XS)
        np.testing.assert_allclose(pullback(1.0)[0], np.cos(XS), rtol=1e-6)
        assert pullback.with_logs(1.0)[1] == {}
    assert (seen.count("f"), seen.count("inner")) == (2, 1)


def test_functions_that_were_traced_before_log():
    g = irax.jit(lambda x: times(x, 2.0))
    assert g(3.0) == 6
    for _ in range(2):
        check(logs_of(g, 3.0, ct=2.0), 2.0, 3.0)
        check(logs_of(lambda x: g(x) + x, 3.0, ct=2.0), 2.0, 3.0)
