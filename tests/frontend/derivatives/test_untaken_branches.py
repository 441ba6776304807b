"""Derivatives of branches that some lanes take and others do not, against those of lanes one by
one: what a branch does at operands that it is not taken for is in no derivative.
"""

import itertools

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax

X = np.array([4.0, 0.0, -1.0, 2.0])


@pytest.fixture(autouse=True)
def _wide():
    with irax.enable_x64(True):
        yield


def by_condition(y, w):
    return lax.cond(y > 0, lambda y: jnp.sqrt(y) * w, lambda y: y * w, y)


def by_number(y, w):
    number = jnp.where(y > 3, 0, jnp.where(y > 0, 7, 1))
    return lax.switch(
        number, [lambda: jnp.log(y) * w, lambda: w * y**2, lambda: jnp.arccosh(y) / w]
    )


def nested(y, w):
    def positive():
        return lax.cond(y > 3, lambda: jnp.sqrt(y - 3) * w, lambda: jnp.log(y) + w)

    def other():
        return lax.cond(y < 0, lambda: jnp.sqrt(-y) * w, lambda: jnp.sin(y) * w)

    return lax.cond(y > 0, positive, other)


def in_scan(y, w):
    def step(c, x):
        return lax.cond(c > 0, lambda: jnp.sqrt(c) * w + x, lambda: c * w + x * 0.01), c * w

    last, rows = lax.scan(step, y, jnp.arange(1.0, 4.0))
    return last + rows.sum()


def in_fori_loop(y, w):
    def step(i, c):
        return lax.cond(c > 0, lambda: jnp.sqrt(c) * w, lambda: c * w + 0.5)

    return lax.fori_loop(0, 3, step, y)


def in_bounded_loop(y, w):
    def step(carry):
        c, total = carry
        return jnp.sqrt(c - 1), total * w + jnp.sqrt(c)

    c, total = lax.while_loop(lambda carry: carry[0] > 1, step, (y, 0.0), max_steps=5)
    return c + total


def in_checkpoint(y, w):
    return irax.checkpoint(by_condition)(y, w)


def of_what_has_no_tangent(y, w):
    y = lax.stop_gradient(y)
    return lax.cond(y > 0, lambda: w / y, lambda: w * 2)


def that_nobody_takes(y, w):
    return lax.cond(y > 100, lambda: jnp.sqrt(y - 100) * w, lambda: y * w)


def of_integers(y, w):
    number = jnp.where(y > 0, 1, 0)
    return lax.cond(number > 0, lambda: w * y / number, lambda: w + y)


def of_vectors(y, w):
    v = y * jnp.arange(3.0)
    return lax.cond(y > 0, lambda: jnp.sqrt(v[1:]) @ jnp.ones(2) * w, lambda: jnp.sum(v) * w)


FUNCTIONS = [
    by_condition,
    by_number,
    nested,
    in_scan,
    in_fori_loop,
    in_bounded_loop,
    in_checkpoint,
    of_what_has_no_tangent,
    that_nobody_takes,
    of_integers,
    of_vectors,
]


def of_lanes(f):
    return lambda x, w: irax.vmap(f, (0, None))(x, w).sum()


def one_by_one(f):
    return lambda x, w: sum(f(x[i], w) for i in range(len(X)))


def check_equal(found, expected):
    for a, b in zip(irax.tree.leaves(found), irax.tree.leaves(expected), strict=True):
        assert np.isfinite(b).all()
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradients(f):
    expected = irax.grad(one_by_one(f), (0, 1))(X, 1.5)
    check_equal(irax.grad(of_lanes(f), (0, 1))(X, 1.5), expected)
    _, linear = irax.linearize(of_lanes(f), X, 1.5)
    check_equal(irax.linear_transpose(linear, X, 1.5)(1.0), expected)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("f", [by_number, in_scan, that_nobody_takes], ids=lambda f: f.__name__)
def test_compiled_gradients(f):
    expected = irax.grad(one_by_one(f), (0, 1))(X, 1.5)
    check_equal(irax.jit(irax.grad(of_lanes(f), (0, 1)))(X, 1.5), expected)


