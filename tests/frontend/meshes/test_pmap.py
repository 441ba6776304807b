"""pmap: a function over the slices of its arguments, on one device and on several."""

import copy
import os
import subprocess
import sys

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.config import config
from irax.sharding import Mesh
from irax_runtime.iree.cpu import cpu

X = np.arange(6.0, dtype=np.float32).reshape(3, 2)


def test_collectives():
    def f(x):
        return lax.psum(x, "i"), lax.axis_index("i"), lax.all_gather(x, "i"), lax.pmax(x, "i")

    total, index, gathered, largest = irax.pmap(f, "i")(X)
    np.testing.assert_array_equal(total, np.broadcast_to(X.sum(0), (3, 2)))
    np.testing.assert_array_equal(index, [0, 1, 2])
    np.testing.assert_array_equal(gathered, np.broadcast_to(X, (3, 3, 2)))
    np.testing.assert_array_equal(largest, np.broadcast_to(X.max(0), (3, 2)))


def test_axes():
    def f(tree, shared, *, scale):
        return tree["x"] * shared, scale

    arguments = {"x": X}, 2.0
    product, scale = irax.pmap(f, in_axes=({"x": 1}, None), out_axes=(1, 0))(
        *arguments, scale=np.arange(2)
    )
    np.testing.assert_array_equal(product, X * 2)
    np.testing.assert_array_equal(scale, [0, 1])
    with pytest.raises(ValueError, match="pmap: out_axes: axis 2 is out of range"):
        irax.pmap(f, in_axes=(1, None), out_axes=(2, 0))(*arguments, scale=np.arange(2))
    same = irax.pmap(lambda x: lax.psum(x, "i"), "i", out_axes=None)(X)
    np.testing.assert_array_equal(same, X.sum(0))


def test_static_arguments():
    calls = []

    def f(x, power, y):
        calls.append(power)
        return x**power + y

    mapped = irax.pmap(f, static_broadcasted_argnums=1, in_axes=(0, None, None))
    for power in (2, 3, 2):
        np.testing.assert_allclose(mapped(X, power, 1.0), X**power + 1)
    assert calls == [2, 3]
    bad = irax.pmap(f, static_broadcasted_argnums=1, in_axes=(0, 0, None))
    with pytest.raises(ValueError, match="in_axes of static_broadcasted_argnums must be None"):
        bad(X, 2, 1.0)


def test_without_mapped_arguments():
    np.testing.assert_array_equal(
        irax.pmap(lambda: lax.axis_index("i"), "i", axis_size=3)(), [0, 1, 2]
    )
    device = irax.devices()[0]
    np.testing.assert_array_equal(irax.pmap(lambda x: x, devices=[device] * 3)(X), X)


def test_derivatives_and_nestings():
    def loss(w, x):
        return jnp.sum((w * x) ** 2)

    @irax.pmap
    def of_each(x):
        return irax.grad(loss)(2.0, x)

    np.testing.assert_allclose(of_each(X), 4 * (X**2).sum(1))
    through = irax.grad(lambda w: irax.pmap(loss, in_axes=(None, 0))(w, X).sum())(2.0)
    np.testing.assert_allclose(through, 4 * (X**2).sum())
    inner = irax.pmap(lambda x: lax.psum(x, "j"), "j")
    np.testing.assert_array_equal(irax.pmap(inner)(X), np.repeat(X.sum(1)[:, None], 2, 1))
    np.testing.assert_array_equal(irax.vmap(inner)(X), np.repeat(X.sum(1)[:, None], 2, 1))

    def step(carry, x):
        return carry + inner(x), None

    np.testing.assert_array_equal(lax.scan(step, jnp.zeros(2), X)[0], [X.sum(), X.sum()])


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (lambda: irax.pmap(3), TypeError, "pmap: expected a function"),
        (lambda: irax.pmap(jnp.add)(X, X[:2]), ValueError, "pmap: mapped axes must have the same"),
        (lambda: irax.pmap(jnp.sin)(1.0), ValueError, "a scalar has no axes"),
        (lambda: irax.pmap(jnp.sin, in_axes=None)(X), ValueError, "no argument is mapped"),
        (lambda: irax.pmap(jnp.sin, devices=[]), ValueError, "devices is empty"),
        (
            lambda: irax.pmap(jnp.sin, devices=irax.devices()[:1])(X),
            ValueError,
            "got 1 for axis_size and 3 for",
        ),
        (
            lambda: irax.pmap(jnp.sin, devices=irax.devices()[:1], axis_size=3),
            ValueError,
            "axis_size is 3, but there are 1 devices",
        ),
        (lambda: irax.pmap(jnp.sin, in_axes=(0, 0))(X), ValueError, "in_axes has 2 entries"),
    ],
)
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_it_is_lowered_as_a_jitted_function_is():
    assert "stablehlo.sine" in irax.pmap(jnp.sin).lower(X).as_text()


