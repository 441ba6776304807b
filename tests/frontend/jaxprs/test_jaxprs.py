"""Jaxprs: their text, and that they compute what their functions do."""

import numpy as np
import pytest
from tests import oracle

import irax
import irax.numpy as jnp
from irax import lax
from irax.core.avals import ShapedArray
from irax.extend.core import Literal, Var, check_jaxpr, jaxpr_as_fun, primitives
from irax.extend.linear_util import wrap_init
from irax.extend.source_info_util import summarize
from irax.jaxprs import groups as groups_of_operands
from irax.jaxprs.partial import known_results

X = np.array([0.5, -1.0, 2.0], np.float32)


def test_the_text_reads_as_a_jaxpr():
    def f(x):
        return irax.jit(jnp.cos)(x) + 2.0 * x

    assert str(irax.make_jaxpr(f)(X)) == (
        "{ lambda ; a:f32[3]. let\n"
        "    b:f32[3] = jit[\n"
        "      name=cos\n"
        "      jaxpr={ lambda ; c:f32[3]. let d:f32[3] = cos c in (d,) }\n"
        "    ] a\n"
        "    e:f32[3] = mul 2.0:f32[] a\n"
        "    f:f32[3] = add b e\n"
        "  in (f,) }"
    )


TEXTS = {
    "one line": lambda xp, lax, x: xp.sin(x) * 2,
    "nothing": lambda xp, lax, x: (),
    "results alone": lambda xp, lax, x: (x, 1, 2.0),
    "80 columns": lambda xp, lax, x: lax.cumsum(xp.sin(x) + x),
    "lines": lambda xp, lax, x: xp.sin(xp.cos(xp.sin(x))) * 2 + x * 3 - 4,
    "no operand": lambda xp, lax, x: xp.zeros(3),
    "parameters on lines": lambda xp, lax, x: xp.dot(x, x),
    "parameters unsaid": lambda xp, lax, x: lax.broadcast_in_dim(x, (2, 3), (1,)) + 1,
    "numbers beside arrays": lambda xp, lax, x: 1 / xp.maximum(x, 0.5) > 1,
    "a constant": lambda xp, lax, x: x * np.array([3.0, 1, 2], np.float32),
    "reductions": lambda xp, lax, x: (xp.max(x), xp.prod(x)),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_are_those_of_jax(name):
    jax = pytest.importorskip("jax")
    f = TEXTS[name]
    if not oracle.is_0_12():
        pytest.skip("JAX 0.10 writes each equation on a line")
    theirs = str(jax.make_jaxpr(lambda x: f(jax.numpy, jax.lax, x))(X))
    assert str(irax.make_jaxpr(lambda x: f(jnp, lax, x))(X)) == theirs


def test_a_jaxpr_with_its_constants_is_one_object():
    table = np.array([3.0, 1, 2], np.float32)
    closed = irax.make_jaxpr(lambda x: x * table)(X)
    assert closed.jaxpr is closed
    assert type(closed) is irax.extend.core.Jaxpr is irax.extend.core.ClosedJaxpr
    assert [closed.num_consts, len(closed.constvars), len(closed.invars)] == [1, 1, 1]
    assert closed.all_invars == [*closed.constvars, *closed.invars]
    np.testing.assert_array_equal(closed.consts[0], table)
    for other in (closed.with_consts([-table]), irax.extend.core.ClosedJaxpr(closed, [-table])):
        np.testing.assert_array_equal(jaxpr_as_fun(other)(X)[0], X * -table)
    np.testing.assert_array_equal(jaxpr_as_fun(closed)(X)[0], X * table)
    for opened in (
        closed.with_consts([]),
        closed.replace(constvars=[], invars=closed.all_invars),
        irax.extend.core.Jaxpr(closed.constvars, closed.invars, closed.outvars, closed.eqns),
    ):
        assert (opened.constvars, opened.invars) == ([], closed.all_invars)
        np.testing.assert_array_equal(jaxpr_as_fun(opened)(table, X)[0], X * table)
    without = closed.map_jaxpr(lambda j: j.replace(eqns=[], outvars=j.invars))
    assert without.consts == closed.consts
    np.testing.assert_array_equal(jaxpr_as_fun(without)(X)[0], X)


def test_primitives_take_numbers_beside_arrays():
    (eqn,) = irax.make_jaxpr(lambda x: x + 2.0)(X).eqns
    assert [v.aval.shape for v in eqn.invars] == [(3,), ()]
    np.testing.assert_array_equal(eqn.primitive.bind(X, np.float32(7), **eqn.params), X + 7)
    assert repr(eqn.invars[1]) == "Literal(2.0)"
    assert repr(eqn) == "a:f32[3] = add b 2.0:f32[]"


def test_jaxprs_are_checked():
    jaxpr = irax.make_jaxpr(lambda x: irax.jit(jnp.cos)(x) + 2.0)(X)
    check_jaxpr(jaxpr)
    call, add = jaxpr.eqns
    wrong = {
        "not defined before": jaxpr.replace(eqns=[add, call]),
        "a second time": jaxpr.replace(eqns=[call, add, add]),
        "a result is a variable that is not defined": jaxpr.replace(eqns=[call]),
        "results of other types": jaxpr.replace(
            eqns=[call, add.replace(outvars=[Var(ShapedArray((4,), np.dtype(np.float32)))])]
        ),
        "is refused": jaxpr.replace(
            eqns=[call, add.replace(invars=[add.invars[0], Literal(np.arange(4, dtype="f4"))])]
        ),
    }
    for text, other in wrong.items():
        with pytest.raises(irax.errors.JaxprTypeError, match=text):
            check_jaxpr(other)


def test_effects_keep_equations():
    def f(x):
        irax.debug.print("{}", x)
        return jnp.sin(x), jnp.cos(x)

    jaxpr = irax.make_jaxpr(irax.jit(f))(1.0)
    assert len(jaxpr.effects) == 1
    assert jaxpr.eqns[0].effects == jaxpr.effects
    assert not irax.make_jaxpr(jnp.sin)(1.0).effects


FUNCTIONS = {
    "elementwise": lambda x: jnp.where(x > 0, jnp.sin(x), x**2) / 3,
    "constants": lambda x: x @ jnp.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
    "reductions": lambda x: (x.sum(), x.max(), jnp.argmax(x), jnp.cumsum(x)),
    "scan": lambda x: lax.scan(lambda c, a: (c + a, c * a), 0.0, x, reverse=True),
    "while": lambda x: lax.while_loop(lambda c: c.sum() < 9, lambda c: c + x * x, x),
    "cond": lambda x: lax.cond(x[0] > 1, lambda: x, lambda: -x),
    "switch": lambda x: lax.switch(jnp.argmax(x), [jnp.sin, jnp.cos, jnp.tanh], x),
    "jit": irax.jit(lambda x: irax.jit(jnp.cos)(x) * x),
    "gradient": irax.grad(lambda x: irax.nn.relu(x).sum()),
    "factorization": lambda x: jnp.linalg.inv(jnp.outer(x, x) + jnp.eye(3)),
    "indexing": lambda x: x.at[jnp.array([0, 2])].add(1.0)[::-1],
    "rule": lambda x: irax.nn.silu(x) * irax.nn.relu(x),
    "keys": lambda x: irax.random.normal(irax.random.PRNGKey(0), (3,)) + x,
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_jaxpr_computes_what_its_function_does(name):
    f = FUNCTIONS[name]
    closed = irax.make_jaxpr(f)(X)
    run = jaxpr_as_fun(closed)
    expected = irax.tree_util.tree_leaves(f(jnp.asarray(X)))
    for found in (run(X), jaxpr_as_fun(irax.make_jaxpr(run)(X))(X)):
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)


@pytest.mark.slow
def test_jaxprs_are_compiled():
    closed = [irax.make_jaxpr(f)(X) for f in FUNCTIONS.values()]
    run = lambda x: [jaxpr_as_fun(one)(x) for one in closed]
    for found, expected in zip(irax.jit(run)(X), run(X), strict=True):
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)


