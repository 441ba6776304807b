"""lax.while_loop and lax.fori_loop: values, lanes, and derivatives through bounded loops."""

from __future__ import annotations

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.test_util import check_grads


def collatz(n):
    def step(state):
        n, count = state
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), count + 1

    return lax.while_loop(lambda s: s[0] != 1, step, (n, 0))[1]


STEPS = {1: 0, 6: 8, 7: 16, 27: 111}


def test_value():
    for n, steps in STEPS.items():
        assert int(collatz(n)) == steps
    assert int(irax.jit(collatz)(27)) == 111
    np.testing.assert_array_equal(irax.vmap(collatz)(jnp.array(list(STEPS))), list(STEPS.values()))


def test_a_lane_that_has_ended_keeps_what_it_has():
    def f(x, limit):
        # A lane that goes on after its end overflows, and inf - inf is nan.
        return lax.while_loop(lambda s: s[0] < limit, lambda s: (s[0] * s[0], s[1] - s[0]), (x, x))

    x, limit = jnp.array([2.0, 1.5, np.nan, 3.0]), jnp.array([1e30, 10.0, 5.0, 1.0])
    found = irax.vmap(f)(x, limit)
    np.testing.assert_array_equal(np.isnan(found[0]), [False, False, True, False])
    assert not np.isnan(np.asarray(found[1])[[0, 1, 3]]).any()
    for lane in range(4):
        np.testing.assert_allclose([y[lane] for y in found], f(x[lane], limit[lane]), rtol=1e-6)
    np.testing.assert_allclose(irax.jit(irax.vmap(f))(x, limit), found, rtol=1e-6)


@pytest.mark.slow
def test_a_barrier_waits_for_what_is_carried():
    def sums(start):
        def step(state):
            x, total = state
            rows = lax.optimization_barrier(x.reshape(-1, 4))
            after = jnp.cumsum(rows, 1).reshape(x.shape) % 5 + 1
            return after, lax.optimization_barrier(total) + x.sum()

        start = (jnp.full(40_000, start), np.float32(0))
        return lax.while_loop(lambda state: state[1] < 3, step, start)

    def halves(start):
        def step(_, state):
            x, y = map(lax.optimization_barrier, state)
            return 0.5 * x + y, y + state[0][0]

        return lax.fori_loop(0, 5, step, (jnp.full(1 << 20, start), jnp.full(1 << 20, 2 * start)))

    for f in (sums, halves):
        expected, compiled = f(np.float32(0)), irax.jit(f)
        for _ in range(10):
            for x, y in zip(compiled(np.float32(0)), expected, strict=True):
                np.testing.assert_array_equal(x, y)


def power(x, n, **options):
    """x ** n, for n that is known when it runs."""
    return lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * x), (0, 1.0), **options)[
        1
    ]


def test_forward_mode():
    value, slope = irax.jvp(lambda x: power(x, jnp.array(5)), (2.0,), (1.0,))
    assert (float(value), float(slope)) == (32, 80)
    check_grads(lambda x: power(x, jnp.array(3)), (np.float32(1.1),), order=2, modes=("fwd",))


def test_reverse_mode_wants_a_bound():
    with pytest.raises(NotImplementedError, match=r"while.*max_steps"):
        irax.jit(irax.grad(power))(2.0, 3)


def test_a_loop_that_counts_needs_no_bound():
    def f(x):
        step = lambda s: (s[0] + 2, s[1] * x, s[2])
        return lax.while_loop(lambda s: s[0] < s[2], step, (np.int32(1), 1.0, np.int32(8)))[1]

    assert float(irax.grad(f)(2.0)) == 4 * 2**3
    assert float(irax.jit(irax.grad(f))(2.0)) == 4 * 2**3
    assert float(irax.grad(lambda x: power(x, 3))(2.0)) == 12


