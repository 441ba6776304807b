"""Names, parameters and results that JAX has since 0.11 or 0.12, each with what it computes."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax


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
        assert draw(key, *parameters, method="approximate") == draw(key, *parameters)
        with pytest.raises(ValueError, match="'exact' or 'approximate', got 'fast'"):
            draw(key, *parameters, method="fast")


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
