"""Derivative rules of the user's own, under every transformation, to second order."""

import functools

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.test_util import check_grads

X = jnp.arange(1.0, 4.0)


@irax.custom_jvp
def scaled_sine(x, y):
    return jnp.sin(x) * y


@scaled_sine.defjvp
def _scaled_sine_jvp(primals, tangents):
    (x, y), (dx, dy) = primals, tangents
    return scaled_sine(x, y), jnp.cos(x) * y * dx + jnp.sin(x) * dy


@irax.custom_vjp
def ruled_sine(x, y):
    return jnp.sin(x) * y


ruled_sine.defvjp(
    lambda x, y: (ruled_sine(x, y), (x, y)),
    lambda r, ct: (jnp.cos(r[0]) * r[1] * ct, jnp.sin(r[0]) * ct),
)


def plain_sine(x, y):
    return jnp.sin(x) * y


def total(f):
    return lambda *args: jnp.sum(f(*args))


COMPOSITIONS = {
    "grad": lambda f: irax.grad(total(f), (0, 1)),
    "jit-grad": lambda f: irax.jit(irax.grad(total(f), (0, 1))),
    "grad-jit": lambda f: irax.grad(total(irax.jit(f)), (0, 1)),
    "vmap": lambda f: irax.vmap(f),
    "vmap-grad": lambda f: irax.vmap(irax.grad(f)),
    "grad-vmap": lambda f: irax.grad(total(irax.vmap(f)), (0, 1)),
    "grad-grad": lambda f: irax.grad(total(irax.grad(total(f)))),
    "vmap-shared": lambda f: lambda x, y: irax.vmap(f, (0, None))(x, y[0]),
    "grad-vmap-shared": lambda f: irax.grad(
        lambda x, y: irax.vmap(f, (0, None))(x, y[0]).sum(), (0, 1)
    ),
    "grad-grad-vmap": lambda f: irax.grad(total(irax.grad(total(irax.vmap(f))))),
    "vmap-vmap-grad": lambda f: (
        lambda x, y: irax.vmap(irax.vmap(irax.grad(f), (0, None)), (None, 0))(x, y)
    ),
    "jit-vmap-grad": lambda f: irax.jit(irax.vmap(irax.grad(f))),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("compose", COMPOSITIONS.values(), ids=COMPOSITIONS)
@pytest.mark.parametrize("ruled", [scaled_sine, ruled_sine], ids=["jvp", "vjp"])
def test_right_rules_change_nothing(ruled, compose):
    expected = compose(plain_sine)(X, X + 1)
    found = compose(ruled)(X, X + 1)
    irax.tree_util.tree_map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6), found, expected
    )


@pytest.mark.parametrize("compose", [irax.jacfwd, irax.hessian, lambda f: irax.jit(irax.jacfwd(f))])
def test_forward_mode(compose):
    expected = compose(plain_sine)(0.5, 2.0)
    np.testing.assert_allclose(compose(scaled_sine)(0.5, 2.0), expected, rtol=1e-5)


def test_gradients_check_to_second_order():
    check_grads(scaled_sine, (0.5, 2.0), order=2)
    check_grads(ruled_sine, (0.5, 2.0), order=2, modes=["rev"])


def test_the_rule_is_what_counts():
    f = irax.custom_jvp(lambda x: x)
    f.defjvp(lambda primals, tangents: (f(*primals), 10 * tangents[0]))
    assert irax.grad(f)(1.0) == 10
    assert irax.jit(irax.grad(lambda x: irax.vmap(f)(x).sum()))(X).tolist() == [10] * 3
    g = irax.custom_vjp(lambda x: x)
    g.defvjp(lambda x: (x, ()), lambda r, ct: (10 * ct,))
    assert irax.grad(g)(1.0) == 10
    assert irax.grad(lambda x: g(x) ** 2)(3.0) == 60


def test_a_dumped_module_keeps_its_rules():
    f = irax.custom_jvp(lambda x: x * 1.0)
    f.defjvp(lambda primals, tangents: (f(*primals), 10 * tangents[0]))

    def main(x):
        return f(x) * 2

    loaded = irax.ir.load(str(irax.make_ir(main)(1.0)))
    assert irax.grad(loaded)(1.0) == 20