def test_linearized_through_an_unknown_number_of_steps():
    def doubled(x):
        return lax.while_loop(lambda c: c[0] < 10, lambda c: (c[0] * 2, c[1] * x), (x, 1.0))

    value, push = irax.linearize(doubled, 1.5)
    assert value == irax.jvp(doubled, (1.5,), (1.0,))[0]
    np.testing.assert_allclose(push(2.0), irax.jvp(doubled, (1.5,), (2.0,))[1])
    np.testing.assert_allclose(irax.vmap(push)(jnp.ones(2))[0], [8, 8])
    with pytest.raises(NotImplementedError, match="no reverse mode"):
        irax.linear_transpose(push, 1.5)(value)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("checkpoint", [True, False])
@pytest.mark.parametrize("bound", [1, 2, 3, 5, 9, 10, 17])
def test_a_bounded_loop(bound, checkpoint):
    def f(x, n):
        return power(x, n, max_steps=bound, checkpoint=checkpoint)

    for n in (0, 1, 3, 20):
        taken = min(n, bound)
        value, slope = irax.value_and_grad(f)(1.5, jnp.array(n))
        np.testing.assert_allclose(
            [value, slope], [1.5**taken, taken * 1.5 ** (taken - 1)], rtol=1e-5
        )


def newton(a, **options):
    """The square root of a, with as many steps as it takes."""

    def far(x):
        return jnp.abs(x * x - a) > 1e-5 * a

    return lax.while_loop(far, lambda x: (x + a / x) / 2, a, max_steps=30, **options)


@pytest.mark.parametrize("checkpoint", [True, False])
def test_reverse_mode_through_an_unknown_number_of_steps(checkpoint):
    a = jnp.array([2.0, 9.0, 100.0])

    def root(a):
        return newton(a, checkpoint=checkpoint)

    np.testing.assert_allclose([root(x) for x in a], np.sqrt(a), rtol=1e-5)
    gradients = [irax.grad(root)(x) for x in a]
    np.testing.assert_allclose(gradients, 0.5 / np.sqrt(a), rtol=1e-3)
    np.testing.assert_allclose(irax.vmap(irax.grad(root))(a), gradients, rtol=1e-5)
    second = irax.grad(
        irax.grad(lambda x: power(x, jnp.array(4), max_steps=7, checkpoint=checkpoint))
    )
    np.testing.assert_allclose(second(1.5), 12 * 1.5**2, rtol=1e-5)


def test_a_bounded_loop_on_the_device():
    np.testing.assert_allclose(irax.jit(irax.grad(newton))(9.0), irax.grad(newton)(9.0), rtol=1e-5)


def test_steps_after_the_end_add_no_nan():
    def f(x):
        # 1 / (3 - i) is infinite at the state that the loop ends with.
        step = lambda s: (s[0] + 1, s[1] * x / (3.0 - s[0]))
        return lax.while_loop(lambda s: s[0] < 3, step, (0, 1.0), max_steps=20)[1]

    np.testing.assert_allclose(irax.grad(f)(2.0), 3 * 4 / 6, rtol=1e-6)
    np.testing.assert_allclose(irax.vmap(irax.grad(f))(jnp.array([2.0])), [2], rtol=1e-6)


def test_a_lane_that_diverges_leaves_the_gradients_of_others_alone():
    slopes = irax.vmap(irax.grad(newton))(jnp.array([2.0, -1.0, 9.0]))
    np.testing.assert_allclose(np.asarray(slopes)[[0, 2]], [0.5 / np.sqrt(2), 1 / 6], rtol=1e-3)
    assert not abs(float(slopes[1])) < 1  # no root: nothing of use


def test_python_may_branch_on_what_a_loop_found_outside_of_jit():
    def f(x):
        y = lax.scan(lambda c, _: (c * x, None), 1.0, None, 3)[0]
        z = lax.while_loop(lambda c: c < 100, lambda c: c * x, y, max_steps=20)
        return z * lax.cond(y > 3, lambda: y, lambda: x) if z > 50 else x

    assert float(irax.grad(f)(2.0)) == 10 * 2**9  # x**7 x**3