def test_rules_are_kept():
    closed = irax.make_jaxpr(lambda x: irax.nn.relu(x).sum())(X)
    found = irax.grad(lambda x: jaxpr_as_fun(closed)(x)[0])(X)
    np.testing.assert_array_equal(found, [1, 0, 1])


def test_shapes_and_static_arguments():
    closed, shapes = irax.make_jaxpr(
        lambda x, n, y: {"a": x * n, "b": y}, static_argnums=1, return_shape=True
    )(X, 3, 1)
    assert [str(a) for a in closed.in_avals] == ["float32[3]", "int32[] (weak)"]
    assert shapes["a"].shape == (3,)
    assert closed.eqns[0].primitive is primitives.mul_p


def test_wrong_arguments_of_make_jaxpr():
    with pytest.raises(ValueError, match="static_argnums=2 is out of range"):
        irax.make_jaxpr(lambda x, n: x * n, static_argnums=2)
    with pytest.raises(NotImplementedError, match="abstracted_axes"):
        irax.make_jaxpr(jnp.sin, abstracted_axes=("n",))
    assert not irax.make_jaxpr(lambda n=1: n, static_argnums=0)().eqns


def test_constants_may_be_traced_arrays():
    @irax.jit
    def f(x):
        closed = irax.make_jaxpr(lambda y: x * y)(1.0)
        return jaxpr_as_fun(closed)(2.0)[0]

    np.testing.assert_array_equal(f(X), 2 * X)


