"""grad, jvp, vjp, jit, vmap and their company, nested in every order; mostly on the evaluator."""

from __future__ import annotations

import functools
import inspect
import types
from typing import NamedTuple

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.test_util import check_grads

X = jnp.array([0.5, -1.0, 2.0])


def f(x):
    return jnp.sum(jnp.sin(x) * x)


def df(x):
    return np.sin(x) + np.asarray(x) * np.cos(x)


def d2f(x):
    return 2 * np.cos(x) - np.asarray(x) * np.sin(x)


# ---- nesting -------------------------------------------------------------------------------------

FIRST = {
    "grad": irax.grad(f),
    "grad of jit": irax.grad(irax.jit(f)),
    "jit of grad": irax.jit(irax.grad(f)),
    "jacrev": irax.jacrev(f),
    "jacfwd": irax.jacfwd(f),
    "jacfwd of jit": irax.jacfwd(irax.jit(f)),
    "value_and_grad": lambda x: irax.value_and_grad(f)(x)[1],
    "vjp": lambda x: irax.vjp(f, x)[1](1.0)[0],
    "jvp": lambda x: irax.vmap(lambda e: irax.jvp(f, (x,), (e,))[1])(jnp.eye(3)),
    "linearize": lambda x: irax.vmap(irax.linearize(f, x)[1])(jnp.eye(3)),
    "vmap of grad": lambda x: irax.vmap(irax.grad(lambda y: jnp.sin(y) * y))(x),
    "grad of vmap": irax.grad(lambda x: jnp.sum(irax.vmap(lambda y: jnp.sin(y) * y)(x))),
    "grad of jit of vmap": irax.grad(
        irax.jit(lambda x: jnp.sum(irax.vmap(lambda y: jnp.sin(y) * y)(x)))
    ),
}


@pytest.mark.parametrize("name", FIRST)
def test_first_derivative(name):
    np.testing.assert_allclose(FIRST[name](X), df(X), rtol=1e-5)


SECOND = {
    "hessian": irax.hessian(f),
    "jit of hessian": irax.jit(irax.hessian(f)),
    "jacrev of jacrev": irax.jacrev(irax.jacrev(f)),
    "jacfwd of jacfwd": irax.jacfwd(irax.jacfwd(f)),
    "jacrev of jacfwd": irax.jacrev(irax.jacfwd(f)),
    "jacfwd of jit of grad": irax.jacfwd(irax.jit(irax.grad(irax.jit(f)))),
}


@pytest.mark.parametrize("name", SECOND)
def test_second_derivative(name):
    np.testing.assert_allclose(SECOND[name](X), np.diag(d2f(X)), rtol=1e-5, atol=1e-6)


def test_depth():
    g = jnp.sin
    for order, expected in enumerate((np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x), np.sin)):
        g = irax.grad(irax.jit(g)) if order % 2 else irax.grad(g)
        np.testing.assert_allclose(g(0.3), expected(0.3), rtol=1e-5)


def test_map_of_hessian():
    points = jnp.stack([X, X + 1])
    found = irax.jit(irax.vmap(irax.hessian(f)))(points)
    np.testing.assert_allclose(found, [np.diag(d2f(p)) for p in points], rtol=1e-4, atol=1e-6)


def test_check_grads():
    check_grads(f, (X,), order=2)
    with pytest.raises(AssertionError, match="jvp"):
        check_grads(lambda x: irax.lax.stop_gradient(x) * x, (X,), order=1)


# ---- closures ------------------------------------------------------------------------------------


def test_no_confusion_of_perturbations():
    inner = irax.grad(lambda x: x * irax.grad(lambda y: x + y)(1.0))
    assert float(inner(1.0)) == 1.0
    product = irax.grad(lambda x: x * irax.grad(lambda y: x * y)(2.0))
    assert float(product(3.0)) == 6.0
    forward = irax.jvp(lambda x: x * irax.jvp(lambda y: x * y, (2.0,), (1.0,))[1], (3.0,), (1.0,))
    assert float(forward[1]) == 6.0


