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
