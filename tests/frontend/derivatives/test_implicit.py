"""custom_linear_solve and custom_root: derivatives of solutions against direct formulas."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.test_util import check_grads

RANDOM = np.random.default_rng(0)
A = jnp.asarray((RANDOM.normal(size=(3, 3)) + 4 * np.eye(3)).astype(np.float32))
B = jnp.asarray(RANDOM.normal(size=3).astype(np.float32))


def direct(matvec, b):
    return jnp.linalg.solve(irax.jacfwd(matvec)(b), b)


def solve(a, b):
    return lax.custom_linear_solve(lambda x: a @ x, b, direct, direct)


def symmetric(a, b):
    a = a + a.T
    return lax.custom_linear_solve(lambda x: a @ x, b, direct, symmetric=True)


def newton(f, x):
    return lax.fori_loop(0, 12, lambda _, x: x - f(x) / irax.grad(f)(x), x)


def cube_root(a):
    return lax.custom_root(lambda x: x**3 - a, a, newton, lambda g, y: y / g(1.0))


def close(found, expected, tolerance=1e-4):
    irax.tree_util.tree_map(
        lambda x, y: np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance),
        found,
        expected,
    )


def squares(f):
    return lambda *args: jnp.sum(f(*args) ** 2)


@pytest.mark.parametrize("f", [solve, symmetric])
def test_solutions_and_their_derivatives(f):
    matrix = A if f is solve else A + A.T
    close(f(A, B), np.linalg.solve(matrix, B))
    check_grads(f, (A, B), order=2)


COMPOSITIONS = {
    "vmap": lambda f, axes: irax.vmap(f, axes),
    "vmap-grad": lambda f, axes: irax.vmap(irax.grad(squares(f), (0, 1)), axes),
    "grad-vmap": lambda f, axes: irax.grad(squares(irax.vmap(f, axes)), (0, 1)),
    "jacfwd-vmap": lambda f, axes: irax.jacfwd(irax.vmap(f, axes), (0, 1)),
    "vmap-hessian": lambda f, axes: irax.vmap(irax.hessian(squares(f)), axes),
}


@pytest.mark.parametrize("compose", COMPOSITIONS.values(), ids=COMPOSITIONS)
@pytest.mark.parametrize("axes", [(0, 0), (0, None), (None, 0)])
def test_lanes(compose, axes):
    stacks = jnp.stack([A, 2 * A, A.T]), jnp.stack([B, B + 1, B - 2])
    args = tuple(s if axis == 0 else x for s, x, axis in zip(stacks, (A, B), axes, strict=True))
    close(compose(solve, axes)(*args), compose(jnp.linalg.solve, axes)(*args), 1e-3)


def test_on_iree():
    f = irax.jit(irax.value_and_grad(squares(solve), (0, 1)))
    close(f(A, B), irax.value_and_grad(squares(jnp.linalg.solve), (0, 1))(A, B))


def test_pytrees():
    def f(a, b):
        matvec = lambda x: {"u": a @ x["u"], "v": (2 * x["v"][0],)}

        def solver(_, b):
            return {"u": jnp.linalg.solve(a, b["u"]), "v": (b["v"][0] / 2,)}

        return lax.custom_linear_solve(
            matvec,
            b,
            solver,
            lambda _, b: {"u": jnp.linalg.solve(a.T, b["u"]), "v": (b["v"][0] / 2,)},
        )

    b = {"u": B, "v": (1.5,)}
    found = f(A, b)
    close(found, {"u": np.linalg.solve(A, B), "v": (0.75,)})
    check_grads(f, (A, b), order=2)


def test_the_solver_is_not_differentiated():
    def inexact(matvec, b):
        return lax.while_loop(lambda x: jnp.abs(matvec(x) - b) > 1e-6, lambda x: x / 2 + b / 8, b)

    f = lambda b: lax.custom_linear_solve(lambda x: 4 * x, b, inexact, symmetric=True)
    close(
        [f(3.0), irax.grad(f)(3.0), irax.grad(irax.grad(lambda b: f(b) ** 2))(3.0)],
        [0.75, 0.25, 0.125],
    )


def test_aux_has_no_derivative():
    def f(a):
        x, aux = lax.custom_linear_solve(
            lambda x: a * x,
            1.0,
            lambda _, b: (b / a, {"n": a, "k": 3}),
            lambda _, b: (b / a, None),
            has_aux=True,
        )
        return x * aux["n"] * aux["k"]

    close([f(2.0), irax.grad(f)(2.0), irax.jvp(f, (2.0,), (1.0,))[1]], [3.0, -1.5, -1.5])


def test_forward_mode_needs_no_transpose():
    f = lambda a: lax.custom_linear_solve(lambda x: a @ x, B, direct).sum()
    close(irax.jacfwd(f)(A), irax.jacfwd(lambda a: jnp.linalg.solve(a, B).sum())(A))
    with pytest.raises(TypeError, match="transpose_solve"):
        irax.grad(f)(A)


def test_roots():
    close(cube_root(8.0), 2.0)
    check_grads(cube_root, (8.0,), order=3)
    cubes = jnp.array([1.0, 8.0, 27.0])
    close(irax.vmap(irax.grad(cube_root))(cubes), [1 / 3, 1 / 12, 1 / 27])
    close(irax.jit(irax.grad(irax.grad(cube_root)))(8.0), -2 / 9 * 8 ** (-5 / 3))


def test_roots_of_systems():
    def f(a):
        equation = lambda x: 0.3 * jnp.tanh(x) @ A / 6 + x - a
        step = lambda f, x: lax.fori_loop(0, 40, lambda _, x: x - 0.8 * f(x), x)
        return lax.custom_root(equation, a, step, direct)

    x = f(B)
    close(0.3 * jnp.tanh(x) @ A / 6 + x, B)
    check_grads(f, (B,), order=2)
    close(irax.vmap(irax.jacrev(f))(jnp.stack([B, 2 * B])), [irax.jacfwd(f)(y) for y in (B, 2 * B)])


def test_roots_of_fewer_equations_than_unknowns():
    """The nearest point of a circle, by steps along the gradient."""

    def nearest(radius, start):
        f = lambda p: jnp.sum(p**2) - radius**2

        def solve(f, p):
            def step(_, p):
                slope = irax.grad(f)(p)
                return p - f(p) * slope / jnp.sum(slope**2)

            return lax.fori_loop(0, 8, step, p)

        def tangent_solve(g, y):
            j = irax.jacfwd(g)(jnp.zeros(2))
            return y * j / jnp.sum(j**2)

        return lax.custom_root(f, start, solve, tangent_solve)

    start = jnp.array([0.3, 0.4])
    close(nearest(2.0, start), [1.2, 1.6])
    for transform in (lambda f: f, irax.jit):
        close(transform(irax.jacrev(nearest))(2.0, start), [0.6, 0.8])
        close(transform(irax.jacfwd(nearest))(2.0, start), [0.6, 0.8])
    radii = jnp.array([1.0, 2.0])
    slopes = irax.vmap(irax.jacfwd(nearest), (0, None))(radii, start)
    close(slopes, [[0.6, 0.8]] * 2)


@pytest.mark.parametrize("around", [lambda f: f, irax.jit])
def test_a_solver_carries_an_equation_that_is_a_pytree(around):
    def f(a):
        equation = irax.tree_util.Partial(lambda a, x: x**3 - a, a)

        def solve(f, x):
            step = lambda _, carry: (carry[0], newton(*carry))
            return lax.fori_loop(0, 2, step, (f, x))[1]

        return lax.custom_root(equation, a, solve, lambda g, y: y / g(1.0))

    close([around(f)(8.0), around(irax.grad(f))(8.0)], [2.0, 1 / 12])


def test_roots_with_aux():
    def f(a):
        x, steps = lax.custom_root(
            lambda x: x**3 - a, a, lambda f, x: (newton(f, x), 12), lambda g, y: y / g(1.0), True
        )
        return x * steps

    close([f(8.0), irax.grad(f)(8.0), irax.jacfwd(f)(8.0)], [24.0, 1.0, 1.0])


def test_a_dumped_module_keeps_the_equation():
    def main(a, b):
        return jnp.sum(solve(a, b))

    loaded = irax.ir.load(str(irax.make_ir(main)(A, B)))
    close(irax.grad(loaded, (0, 1))(A, B), irax.grad(main, (0, 1))(A, B))


@pytest.mark.parametrize("transform", [lambda f: f, irax.jit])
def test_errors(transform):
    def call(f, *args):
        return transform(f)(*args)

    with pytest.raises(ValueError, match=r"what matvec .* shapes and dtypes of b"):
        call(lambda b: lax.custom_linear_solve(lambda x: (A @ x)[:2], b, direct), B)
    with pytest.raises(TypeError, match="solve"):
        call(lambda b: lax.custom_linear_solve(lambda x: x, b, lambda _, b: (b, b)), B)
    with pytest.raises(TypeError, match="pair"):
        call(lambda b: lax.custom_linear_solve(lambda x: x, b, lambda _, b: b, has_aux=True), B)
    with pytest.raises(TypeError, match="inexact"):
        call(lambda b: lax.custom_root(lambda x: x, b, newton, newton), 3)
    with pytest.raises(TypeError, match="function"):
        call(lambda b: lax.custom_root(lambda x: x, b, newton, None), 3.0)


PAIR = lambda _, y: (y, y)
SAME = lambda _, y: y


@pytest.mark.parametrize("around", [lambda f: f, irax.jit])
@pytest.mark.parametrize(
    ("error", "call"),
    [
        (TypeError, lambda x: lax.custom_root(lambda x: (x, x), x, SAME, SAME)),
        (TypeError, lambda x: lax.custom_root(lambda x: None, x, SAME, SAME)),
        (TypeError, lambda x: lax.custom_root(lambda x: x, x, SAME, PAIR)),
        (ValueError, lambda x: lax.custom_root(lambda x: x, x, SAME, SAME, has_aux=True)),
        (TypeError, lambda x: lax.custom_linear_solve(lambda x: [x], x, SAME, symmetric=True)),
        (ValueError, lambda x: lax.custom_linear_solve(lambda x: x * np.ones(2), x, SAME)),
        (TypeError, lambda x: lax.custom_linear_solve(lambda x: x, x, SAME, PAIR)),
        (ValueError, lambda x: lax.custom_linear_solve(lambda x: x, x, SAME, lambda *_: B)),
    ],
)
def test_functions_that_the_solver_does_not_call_are_checked(around, error, call):
    for ranks in ("allow", "raise"):
        with irax.numpy_rank_promotion(ranks), pytest.raises(error):
            around(call)(1.0)


def test_functions_that_read_values_are_checked_where_they_are_used():
    positive = lambda x: x if x > 0 else -x
    assert lax.custom_root(positive, 1.0, SAME, SAME) == 1
    reads = lambda _, y: y if y > 0 else 2 * y
    assert lax.custom_linear_solve(lambda x: x, 1.0, SAME, reads) == 1


def test_what_the_rule_does_not_know_is_not_transposed():
    inverse = irax.linear_transpose(lambda b: solve(A, b), B)
    close(inverse(B)[0], np.linalg.solve(A.T, B))
