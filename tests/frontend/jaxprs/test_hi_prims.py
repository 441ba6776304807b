"""Operations that a library defines as a class, with rules that differ from what is computed, so
that it shows which of them ran.
"""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax.compat.jax.experimental import hijax

SCALAR = irax.typeof(np.float32(0))
X, Y, V = np.float32(2), np.float32(3), np.arange(3, dtype=np.float32)


class Product(hijax.HiPrim):
    """scale x y; its cotangents are ten times y and x, and it is batched with one more."""

    def __init__(self, scale: float) -> None:
        self.in_avals = (SCALAR, SCALAR)
        self.out_aval = SCALAR
        self.params = {"scale": scale}
        super().__init__()
        self.seen: list[object] = []

    def expand(self, x, y):
        return self.scale * x * y

    def vjp_fwd(self, nzs_in, x, y):
        self.seen.append(nzs_in)
        return self(x, y), (x, y)

    def vjp_bwd_retval(self, res, outgrad):
        x, y = res
        return 10 * outgrad * y, 10 * outgrad * x

    def batch(self, axis_data, args, dims):
        self.seen.append((axis_data.size, dims))
        return self.scale * args[0] * args[1] + 1, 0


class Both(Product):
    def jvp(self, primals, tangents):
        self.seen.append([isinstance(t, hijax.Zero) for t in tangents])
        (x, y), (dx, dy) = primals, map(hijax.instantiate_zeros, tangents)
        return self(x, y), 7 * (dx * y + dy * x)


class Accumulating(Product):
    def vjp_bwd(self, res, outgrad, *arg_accums):
        self.seen.append([type(place) for place in arg_accums])
        arg_accums[0].accum(outgrad * res[1])
        arg_accums[0].accum(outgrad)
        arg_accums[1].accum(outgrad)


class Sine(hijax.HiPrim):
    """A sine whose derivative is three times as large; by the rules that a subclass has."""

    def __init__(self) -> None:
        self.in_avals, self.out_aval, self.params = (SCALAR,), SCALAR, {}
        super().__init__()

    def expand(self, x):
        return jnp.sin(x)


class SineInForwardMode(Sine):
    vjp_fwd, vjp_bwd_retval = hijax.vjp_from_jvp

    def jvp(self, primals, tangents):
        return self(*primals), 3 * jnp.cos(primals[0]) * hijax.instantiate_zeros(tangents[0])


class SineInParts(Sine):
    jvp = hijax.jvp_from_lin

    def lin(self, nzs_in, x):
        return self(x), jnp.cos(x)

    def linearized(self, residuals, tangent):
        return 3 * residuals * tangent


class OfTrees(hijax.HiPrim):
    def __init__(self) -> None:
        self.in_avals = ({"x": SCALAR}, SCALAR)
        self.out_aval, self.params = [SCALAR, SCALAR], {}
        super().__init__()

    def expand(self, parts, y):
        return [parts["x"] * y, parts["x"] + y]

    def vjp_fwd(self, nzs_in, parts, y):
        assert nzs_in == ({"x": True}, False)
        return self(parts, y), (parts, y)

    def vjp_bwd_retval(self, res, outgrad):
        parts, y = res
        return {"x": outgrad[0] * y + outgrad[1]}, outgrad[0] * parts["x"] + outgrad[1]

    def batch(self, axis_data, args, dims):
        assert dims == ({"x": 0}, None)
        return self.expand(*args), 0


def test_rules_for_reverse_mode():
    product = Product(2.0)
    assert product(X, Y) == irax.jit(product)(X, Y) == 12
    assert irax.grad(product)(X, Y) == 30
    assert irax.grad(irax.jit(product), 1)(X, Y) == 20
    assert product.seen == [(True, False), (False, True)]
    assert irax.grad(irax.checkpoint(product))(X, Y) == 30
    assert irax.grad(irax.grad(product), 1)(X, Y) == 10
    with pytest.raises(TypeError, match="forward mode"):
        irax.jvp(product, (X, Y), (X, Y))


def test_rules_for_lanes():
    product = Product(2.0)
    np.testing.assert_array_equal(irax.vmap(product)(V, V), 2 * V * V + 1)
    np.testing.assert_array_equal(irax.vmap(product, (0, None))(V, Y), 2 * V * Y + 1)
    assert product.seen == [(3, (0, 0)), (3, (0, None))]
    np.testing.assert_array_equal(irax.vmap(irax.grad(product))(V, V), 10 * V)
    np.testing.assert_array_equal(irax.vmap(Sine())(V), jnp.sin(V))
    found = irax.vmap(OfTrees(), ({"x": 0}, None))({"x": V}, Y)
    np.testing.assert_array_equal(found[0], 3 * V)
    np.testing.assert_array_equal(found[1], 3 + V)