def test_results_that_are_known():
    outside, key = jnp.arange(20.0), irax.random.key(0)
    aval = irax.typeof(np.float32(0))

    def f(x, k):
        return [x + 1, outside.sum() * 2, jnp.float32(3), irax.random.fold_in(key, 1), k]

    _, found = known_results(f, [aval, key.aval])
    arrays = [array for _, array in found]
    assert [array is None for array in arrays] == [True, False, False, False, True]
    assert [float(x) for x in arrays[1:3]] == [380.0, 3.0]
    assert irax.random.bits(arrays[3]) == irax.random.bits(irax.random.fold_in(key, 1))
    assert str(found[4][0]) == "key<fry>[]"


def test_layers_of_functions():
    from irax.compat.jax.api_util import flatten_fun

    args, tree = irax.tree_util.tree_flatten((({"a": 1, "b": 2},), {"k": 3}))
    f, out_tree = flatten_fun(wrap_init(lambda d, k: {"sum": d["a"] + d["b"] + k}), tree)
    assert f.call_wrapped(*args) == [6]
    assert str(out_tree()) == str(irax.tree_util.tree_structure({"sum": 0}))


def test_calls_of_functions():
    function = irax.extend.linear_util.wrap_init(lambda x, y: [x + y, x])
    assert irax.extend.core.primitives.call_p.bind(1.0, 2.0, subfuns=(function,)) == [3, 1]


def test_results_are_weakly_typed_as_they_were_traced():
    def counted(n, x):
        return lax.while_loop(lambda c: c[1] < 3, lambda c: (c[0] + 1, c[1] + 1), (n, x)), 2.0

    found = jaxpr_as_fun(irax.make_jaxpr(counted)(0, 1.5))
    assert [x.weak_type for x in irax.jit(found)(0, 1.5)] == [True, True, True]
    assert [x.weak_type for x in found(0, 1.5)] == [True, True, True]
    assert not irax.jit(found)(0, jnp.float32(1.5))[1].weak_type


def doubled_by_jvp(x):
    double = irax.custom_jvp(lambda x: 2 * x)
    double.defjvp(lambda primals, tangents: (double(*primals), 3 * tangents[0]))
    return double(x)


def doubled_by_vjp(x):
    double = irax.custom_vjp(lambda x: 2 * x)
    double.defvjp(lambda x: (double(x), None), lambda _, ct: (3 * ct,))
    return double(x)


@pytest.mark.parametrize("double", [doubled_by_jvp, doubled_by_vjp])
def test_calls_with_rules_keep_them(double):
    """Libraries that run equations by themselves may call the function without the rules, or put
    another one in its place.
    """
    (eqn,) = irax.make_jaxpr(double)(1.0).eqns
    params = eqn.primitive.get_bind_params(eqn.params)
    (function,) = params["subfuns"]
    assert function.call_wrapped(jnp.float32(5)) == [10]
    other = irax.make_jaxpr(lambda x: [7 * x])(1.0)
    for jaxpr, expected in ((params["call_jaxpr"], 10), (other, 35)):
        call = irax.jit(lambda x, p=params | {"call_jaxpr": jaxpr}: eqn.primitive.bind(x, **p)[0])
        assert (call(5.0), irax.grad(call)(5.0)) == (expected, 3)