def test_reverse_mode_keeps_the_square_root_of_the_states():
    """The residuals of the forward pass, counted in states of the loop."""

    def kept(checkpoint):
        def f(x):
            step = lambda s: (s[0] + 1, jnp.sin(s[1]) * x)
            start = (0, jnp.ones(64))
            return lax.while_loop(
                lambda s: s[0] < 900, step, start, max_steps=900, checkpoint=checkpoint
            )[1]

        _, pullback = irax.vjp(f, 1.1)
        return sum(np.size(leaf) for leaf in irax.tree_leaves(pullback)) / 64

    assert kept(True) < 40
    assert kept(False) > 900


@pytest.mark.slow
def test_host_functions_in_a_loop_that_begins_with_constants():
    """IREE refused a buffer of the host's in the place of a constant, folded or computed once."""

    def orthogonal(a):
        return jnp.linalg.qr(a)[0]

    def loops():
        small = 30 * jnp.eye(6) + jnp.arange(36.0).reshape(6, 6)
        large = jnp.eye(80) + 1.0
        once = lax.fori_loop(0, 3, lambda _, a: orthogonal(a), small)
        both = lax.fori_loop(0, 3, lambda _, c: (orthogonal(c[1]), c[0]), (large, large))
        nested = lax.fori_loop(
            0, 3, lambda _, a: lax.fori_loop(0, 2, lambda _, b: orthogonal(b), a), small
        )
        scanned = lax.scan(lambda a, _: (orthogonal(a), a[0]), small, None, length=3)
        return once, both, nested, scanned

    for found, expected in zip(
        irax.tree.leaves(irax.jit(loops)()), irax.tree.leaves(loops()), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_carries_of_one_array_on_the_device():
    """Values that begin as one array become several, also if only passed on or exchanged."""

    def f(x):
        def until_five(step):
            return lax.while_loop(
                lambda c: c[0] < 5, lambda c: (c[0] + 1, *step(*c[1:])), (0, x, x)
            )

        kept = until_five(lambda a, b: (a, b))
        exchanged = until_five(lambda a, b: (b, 2 * a))
        scanned = lax.scan(lambda c, _: ((c[1], c[0] + 1), c[0]), (x, x), None, length=5)
        return kept, exchanged, scanned

    x = np.linspace(0, 1, 200, dtype=np.float32)
    found, expected = map(irax.tree.leaves, (irax.jit(f)(x), f(x)))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_fori_loop():
    assert int(lax.fori_loop(2, 6, lambda i, x: x + i, 0)) == 2 + 3 + 4 + 5
    assert int(lax.fori_loop(6, 2, lambda i, x: x + i, 7)) == 7
    total = lax.fori_loop(0, 4, lambda i, x: {"a": x["a"] + i, "b": x["b"] * 2.0}, {"a": 0, "b": 1})
    assert (int(total["a"]), float(total["b"])) == (6, 16)
    traced = irax.jit(lambda n: lax.fori_loop(0, n, lambda i, x: x * 2 + i, 1.0))
    assert float(traced(4)) == float(lax.fori_loop(0, 4, lambda i, x: x * 2 + i, 1.0)) == 27
    lanes = irax.vmap(lambda n: lax.fori_loop(0, n, lambda i, x: x + i, 0))(jnp.arange(5))
    np.testing.assert_array_equal(lanes, [0, 0, 1, 3, 6])
    big = lax.fori_loop(np.uint8(250), np.uint8(255), lambda i, x: x + i.astype("int32"), 0)
    assert int(big) == sum(range(250, 255))


def test_fori_loop_of_a_range_of_floats():
    assert float(lax.fori_loop(0.0, 2.5, lambda i, x: x + i, 1.0)) == 2
    found = irax.jvp(lambda x: lax.fori_loop(x, x + 3.0, lambda i, y: y * x * i, 1.0), [2.0], [1.0])
    np.testing.assert_allclose(found, [192, 496])  # of x**4 (x + 1) (x + 2)
    with pytest.raises(TypeError, match="lower must be an integer scalar"):
        lax.fori_loop(0.0, 3, lambda i, x: x, 1.0)


def test_lanes_share_what_a_loop_does_not_change():
    def f(x, y):
        return lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + c[1][0], c[1]), (x, y))

    starts, step = jnp.arange(4.0), jnp.full(3, 2.0)
    ends, same = irax.vmap(f, (0, None), (0, None))(starts, step)
    np.testing.assert_array_equal(ends, [6, 5, 6, 5])
    np.testing.assert_array_equal(same, step)


