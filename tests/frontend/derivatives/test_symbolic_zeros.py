"""Rules that tell zeros by their type: what is perturbed, under every transformation."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.custom_derivatives import (
    CustomVJPPrimal,
    SymbolicZero,
    custom_vjp_primal_tree_values,
    zero_from_primal,
)
from irax.test_util import check_grads


class Product:
    """x * y, with rules that note what they are told, and skip what is zero."""

    def __init__(self, kind):
        self.seen = []
        if kind == "jvp":
            self.f = irax.custom_jvp(lambda x, y: x * y)
            self.f.defjvp(self.jvp, symbolic_zeros=True)
        else:
            self.f = irax.custom_vjp(lambda x, y: x * y)
            self.f.defvjp(self.fwd, self.bwd, symbolic_zeros=True)

    def jvp(self, primals, tangents):
        (x, y), (dx, dy) = primals, tangents
        self.seen.append([not isinstance(t, SymbolicZero) for t in tangents])
        if all(isinstance(t, SymbolicZero) for t in tangents):
            return self.f(x, y), SymbolicZero.from_primal_value(x * y)
        parts = [(dx, y), (dy, x)]
        return self.f(x, y), sum(t * z for t, z in parts if not isinstance(t, SymbolicZero))

    def fwd(self, x, y):
        assert isinstance(x, CustomVJPPrimal)
        assert isinstance(y, CustomVJPPrimal)
        self.seen.append([x.perturbed, y.perturbed])
        kept = (y.value if x.perturbed else None, x.value if y.perturbed else None)
        return self.f(x.value, y.value), kept

    def bwd(self, kept, ct):
        y, x = kept
        return None if y is None else ct * y, zero_from_primal(ct, True) if x is None else ct * x


KINDS = pytest.mark.parametrize("kind", ["jvp", "vjp"])


@KINDS
def test_what_is_perturbed(kind):
    product = Product(kind)
    f = product.f
    x, y = 2.0, jnp.float32(3.0)

    def seen(transform, *args):
        product.seen.clear()
        found = transform(*args)
        (flags,) = {tuple(flags) for flags in product.seen}
        return found, flags

    assert seen(irax.grad(f), x, y) == (3.0, (True, False))
    assert seen(irax.grad(f, 1), x, y) == (2.0, (False, True))
    assert seen(irax.grad(f, (0, 1)), x, y) == ((3.0, 2.0), (True, True))
    assert seen(irax.grad(lambda x: f(x, x + 1)), x) == (5.0, (True, True))
    assert seen(irax.grad(lambda x: f(x, lax.stop_gradient(x))), x) == (2.0, (True, False))
    assert seen(irax.grad(lambda x: f(x, jnp.round(x).astype(int))), x) == (2.0, (True, False))
    assert seen(irax.grad(lambda x: lax.cond(x > 0, lambda: f(x, y), lambda: x)), x) == (
        3.0,
        (True, False),
    )
    # Rules run when a derivative is taken, with what that is taken with respect to.
    assert seen(irax.grad(irax.jit(f)), x, y) == (3.0, (True, False))
    assert seen(irax.grad(lambda x: irax.jit(f)(x, y)), x) == (3.0, (True, False))
    assert seen(irax.jit(irax.grad(lambda x: f(x, y))), x) == (3.0, (True, False))
    assert seen(irax.jit(irax.grad(f)), x, y) == (3.0, (True, False))
    scanned = irax.grad(lambda x: lax.scan(lambda c, z: (f(c, z), None), x, jnp.ones(2))[0])
    assert seen(scanned, x) == (1.0, (True, False))
    # An outer derivative asks the call in the rule.
    product.seen.clear()
    assert irax.grad(lambda y: irax.grad(f)(x, y))(y) == 1
    assert sorted({tuple(flags) for flags in product.seen}) == [(False, True), (True, False)]


@pytest.mark.parametrize("transform", [lambda f: f, irax.jit, irax.vmap])
def test_zero_cotangents(transform):
    seen = []
    f = irax.custom_vjp(lambda x: (2 * x, 3 * x, 4 * x))

    def bwd(_, cts):
        seen.append([isinstance(ct, SymbolicZero) for ct in cts])
        assert all(ct.shape == cts[1].shape and ct.dtype == np.float32 for ct in cts)
        return (sum(10 * ct for ct in cts if not isinstance(ct, SymbolicZero)),)

    f.defvjp(lambda x: (f(x.value), None), bwd, symbolic_zeros=True)
    x = jnp.arange(3.0)
    second = transform(f)
    np.testing.assert_array_equal(irax.grad(lambda x: second(x)[1].sum())(x), np.full(3, 10.0))
    assert seen == [[True, False, True]]


@KINDS
def test_derivatives(kind):
    f = Product(kind).f
    modes = ("fwd", "rev") if kind == "jvp" else ("rev",)
    for function in (f, lambda x, y: f(x, 3.0) * y, lambda x, y: f(2.0, y) * x):
        check_grads(function, (2.0, 3.0), order=2, modes=modes)
    xs = jnp.arange(3.0)
    for axes in ((0, None), (None, 0), (0, 0)):
        args = [xs if axis == 0 else 2.0 for axis in axes]
        found = irax.vmap(irax.grad(f), axes)(*args)
        np.testing.assert_array_equal(found, np.broadcast_to(args[1], 3))
        total = irax.grad(lambda x, y, axes=axes: irax.vmap(f, axes)(x, y).sum())
        expected = irax.grad(lambda x, y: (x * y).sum())(*args)
        np.testing.assert_array_equal(total(*args), expected)
        mapped = irax.vmap(lambda x, y: irax.grad(lambda z: f(z, y))(x), axes)(*args)
        np.testing.assert_array_equal(mapped, np.broadcast_to(args[1], 3))


@KINDS
def test_in_loops_and_on_iree(kind):
    f = Product(kind).f
    y = jnp.float32(3.0)

    def power(x):
        return lax.scan(lambda c, _: (f(c, y), None), x, None, 3)[0]

    assert irax.grad(power)(2.0) == 27
    assert irax.jit(irax.grad(power))(2.0) == 27


def test_no_derivative_goes_missing():
    product = Product("vjp")

    def main(x, y):
        return product.f(x, y)

    loaded = irax.ir.load(str(irax.make_ir(main)(2.0, 3.0)))
    assert irax.grad(loaded, (0, 1))(2.0, 3.0) == (3.0, 2.0)


def test_results_without_a_tangent():
    f = irax.custom_jvp(lambda x: (x, jnp.ones(2), 3))

    @f.defjvp
    def _(primals, tangents):
        return f(*primals), (tangents[0], SymbolicZero.from_primal_value(jnp.ones(2)), tangents[0])

    f.defjvp(f.rule, symbolic_zeros=True)
    assert irax.grad(lambda x: f(x)[0] + f(x)[1].sum())(2.0) == 1

    g = irax.custom_vjp(lambda x: (x, 3))

    def bwd(_, ct):
        assert isinstance(ct[1], SymbolicZero)
        assert ct[1].dtype == irax.dtypes.float0
        return (2 * ct[0],)

    g.defvjp(lambda x: (g(x.value), None), bwd, symbolic_zeros=True)
    assert irax.grad(lambda x: g(x)[0])(2.0) == 2


def test_pytrees_and_options():
    f = irax.custom_vjp(lambda mode, tree, n: tree["a"] * n, nondiff_argnames=("mode",))

    def fwd(mode, tree, n):
        assert mode == "fast"
        assert not n.perturbed
        assert tree["a"].perturbed
        tree, n = custom_vjp_primal_tree_values((tree, n))
        return f(mode, tree, n), n

    f.defvjp(fwd, lambda mode, n, ct: ({"a": ct * n}, None), symbolic_zeros=True)
    assert irax.grad(lambda x: f("fast", {"a": x}, 3))(2.0) == 3
    with pytest.raises(ValueError, match="nondiff_argnames"):
        irax.custom_jvp(lambda x: x, nondiff_argnames="y")


def test_zeros_as_values():
    zero = zero_from_primal(jnp.ones((2, 3)), symbolic_zeros=True)
    assert (zero.shape, zero.ndim, zero.size, zero.dtype) == ((2, 3), 2, 6, np.float32)
    np.testing.assert_array_equal(zero.instantiate(), np.zeros((2, 3)))
    assert zero_from_primal(3).dtype == irax.dtypes.float0
    assert zero_from_primal(3.0) == 0
    first, (second,), none = zero_from_primal((jnp.ones(2), [3], None), symbolic_zeros=True)
    assert (first.dtype, second.dtype, none) == (np.float32, irax.dtypes.float0, None)


@pytest.mark.parametrize("transform", [lambda f: f, irax.jit])
def test_lanes_of_what_is_not_differentiated_are_zeros(transform):
    seen = []

    @irax.custom_jvp
    def f(x, y):
        return x * y

    def rule(primals, tangents):
        seen.append([isinstance(t, SymbolicZero) for t in tangents])
        (x, y), (dx, _) = primals, tangents
        return f(x, y), 10 * y * dx

    f.defjvp(rule, symbolic_zeros=True)
    xs, ys = jnp.arange(3.0), jnp.arange(3.0) + 1
    found = transform(irax.grad(lambda x: irax.vmap(f)(x, ys).sum()))(xs)
    np.testing.assert_array_equal(found, 10 * ys)
    assert seen
    assert all(zeros == [False, True] for zeros in seen)

    @irax.custom_vjp
    def g(x, y):
        return x * y

    def fwd(x, y):
        seen.append([x.perturbed, y.perturbed])
        return x.value * y.value, y.value

    g.defvjp(fwd, lambda y, ct: (10 * y * ct, None), symbolic_zeros=True)
    seen.clear()
    found = transform(irax.grad(lambda x: irax.vmap(g)(x, ys).sum()))(xs)
    np.testing.assert_array_equal(found, 10 * ys)
    assert seen
    assert all(perturbed == [True, False] for perturbed in seen)


def test_lanes_of_lanes_keep_what_is_perturbed():
    product = Product("vjp")
    matrix, row = jnp.arange(6.0).reshape(2, 3), jnp.arange(3.0)

    def total(x, y):
        return irax.vmap(irax.vmap(product.f), (0, None))(x, y).sum()

    np.testing.assert_array_equal(irax.grad(total)(matrix, row), np.tile(row, (2, 1)))
    np.testing.assert_array_equal(irax.grad(total, 1)(matrix, row), np.sum(matrix, 0))
    assert product.seen == [[True, False], [False, True]]


def test_zeros_of_another_shape_are_refused():
    f = irax.custom_vjp(lambda x, y: (x, y))
    swapped = lambda _, cts: (cts[1], cts[0])
    f.defvjp(lambda x, y: (f(x.value, y.value), None), swapped, symbolic_zeros=True)
    with pytest.raises(ValueError, match=r"zeros of shape \(2,\) as a cotangent"):
        irax.grad(lambda x: f(x, jnp.ones(2))[0].sum())(jnp.ones(1))


@pytest.mark.parametrize("form", [lambda f: f, irax.jit, irax.vmap])
def test_zeros_that_a_rule_returns_stay_symbolic(form):
    kinds = []

    @irax.custom_jvp
    def f(x, y):
        return y

    def rule(primals, tangents):
        kinds.append(type(tangents[1]))
        return primals[1], tangents[1]

    f.defjvp(rule, symbolic_zeros=True)
    x = jnp.ones(3)
    primal, tangent = irax.jvp(
        form(lambda x: f(x, f(x, 1.0 + 0 * lax.stop_gradient(x)))), (x,), (x,)
    )
    assert kinds == [SymbolicZero] * 2
    np.testing.assert_array_equal(primal, np.ones(3))
    np.testing.assert_array_equal(tangent, np.zeros(3))


def test_keys_among_the_arguments_and_results():
    @irax.custom_vjp
    def f(_, state):
        return state

    def fwd(_, state):
        number, key = state
        assert (number.perturbed, key.perturbed, key.value.shape) == (False, False, ())
        assert jnp.issubdtype(key.value.dtype, irax.dtypes.prng_key)
        return irax.tree.map(lambda x: x.value, state), None

    def bwd(_, cotangents):
        number, key = cotangents
        assert isinstance(key, SymbolicZero)
        assert (key.shape, key.dtype) == ((), irax.dtypes.float0)
        return number, cotangents

    f.defvjp(fwd, bwd, symbolic_zeros=True)
    state = 8.0, irax.random.key(123)
    for way in (lambda f: f, irax.jit):
        assert way(irax.grad(lambda x: f(x, state)[0]))(3.0) == 1