def test_another_function_is_computed_again():
    (eqn,) = irax.make_jaxpr(irax.checkpoint(jnp.sin))(1.0).eqns
    other = irax.make_jaxpr(lambda x: [jnp.cos(x) ** 2])(1.0)
    call = irax.jit(lambda x: eqn.primitive.bind(x, **eqn.params | {"call_jaxpr": other})[0])
    np.testing.assert_allclose(irax.grad(call)(0.5), -np.sin(1.0), rtol=1e-6)


def test_equations_have_the_lines_they_come_from():
    def f(x):
        return jnp.sin(x) * 2

    first, _ = irax.make_jaxpr(f)(1.0).eqns
    line = f.__code__.co_firstlineno + 1
    assert summarize(first.source_info) == f"{__file__}:{line}"
    unknown = irax.extend.core.new_jaxpr_eqn([], [], None, {}, frozenset())
    assert summarize(unknown.source_info) == ""


# ---- equations have JAX's names, operands and parameters ----

GRID = np.arange(20, dtype=np.float32).reshape(4, 5)
PICKED = lax.GatherDimensionNumbers((1,), (0,), (0,))
DOT = (((1,), (0,)), ((), ()))
FORMS = {
    "broadcast_in_dim": (
        lambda x: lax.broadcast_in_dim(x, (2, 4, 5), (1, 2)),
        {"shape": (2, 4, 5), "broadcast_dimensions": (1, 2), "sharding": None},
    ),
    "reshape": (
        lambda x: lax.reshape(x, (20,)),
        {"new_sizes": (20,), "dimensions": None, "sharding": None},
    ),
    "transpose": (lambda x: lax.transpose(x, (1, 0)), {"permutation": (1, 0)}),
    "rev": (lambda x: lax.rev(x, (0,)), {"dimensions": (0,)}),
    "concatenate": (lambda x: lax.concatenate([x, x], 1), {"dimension": 1}),
    "iota": (
        lambda x: lax.iota(np.int32, 3),
        {"dtype": np.dtype(np.int32), "shape": (3,), "dimension": 0, "sharding": None},
    ),
    "convert_element_type": (
        lambda x: lax.convert_element_type(x, np.int32),
        {"new_dtype": np.dtype(np.int32), "weak_type": False, "sharding": None},
    ),
    "bitcast_convert_type": (
        lambda x: lax.bitcast_convert_type(x, np.int32),
        {"new_dtype": np.dtype(np.int32)},
    ),
    "slice": (
        lambda x: lax.slice(x, (1, 0), (4, 5)),
        {"start_indices": (1, 0), "limit_indices": (4, 5), "strides": None},
    ),
    "pad": (
        lambda x: lax.pad(x, np.float32(0), [(1, 2, 0), (0, -1, 1)]),
        {"padding_config": ((1, 2, 0), (0, -1, 1))},
    ),
    "dynamic_slice": (lambda x: lax.dynamic_slice(x, (1, 0), (2, 2)), {"slice_sizes": (2, 2)}),
    "gt": (lambda x: lax.gt(x, x[::-1]), {}),
    "reduce_sum": (lambda x: lax.reduce_sum(x, (0,)), {"axes": (0,), "out_sharding": None}),
    "reduce_max": (lambda x: lax.reduce_max(x, (1,)), {"axes": (1,), "out_sharding": None}),
    "cumsum": (lambda x: lax.cumsum(x, 0, reverse=True), {"axis": 0, "reverse": True}),
    "cummax": (lambda x: lax.cummax(x, 1), {"axis": 1, "reverse": False}),
    "reduce_window_max": (
        lambda x: lax.reduce_window(x, -np.inf, lax.max, (2, 1), (1, 2), "VALID"),
        {
            "window_dimensions": (2, 1),
            "window_strides": (1, 2),
            "padding": ((0, 0), (0, 0)),
            "base_dilation": (1, 1),
            "window_dilation": (1, 1),
        },
    ),
    "dot_general": (
        lambda x: lax.dot_general(x, x.T, DOT, precision="highest"),
        {
            "dimension_numbers": DOT,
            "precision": (lax.Precision.HIGHEST, lax.Precision.HIGHEST),
            "preferred_element_type": np.dtype(np.float32),
            "out_sharding": None,
        },
    ),
    "conv_general_dilated": (
        lambda x: lax.conv_general_dilated(x[None, None], x[None, None, :2, :2], (1, 2), "VALID"),
        {
            "window_strides": (1, 2),
            "padding": ((0, 0), (0, 0)),
            "lhs_dilation": (1, 1),
            "rhs_dilation": (1, 1),
            "dimension_numbers": lax.ConvDimensionNumbers(*[(0, 1, 2, 3)] * 3),
            "feature_group_count": 1,
            "batch_group_count": 1,
            "precision": None,
            "preferred_element_type": np.dtype(np.float32),
            "out_sharding": None,
        },
    ),
    "gather": (
        lambda x: lax.gather(x, np.array([[2], [0]]), PICKED, (1, 5), mode="clip"),
        {
            "dimension_numbers": PICKED,
            "slice_sizes": (1, 5),
            "unique_indices": False,
            "indices_are_sorted": False,
            "mode": lax.GatherScatterMode.CLIP,
            "fill_value": None,
        },
    ),
    "scatter-add": (
        lambda x: lax.scatter_add(
            x, np.array([[2], [0]]), x[:2], lax.ScatterDimensionNumbers((1,), (0,), (0,))
        ),
        {
            "dimension_numbers": lax.ScatterDimensionNumbers((1,), (0,), (0,)),
            "indices_are_sorted": False,
            "unique_indices": False,
            "mode": lax.GatherScatterMode.FILL_OR_DROP,
            "update_jaxpr": "{ lambda ; a:f32[] b:f32[]. let c:f32[] = add a b in (c,) }",
            "update_consts": (),
        },
    ),
    "sort": (
        lambda x: lax.sort((x, x), num_keys=2),
        {"dimension": 1, "is_stable": True, "num_keys": 2},
    ),
    "top_k": (lambda x: lax.top_k(x, 2), {"k": 2, "axis": 1}),
}


