"""lax.scan and lax.map: against loops in Python, and their derivatives and lanes."""

from __future__ import annotations

import re

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax, random
from irax.test_util import check_grads

RNG = np.random.default_rng(0)
W = RNG.normal(size=(3, 3)).astype(np.float32)
XS = {"a": RNG.normal(size=(7, 3)).astype(np.float32), "b": np.arange(7, dtype=np.int32)}
INIT = (np.ones(3, np.float32), np.float32(2))


def cell(carry, row):
    h, total = carry
    h = jnp.tanh(h @ W + row["a"])
    return (h, total + h[0] * row["b"]), {"h": h[:2], "twice": row["b"] * 2}


def by_hand(reverse=False):
    h, total = INIT
    hs, twice = np.zeros((7, 2), np.float32), np.zeros(7, np.int32)
    for i in reversed(range(7)) if reverse else range(7):
        h = np.tanh(h @ W + XS["a"][i])
        total = total + h[0] * XS["b"][i]
        hs[i], twice[i] = h[:2], XS["b"][i] * 2
    return (h, total), {"h": hs, "twice": twice}


def assert_same(found, expected):
    leaves = zip(irax.tree_leaves(found), irax.tree_leaves(expected), strict=True)
    for x, y in leaves:
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)
        assert x.dtype == y.dtype or y.dtype == np.float64


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("unroll", [0, 1, 2, 3, 7, 20, True])
def test_value(reverse, unroll):
    def f(init, xs):
        return lax.scan(cell, init, xs, reverse=reverse, unroll=unroll)

    assert_same(f(INIT, XS), by_hand(reverse))
    # Inside a trace the loop is unrolled; jvp of it runs on the evaluator.
    assert_same(irax.vmap(f, (None, 0))(INIT, _doubled(XS))[1]["h"][1], by_hand(reverse)[1]["h"])


def _doubled(xs):
    return {name: np.stack([x, x]) for name, x in xs.items()}