def test_defjvps():
    f = irax.custom_jvp(lambda x, y: x * y)
    f.defjvps(lambda t, out, x, y: 10 * t * y, None)
    assert irax.grad(f, (0, 1))(2.0, 3.0) == (30, 0)


def test_pytrees_and_integers():
    @irax.custom_jvp
    def f(tree, n):
        return {"y": tree["a"] * n, "n": n}

    @f.defjvp
    def _(primals, tangents):
        tree, n = primals
        d_tree, d_n = tangents
        assert d_n.dtype == irax.dtypes.float0
        return f(tree, n), {"y": d_tree["a"] * n, "n": d_n}

    gradient = irax.grad(lambda t: f(t, 3)["y"])({"a": 2.0})
    assert gradient == {"a": 3}


@pytest.mark.parametrize("kind", ["jvp", "vjp"])
def test_nondiff_argnums(kind):
    def apply(function, x):
        return function(x)

    if kind == "jvp":
        f = irax.custom_jvp(apply, nondiff_argnums=(0,))
        f.defjvp(lambda function, p, t: (f(function, *p), 10 * t[0]))
    else:
        f = irax.custom_vjp(apply, nondiff_argnums=(0,))
        f.defvjp(lambda function, x: (f(function, x), x), lambda function, x, ct: (10 * ct,))
    assert irax.grad(lambda x: f(jnp.sin, x))(1.0) == 10
    assert irax.jit(lambda x: f(jnp.cos, x))(0.0) == 1


def test_rules_use_values_from_outside():
    def outer(x, z):
        f = irax.custom_jvp(lambda x: x * lax.stop_gradient(z))
        f.defjvp(lambda p, t: (f(*p), t[0] * lax.stop_gradient(z) * 10))
        return f(x)

    assert irax.grad(outer)(2.0, 3.0) == 30
    assert irax.jit(irax.grad(outer))(2.0, 3.0) == 30
    np.testing.assert_allclose(irax.vmap(irax.grad(outer))(X, X), 10 * X)


def test_a_derivative_with_respect_to_a_value_from_outside_is_refused():
    def outer(z):
        f = irax.custom_jvp(lambda x: x * z)
        f.defjvp(lambda p, t: (f(*p), t[0] * z))
        return f(2.0)

    with pytest.raises(irax.errors.UnexpectedTracerError, match="pass the value as an argument"):
        irax.grad(outer)(3.0)


def test_forward_mode_of_a_custom_vjp_is_refused():
    with pytest.raises(TypeError, match=r"custom_vjp.*no forward mode"):
        irax.jvp(ruled_sine, (1.0, 2.0), (1.0, 1.0))


@pytest.mark.parametrize(
    "rule, message",
    [
        (lambda p, t: p[0], "must return a pair"),
        (lambda p, t: ([p[0]], t[0]), "tangent of structure"),
        (lambda p, t: (p[0], (t[0], t[0])), "tangent of structure"),
        (lambda p, t: (p[0], jnp.ones(3)), r"tangent of type float32\[3\]; expected float32\[\]"),
    ],
)
def test_wrong_jvp_rules(rule, message):
    f = irax.custom_jvp(lambda x: x)
    f.defjvp(rule)
    with pytest.raises(TypeError, match=message):
        irax.grad(f)(1.0)


@pytest.mark.parametrize(
    "fwd, bwd, message",
    [
        (lambda x: x, lambda r, ct: (ct,), "fwd .* must return a pair"),
        (lambda x: (x, None), lambda r, ct: ct, "bwd .* must return a tuple"),
        (lambda x: (x, None), lambda r, ct: (ct, ct), "got 2 of them"),
        (lambda x: (x, None), lambda r, ct: (jnp.ones(3),), "cotangent of x of type"),
    ],
)
def test_wrong_vjp_rules(fwd, bwd, message):
    f = irax.custom_vjp(lambda x: x)
    f.defvjp(fwd, bwd)
    with pytest.raises((TypeError, ValueError), match=message):
        irax.grad(f)(1.0)


def test_a_function_without_rules():
    with pytest.raises(AttributeError, match="defjvp"):
        irax.custom_jvp(lambda x: x)(1.0)
    with pytest.raises(AttributeError, match="defvjp"):
        irax.custom_vjp(lambda x: x)(1.0)


