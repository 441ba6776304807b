"""The transpose of linear functions with loops and branches inside, against their matrices."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.custom_derivatives import linear_call

SIZE = 4


def halving(t):
    return lax.fori_loop(0, 3, lambda i, y: y * 0.5 + t, t)


def by_branches(t):
    return lax.fori_loop(0, 3, lambda i, y: lax.cond(i == 1, lambda: y * 0.5, lambda: y + t), t)


def by_places(t):
    return lax.fori_loop(0, 3, lambda i, y: y.at[i].add(t[i + 1] * i), t)


def by_the_count(t):
    return lax.fori_loop(0, 3, lambda i, y: jnp.where(i < 2, y, t * i), t)


def by_rows(t):
    return lax.scan(lambda c, x: (c * 0.5 + x, c), 0.0, t)[1]


def nested(t):
    return lax.fori_loop(0, 2, lambda i, y: lax.fori_loop(0, i + 2, lambda j, z: z + t * j, y), t)


LINEAR = [halving, by_branches, by_places, by_the_count, by_rows]


@pytest.mark.parametrize("f", LINEAR, ids=lambda f: f.__name__)
def test_the_transpose_is_that_of_the_matrix(f):
    matrix = np.stack([f(row) for row in jnp.eye(SIZE)], axis=1)
    transpose = irax.linear_transpose(f, jnp.ones(SIZE))
    for i, row in enumerate(jnp.eye(SIZE)):
        np.testing.assert_allclose(transpose(row)[0], matrix[i], rtol=1e-6)


@pytest.mark.parametrize("f", LINEAR, ids=lambda f: f.__name__)
def test_a_rule_may_hold_loops(f):
    @irax.custom_jvp
    def g(x):
        return jnp.sin(x)

    g.defjvp(lambda primals, tangents: (g(*primals), f(*tangents) * jnp.cos(primals[0])))
    matrix = np.stack([f(row) for row in jnp.eye(SIZE)], axis=1)
    x = jnp.arange(SIZE) * 0.3
    expected = np.cos(x) @ matrix
    np.testing.assert_allclose(irax.grad(lambda x: jnp.sum(g(x)))(x), expected, rtol=1e-6)


def by_a_loop(b):
    d, s = lax.fori_loop(0, 2, lambda i, c: (c[0] * 2.0, c[1] / c[0]), (1.3, b))
    return s * d


def by_rows_of_both(b):
    def step(carry, x):
        d, s = carry
        return (d * 1.5, s * x / d), (d + x, s)

    (d, s), (ds, ss) = lax.scan(step, (1.3, b), jnp.arange(1.0, 4.0))
    return jnp.sum(ds[:, None] * ss, axis=0) * d + s / d


def by_a_branch(b):
    d, s = lax.cond(jnp.sum(jnp.ones(2)) > 1, lambda: (jnp.sin(1.0), b * 2), lambda: (0.5, b))
    return d * s


def by_loops_in_loops(b):
    def outer(i, carry):
        d, s = carry
        e, s = lax.fori_loop(0, 3, lambda j, c: (c[0] + d, c[1] * c[0]), (d, s))
        return e * 0.1, s * e

    d, s = lax.fori_loop(0, 2, outer, (1.3, b))
    return d * s


def by_branches_in_loops(b):
    def step(i, carry):
        d, s = carry
        d, s = lax.cond(i > 0, lambda: (d * 2, s * d), lambda: (d + 1, s))
        return d, s * d

    d, s = lax.fori_loop(0, 3, step, (1.3, b))
    return d * s


def by_a_loop_in_a_call(b):
    @irax.jit
    def called(d, s):
        return lax.fori_loop(0, 2, lambda i, c: (c[0] * 2.0, c[1] / c[0]), (d, s))

    d, s = called(1.3, b)
    return d * s


def by_a_checkpoint(b):
    d, s = irax.checkpoint(lambda d, s: (jnp.sin(d), s * d))(1.3, b)
    return d * s


def from_a_known_start(b):
    def step(i, carry):
        d, s, total = carry
        return d * 2.0, s / d, total + s * d

    d, s, total = lax.fori_loop(0, 3, step, (1.3, b, jnp.zeros(SIZE)))
    return s * d + total * d


BESIDE_OTHERS = [
    by_a_loop,
    by_rows_of_both,
    by_a_branch,
    by_loops_in_loops,
    by_branches_in_loops,
    by_a_loop_in_a_call,
    by_a_checkpoint,
    from_a_known_start,
]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("f", BESIDE_OTHERS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("jit", [lambda f: f, irax.jit], ids=["eager", "jit"])
def test_values_computed_beside_linear_ones_are_used(f, jit):
    def weighted(t):
        return f(t * jnp.arange(1.0, 5.0))

    matrix = np.stack([weighted(row) for row in jnp.eye(SIZE)], axis=1)
    transpose = jit(lambda ct: irax.linear_transpose(weighted, jnp.ones(SIZE))(ct)[0])
    for i, row in enumerate(jnp.eye(SIZE)):
        np.testing.assert_allclose(transpose(row), matrix[i], rtol=1e-5)


def test_a_branch_chosen_by_a_linear_value_is_none():
    with pytest.raises(NotImplementedError, match=r"if is not linear in"):
        irax.linear_transpose(lambda t: lax.cond(t > 0, lambda: t, lambda: 2 * t), 1.0)(1.0)


def test_loops_that_are_not_linear():
    with pytest.raises(NotImplementedError, match=r"multiply is not linear in two operands"):
        irax.linear_transpose(lambda t: lax.fori_loop(0, 3, lambda i, y: y * t, t), 1.0)
    with pytest.raises(NotImplementedError, match=r"known only when it runs"):
        irax.linear_transpose(nested, jnp.ones(SIZE))


def test_calls_of_calls_are_looked_at_once():
    f = irax.jit(lambda t: 0.5 * t)
    for _ in range(40):  # 2**40 calls in all
        f = irax.jit(lambda t, inner=f: inner(inner(t)))
    text = str(irax.make_ir(lambda ct: irax.linear_transpose(f, 1.0)(ct))(1.0))
    assert 40 < text.count("func.func") < 200


# ---- linear_call ---------------------------------------------------------------------------------


def divided(r, x):
    return linear_call(lambda r, x: x / r, lambda r, ct: 10 * ct / r, r, x)


def test_linear_call_has_the_transpose_that_is_given():
    assert divided(2.0, 3.0) == 1.5
    derivative = irax.grad(divided, 1)
    for found in (derivative(2.0, 3.0), irax.jit(derivative)(2.0, 3.0)):
        assert found == 5.0
    assert irax.jvp(lambda x: divided(2.0, x), (3.0,), (1.0,))[1] == 0.5
    lanes = irax.vmap(derivative)(jnp.arange(1.0, 4.0), jnp.ones(3))
    np.testing.assert_allclose(lanes, 10 / np.arange(1.0, 4.0), rtol=1e-6)


def test_the_transpose_of_the_transpose_of_linear_call_is_the_function():
    once = lambda ct: irax.linear_transpose(lambda x: divided(2.0, x), 1.0)(ct)[0]
    assert irax.linear_transpose(once, 1.0)(1.0)[0] == 0.5


def test_linear_call_of_pytrees_with_captured_values():
    @irax.grad
    def derivative(x):
        scale = irax.lax.stop_gradient(x)
        forward = lambda r, p: {"out": scale * p[0] + r * p[1]}
        back = lambda r, ct: (scale * ct["out"], r * ct["out"])
        return linear_call(forward, back, 5.0, (x, x))["out"]

    assert derivative(3.0) == 8.0


def test_linear_call_refuses_what_is_not_transposed():
    call = lambda back: irax.grad(lambda x: linear_call(lambda _, x: 2 * x, back, (), x))(1.0)
    with pytest.raises(TypeError, match="structure of linear_args"):
        call(lambda _, ct: (ct, ct))
    with pytest.raises(TypeError, match=r"float32\[3\]"):
        call(lambda _, ct: jnp.ones(3))
    with pytest.raises(NotImplementedError, match="residuals"):
        irax.grad(divided)(2.0, 3.0)


def test_a_linear_call_of_a_number_returns_an_array():
    found = linear_call(lambda r, x: x, lambda r, ct: ct, 2.0, 3.0)
    assert isinstance(found, irax.Array)
    assert (found, found.weak_type) == (3, True)


def test_a_transpose_is_a_pytree_that_jitted_functions_take_and_return():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)

    @irax.jit
    def made(a):
        return irax.linear_transpose(lambda x: a @ x, jnp.ones(3))

    for transposed in (made(a), irax.linear_transpose(lambda x: a @ x, jnp.ones(3))):
        for call in (lambda f, x: f(x), irax.jit(lambda f, x: f(x))):
            np.testing.assert_allclose(call(transposed, jnp.ones(2))[0], a.sum(0))
    assert len(irax.tree.leaves(made(a))) == 1