# ---- several devices; values are compared with JAX's in test_shard_map.py ------------------------

DEVICES = [cpu(n) for n in range(3)]


def on_devices(f, **options):
    return irax.pmap(f, "i", devices=DEVICES, **options)


@pytest.mark.parametrize("spmd", ["one_buffer", "threads"])
def test_each_slice_has_a_device(spmd):
    with config.scoped("spmd", spmd):
        squares = on_devices(lambda x: x**2 / lax.psum(x, "i"))
        result = squares(X + 1)
        np.testing.assert_allclose(result, (X + 1) ** 2 / (X + 1).sum(0), rtol=1e-6)
        assert result.sharding == irax.NamedSharding(Mesh(DEVICES, ("i",)), irax.P("i"))
        assert [shard.data.shape for shard in result.addressable_shards] == [(1, 2)] * 3
        again = squares(irax.device_put(result, DEVICES[1]))
        assert again.sharding == result.sharding
        same = on_devices(lambda x: lax.psum(x, "i"), out_axes=None)(result)
        assert same.is_fully_replicated


def test_results_that_differ_have_a_place_for_their_slices():
    for mapped in (irax.pmap, on_devices):
        with pytest.raises(ValueError, match="out_axes: None was asked for a result"):
            mapped(lambda x: 2 * x, out_axes=None)(X)
    total, x = on_devices(lambda x: (lax.psum(x, "i"), x), out_axes=(None, 0))(X)
    np.testing.assert_array_equal(total, X.sum(0))
    np.testing.assert_array_equal(x, X)


def test_slices_of_an_axis_without_arguments():
    np.testing.assert_array_equal(on_devices(lambda: lax.axis_index("i"))(), [0, 1, 2])


def test_a_device_computes_the_slices_of_a_pmap_inside():
    inner = irax.pmap(lambda y: lax.psum(y, "j") * lax.axis_index("i"), "j", devices=DEVICES)
    result = on_devices(lambda x: inner(jnp.tile(x, (3, 1))))(X)
    expected = np.arange(3)[:, None] * 3 * X
    np.testing.assert_array_equal(result, np.repeat(expected[:, None], 3, 1))


def test_copies():
    mapped = on_devices(lambda x: lax.psum(x, "i"), out_axes=None)
    assert copy.copy(mapped)(X).sharding.device_set == set(DEVICES)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: on_devices(jnp.sin)(X[:2]), "got 3 for axis_size and 2 for"),
        (lambda: irax.pmap(jnp.sin, devices=[*DEVICES, DEVICES[0]]), "are there twice"),
        (
            lambda: irax.pmap(lambda x, n: x, devices=DEVICES, static_broadcasted_argnums=1)(X),
            "with 1 positional arguments",
        ),
    ],
)
def test_errors_of_several_devices(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.slow
def test_more_slices_than_devices_are_an_error():
    code = """if True:
        import irax, numpy as np
        assert irax.pmap(lambda x: x + 1)(np.ones(2)).sharding.num_devices == 2
        try:
            irax.pmap(lambda x: x + 1)(np.ones(4))
        except ValueError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "IRAX_CPU_DEVICES": "3"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith("pmap: a mesh of shape (4,) takes 4 devices, got 3")


def test_nested_maps_have_axes_of_their_own():
    devices = [cpu(i) for i in range(2)]

    def total(x):
        return lax.psum(x, "i")

    def inner(x):
        return irax.pmap(total, "i", devices=devices)(x)

    with pytest.raises(ValueError, match=r"axis_name='i' is the name of an axis that a pmap or"):
        irax.pmap(inner, "i", devices=devices)(np.ones((2, 2)))


def test_one_device_tells_that_it_computes_all_slices():
    with pytest.warns(UserWarning, match=r"one device computes 3 slices.*irax.vmap") as told:
        irax.pmap(lambda x: x + 1)(jnp.arange(3.0))
    assert told[0].filename == __file__