def test_custom_gradient():
    @irax.custom_gradient
    def f(x):
        squared = x * x
        return squared, lambda ct: 5 * ct * squared

    assert f(2.0) == 4
    assert irax.grad(f)(2.0) == 20
    assert irax.jit(irax.grad(f))(2.0) == 20
    np.testing.assert_allclose(irax.vmap(irax.grad(f))(X), 5 * X**2)
    assert irax.grad(irax.grad(f))(2.0) == 20


def test_closure_convert():
    def outer(y):
        pure, consts = irax.closure_convert(lambda x: x * jnp.sin(y), 1.0)
        return pure(3.0, *consts)

    np.testing.assert_allclose(irax.grad(outer)(0.5), 3 * np.cos(0.5), rtol=1e-6)


def test_closure_convert_takes_out_what_may_be_differentiated():
    table, counts = jnp.arange(4.0), []

    def outer(y, n):
        pure, consts = irax.closure_convert(lambda x: (x * y * table[n], table), 1.0)
        counts.append(len(consts))
        return pure(3.0, *consts)[0]

    pure, consts = irax.closure_convert(lambda x: x * table.sum(), 1.0)
    assert consts == []
    assert pure(2.0) == irax.jit(pure)(2.0) == 12
    assert outer(2.0, 3) == irax.jit(outer)(2.0, 3) == 18
    assert irax.grad(outer)(2.0, 3) == irax.jit(irax.grad(outer))(2.0, 3) == 9
    np.testing.assert_array_equal(irax.vmap(outer, (None, 0))(2.0, np.arange(3)), [0, 6, 12])
    assert counts == [0, 1, 1, 1, 0]
    with pytest.raises(TypeError, match="1 arguments and then the 0 arrays of the list, got 2"):
        pure(2.0, table)


@pytest.mark.parametrize(("given", "returned"), [("bfloat16", "float32"), ("float32", "bfloat16")])
def test_rules_may_compute_in_another_precision(given, returned):
    @irax.custom_vjp
    def f(x):
        return jnp.sum(x * 2)

    f.defvjp(lambda x: (f(x), x.shape), lambda shape, ct: (jnp.full(shape, 2 * ct, returned),))
    found = irax.jit(irax.grad(lambda x: f(3 * x)))(jnp.ones(2, given))
    assert found.dtype == given
    np.testing.assert_array_equal(found.astype("float32"), [6, 6])


def test_linear_transpose():
    matrix = jnp.arange(6.0).reshape(2, 3)
    (transposed,) = irax.linear_transpose(lambda x: matrix @ x, jnp.ones(3))(jnp.ones(2))
    np.testing.assert_allclose(transposed, matrix.sum(0))
    with pytest.raises(NotImplementedError, match="sine"):
        irax.linear_transpose(jnp.sin, 1.0)
    (integers,) = irax.linear_transpose(lambda x: 3 * x, jnp.arange(2))(jnp.array([1, 2]))
    np.testing.assert_array_equal(integers, [3, 6])
    with pytest.raises(TypeError, match="structure"):
        irax.linear_transpose(lambda x: x, 1.0)((1.0,))
    for fun, cotangent in ((lambda x: 1j * x, 1.0), (lambda x: x, 1j), (lambda x: x, 1)):
        with pytest.raises(TypeError, match="linear_transpose: the cotangent has type"):
            irax.linear_transpose(fun, 1.0)(cotangent)
    with pytest.raises(TypeError, match="expected floats and complex numbers, or integers, alone"):
        irax.linear_transpose(lambda x: 2.0 * x, 1)


def test_rules_of_a_partial_take_what_it_leaves_open():
    f = irax.custom_jvp(functools.partial(lambda x, y, a: x * y * a, a=3.0))
    f.defjvp(lambda primals, tangents: (f(*primals), 10.0 * tangents[0] + tangents[1]))
    assert f(2.0, 5.0) == 30.0
    assert irax.grad(f, argnums=(0, 1))(2.0, 5.0) == (10.0, 1.0)