@pytest.mark.parametrize("unroll", [None, 2, 3, True])
def test_fori_loop_of_a_known_range_has_both_modes(unroll):
    def f(x):
        return lax.fori_loop(1, 6, lambda i, y: jnp.sin(y * x) + i * x, x, unroll=unroll)

    check_grads(f, (np.float32(0.4),), order=2)


def test_fori_loop_of_a_traced_range():
    def f(x, n, **options):
        return lax.fori_loop(0, n, lambda i, y: y * x, 1.0, **options)

    slope = irax.vmap(irax.grad(lambda x, n: f(x, n, max_steps=9)), (None, 0))
    np.testing.assert_allclose(slope(2.0, jnp.arange(4)), [0, 1, 4, 12])
    with pytest.raises(NotImplementedError, match="max_steps"):
        irax.vmap(irax.grad(f), (None, 0))(2.0, jnp.arange(4))
    with pytest.raises(ValueError, match="unroll=2 wants bounds"):
        irax.jit(lambda n: f(1.0, n, unroll=2))(3)
    # Known outside of jit, though an array.
    assert float(irax.grad(f)(2.0, jnp.array(3))) == 12


@pytest.mark.parametrize(
    "condition, body, text",
    [
        (lambda x: x, lambda x: x, r"boolean scalar, got float32\[\]"),
        (lambda x: (x > 0, x > 0), lambda x: x, "boolean scalar, got the pytree"),
        (lambda x: jnp.ones(2) > 0, lambda x: x, r"boolean scalar, got bool\[2\]"),
        (lambda x: x > 0, lambda x: jnp.ones(2), r"(?s)init_val +float32\[\] +float32\[2\] +<- d"),
        (lambda x: x > 0, lambda x: (x, x), "must have the structure of init_val"),
        (lambda x: (x > 0,), lambda x: x, "boolean scalar, got the pytree"),
        (lambda x: x > 0, 3, "body_fun must be a function, got 3 of type int"),
    ],
)
def test_errors(condition, body, text):
    with pytest.raises(TypeError, match=text):
        lax.while_loop(condition, body, np.float32(1))


def test_errors_of_options():
    for bound in (0, -1, 2.5):
        with pytest.raises(ValueError, match="max_steps must be a positive int"):
            power(2.0, 3, max_steps=bound)
    with pytest.raises(TypeError, match="lower must be an integer scalar"):
        lax.fori_loop(0.0, 3, lambda i, x: x, 0)
    with pytest.raises(TypeError, match="one dtype, got int8"):
        lax.fori_loop(np.int8(0), np.int16(3), lambda i, x: x, 0)
    with irax.numpy_dtype_promotion("strict"), pytest.raises(TypeError, match="one dtype"):
        lax.fori_loop(np.int8(0), np.int16(3), lambda i, x: x, 0)
    with pytest.raises(
        TypeError, match=r"(?s)lax.fori_loop.*init_val\['a'\] +int32\[\].*float32\[2"
    ):
        lax.fori_loop(0, 3, lambda i, x: {"a": jnp.ones(2)}, {"a": 0})


# ---- every pair, two deep ------------------------------------------------------------------------


def with_cond(x, f):
    return lax.cond(jnp.sum(x) > -5, f, lambda x: x * 2, x)


def with_scan(x, f):
    return lax.scan(lambda c, _: (f(c) + 0.1 * x, None), x, None, 2)[0]