@pytest.mark.parametrize("wrap", [lambda f: f, irax.jit], ids=["eager", "jit"])
def test_closures_over_every_level(wrap):
    def outer(a):
        def middle(b):
            return jnp.sum(irax.vmap(wrap(lambda c: a * b * c**2))(jnp.arange(3.0)))

        return a * irax.grad(middle)(2.0)

    # a * d/db (a b (0 + 1 + 4)) = 5 a^2
    np.testing.assert_allclose(irax.grad(wrap(outer))(3.0), 30.0)


def test_large_captured_constants():
    table = jnp.asarray(np.random.default_rng(0).normal(size=(50, 50)), dtype=jnp.float32)
    program = irax.jit(lambda x: table @ x)
    x = jnp.ones(50)
    np.testing.assert_allclose(program(x), np.asarray(table).sum(1), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(
        irax.grad(lambda x: jnp.sum(program(x)))(x), table.sum(0), rtol=1e-4, atol=1e-4
    )
    assert str(irax.make_ir(lambda x: table @ x)(x)).count("50x50") >= 1


def test_pullback_used_in_another_trace():
    _, pullback = irax.vjp(jnp.sin, X)
    np.testing.assert_allclose(
        irax.jit(lambda ct: pullback(ct)[0])(jnp.ones(3)), np.cos(X), rtol=1e-5
    )
    np.testing.assert_allclose(
        irax.vmap(lambda ct: pullback(ct)[0])(jnp.eye(3)), np.diag(np.cos(X)), rtol=1e-5
    )


# ---- Python values -------------------------------------------------------------------------------


def test_control_flow_on_known_values():
    def f(x):
        steps = 0
        while x > 1.0:
            x, steps = x / 2.0, steps + 1
        return x * steps if x > 0.3 else -x

    assert float(irax.grad(f)(6.0)) == 3 / 8
    assert float(irax.grad(f)(0.1)) == -1.0
    assert float(irax.grad(irax.grad(lambda x: x * f(x)))(6.0)) == 6 / 8


def test_constants_are_known_under_jit():
    def f(x):
        return x * 2.0 if jnp.all(jnp.arange(3) >= 0) else x

    assert float(irax.jit(f)(3.0)) == 6.0


# ---- pytrees and arguments -----------------------------------------------------------------------


class Params(NamedTuple):
    w: object
    b: object


def test_pytrees_of_parameters():
    params = {"layer": Params(jnp.ones((2, 3)), None), "scale": [jnp.array(2.0), ()]}

    def loss(params, x):
        return params["scale"][0] * jnp.sum(params["layer"].w @ x)

    grads = irax.jit(irax.grad(loss))(params, X)
    assert irax.tree.structure(grads) == irax.tree.structure(params)
    np.testing.assert_allclose(grads["layer"].w, 2 * np.tile(X, (2, 1)), rtol=1e-6)
    np.testing.assert_allclose(grads["scale"][0], 2 * np.sum(X), rtol=1e-6)


class Scaled:
    """A function that is an object, without a name."""

    __name__, factor = None, 3.0

    def __init__(self):
        self.label = "scaled"
        self.__annotations__ = "of no function"

    def __call__(self, x):
        return self.factor * x


def test_functions_may_be_objects():
    model = Scaled()
    for transform in (irax.grad, irax.value_and_grad, irax.vmap, irax.jacfwd, irax.jit):
        assert transform(model).label == "scaled"
        assert inspect.unwrap(transform(model)) is model
    assert irax.grad(model)(2.0) == 3.0
    np.testing.assert_array_equal(irax.vmap(model)(X), 3 * X)


def test_aux_may_be_any_objects():
    here = object()

    def g(x):
        return x * x, {"object": here, "count": 1, "traced": 2 * x, "none": None}

    found = [
        irax.grad(g, has_aux=True)(3.0)[1],
        irax.vjp(g, 3.0, has_aux=True)[2],
        irax.jvp(g, (3.0,), (1.0,), has_aux=True)[2],
        irax.linearize(g, 3.0, has_aux=True)[2],
    ]
    for aux in found:
        assert aux == {"object": here, "count": 1, "traced": 6.0, "none": None}
        assert type(aux["count"]) is int
        assert isinstance(aux["traced"], irax.Array)


def test_argnums_and_aux():
    def g(x, y, *, k=1.0):
        return jnp.sum(x * y) * k, {"x": x}

    (gx, gy), aux = irax.grad(g, argnums=(0, -1), has_aux=True)(X, 2 * X, k=3.0)
    np.testing.assert_allclose(gx, 6 * X, rtol=1e-6)
    np.testing.assert_allclose(gy, 3 * X, rtol=1e-6)
    np.testing.assert_array_equal(aux["x"], X)
    (value, aux), gx = irax.value_and_grad(g, has_aux=True)(X, X)
    np.testing.assert_allclose(value, np.sum(np.asarray(X) ** 2), rtol=1e-6)
    for jacobian in (irax.jacfwd, irax.jacrev):
        found, aux = jacobian(lambda x: (jnp.sin(x), x), has_aux=True)(X)
        np.testing.assert_allclose(found, np.diag(np.cos(X)), rtol=1e-5)
        np.testing.assert_array_equal(aux, X)


def test_integer_arguments_and_results():
    value, tangent = irax.jvp(
        lambda x, n: (x * n, n), (2.0, 3), (1.0, np.zeros((), irax.dtypes.float0))
    )
    assert [float(v) for v in value] == [6.0, 3.0]
    assert float(tangent[0]) == 3.0
    assert tangent[1].dtype == irax.dtypes.float0
    gradient = irax.grad(lambda x, n: x * n, argnums=(0, 1), allow_int=True)(2.0, 3)
    assert float(gradient[0]) == 3.0
    assert gradient[1].dtype == irax.dtypes.float0


def test_jacobian_of_pytrees():
    def g(p):
        return {"s": p["a"] * p["b"], "t": jnp.outer(p["b"], p["b"])}

    point = {"a": jnp.array(2.0), "b": jnp.array([1.0, 3.0])}
    forward, reverse = irax.jacfwd(g)(point), irax.jacrev(g)(point)
    assert irax.tree.structure(forward) == irax.tree.structure(reverse)
    for a, b in zip(irax.tree.leaves(forward), irax.tree.leaves(reverse), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    np.testing.assert_allclose(forward["s"]["a"], [1.0, 3.0])
    assert forward["t"]["b"].shape == (2, 2, 2)


# ---- vmap ----------------------------------------------------------------------------------------

A = jnp.asarray(np.arange(24.0).reshape(2, 3, 4), dtype=jnp.float32)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
@pytest.mark.parametrize("out", [0, 1, 2, -1])
def test_vmap_axes(axis, out):
    found = irax.vmap(lambda x: x * 2, in_axes=axis, out_axes=out)(A)
    np.testing.assert_array_equal(found, np.moveaxis(2 * np.asarray(A), axis, out))


def test_vmap_of_pytrees():
    tree = {"a": A, "b": (A[0], 3.0)}
    found = irax.vmap(
        lambda t, k: {"sum": t["a"] + t["b"][0] + t["b"][1] + k, "same": t["b"][1]},
        in_axes=({"a": 0, "b": None}, None),
        out_axes={"sum": 1, "same": None},
    )(tree, 1.0)
    expected = np.moveaxis(np.asarray(A) + np.asarray(A[0]) + 4.0, 0, 1)
    np.testing.assert_allclose(found["sum"], expected)
    assert float(found["same"]) == 3.0


def test_vmap_of_vmap_and_keywords():
    def g(x, *, y):
        return x * y

    found = irax.vmap(irax.vmap(g))(A[0], y=A[1])
    np.testing.assert_array_equal(found, np.asarray(A[0]) * np.asarray(A[1]))
    assert irax.vmap(lambda: jnp.ones(2), axis_size=3)().shape == (3, 2)
    outer = irax.vmap(irax.vmap(lambda a, b: a + b, (None, 0)), (0, None))(
        jnp.arange(2), jnp.arange(3)
    )
    np.testing.assert_array_equal(outer, np.add.outer(np.arange(2), np.arange(3)))


# ---- jit -----------------------------------------------------------------------------------------


def test_one_trace_for_each_signature():
    traces = []

    def g(x, n=2):
        traces.append(n)
        return x * n

    jitted = irax.jit(g, static_argnames="n")
    for _ in range(3):
        assert float(jitted(2.0)) == 4.0
    assert len(traces) == 1
    jitted(2.0, n=3)
    jitted(2.0, 3)
    assert len(traces) <= 3
    before = len(traces)
    irax.jit(g, static_argnames="n")(5.0)  # another jit of the same function finds the first's work
    assert len(traces) == before
    assert jitted(jnp.ones(2, jnp.float32)).weak_type is False
    assert len(traces) == before + 1
    assert jitted(2.0).weak_type is True


def test_static_values_of_other_types_are_other_programs():
    kind = irax.jit(lambda x, n: x * (1.0 if isinstance(n, bool) else 2.0), static_argnums=1)
    assert float(kind(1.0, True)) == 1.0
    assert float(kind(1.0, 1)) == 2.0


def test_methods_partials_and_decorators():
    class Scale:
        factor = 3.0

        @functools.partial(irax.jit, static_argnums=0)
        def __call__(self, x):
            return x * self.factor

        @functools.partial(irax.jit, static_argnames=("self",))
        def method(self, x):
            return x + self.factor

    scale = Scale()
    assert float(scale(2.0)) == 6.0
    assert float(scale.method(2.0)) == 5.0
    assert float(irax.jit(functools.partial(lambda a, b: a - b, 5.0))(2.0)) == 3.0
    assert irax.jit(lambda: {"a": jnp.ones(2), "b": ()})()["b"] == ()


def test_disable_jit():
    seen = []
    with irax.disable_jit():
        irax.jit(lambda x: seen.append(float(x)))(2.0)
    assert seen == [2.0]


def test_eval_shape_and_make_ir():
    struct = irax.ShapeDtypeStruct((4, 3), jnp.float32)
    out = irax.eval_shape(lambda x: {"y": x.T @ x}, struct)
    assert (out["y"].shape, out["y"].dtype) == ((3, 3), np.float32)
    ir = irax.make_ir(irax.grad(f))(irax.ShapeDtypeStruct((3,), jnp.float32))
    text = ir.as_text(locations=True)
    assert "@f_1.fwd" in text  # @f is the gradient: it has the name of what it wraps
    assert "@f_1.bwd" in text
    assert "test_transformations.py" in text
    assert '"transpose"' in text
    assert "stablehlo.cosine" in str(ir.run("inline,symbol-dce,simplify,cse"))


def test_x64():
    with irax.enable_x64(True):
        x = jnp.arange(3.0)
        assert x.dtype == np.float64
        check_grads(lambda x: jnp.sum(jnp.exp(jnp.sin(x))), (x,), order=2)
        np.testing.assert_allclose(irax.jit(jnp.sin)(x), np.sin(np.arange(3.0)), rtol=1e-15)
    assert jnp.arange(3.0).dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float32, "float32", np.dtype("float32"), jnp.float32])