@pytest.mark.parametrize("name", FORMS)
def test_parameters_are_jax_s(name):
    f, expected = FORMS[name]
    closed = irax.make_jaxpr(f)(GRID)
    found = [eqn for eqn in closed.jaxpr.eqns if eqn.primitive.name == name]
    assert found, [eqn.primitive.name for eqn in closed.jaxpr.eqns]
    params = dict(found[-1].params)
    if params.get("update_jaxpr") is not None:
        params["update_jaxpr"] = str(params["update_jaxpr"])
    assert params == expected
    results = jaxpr_as_fun(closed)(GRID)
    for a, b in zip(results, irax.tree_util.tree_leaves(f(jnp.asarray(GRID))), strict=True):
        np.testing.assert_array_equal(a, b)


def test_primitives_are_those_that_modules_name():
    closed = irax.make_jaxpr(FORMS["pad"][0])(GRID)
    assert closed.jaxpr.eqns[-1].primitive is primitives.pad_p
    closed = irax.make_jaxpr(FORMS["scatter-add"][0])(GRID)
    assert closed.jaxpr.eqns[-1].primitive is primitives.scatter_add_p


def test_the_cases_of_select_n_are_in_jax_s_order():
    closed = irax.make_jaxpr(lambda p, x, y: jnp.where(p, x, y))(X > 0, X, -X)
    (eqn,) = closed.jaxpr.eqns
    assert eqn.primitive.name == "select_n"
    assert eqn.invars == [closed.jaxpr.invars[i] for i in (0, 2, 1)]
    np.testing.assert_array_equal(jaxpr_as_fun(closed)(X > 0, X, -X)[0], abs(X))


def test_indices_without_a_dimension_of_vectors_get_one():
    closed = irax.make_jaxpr(lambda x, i: x[i])(GRID, np.array([3, 1], np.int32))
    *_, before, gather = closed.jaxpr.eqns
    assert [before.primitive.name, gather.primitive.name] == ["reshape", "gather"]
    assert gather.invars[1].aval.shape == (2, 1)
    found = jaxpr_as_fun(closed)(GRID, np.array([3, -4], np.int32))[0]
    np.testing.assert_array_equal(found, GRID[[3, 0]])


