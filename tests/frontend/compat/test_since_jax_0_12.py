"""Names, parameters and results that JAX has since 0.11 or 0.12, each with what it computes."""

from functools import partial

import numpy as np
import pytest
from scipy import stats

import irax
import irax.numpy as jnp
from irax import lax
from irax.experimental import checkify
from irax.test_util import check_grads


def test_functions_of_several_arrays_return_tuples():
    x, y = np.arange(3.0), np.ones((2, 1))
    for name in ("broadcast_arrays", "atleast_1d", "atleast_2d", "atleast_3d"):
        found = getattr(jnp, name)(x, y)
        assert isinstance(found, tuple), name
        for ours, theirs in zip(found, getattr(np, name)(x, y), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        assert getattr(jnp, name)() == ()
    grids = jnp.meshgrid(x, x[:2])
    assert isinstance(grids, tuple)
    np.testing.assert_array_equal(grids[1], np.meshgrid(x, x[:2])[1])
    assert jnp.meshgrid() == ()
    assert isinstance(jnp.atleast_1d(x), irax.Array)
    assert isinstance(jnp.split(x, 3), list)  # as before


def test_axis_sizes():
    mesh = irax.make_mesh(axis_sizes=(1,), axis_names=("x",))
    assert mesh == irax.make_mesh((1,), ("x",))
    with pytest.warns(DeprecationWarning, match="axis_shapes= is now axis_sizes="):
        assert irax.make_mesh(axis_shapes=(1,), axis_names=("x",)) == mesh
    with pytest.raises(TypeError, match="got both"):
        irax.make_mesh(axis_shapes=(1,), axis_sizes=(1,), axis_names=("x",))


def test_meshes_of_the_context_from_the_top():
    mesh = irax.make_mesh((1,), ("x",))
    with irax.set_mesh(mesh):
        assert irax.get_mesh() == mesh
        assert irax.get_abstract_mesh() == mesh.abstract_mesh
    with irax.use_abstract_mesh(mesh.abstract_mesh):
        assert irax.get_abstract_mesh() == mesh.abstract_mesh
    assert irax.get_abstract_mesh().empty


def test_hints_of_order_and_accuracy():
    x = np.array([2.0, 3.0, 3.0, 1.0], np.float32)
    values, indices = lax.top_k(x, 2, is_stable=False)
    np.testing.assert_array_equal(values, [3, 3])
    assert sorted(indices.tolist()) == [1, 2]
    found = lax.erfc(0.5, accuracy=lax.AccuracyMode.HIGHEST)
    np.testing.assert_allclose(found, 0.47950012, rtol=1e-6)


def test_elements_of_one_end():
    x = np.array([[1, 5, 3, 5], [2, 2, 9, 0]], np.int32)
    for dtype in (np.int8, np.uint8, np.float16, np.float32, np.int32):
        values, places = jnp.top_k(x.astype(dtype), 2, mode="smallest")
        np.testing.assert_array_equal(values, [[1, 3], [0, 2]])
        np.testing.assert_array_equal(places, [[0, 2], [3, 0]])
        assert values.dtype == dtype
    values, places = jnp.top_k(x, 1, axis=0)
    np.testing.assert_array_equal(values, [[2, 5, 9, 5]])
    np.testing.assert_array_equal(places, [[1, 0, 1, 0]])
    odd = np.array([1, np.nan, -np.inf, -np.nan, 0, -0.0], np.float32)
    found, places = jnp.top_k(odd, 6, mode="smallest")
    np.testing.assert_array_equal(found, [-np.inf, 0, 0, 1, np.nan, np.nan])
    assert places.tolist() == [2, 5, 4, 0, 1, 3]
    assert jnp.top_k(np.array([True, False]), 1, mode="smallest")[1].tolist() == [1]
    for wrong, options, message in (
        (odd, {"mode": "middle"}, "mode must be"),
        (x * 1j, {}, "no order"),
        (odd[:1], {}, "k must be 0 to 1"),
    ):
        with pytest.raises(ValueError, match=message):
            jnp.top_k(wrong, 2, **options)


def test_both_ends():
    x = np.array([[1, 5, 3], [2, 9, 0]], np.int32)
    low, high = jnp.minmax(x, axis=1, initial=(1, 6), where=x != 9)
    np.testing.assert_array_equal(low, [1, 0])
    np.testing.assert_array_equal(high, [6, 6])
    assert all(jnp.isnan(end) for end in jnp.minmax(np.array([1, np.nan])))
    with pytest.raises(ValueError, match="initial"):
        jnp.minmax(x, where=x > 1)


def test_squares_near_one_and_derivatives_near_zero():
    near = np.float32(1 - 2**-20)
    assert lax.one_minus_square(near) == 1 - float(near) ** 2  # representable
    assert irax.grad(lax.one_minus_square)(np.float32(1e-9)) == np.float32(-2e-9)
    assert lax.one_minus_square(np.int8(7)) == -48
    with pytest.raises(TypeError, match="expected arrays of numbers"):
        lax.one_minus_square(True)


def test_polynomials():
    rng = np.random.default_rng(0)
    x, last = rng.normal(size=(2, 3)), rng.normal(size=(1, 3))
    expected = 1 + x * (2 + x * last)
    np.testing.assert_allclose(lax.polynomial(x, [1, 2, last]), expected, rtol=1e-5)
    assert lax.polynomial(np.float16(3), [np.float32(1), 2]).dtype == np.float16
    np.testing.assert_array_equal(lax.polynomial(x, []), np.zeros((2, 3)))
    found = irax.grad(lambda c: lax.polynomial(2.0, c))(jnp.ones(20))
    np.testing.assert_array_equal(found, 2.0 ** np.arange(20))
    with pytest.raises(TypeError, match="as many dimensions as x"):
        lax.polynomial(x, [last[0]])
    with pytest.raises(TypeError, match="x must be complex"):
        lax.polynomial(x, [2j])


def test_logarithms_keep_weak_types():
    assert jnp.log2(8.0).weak_type
    assert lax.log2(8.0).weak_type
    np.testing.assert_allclose(lax.log2(-2 + 0j), 1 + np.pi / np.log(2) * 1j, rtol=1e-6)


def test_small_arguments_of_erfcinv():
    mpmath = pytest.importorskip("mpmath")
    for y in (1e-30, 1e-5, 0.3, 1.0, 1.7):
        with mpmath.workdps(50):
            expected = float(mpmath.erfinv(1 - mpmath.mpf(y)))
        found = irax.scipy.special.erfcinv(y)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
    with pytest.raises(ValueError, match="real numbers"):
        irax.scipy.special.erfcinv(1j)


def test_bounds_of_dimensions():
    n, m = irax.export.symbolic_shape("n, m", constraints=["n >= 8", "n <= 10"])
    assert irax.export.symbolic_dim_bounds(n - 1) == (7, 9)
    assert irax.export.symbolic_dim_bounds(-m) == (-np.inf, -1)
    assert irax.export.symbolic_dim_bounds(3) == (3, 3)
    with pytest.raises(TypeError, match="an int or a dimension"):
        irax.export.symbolic_dim_bounds("n")


def test_results_that_are_added_up_over_lanes():
    x = np.arange(3, dtype=np.float32)

    def each(x):
        return x, 1.0, 2 * x, x > 0

    found = irax.vmap(each, out_axes=(None, None, 0, None), sum_match=True)(x)
    assert (found[0], found[1], found[3]) == (3, 1, 2)
    np.testing.assert_array_equal(found[2], 2 * x)
    assert found[3].dtype == np.int32
    matrix = irax.jit(irax.vmap(lambda x: x + jnp.zeros(2), out_axes=None, sum_match=True))(x)
    np.testing.assert_array_equal(matrix, [3, 3])
    with pytest.raises(ValueError, match="depends on a mapped argument"):
        irax.vmap(lambda x: x, out_axes=None)(x)


def test_negative_indices_wrap_in_every_mode():
    x, places = np.arange(6.0).reshape(2, 3), np.array([[-1], [-1]])
    for mode in (None, "fill", "clip", "promise_in_bounds"):
        found = jnp.take_along_axis(x, places, 1, mode=mode)
        np.testing.assert_array_equal(found, np.take_along_axis(x, places, 1))
    found = jnp.take_along_axis(x, places, 1, mode="clip", wrap_negative_indices=False)
    np.testing.assert_array_equal(found, [[0], [3]])


def test_methods_of_drawing():
    key = irax.random.key(0)
    for name, parameters in (
        ("gamma", (2.0,)),
        ("loggamma", (2.0,)),
        ("beta", (2.0, 3.0)),
        ("chisquare", (2.0,)),
        ("poisson", (2.0,)),
    ):
        draw = getattr(irax.random, name)
        assert draw(key, *parameters, method="exact") == draw(key, *parameters)
        with pytest.raises(ValueError, match="'exact' or 'approximate', got 'fast'"):
            draw(key, *parameters, method="fast")


@pytest.mark.slow
def test_draws_without_loops_are_of_their_distributions():
    draws, key = {"shape": (4000,), "method": "approximate"}, irax.random.key(1)
    for name, parameters, distribution in (
        ("gamma", (0.3,), stats.gamma(0.3)),
        ("gamma", (7.0,), stats.gamma(7)),
        ("beta", (2.0, 0.5), stats.beta(2, 0.5)),
        ("chisquare", (3.0,), stats.chi2(3)),
    ):
        found = irax.jit(partial(getattr(irax.random, name), **draws))(key, *parameters)
        assert stats.kstest(np.asarray(found), distribution.cdf).pvalue > 0.01
    for mean in (0.0, 0.2, 5.0, 7.0, 90.0):
        found = irax.random.poisson(key, mean, **draws)
        assert found.dtype == np.int32
        counts = np.arange(found.max() + 1)
        cumulative = (np.asarray(found) <= counts[:, None]).mean(1)
        np.testing.assert_allclose(cumulative, stats.poisson(mean).cdf(counts), atol=0.03)
    # JAX 0.12's numbers
    found = irax.random.poisson(key, np.array([0.5, 6.0, 30.0, 1e4]), method="approximate")
    np.testing.assert_array_equal(found, [0, 6, 29, 9984])
    found = irax.random.loggamma(key, np.array([1e-3, 1.0, 50.0]), method="approximate")
    np.testing.assert_allclose(found, [-516.25732, -0.9792751, 3.979235], rtol=1e-5)


def test_draws_without_loops_have_the_derivatives_of_their_formulas():
    key, a = irax.random.key(0), jnp.array([0.1, 1.0, 10.0] * 20)
    for name in ("gamma", "loggamma", "chisquare"):
        draw = lambda a, name=name: getattr(irax.random, name)(
            key, a, dtype=a.dtype, method="approximate"
        )
        with irax.enable_x64(True):
            check_grads(draw, (a.astype(float),), order=1)


def test_the_shape_of_multinomial_is_without_outcomes():
    key, p = irax.random.key(0), jnp.array([0.5, 0.2, 0.3])
    for shape in ((), (4,), (4, 1)):
        found = irax.random.multinomial(key, 5.0, p, shape=shape)
        assert found.shape == (*shape, 3)
        np.testing.assert_array_equal(found.sum(-1), np.full(shape, 5))
    assert irax.random.multinomial(key, 5.0, p).shape == (3,)


def test_hints_that_change_nothing():
    assert irax.new_ref(1.0, pin=True)[...] == irax.new_ref(1.0)[...]
    assert irax.empty_ref(irax.ShapeDtypeStruct((2,), "float32"), pin=True).shape == (2,)
    keys = np.array([[2, 1, 0], [0, 1, 0]])
    np.testing.assert_array_equal(jnp.lexsort(keys, batch_size=1), np.lexsort(keys))
    f = irax.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x, None), lambda _, ct: (3 * ct,), generic_batching=True)
    assert irax.grad(f)(1.0) == 3