def test_eval_shape_of_structs_of_the_users(dtype):
    struct = types.SimpleNamespace(shape=(2,), dtype=dtype)
    for function in (jnp.sin, irax.jit(jnp.sin)):
        out = irax.eval_shape(function, struct)
        assert (out.shape, out.dtype) == ((2,), np.dtype("float32"))
    assert irax.jit(jnp.sin).lower(struct).in_avals == ((irax.core.ShapedArray((2,), dtype),), {})


def test_eval_shape_of_what_returns_structs():
    struct = irax.ShapeDtypeStruct((2,), "float32")
    key = irax.eval_shape(irax.random.key, 0)
    out = irax.eval_shape(lambda x: {"x": x, "struct": struct, "key": key}, 1.0)
    assert out == {
        "x": irax.ShapeDtypeStruct((), "float32", weak_type=True),
        "struct": struct,
        "key": key,
    }


def test_vmap_over_no_lanes():
    def f(x, i):
        return x[i], x.at[i].set(1.0), lax.dynamic_slice(x, (i,), (2,)), jnp.sort(x)

    found = irax.vmap(f)(jnp.ones((0, 3)), jnp.zeros(0, int))
    assert [x.shape for x in found] == [(0,), (0, 3), (0, 2), (0, 3)]


FLOAT0 = np.zeros(2, irax.float0)