def with_while(x, f):
    step = lambda s: (s[0] + 1, f(s[1]) + 0.1 * x)
    return lax.while_loop(lambda s: s[0] < 2, step, (0, x), max_steps=3)[1]


FORMS = {"cond": with_cond, "scan": with_scan, "while": with_while}
PLAIN = {
    "cond": lambda x, f: f(x) if np.sum(x) > -5 else x * 2,
    "scan": lambda x, f: f(f(x) + 0.1 * x) + 0.1 * x,
    "while": lambda x, f: f(f(x) + 0.1 * x) + 0.1 * x,
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("inner", FORMS)
@pytest.mark.parametrize("outer", FORMS)
def test_pairs(outer, inner):
    def f(x, forms, sin):
        def inside(y):
            return forms[inner](y, lambda z: sin(z) * x)  # closes over an outer tracer

        return forms[outer](x, inside)

    def traced(x):
        return f(x, FORMS, jnp.sin)

    def plain(x):
        return f(x, PLAIN, np.sin)

    x, h = 0.7, 1e-6
    slope = (plain(x + h) - plain(x - h)) / (2 * h)
    curve = (plain(x + 1e-4) - 2 * plain(x) + plain(x - 1e-4)) / 1e-8
    xs = np.array([0.7, -0.3], np.float32)
    slopes = [(plain(v + h) - plain(v - h)) / (2 * h) for v in xs.astype(np.float64)]
    np.testing.assert_allclose(traced(x), plain(x), rtol=1e-5)
    np.testing.assert_allclose(irax.grad(traced)(x), slope, rtol=1e-4)
    np.testing.assert_allclose(irax.vmap(irax.grad(traced))(xs), slopes, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        irax.grad(lambda v: jnp.sum(irax.vmap(traced)(v)))(xs), slopes, rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(irax.grad(irax.grad(traced))(x), curve, rtol=1e-3)
    tangent = irax.jvp(irax.grad(traced), (x,), (1.0,))[1]
    np.testing.assert_allclose(tangent, curve, rtol=1e-3)


@pytest.mark.parametrize("outer, inner", [("cond", "scan"), ("scan", "while"), ("while", "cond")])
@pytest.mark.slow
def test_pairs_on_the_device(outer, inner):
    def f(x):
        return FORMS[outer](x, lambda y: FORMS[inner](y, lambda z: jnp.sin(z) * x))

    xs = np.array([0.7, -0.3], np.float32)
    for g in (irax.vmap(irax.grad(f)), irax.grad(lambda v: jnp.sum(irax.vmap(irax.jit(f))(v)))):
        np.testing.assert_allclose(irax.jit(g)(xs), g(xs), rtol=1e-5)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (1000,)])
def test_equal_carries_that_change_places(shape: tuple[int, ...]):
    """Swap carries that begin equal: an argument, constants, and equal expressions."""

    def exchanged(a, b):
        return lax.while_loop(lambda c: c[0] < 5, lambda c: (c[0] + 1, c[2], c[1]), (0, a, b))

    def f(*arrays):
        arguments = [exchanged(x, x) for x in arrays]
        constants = exchanged(jnp.zeros(shape), jnp.zeros(shape))
        return arguments, constants, [exchanged(x + x, x + x) for x in arrays]

    arrays = [np.full(shape, 3, dtype) for dtype in ("float32", "int32", "int8", "bool")]
    found, expected = map(irax.tree.leaves, (irax.jit(f)(*arrays, 1.5), f(*arrays, 1.5)))
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


def test_reverse_mode_of_an_unknown_number_of_steps_is_a_value_error():
    doubled = lambda x: lax.while_loop(lambda c: c < 10.0, lambda c: 2 * c, x)
    with pytest.raises(
        ValueError, match=r"loop at .*test_while_loop.py:\d+ has no reverse mode: .*max_steps"
    ):
        irax.grad(doubled)(1.0)
    value, push = irax.linearize(doubled, 1.0)
    assert (value, push(1.0)) == (16.0, 16.0)