def test_the_text_of_devices():
    device = irax.devices()[0]
    assert (str(device), repr(device)) == ("cpu:0", "CpuDevice(id=0)")
    assert device.host_id == device.task_id == device.process_index == 0


def test_triangles_have_the_dtype_of_floats():
    assert jnp.tri(2).dtype == np.float32
    with irax.enable_x64(True):
        assert jnp.tri(2).dtype == np.float64
    np.testing.assert_array_equal(jnp.tri(2, 3, dtype=int), np.tri(2, 3))


def test_strategies_of_reads():
    x = jnp.arange(6.0).reshape(2, 3)
    rows = jnp.array([1, 0])
    np.testing.assert_array_equal(x.at[rows].get(strategy="gather"), x[rows])
    np.testing.assert_array_equal(x.at[1, ::2].get(strategy="static_slice"), x[1, ::2])
    read = irax.jit(lambda x, i: x.at[i, 1:].get(strategy="dynamic_slice"))
    np.testing.assert_array_equal(read(x, 1), x[1, 1:])
    for strategy, index in (
        ("static_slice", rows),
        ("static_slice", x > 1),
        ("dynamic_slice", rows),
        ("dynamic_slice", (0, slice(None, None, 2))),
    ):
        with pytest.raises(TypeError, match=f"get: {strategy} takes"):
            x.at[index].get(strategy=strategy)
    with pytest.raises(TypeError, match="static_slice takes"):
        irax.jit(lambda x, i: x.at[i].get(strategy="static_slice"))(x, 1)
    with pytest.raises(ValueError, match="strategy must be one of"):
        x.at[0].get(strategy="one_hot")
    with pytest.raises(ValueError, match="for updates"):
        x.at[0].get(strategy="scatter")
    with pytest.raises(TypeError, match="the name of a strategy"):
        x.at[0].get(strategy=None)