def test_python_branches_on_what_rules_are_given_outside_of_jit():
    @irax.custom_vjp
    def f(x):
        return jnp.abs(x)

    def fwd(x):
        return jnp.abs(x), (x, 2 * x) if x > 0 else (x, 3 * x)

    f.defvjp(fwd, lambda kept, ct: (kept[1] * ct,) if kept[1] > 0 else (10 * kept[1] * ct,))
    assert [float(irax.grad(f)(x)) for x in (2.0, -2.0)] == [4, -60]
    with pytest.raises(irax.errors.TracerBoolConversionError):
        irax.jit(irax.grad(f))(2.0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("where", ["bwd", "fwd"])
def test_rules_that_close_over_what_is_differentiated(where):
    def slope(y):
        @irax.custom_vjp
        def f(x):
            return 2 * jnp.sin(x)

        if where == "bwd":
            f.defvjp(lambda x: (f(x), ()), lambda _, ct: (2 * jnp.cos(y) * ct,))
        else:
            f.defvjp(lambda x: (f(x), y), lambda kept, ct: (2 * jnp.cos(kept) * ct,))
        return irax.grad(f)(1.0)

    for transform in (lambda f: f, irax.jit):
        np.testing.assert_allclose(transform(slope)(4.0), 2 * np.cos(4), rtol=1e-6)
        np.testing.assert_allclose(transform(irax.grad(slope))(4.0), -2 * np.sin(4), rtol=1e-6)
        again = transform(irax.grad(irax.grad(slope)))
        np.testing.assert_allclose(again(4.0), -2 * np.cos(4), rtol=1e-6)
    lanes = np.arange(3, dtype=np.float32)
    found = irax.vmap(irax.grad(slope))(lanes)
    np.testing.assert_allclose(found, -2 * np.sin(lanes), rtol=1e-6)


def test_none_among_cotangents():
    @irax.custom_vjp
    def f(t, u):
        return 2 * t[0]

    out = {
        "where an argument is None": ((3.0, (None, None)), None),
        "for several arrays": ((3.0, None), None),
    }
    for cotangents in out.values():
        f.defvjp(lambda t, u: (f(t, u), None), lambda _, ct, found=cotangents: found)
        found = irax.grad(f, (0, 1))((1.0, (2.0, None)), {"a": 1.0})
        assert found == ((3, (0, None)), {"a": 0})
    for wrong in ((3.0, None), ((3.0, (None, 4.0)), None)):
        f.defvjp(lambda t, u: (f(t, u), None), lambda _, ct, found=wrong: found)
        with pytest.raises(TypeError, match="cotangent of structure"):
            irax.grad(f)((1.0, (2.0, None)), 1.0)
    f.defvjp(lambda t, u: (f(t, u), None), lambda _, ct: ((jnp.ones(3), None), None))
    with pytest.raises(ValueError, match=r"cotangent of t\[0\] of type float32\[3\]"):
        irax.grad(f)((1.0, (2.0, None)), 1.0)


def test_pullbacks_of_one_argument_may_return_a_tuple():
    f = irax.custom_gradient(lambda x: (x * x, lambda ct: (10 * ct,)))
    assert irax.grad(f)(3.0) == 10
    g = irax.custom_gradient(lambda x: (x[0] * x[1], lambda ct: (2 * ct, 3 * ct)))
    assert irax.grad(g)((3.0, 4.0)) == (2, 3)


def test_python_values_among_residuals_stay_python_values():
    f = irax.custom_vjp(lambda x: 3 * x)

    def bwd(residuals, ct):
        x, count, flag, scale, nothing = residuals
        assert (type(count), flag, scale, nothing) == (int, True, 0.5, None)
        assert x.shape == (2,)
        return (count * ct + jnp.zeros(count)[0],)

    f.defvjp(lambda x: (3 * x, (x, 3, True, 0.5, None)), bwd)

    def total(x):
        return f(x).sum()

    for gradient in (irax.grad(total), irax.jit(irax.grad(total)), irax.grad(irax.jit(total))):
        np.testing.assert_array_equal(gradient(jnp.ones(2)), [3, 3])
    np.testing.assert_array_equal(
        irax.vmap(irax.grad(total))(jnp.ones((4, 2))), 3 * np.ones((4, 2))
    )


# ---- rules that compute results and tangents in one loop -----------------------------------------


def by_a_count(a, t):
    def step(i, carry):
        x, dx = carry
        return 0.5 * (x + a / x), 0.5 * (dx + t / x - a / x**2 * dx)

    return lax.fori_loop(0, 9, step, (jnp.ones_like(a), jnp.zeros_like(a)))


def by_rows(a, t):
    def step(carry, _):
        x, dx = carry
        return (0.5 * (x + a / x), 0.5 * (dx + t / x - a / x**2 * dx)), (x, dx)

    _, (xs, dxs) = lax.scan(step, (jnp.ones_like(a), jnp.zeros_like(a)), None, length=10)
    return xs[-1], dxs[-1] * xs[-1] / xs[-2]


def by_a_branch(a, t):
    return lax.cond(jnp.sum(a) > 100, lambda: (a, t), lambda: by_a_count(a, t))


def by_a_condition(a, t):
    def step(carry):
        i, x, _ = carry
        x = 0.5 * (x + a / x)
        return i + 1, x, 0.5 * t / x

    return lax.while_loop(lambda c: c[0] < 9, step, (0, jnp.ones_like(a), jnp.zeros_like(a)))[1:]


def by_a_checkpoint(a, t):
    return irax.checkpoint(by_a_count)(a, t)


@pytest.mark.parametrize(
    "solve", [by_a_count, by_rows, by_a_branch, by_a_condition, by_a_checkpoint]
)
@pytest.mark.parametrize("around", [lambda f: f, irax.jit, irax.vmap], ids=["", "jit", "vmap"])
def test_a_rule_solves_for_results_and_tangents_at_once(solve, around):
    @irax.custom_jvp
    def root(a):
        return solve(a, jnp.zeros_like(a))[0]

    root.defjvp(lambda primals, tangents: solve(*primals, *tangents))

    def f(a):
        return jnp.sum(jnp.sin(around(root)(a)) * a)

    x = np.array([0.5, 2.0, 3.0])
    r = np.sqrt(x)
    first = np.sin(r) + np.cos(r) * r / 2
    second = 3 / 4 * np.cos(r) / r - np.sin(r) / 4
    with irax.enable_x64(True):
        np.testing.assert_allclose(irax.grad(f)(x), first, rtol=1e-9)
        np.testing.assert_allclose(irax.grad(total(irax.grad(f)))(x), second, rtol=1e-9)
        np.testing.assert_allclose(irax.jvp(irax.grad(f), (x,), (x,))[1], second * x, rtol=1e-9)


def test_a_rule_whose_results_depend_on_tangents_has_no_reverse_mode():
    @irax.custom_jvp
    def f(x):
        return x

    f.defjvp(lambda primals, tangents: (primals[0] + tangents[0], tangents[0]))
    with pytest.raises(NotImplementedError, match="computes results from tangents"):
        irax.grad(f)(1.0)


def test_a_result_that_is_the_same_in_all_lanes_has_one_cotangent_a_lane():
    """JAX 0.10.2 gives the rule the sum of all lanes in each."""

    def plain(x, y):
        return x * y, 3 * y

    ruled = irax.custom_vjp(plain)
    ruled.defvjp(
        lambda x, y: (plain(x, y), (x, y)),
        lambda saved, cts: (cts[0] * saved[1], cts[0] * saved[0] + 3 * cts[1]),
    )

    def total(y):
        a, b = irax.vmap(lambda x: ruled(x, y))(jnp.array([1.0, 2.0, 3.0]))
        return a.sum() + b.sum()

    assert irax.grad(total)(2.0) == irax.jit(irax.grad(total))(2.0) == 15


def test_python_may_choose_by_tangents_of_what_is_not_differentiated():
    chosen = []

    @irax.custom_jvp
    def f(z, x):
        return z * x

    @f.defjvp
    def _(primals, tangents):
        chosen.append(bool(jnp.any(tangents[0])))
        return f(*primals), primals[0] * tangents[1]

    z, x = jnp.arange(3.0), jnp.ones(3)
    np.testing.assert_allclose(irax.grad(lambda x: jnp.sum(f(z, x)))(x), z)
    slopes = irax.vmap(irax.grad(lambda x: jnp.sum(f(z, x))))(jnp.ones((2, 3)))
    np.testing.assert_allclose(slopes, [z, z])
    assert chosen == [False, False]
    with pytest.raises(irax.errors.ConcretizationTypeError):
        irax.jit(irax.grad(lambda x: jnp.sum(f(z, x))))(x)