@pytest.mark.parametrize(
    "function",
    [
        irax.jit(lambda x: x),
        irax.jit(lambda x: {"a": FLOAT0, "b": x["b"] + 1}),
        lambda x: lax.cond(True, lambda y: y, lambda y: y, x),
        lambda x: lax.scan(lambda c, _: (c, None), x, None, 3)[0],
        irax.vmap(lambda x: x, ({"a": None, "b": 0},), {"a": None, "b": 0}),
        irax.checkpoint(lambda x: x),
    ],
)
def test_float0_passes_through(function):
    found = function({"a": FLOAT0, "b": jnp.ones(2)})
    assert (found["a"].dtype, found["a"].shape) == (irax.float0, (2,))
    assert found["b"].shape == (2,)


def test_gradients_of_integers_in_jit():
    def loss(parameters):
        return (parameters["w"] ** 2).sum()

    parameters = {"w": jnp.arange(2.0), "steps": 3}
    found = irax.jit(irax.grad(loss, allow_int=True))(parameters)
    np.testing.assert_array_equal(found["w"], [0, 2])
    assert found["steps"].dtype == irax.float0
    assert irax.eval_shape(lambda x: x, FLOAT0) == irax.ShapeDtypeStruct((2,), irax.float0)


@pytest.mark.parametrize("transform", [irax.jit, irax.grad, irax.checkpoint])
def test_traced_operands_are_traced_where_others_are_computed_at_once(transform):
    def f(x):
        with irax.ensure_compile_time_eval():
            known = jnp.sin(jnp.ones(2)).sum()
            y = jnp.where(x > 0, x * known, 0) + lax.cond(x > 0, lambda: 2 * x, lambda: x)
            assert isinstance(float(known), float)
        return y

    expected = transform(lambda x: (2 * np.sin(1) + 2) * x)(2.0)
    np.testing.assert_allclose(transform(f)(2.0), expected, rtol=1e-6)
    np.testing.assert_allclose(irax.vmap(f)(jnp.ones(2)), f(jnp.ones(())) * np.ones(2))