def test_each_mode_has_its_rule():
    both = Both(2.0)
    value, tangent = irax.jvp(both, (X, Y), (X, X))
    assert (value, tangent) == (12, 7 * (2 * 3 + 2 * 2))
    assert irax.jvp(lambda x: both(x, Y), (X,), (X,))[1] == 7 * 2 * 3
    assert both.seen == [[False, False], [False, True]]
    assert irax.grad(both)(X, Y) == 30
    _, linear = irax.linearize(lambda x: irax.vmap(both)(x, V), V)
    np.testing.assert_array_equal(linear(V), 7 * V * V)
    np.testing.assert_array_equal(irax.linear_transpose(linear, V)(V)[0], 7 * V * V)


def test_places_of_cotangents():
    operation = Accumulating(2.0)
    assert irax.grad(operation)(X, Y) == 4
    assert irax.grad(operation, (0, 1))(X, Y) == (4, 1)
    assert operation.seen[1] == [hijax.ValAccum, hijax.NullAccum]
    assert operation.seen[3] == [hijax.ValAccum, hijax.ValAccum]


def test_one_rule_serves_both_modes():
    for kind in (SineInForwardMode, SineInParts):
        for derivative in (irax.grad, irax.jacfwd):
            np.testing.assert_allclose(derivative(kind())(X), 3 * np.cos(X), rtol=1e-6)
    np.testing.assert_allclose(irax.grad(Sine())(X), np.cos(X), rtol=1e-6)


def test_trees():
    operation = OfTrees()
    assert operation({"x": X}, Y) == [6, 5]
    assert irax.grad(lambda p: sum(operation(p, Y)))({"x": X}) == {"x": 4}
    assert irax.grad(lambda p: operation(p, Y)[0])({"x": X}) == {"x": 3}
    with pytest.raises(TypeError, match="expected arguments of structure"):
        operation(X, Y)


def test_operations_are_known_by_their_parameters():
    assert Product(2.0) == Product(2.0) != Product(3.0)
    assert hash(Product(2.0)) == hash(Product(2.0))
    assert repr(Product(2.0)) == "Product[scale=2.0]"
    assert hijax.VJPHiPrimitive is hijax.HiPrim
    incomplete: type = type("Incomplete", (hijax.HiPrim,), {})
    with pytest.raises(AttributeError, match=r"must set self\.in_avals"):
        incomplete()


class Squared(hijax.HiPrim):
    """A square, whose rules keep a tree of residuals beside the others."""

    def __init__(self, aval) -> None:
        self.in_avals = (aval,)
        self.out_aval = aval
        self.params = {}
        super().__init__()

    def expand(self, x):
        return x**2

    def lin(self, nzs_in, x):
        return self(x), (2.0,), True, {"x": x, "again": x}

    def linearized(self, res, sres, t):
        return res[0] * sres["again"] * t

    def vjp_fwd(self, nzs_in, x):
        return self(x), (2.0,), True, {"x": x, "again": x}

    def vjp_bwd(self, res, sres, outgrad, accum):
        accum.accum(res[0] * sres["x"] * outgrad)


def test_residuals_that_are_a_tree():
    square = Squared(SCALAR)
    assert irax.grad(square)(X) == irax.jit(irax.grad(square))(X) == 4
    assert irax.linearize(square, X)[1](1.0) == 4
    np.testing.assert_array_equal(irax.vmap(irax.grad(square))(V), 2 * V)

    class Forgetful(Squared):
        vjp_bwd = hijax.HiPrim.vjp_bwd

        def vjp_bwd_retval(self, res, outgrad):
            return (outgrad,)

    with pytest.raises(TypeError, match="structured residuals"):
        irax.grad(Forgetful(SCALAR))(X)


def test_no_tangent_of_a_float_is_zero():
    class Constant(Squared):
        def jvp(self, primals, tangents):
            return primals[0], np.empty(primals[0].shape, dtype=irax.dtypes.float0)

    keep = Constant(irax.typeof(V))
    np.testing.assert_array_equal(irax.linearize(keep, V)[1](V), np.zeros(3))