@pytest.mark.parametrize("options", [{}, {"reverse": True, "unroll": 3}])
def test_value_and_gradient_on_the_device(options):
    def loss(w, init, xs):
        h, totals = lax.scan(lambda c, x: (jnp.tanh(c @ w + x), c.sum()), init, xs, **options)
        return h.sum() + totals.sum()

    args = (W, INIT[0], XS["a"])
    gradient = irax.grad(loss, (0, 1, 2))
    for found, expected in zip(irax.jit(gradient)(*args), gradient(*args), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_unrolled_calls_are_in_the_ir():
    def text(unroll):
        body = irax.make_ir(lambda x: lax.scan(lambda c, x: (c + x, c), 0.0, x, unroll=unroll))
        return str(body(jnp.ones(7)))

    assert "irax.scan" in text(1)
    assert "unrolled" not in text(1)
    assert text(3).count("unrolled") > 0
    unrolled = next(
        f for f in text(3).split("func.func") if re.match(r" private @lambda_\d+.unrolled\(", f)
    )
    assert unrolled.count("call @") == 3


def test_constants_of_the_loop_are_not_kept_for_each_step():
    def kept(body):
        def f(w):
            return lax.scan(lambda h, x: (body(w, h, x), None), INIT[0], XS["a"])[0]

        _, pullback = irax.vjp(f, W)
        return sorted(leaf.shape for leaf in irax.tree_leaves(pullback) if leaf.ndim > 1)

    def cell(w, h, x):
        return jnp.tanh(h @ w + x)

    def chosen(w, h, x):
        return lax.cond(x[0] > 0, lambda: cell(w, h, x), lambda: h)

    assert kept(cell) == [(3, 3), (7, 3), (7, 3)]
    assert (7, 3, 3) not in kept(chosen)
    assert (7, 3, 3) not in kept(irax.jit(cell))
    assert kept(irax.checkpoint(cell)) == [(3, 3), (7, 3), (7, 3)]


def test_derivatives_to_second_order():
    def f(init, w, xs):
        return lax.scan(lambda c, x: (jnp.sin(c) * w + x, {"y": c * x}), init, xs, reverse=True)

    check_grads(f, (np.float32(0.3), np.float32(0.7), XS["a"][:4, 0]), order=2)


@pytest.mark.parametrize("axes", [(0, None, None), (None, 0, None), (None, None, 1), (0, 0, 0)])
def test_lanes(axes):
    def f(init, w, xs):
        return lax.scan(lambda c, x: ((jnp.sin(c[0]) * w + x, c[1] + 1), c[0] * x), (init, 0), xs)

    sizes = [(), (), (4,)]
    args = [
        RNG.normal(size=s if a is None else np.insert(s, a, 3).astype(int)).astype(np.float32)
        for s, a in zip(sizes, axes, strict=True)
    ]
    found = irax.vmap(f, axes)(*args)
    for lane in range(3):
        one = [x if a is None else np.take(x, lane, a) for x, a in zip(args, axes, strict=True)]
        (h, _), ys = f(*one)
        np.testing.assert_allclose(found[0][0][lane], h, rtol=1e-6)
        np.testing.assert_allclose(found[1][lane], ys, rtol=1e-6)
        assert int(found[0][1][lane]) == 4


def test_what_does_not_need_rows():
    assert float(lax.scan(lambda c, _: (c * 2, None), 1.0, length=5)[0]) == 32
    carry, ys = lax.scan(lambda c, x: (c + x, x), 0.0, jnp.ones((0,)))
    assert (float(carry), ys.shape) == (0, (0,))
    assert lax.scan(lambda c, x: (None, x), None, jnp.arange(3))[0] is None
    assert lax.scan(lambda c, x: (c, (x, c)), 1, None, 2)[1][0] is None


def test_python_numbers_take_the_dtype_that_is_carried_on():
    total, ys = lax.scan(lambda c, x: (c + x, c), 0, jnp.arange(4.0))
    assert (total.dtype, ys.dtype, total.weak_type) == (jnp.float32, jnp.float32, False)
    assert lax.scan(lambda c, x: (c + 1, None), 0, jnp.arange(4.0))[0].weak_type
    traced = []
    lax.scan(lambda c, x: (traced.append(c.dtype) or c + x, c), 0, jnp.arange(4.0))
    # While there are Refs, a function is traced once more to find those that it uses.
    assert list(dict.fromkeys(traced)) == [jnp.int32, jnp.float32]


def test_closures_over_tracers_of_every_level():
    big = jnp.arange(40.0)  # too large for a constant in the IR

    def f(x):
        def g(y):
            def body(c, row):
                return c * x + y * row + big[3], c

            return lax.scan(body, x, jnp.arange(3.0))[0]

        return irax.grad(g)(x * 2) + jnp.sum(irax.vmap(g)(jnp.ones(2)))

    def by_hand(x):
        def g(y):
            return ((x * x + 3) * x + y + 3) * x + 2 * y + 3

        return (x + 2) + 2 * g(1.0)

    np.testing.assert_allclose(f(1.5), by_hand(1.5), rtol=1e-6)
    slope = (by_hand(1.5 + 1e-4) - by_hand(1.5 - 1e-4)) / 2e-4
    np.testing.assert_allclose(irax.grad(f)(1.5), slope, rtol=1e-5)
    np.testing.assert_allclose(irax.jit(irax.grad(f))(1.5), slope, rtol=1e-5)


def test_rules_of_the_user_s_own_hold_inside():
    @irax.custom_vjp
    def sin(x):
        return jnp.sin(x)

    sin.defvjp(lambda x: (sin(x), x), lambda x, ct: (2 * jnp.cos(x) * ct,))

    def f(x):
        return lax.scan(lambda c, _: (sin(c), None), x, None, 2)[0]

    expected = 4 * np.cos(0.5) * np.cos(np.sin(0.5))
    np.testing.assert_allclose(irax.grad(f)(0.5), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "f, init, xs, options, error, text",
    [
        (lambda c, x: c, 0.0, np.ones(3), {}, TypeError, "must return a pair"),
        (
            lambda c, x: ({"w": c["w"], "b": jnp.ones(3)}, x),
            {"w": np.ones(2), "b": np.ones(2)},
            np.ones(3),
            {},
            TypeError,
            r"(?s)test_scan.py:\d+.*init\['b'\] +float32\[2\] +float32\[3\] +<- differs.*astype",
        ),
        (
            lambda c, x: ({"w": c["w"]}, x),
            {"w": 1, "b": 2},
            np.ones(3),
            {},
            TypeError,
            r"(?s)structure of init, but differs.*init: \{'b': \*, 'w': \*\}.*: \{'w': \*\}",
        ),
        (lambda c, x: (c, x), np.float32(0), None, {}, ValueError, "length must say"),
        (lambda c, x: (c, x), 0.0, 1.0, {}, ValueError, "xs is a scalar"),
        (
            lambda c, x: (c, x),
            0.0,
            (np.ones(3), np.ones(2)),
            {},
            ValueError,
            r"as many rows everywhere, got xs\[0\]: 3, xs\[1\]: 2",
        ),
        (lambda c, x: (c, x), 0.0, np.ones(3), {"length": 2}, ValueError, "xs: 3, length: 2"),
        (lambda c, x: (c, x), 0.0, None, {"length": -1}, ValueError, "at least 0"),
        (lambda c, x: (c, x), 0.0, None, {"length": "a"}, (TypeError, ValueError), "length|int"),
        (lambda c, x: (c, x), 0.0, np.ones(3), {"unroll": -1}, ValueError, "from 0 on"),
        (lambda c, x: (c, x), 0.0, np.ones(3), {"unroll": 1.5}, TypeError, "must be an int"),
        (lambda c, x: (c, "no"), 0.0, np.ones(3), {}, TypeError, "the row of ys: expected"),
        (3, 0.0, np.ones(3), {}, TypeError, "f must be a function"),
        (lambda c, x: (c.astype("int32"), x), np.ones(()), np.ones(3), {}, TypeError, "int32"),
    ],
)
def test_errors(f, init, xs, options, error, text):
    with pytest.raises(error, match=text):
        lax.scan(f, init, xs, **options)
    assert float(lax.scan(lambda c, x: (c + x, x), 0.0, np.ones(3))[0]) == 3  # nothing is left over


@pytest.mark.parametrize("option", ["length", "unroll"])
def test_options_must_be_known_while_tracing(option):
    scan = irax.jit(
        lambda n: lax.scan(lambda c, x: (c + 1, None), 0, None, **{"length": 3, option: n})
    )
    with pytest.raises(irax.errors.ConcretizationTypeError, match=f"{option} must be known"):
        scan(2)


def test_python_cannot_branch_on_what_is_carried():
    def body(c, x):
        return (c, x) if c > 0 else (x, c)

    with pytest.raises(
        irax.errors.TracerBoolConversionError, match=r"scan traces.*depends on init\."
    ):
        lax.scan(body, 0.0, np.ones(3))


def test_map():
    xs = {"x": jnp.arange(7.0), "y": jnp.ones((7, 2))}

    def f(row):
        return row["x"] * row["y"], row["x"] > 2

    for size in (None, 1, 3, 7, 10):
        products, flags = lax.map(f, xs, batch_size=size)
        np.testing.assert_array_equal(products, np.arange(7)[:, None] * np.ones((7, 2)))
        np.testing.assert_array_equal(flags, np.arange(7) > 2)
    assert lax.map(lambda x: x * 2, jnp.ones((0, 3)), batch_size=2).shape == (0, 3)
    with pytest.raises(ValueError, match="batch_size"):
        lax.map(f, xs, batch_size=-1)
    with pytest.raises(ValueError, match="scalar"):
        lax.map(jnp.sin, 1.0)


def test_weak_types_are_those_of_jax():
    jax = pytest.importorskip("jax", reason="JAX is the oracle")

    def run(lax, jnp):
        carry, ys = lax.scan(lambda c, x: (c + x, c), 0.0, jnp.arange(4.0))
        same, _ = lax.scan(lambda c, x: (c + 1, c), 0.0, jnp.arange(4.0))
        fori = lax.fori_loop(0, 5, lambda i, x: x + i, 0.0)
        loop = lax.while_loop(lambda x: x < 3, lambda x: x + jnp.ones(()), 0)
        return [(float(x.sum()), str(x.dtype), x.weak_type) for x in (carry, ys, same, fori, loop)]

    assert run(lax, jnp) == run(jax.lax, jax.numpy)


def test_a_loop_that_calls_a_function_with_a_loop_like_it():
    inner = irax.jit(lambda x: lax.fori_loop(0, 2, lambda i, c: c * 10, x))
    outer = irax.jit(lambda x: lax.fori_loop(0, 2, lambda i, c: inner(c) + 1, x))
    assert outer(1.0) == 10101
    assert irax.grad(outer)(1.0) == 10000


def test_what_no_step_changes_is_as_it_was_given():
    x = jnp.arange(3.0)

    def step(carry, _):
        kept, moved, other = carry
        return (kept, other, moved + 1), None

    kept, *others = lax.scan(step, (x, x, x), None, length=2)[0]
    assert kept is x
    for found in others:
        np.testing.assert_array_equal(found, x + 1)

    def of_both(x, y):
        def same(_, y):
            return lax.scan(lambda y, _: (y, None), y, None, length=1)[0]

        return lax.cond(x < 0, same, same, x, y)

    assert irax.vmap(of_both, (0, None), None)(x, 3.0) == 3


def test_steps_that_need_nothing_of_each_other_are_all_done():
    start, factors = RNG.normal(size=100_000).astype(np.float32), jnp.linspace(0.9, 1, 4)

    def walk(factor):
        def step(i, x):
            moved = x + factor * random.normal(random.key(i), x.shape)
            return jnp.where(jnp.sum(moved) > -1e9, moved, x)

        return lax.fori_loop(0, 4, step, start)

    compiled = irax.jit(lambda factors: lax.map(walk, factors))
    noise = sum(np.asarray(random.normal(random.key(i), start.shape)) for i in range(4))
    for _ in range(10):
        expected = start + np.asarray(factors)[:, None] * noise
        np.testing.assert_allclose(compiled(factors), expected, atol=1e-3)


def test_a_row_that_is_a_view():
    x = np.arange(200_000, dtype=np.float32)
    rows = irax.jit(lambda x: lax.map(lambda _: x[::-1][::3], jnp.arange(2)))(x)
    np.testing.assert_array_equal(rows, np.tile(x[::-1][::3], (2, 1)))


@pytest.mark.slow
def test_results_of_one_type_are_apart_where_the_host_reads_others():
    x, factors = RNG.normal(size=20_000).astype(np.float32), np.array([1, 2, 3], np.float32)

    def step(factor):
        smooth = lambda y, t: jnp.fft.irfft(jnp.fft.rfft(y) * jnp.exp(-t), x.size)
        y = factor * x
        last = lax.fori_loop(0, 2, lambda i, y: smooth(y, 1.0 * i), y)
        rows = lax.map(lambda t: smooth(y, t), jnp.arange(2.0))
        return last, rows, jnp.convolve(y, np.ones(31, np.float32), "same")

    last, rows, sums = irax.jit(lambda factors: lax.map(step, factors))(factors)
    for i, factor in enumerate(factors):
        np.testing.assert_allclose(last[i], factor * x / np.e, atol=1e-4)
        np.testing.assert_allclose(rows[i, 1], factor * x / np.e, atol=1e-4)
        np.testing.assert_allclose(sums[i], np.convolve(factor * x, np.ones(31), "same"), atol=1e-3)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("loss", [irax.nn.softplus, jnp.abs, lambda z: jnp.where(z > 0, z * z, 0)])
def test_derivatives_of_steps_of_newton(loss):
    x = RNG.normal(size=(16, 5)).astype(np.float32)

    def step(x, w, _):
        of = lambda w: jnp.mean(loss(x @ w)) + w @ w
        return w - jnp.linalg.solve(irax.hessian(of)(w), irax.grad(of)(w)), of(w)

    def scanned(x):
        return lax.scan(lambda w, i: step(x, w, i), jnp.ones(5), None, length=4)[0].sum()

    def unrolled(x):
        w = jnp.ones(5)
        for i in range(4):
            w, _ = step(x, w, i)
        return w.sum()

    expected = irax.grad(unrolled)(x)
    np.testing.assert_allclose(irax.jit(irax.grad(scanned))(x), expected, atol=1e-5)


@pytest.mark.slow
def test_derivatives_of_damped_steps_of_newton():
    x = RNG.normal(size=(16, 5)).astype(np.float32)

    def step(x, w, _):
        of = lambda w: irax.nn.gelu(x @ w).mean() + w @ w
        gradient, hessian = irax.grad(of)(w), irax.hessian(of)(w)
        return w - 0.5 * jnp.linalg.solve(hessian, gradient), of(w)

    def scanned(x):
        w, values = lax.scan(lambda w, i: step(x, w, i), jnp.full(5, 0.3), None, length=3)
        return w.sum() + values.sum()

    def unrolled(x):
        w, total = jnp.full(5, 0.3), 0
        for i in range(3):
            w, value = step(x, w, i)
            total += value
        return w.sum() + total

    expected = irax.grad(unrolled)(x)
    np.testing.assert_allclose(irax.jit(irax.grad(scanned))(x), expected, atol=1e-5)