SECOND = {
    "forward-reverse": lambda f: irax.hessian(f, (0, 1)),
    "reverse-reverse": lambda f: irax.jacrev(irax.grad(f, (0, 1)), (0, 1)),
    "reverse-forward": lambda f: irax.jacrev(irax.jacfwd(f, (0, 1)), (0, 1)),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "f", [by_condition, nested, in_fori_loop, of_what_has_no_tangent], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("order", SECOND)
def test_second_derivatives(f, order):
    second = SECOND[order]
    check_equal(second(of_lanes(f))(X, 1.5), second(one_by_one(f))(X, 1.5))


MAPS = {
    "vectorize": lambda f: lambda x, w: jnp.vectorize(f)(x, w).sum(),
    "map": lambda f: lambda x, w: lax.map(lambda x: f(x, w), x, batch_size=2).sum(),
    "last-axis": lambda f: lambda x, w: irax.vmap(lambda r: f(r[0], w), 1)(x[None]).sum(),
    "own-weights": lambda f: lambda x, w: irax.vmap(f)(x, w * jnp.ones(4)).sum(),
    "in-a-scan": lambda f: (
        lambda x, w: lax.scan(lambda c, _: (c + of_lanes(f)(x, w), None), 0.0, None, length=1)[0]
    ),
}


@pytest.mark.parametrize("way", MAPS)
def test_ways_to_have_lanes(way):
    expected = irax.grad(one_by_one(nested), (0, 1))(X, 1.5)
    check_equal(irax.grad(MAPS[way](nested), (0, 1))(X, 1.5), expected)


def test_piecewise():
    def f(x, w):
        chosen = [lambda y: jnp.sqrt(-y) * w, lambda y: jnp.log(y) * w, lambda y: y * w]
        return jnp.piecewise(x, [x < 0, x > 0], chosen).sum()

    of_x = 1.5 * np.array([1 / 4, 1, -1 / 2, 1 / 2])
    of_w = np.log(4) + 0 + 1 + np.log(2)
    check_equal(irax.grad(f, (0, 1))(X, 1.5), (of_x, of_w))
    check_equal(irax.grad(f, (0, 1))(np.zeros(3), 1.5), (np.full(3, 1.5), 0.0))


def test_piecewise_at_once_has_the_meaning_of_traced_piecewise():
    def f(x):
        functions = [-1, lambda y: y - y.mean() + y.ndim, lambda y: 2 * y]
        return jnp.piecewise(x, [x < 0, np.array([[True], [False]])], functions)

    expected = np.where([[True], [False]], 0, np.where(X < 0, -1, 2 * X))
    check_equal(f(X), expected)
    check_equal(irax.jit(f)(X), expected)
    for way in (f, irax.jit(f)):
        assert way(np.arange(3, dtype=np.int32)).dtype == np.int32
    for transform in (lambda g: g, irax.jit):
        with pytest.raises(ValueError, match="broadcast"):
            transform(lambda x: jnp.piecewise(x, [x > 0], [np.ones(4)]))(X)


def test_complex_operands():
    def f(y, w, taken):
        return lax.cond(taken, lambda: jnp.abs(jnp.sqrt(y) * w) ** 2, lambda: jnp.real(y * w))

    y, taken = np.array([1 + 1j, 0, -2j]), np.array([True, False, True])
    lanes = irax.grad(lambda y, w: irax.vmap(f, (0, None, 0))(y, w, taken).sum(), (0, 1))
    alone = irax.grad(lambda y, w: sum(f(y[i], w, taken[i]) for i in range(3)), (0, 1))
    check_equal(lanes(y, 1 + 0.5j), alone(y, 1 + 0.5j))


def of_two_axes(y, z, w, v):
    return lax.cond(y * z > 0, lambda: jnp.sqrt(y * z) * w / v, lambda: v * w * y)


SIZES = {"i": 3, "j": 2}
PATTERNS = list(itertools.product(["i", "ij"], ["j", "ij"], ["", "i", "j", "ij"], ["", "i", "ij"]))


@pytest.mark.parametrize("pattern", PATTERNS[::5], ids=str)
@pytest.mark.parametrize("outer", "ij")
def test_maps_of_maps(pattern, outer):
    inner = "j" if outer == "i" else "i"
    rng = np.random.default_rng(0)

    def drawn(number, axes):
        sizes = [SIZES[a] for a in axes]
        return rng.choice([-1.0, 0.0, 2.0, 4.0], sizes) if number < 2 else rng.uniform(1, 2, sizes)

    def lane(x, axes, place):
        return x[tuple(place[a] for a in axes)]

    def alone(arrays):
        places = [dict(zip("ij", p, strict=True)) for p in np.ndindex(3, 2)]
        picked = zip(arrays, pattern, strict=True)
        given = list(picked)
        return sum(of_two_axes(*(lane(x, axes, place) for x, axes in given)) for place in places)

    def together(arrays):
        f = irax.vmap(of_two_axes, [0 if inner in axes else None for axes in pattern])
        places = [axes.index(outer) if outer in axes else None for axes in pattern]
        return irax.vmap(f, places)(*arrays).sum()

    arrays = [drawn(number, axes) for number, axes in enumerate(pattern)]
    check_equal(irax.grad(together)(arrays), irax.grad(alone)(arrays))


def test_values_stay_what_they_are():
    f = irax.vmap(lambda y: lax.cond(y > 0, jnp.sqrt, lambda y: y * 0, y))
    np.testing.assert_array_equal(f(X), [2, 0, 0, np.sqrt(2)])
    assert "irax.harmless" in str(irax.make_ir(f)(X))  # the identity, as no derivative is taken
    value, pullback = irax.vjp(f, X)
    np.testing.assert_array_equal(value, [2, 0, 0, np.sqrt(2)])
    np.testing.assert_allclose(pullback(np.ones(4))[0], [0.25, 0, 0, np.sqrt(0.125)])


def test_linear_branches_need_no_operands_of_other_lanes():
    f = irax.vmap(lambda y, w: lax.cond(y > 0, lambda: 2 * y, lambda: -y + w), (0, None))
    assert "irax.harmless" not in str(irax.make_ir(f)(X, 1.5))
    of_y, of_w = irax.grad(lambda y, w: f(y, w).sum(), (0, 1))(X, 1.5)
    np.testing.assert_array_equal(of_y, [2, -1, -1, 2])
    assert of_w == 2


def test_sizes_that_are_not_known():
    def f(x, w):
        return irax.vmap(by_condition, (0, None))(x, w).sum()

    (n,) = irax.export.symbolic_shape("n")
    of_n = irax.ShapeDtypeStruct((n,), np.float64), irax.ShapeDtypeStruct((), np.float64)
    gradient = irax.export.export(irax.jit(irax.grad(f, (0, 1))))(*of_n)
    value = irax.export.export(irax.jit(f))(*of_n)
    expected = irax.grad(one_by_one(by_condition), (0, 1))(X, 1.5)
    check_equal(gradient.call(X, np.float64(1.5)), expected)
    check_equal(irax.grad(value.call, (0, 1))(X, np.float64(1.5)), expected)