def test_types_of_manual_axes_and_of_cotangents():
    kind = irax.sharding.ManualAxisType(varying=frozenset("a"), unreduced=frozenset("b"))
    assert not kind.empty
    assert kind.vur == {"a", "b"}
    assert kind.to_ct_mat().reduced == {"b"}
    assert kind.to_ct_mat().to_ct_mat() == kind
    assert kind.update(varying=set(), unreduced=set()).empty
    types = (irax.sharding.AxisType.Manual,) * 3
    mesh = irax.sharding.AbstractMesh((1, 1, 1), ("a", "b", "c"), types)
    assert kind.invarying(mesh) == {"c"}
    assert mesh.are_all_axes_explicit_or_manual
    auto = irax.sharding.AbstractMesh((1,), ("a",), irax.sharding.AxisType.Auto)
    assert not auto.are_all_axes_explicit_or_manual
    spec = irax.P("a", unreduced={"b"})
    assert spec.to_ct_spec() == irax.P("a", reduced={"b"})
    assert spec.to_tangent_spec() == spec


def test_pullbacks_keep_no_arguments_that_are_not_saveable():
    x, y = jnp.arange(3.0), {"k": [jnp.arange(3.0) + 1, 2.0]}
    f = lambda x, y: (jnp.sin(x) * y["k"][0] * y["k"][1]).sum()
    _, whole = irax.vjp(f, x, y)
    _, pullback = irax.vjp(f, x, y, saveable_args=(True, ((False, True),)))
    unsaved, saved = pullback.args_res[1]
    assert (repr(unsaved), saved) == ("NotSaveable()", 2.0)
    with pytest.raises(ValueError, match="NotSaveable"):
        pullback(1.0)
    for put in ((y["k"][0], saved), y):
        pullback.args_res[1] = put
        for ours, theirs in zip(*map(irax.tree.leaves, (pullback(1.0), whole(1.0))), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    pullback.args_res.append(y)
    with pytest.raises(ValueError, match="args_res has 4 items for 3 arrays"):
        pullback(1.0)
    with pytest.raises(ValueError, match="1 items for 2 children"):
        irax.vjp(f, x, y, saveable_args=(True,))
    with pytest.raises(ValueError, match="expected a bool"):
        irax.vjp(f, x, y, saveable_args=2)


def test_tangents_that_are_zero():
    x, y = jnp.arange(3.0), jnp.arange(3.0) + 1
    f = lambda x, y: (x * y, {"first": x, "second": y})
    _, pullback = irax.vjp(f, x, y, in_nzs=(False, True))
    assert pullback.out_nzs == (True, {"first": False, "second": True})
    to_x, to_y = pullback((x, {"first": x, "second": x}))
    np.testing.assert_array_equal(to_x, np.zeros(3))
    np.testing.assert_array_equal(to_y, x * x + x)
    _, push = irax.linearize(f, x, y, in_nzs=(False, True))
    assert push.out_nzs == pullback.out_nzs
    product, parts = push(x, x)
    np.testing.assert_array_equal(product, x * x)
    np.testing.assert_array_equal(parts["first"], np.zeros(3))
    _, pullback = irax.vjp(lambda x: (x, 3.0, x.astype(int)), x)
    assert pullback.out_nzs == (True, False, False)


def test_custom_gradients_by_a_decorator():
    @irax.custom_gradient()
    def square(x):
        return x**2, lambda ct: (ct * x,)

    assert irax.grad(square)(3.0) == 3.0

    @irax.custom_gradient(with_logs=True)
    def logged(x):
        return x**2, lambda ct: ((ct * 2 * x,), {"ct": ct})

    assert irax.grad(logged)(3.0) == 6.0

    @irax.custom_gradient(remat=True)
    def sine(x):
        cosine = jnp.cos(x)
        return jnp.sin(x), lambda x: (jnp.sin(x), lambda ct: (3 * ct * cosine,))

    for f in (sine, irax.checkpoint(sine)):
        found = irax.vmap(irax.grad(f))(jnp.arange(2.0))
        np.testing.assert_allclose(found, [3, 3 * np.cos(1)], rtol=1e-6)


def test_rules_in_three_parts_and_rules_with_logs():
    @irax.custom_vjp
    def f(x, y):
        return jnp.sin(x) * y

    f.defremat(
        lambda x, y: (f(x, y), 7 * x),
        lambda kept, x, y: (f(x, y), (kept, y)),
        lambda kept, ct: (ct * kept[1], ct * kept[0]),
    )
    for g in (f, irax.checkpoint(f)):
        assert irax.grad(g, (0, 1))(1.0, 2.0) == (2.0, 7.0)
    f.defvjp_with_logs(lambda x, y: (f(x, y), y), lambda y, ct: ((ct * y, 5 * ct), {"ct": ct}))
    assert irax.grad(f, (0, 1))(1.0, 2.0) == (2.0, 5.0)
    assert irax.vjp(f, 1.0, 2.0)[1].with_logs(1.0) == ((2.0, 5.0), {"ct": 1.0})
    for found, problem in (((1.0, 2.0, 3.0), "a pair"), (((1.0, 2.0), [3.0]), "a dict or None")):
        f.defvjp_with_logs(lambda x, y: (f(x, y), y), lambda y, ct, found=found: found)
        with pytest.raises(TypeError, match=f"custom_vjp: .* must .*{problem}"):
            irax.grad(f)(1.0, 2.0)


def test_traced_functions_and_what_they_take_from_outside():
    w = jnp.arange(300.0)
    traced = irax.jit(lambda x, *, y: (w * x).sum() + y).trace(1.0, y=2.0)
    assert traced.effects == frozenset()
    (const,), converted = traced.closure_convert()
    np.testing.assert_array_equal(const, w)
    assert converted([w + 1], 1.0, y=2.0) == w.sum() + 302
    with pytest.raises(TypeError, match="was traced for"):
        converted([w], 1.0)
    consts, again = traced.with_consts_as_arg()
    assert again.lower().compile()(consts, 2.0, y=1.0) == 2 * w.sum() + 1
    assert irax.jit(lambda x: irax.debug.print("{}", x)).trace(1.0).effects


def test_parts_of_numbers_are_not_weakly_typed():
    for frexp in (jnp.frexp, irax.jit(jnp.frexp)):
        assert [(part, part.weak_type) for part in frexp(12.0)] == [(0.75, False), (4, False)]


def test_exceptions_of_checks():
    checked = checkify.checkify(lambda x: checkify.check(x > 0, "no {}", x))
    assert checked(jnp.float32(1))[0].get_exception() is None
    found = checked(jnp.float32(-1))[0].get_exception()
    assert {type(found)} == checkify.user_checks
    assert "no -1.0" in str(found)
    found = irax.vmap(checked)(jnp.array([1.0, -2.0, -3.0]))[0].get_exception()
    assert "no -2.0" in str(found)
    logarithm = checkify.checkify(jnp.log, errors=checkify.nan_checks)
    assert {type(logarithm(-1.0)[0].get_exception())} == checkify.nan_checks


def test_places_of_cotangents():
    @irax.custom_vjp
    def f(x, given, count):
        return x * given["a"] * count

    def fwd(x, given, count):
        return f(x, given, count), (x, given["a"], count)

    def bwd(residuals, ct, to_x, to_given, to_count):
        x, a, count = residuals
        to_x.accum(ct * a * count)
        to_x.accum(irax.numpy.ones_like(x))
        to_given["a"].accum(ct * x * count)
        to_count.accum("is not wanted")
        return {"a log": ct}

    f.defvjp_with_accums(fwd, bwd)
    derivatives = irax.grad(f, (0, 1))
    assert derivatives(2.0, {"a": 3.0}, 4) == (13, {"a": 8})
    mapped = irax.jit(irax.vmap(derivatives, (0, None, None)))
    found, others = mapped(np.arange(3, dtype=np.float32), {"a": 3.0}, 4)
    np.testing.assert_array_equal(found, [13, 13, 13])
    np.testing.assert_array_equal(others["a"], [0, 4, 8])
    with pytest.raises(NotImplementedError, match="give it rules by defvjp"):
        irax.grad(lambda x: f(x, {"a": irax.new_ref(1.0)}, 1))(1.0)

    @irax.custom_gradient(with_accums=object)
    def g(x, y):
        def pullback(ct, to_x, to_y):
            to_x.accum(ct * y)

        return x * y, pullback

    assert irax.grad(g, (0, 1))(2.0, 3.0) == (3, 0)
    h = irax.custom_vjp(jnp.sin)
    h.defremat_with_logs(
        lambda x: (jnp.sin(x), jnp.cos(x)),
        lambda cosine, x: (jnp.sin(x), cosine),
        lambda cosine, ct: ((2 * ct * cosine,), {"a log": ct}),
    )
    np.testing.assert_allclose(irax.grad(h)(1.0), 2 * np.cos(1), rtol=1e-6)


def test_kinds_of_unreduced_axes():
    kinds = irax.sharding.UnreducedKind
    spec = irax.P("x", unreduced={"y"})
    assert spec.unreduced_kind is kinds.sum
    assert irax.P("x").unreduced_kind is None
    assert spec == irax.P("x", unreduced={"y"}, unreduced_kind=kinds.sum)
    largest = irax.P("x", unreduced={"y"}, unreduced_kind=kinds.max)
    assert spec != largest == largest.update(partitions=("x", None))
    assert repr(largest) == "P('x', unreduced={'y'}, unreduced_kind=max)"
    assert spec.to_ct_spec().to_ct_spec() == spec
    for error, wrong in (
        (TypeError, lambda: irax.P(unreduced={"y"}, unreduced_kind="max")),
        (ValueError, lambda: irax.P(unreduced_kind=kinds.sum)),
        (ValueError, lambda: irax.P(unreduced={None})),
        (ValueError, largest.to_ct_spec),
        (TypeError, lambda: spec + largest.update(unreduced={"z"})),
        (
            NotImplementedError,
            lambda: irax.NamedSharding(irax.make_mesh((1, 1), ("x", "y")), largest),
        ),
    ):
        with pytest.raises(error):
            wrong()
    kind = irax.sharding.ManualAxisType(unreduced=frozenset("x")).unreduced_kind
    assert kind is kinds.sum


def test_texts_of_meshes_without_devices():
    mesh = irax.sharding.AbstractMesh((4, 2), ("x", "y"))
    assert mesh.are_all_axes_explicit
    sharding = irax.NamedSharding(mesh, irax.P("x"))
    axes = "'x': 4, 'y': 2, axis_types=(Explicit, Explicit)"
    assert repr(sharding) == f"NamedSharding(mesh=AbstractMesh({axes}), spec=P('x',))"
    chip = irax.sharding.AbstractDevice("chip", 1, "tpu")
    told = "device_kind=chip, num_cores=1, platform=tpu"
    assert repr(mesh.update(abstract_device=chip)) == f"AbstractMesh({axes}, {told})"
    with irax.use_abstract_mesh(mesh):
        x = irax.ShapeDtypeStruct(
            (8, 4), np.float32, sharding=irax.NamedSharding(mesh, irax.P(("x", "y")))
        )
        assert str(irax.typeof(x)) == "float32[8@(x,y),4]"


def test_specs_of_shards_are_those_of_types():
    mesh = irax.make_mesh((1,), ("x",))
    rows = irax.NamedSharding(mesh, irax.P("x"))
    double = irax.shard_map(lambda x: 2 * x, mesh=mesh, in_specs=rows.spec, out_specs=rows.spec)
    x = np.arange(4.0, dtype=np.float32)
    np.testing.assert_array_equal(double(irax.device_put(x, rows)), 2 * x)
    for wrong in (x, jnp.asarray(x), irax.device_put(x, irax.NamedSharding(mesh, irax.P()))):
        with pytest.raises(ValueError, match=r"in_specs has P\('x',\) for x, of type"):
            double(wrong)
    with irax.set_mesh(mesh), pytest.raises(ValueError, match=r"is divided as P\("):
        irax.jit(irax.shard_map(lambda x: x, in_specs=rows.spec, out_specs=rows.spec))(x)


def test_lists_of_arrays():
    eye = jnp.eye(2)
    for found in (
        *(lax.top_k(eye, 1), jnp.top_k(eye, 1), lax.approx_max_k(eye, 1)),
        *(lax.approx_min_k(eye, 1), lax.linalg.lu(eye), lax.linalg.schur(eye)),
        *(lax.linalg.hessenberg(eye), lax.linalg.tridiagonal(eye), irax.scipy.linalg.schur(eye)),
    ):
        assert isinstance(found, list)


def test_shapes_of_no_matrices():
    for call in (jnp.linalg.cholesky, jnp.linalg.eigh, jnp.linalg.eig, irax.scipy.linalg.lu):
        for error in (ValueError, TypeError):  # JAX raises the one or the other
            with pytest.raises(error, match="matrices in the last two"):
                call(jnp.ones(2))


def test_refs_are_not_weakly_typed():
    for value, text in ((1, "Ref(1, dtype=int32)"), (jnp.ones(2), "Ref([1., 1.], dtype=float32)")):
        ref = irax.new_ref(value)
        assert not ref[...].weak_type
        assert repr(ref) == text
    assert not irax.jit(lambda x: irax.new_ref(x)[...])(3).weak_type


def test_what_pullbacks_and_exported_functions_tell():
    _, pullback = irax.vjp(lambda x, y: [x * y["a"]], 2.0, {"a": 3.0})
    assert pullback.in_tree == irax.tree.structure((0, {"a": 0}))
    assert pullback.out_tree == irax.tree.structure([0])
    exported = irax.export.export(irax.jit(lambda x, y: x))(1.0, 2.0)
    assert exported.module_kept_var_idx == (0, 1)
    assert not exported.uses_global_constants
    assert exported.ordered_effects == exported.unordered_effects == ()
    (size,) = irax.export.symbolic_shape("n")
    x = irax.ShapeDtypeStruct((size,), "float32")
    assert irax.export.export(irax.jit(jnp.sin))(x).uses_global_constants


def test_functions_with_rules_return_arrays():
    tripled = irax.custom_batching.custom_vmap(lambda x: {"a": x * 2})
    tripled.def_vmap(lambda size, batched, x: ({"a": x * 3}, {"a": batched[0]}))
    assert tripled(1)["a"].weak_type
    assert isinstance(irax.custom_batching.sequential_vmap(lambda x: x * 2)(1.0), irax.Array)
    assert isinstance(lax.composite(lambda x: x + 1, "my.op")(1.0), irax.Array)