def test_reductions_from_another_value_keep_it():
    closed = irax.make_jaxpr(lambda x: lax.reduce(x, np.float32(2), lax.add, (0,)))(X)
    np.testing.assert_allclose(jaxpr_as_fun(closed)(X)[0], X.sum() + 2)
    assert "reduce_sum" not in [eqn.primitive.name for eqn in closed.jaxpr.eqns]


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("gather", {"mode": lax.GatherScatterMode.FILL_OR_DROP}),
        ("scatter-add", {"mode": lax.GatherScatterMode.CLIP}),
        ("reshape", {"dimensions": (1, 0)}),
        ("top_k", {"axis": 0}),
    ],
)
def test_parameters_that_an_operation_has_not_are_refused(name, params):
    eqn = irax.make_jaxpr(FORMS[name][0])(GRID).jaxpr.eqns[-1]
    given = [jnp.zeros(v.aval.shape, v.aval.dtype) for v in eqn.invars]
    eqn.primitive.bind(*given, **eqn.params)
    with pytest.raises(NotImplementedError, match=rf"{name}: bind takes .*, got .*irax.lax"):
        eqn.primitive.bind(*given, **eqn.params | params)


def test_arrays_that_a_function_holds_are_constants_however_small():
    held = [jnp.zeros(3), jnp.array(0), jnp.float32(2.0), jnp.ones((2, 3))]
    closed = irax.make_jaxpr(lambda y: sum((y + x for x in held), 2.0 * y))(1.0)
    assert [id(x) for x in closed.consts] == [id(x) for x in held]  # numbers are literals
    expected = sum((1.0 + np.asarray(x) for x in held), 2.0)
    np.testing.assert_array_equal(jaxpr_as_fun(closed)(1.0)[0], expected)


def test_functions_that_hold_arrays_and_traced_ones_have_as_many_constants():
    def number(x, y):
        return len(irax.make_jaxpr(lambda z: z * x + y)(1.0).consts)

    found = []
    irax.jit(lambda x: found.append(number(x, x + 1)) or x)(1.0)
    assert found == [number(jnp.array(0), jnp.zeros(2))] == [2]


def test_scans_say_how_their_operands_are_grouped():
    """As JAX 0.12 does, whose rules group operands anew: here each step has one more constant."""

    def f(x, w):
        return lax.scan(lambda c, row: (c + row * w, (c, row)), x, jnp.arange(3.0))

    (eqn,) = (e for e in irax.make_jaxpr(f)(1.0, 2.0).eqns if e.primitive.name == "scan")
    groups = eqn.params["ft_in"].update(eqn.invars).unpack()
    assert [len(group.vals) for group in groups] == [1, 1, 1]
    assert repr(eqn.params["ft_out"]) == "((None,), (None, None))"
    with pytest.raises(ValueError, match="expected 3 values"):
        eqn.params["ft_in"].update([1])

    body = jaxpr_as_fun(eqn.params["jaxpr"])
    wider = irax.make_jaxpr(lambda k, w, c, row: [k * x for x in body(w, c, row)])(
        1.0, 1.0, 1.0, 1.0
    )
    ft_in = groups_of_operands.pack(map(groups_of_operands.nones, (2, 1, 1)))
    params = {**eqn.params, "jaxpr": wider, "ft_in": ft_in}
    carry, *stacked = eqn.primitive.bind(2.0, 3.0, 1.0, jnp.arange(3.0), **params)
    expected, rows = 1.0, []
    for row in range(3):
        rows.append((2.0 * expected, 2.0 * row))
        expected = 2.0 * (expected + 3.0 * row)
    assert carry == expected
    np.testing.assert_array_equal(np.stack(stacked, 1), rows)


def test_calls_of_jitted_functions_have_jax_s_parameters():
    def called(xp, jit):
        return lambda x, y: (jit(xp.add)(x, y), jit(lambda x: (xp.sin(x), x))(x))

    named, unnamed = irax.make_jaxpr(called(jnp, irax.jit))(X, X).eqns
    assert (named.params["name"], unnamed.params["name"]) == ("add", "<lambda>")
    assert not named.params["inline"]  # as 0.10 has False
    assert named.params["ctx_mesh"].empty
    jax = pytest.importorskip("jax")
    for mine, theirs in zip(
        (named, unnamed), jax.make_jaxpr(called(jax.numpy, jax.jit))(X, X).eqns, strict=True
    ):
        assert mine.params.keys() == theirs.params.keys()
        for key in mine.params.keys() - {"jaxpr", "inline"}:
            assert str(mine.params[key]) == str(theirs.params[key]), key