@pytest.mark.parametrize(
    ("primal", "tangent"),
    [
        (jnp.float32(1), 1),
        (jnp.float32(1), 1j),
        (jnp.bfloat16(1), 1.0),
        (jnp.complex64(1), 1.0),
        (jnp.float32(1), jnp.float16(1)),
    ],
)
def test_tangents_and_cotangents_are_not_converted(primal, tangent):
    double = lambda x: x * 2
    with pytest.raises(TypeError, match="jvp: tangents"):
        irax.jvp(double, (primal,), (tangent,))
    with pytest.raises(ValueError, match="linearize: tangents"):
        irax.linearize(double, primal)[1](tangent)
    with pytest.raises(ValueError, match="the cotangent has type"):
        irax.vjp(double, primal)[1](tangent)
    with pytest.raises(TypeError, match="linear_transpose: the cotangent has type"):
        irax.linear_transpose(double, primal)(tangent)
    rule = irax.custom_jvp(double)
    rule.defjvp(lambda primals, tangents: (double(primals[0]), tangent))
    with pytest.raises(TypeError, match="returned a tangent of type"):
        irax.jvp(rule, (primal,), (primal,))


def test_arrays_of_float0_are_stacked_and_sliced():
    """Their elements are nothing, but their shapes follow those of other arrays."""
    zeros = np.zeros((3, 2), irax.dtypes.float0)
    slopes = irax.vmap(irax.grad(lambda x, i: x * i.sum(), (0, 1), allow_int=True))
    assert [x.shape for x in slopes(jnp.ones(4), jnp.ones((4, 3), int))] == [(4,), (4, 3)]
    nested = irax.vmap(irax.vmap(lambda x: zeros, out_axes=2))
    assert irax.jit(nested)(jnp.ones((4, 5))).shape == (4, 3, 2, 5)
    same, last = irax.vmap(lambda x: (zeros, {"a": zeros, "x": x}), out_axes=(None, -1))(X)
    assert (same.shape, last["a"].shape) == ((3, 2), (3, 2, 3))
    shapes = []
    irax.vmap(lambda x, t: shapes.append(t.shape) or x, (0, 1))(jnp.ones(2), zeros)
    _, rows = lax.scan(lambda c, row: (shapes.append(row[1].shape) or c, row[1]), 0, (X, zeros))
    assert (shapes, rows.shape) == ([(3,), (2,)], (3, 2))
    assert irax.pmap(lambda x: zeros)(X).shape == (3, 3, 2)
    with pytest.raises(ValueError, match="axis 0 is out of range: a scalar has no axes"):
        irax.vmap(lambda x, t: x)(X, np.zeros((), irax.dtypes.float0))


def test_gradients_of_wide_arrays_while_64_bit_types_are_off():
    with irax.enable_x64(True):
        x = jnp.arange(3.0)
    np.testing.assert_array_equal(irax.grad(jnp.sum)(x), np.ones(3))


def test_axes_are_no_booleans_and_sizes_are_known():
    x = jnp.ones((2, 3))
    for options in ({"in_axes": True}, {"in_axes": (True,)}, {"out_axes": False}):
        with pytest.raises(TypeError, match="axes must be an int"):
            irax.vmap(jnp.sin, **options)(x)
    with pytest.raises(ValueError, match=r"no None, got \(None, 2\).*symbolic_shape"):
        irax.ShapeDtypeStruct((None, 2), "int32")


def test_derivatives_of_functions_of_float0_arrays():
    """Cotangents of integers are arguments and results of pullbacks, which have derivatives too."""
    counts, x = np.arange(6, dtype=np.int32).reshape(2, 3), jnp.arange(3.0)
    _, pullback = irax.vjp(lambda n, x: (2 * n.T, x * x), counts, x)
    given = np.zeros((3, 2), irax.dtypes.float0), jnp.ones(3)
    found = pullback(given)
    (of_counts, of_x), again = irax.vjp(pullback, given)
    assert (of_counts.dtype, of_counts.shape) == (irax.dtypes.float0, (2, 3))
    np.testing.assert_array_equal(of_x, [0, 2, 4])
    for transform in (lambda f: f, irax.jit):
        ((of_counts, of_x),) = transform(lambda: again(found))()
        assert (of_counts.dtype, of_counts.shape) == (irax.dtypes.float0, (3, 2))
        np.testing.assert_array_equal(of_x, [0, 4, 16])
        of_counts, of_x = transform(lambda: irax.jvp(pullback, (given,), (given,)))()[1]
        assert of_counts.dtype == irax.dtypes.float0
        np.testing.assert_array_equal(of_x, [0, 2, 4])
    with pytest.raises(ValueError, match="the cotangent must have the structure of the result"):
        again((np.zeros(3, irax.dtypes.float0), x))
