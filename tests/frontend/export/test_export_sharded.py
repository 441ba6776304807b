"""Exported functions for several devices, written down, read again and run on as many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
import irax_runtime
from irax import P, export, lax
from irax.config import config
from irax_runtime.iree.cpu import cpu

X = np.arange(32, dtype=np.float32).reshape(8, 4)
W = np.arange(16, dtype=np.float32).reshape(4, 4) / 16


def mesh(*sizes: int) -> Any:
    devices = np.array([cpu(i) for i in range(np.prod(sizes))]).reshape(sizes)
    return irax.sharding.Mesh(devices, ("a", "b")[: len(sizes)])


def divided(spec: Any) -> Any:
    return irax.NamedSharding(mesh(2, 2), spec)


ROWS, COLUMNS = P("a"), P(None, "b")


def product(x: Any, w: Any) -> Any:
    return jnp.tanh(x @ w)


def by_options() -> Any:
    jitted = irax.jit(
        product, in_shardings=(divided(ROWS), divided(COLUMNS)), out_shardings=divided(ROWS)
    )
    return export.export(jitted)(X, irax.ShapeDtypeStruct(W.shape, W.dtype))


def by_arguments() -> Any:
    out = irax.jit(product, out_shardings=divided(ROWS))
    struct = irax.ShapeDtypeStruct(X.shape, X.dtype, sharding=divided(ROWS))
    return export.export(out)(struct, irax.device_put(W, divided(COLUMNS)))


@pytest.fixture(params=[by_options, by_arguments])
def again(request: pytest.FixtureRequest) -> Any:
    return export.deserialize(request.param().serialize())


def test_what_it_says(again: Any):
    assert again.nr_devices == 4
    there = mesh(2, 2)
    assert again.in_shardings_jax(there) == (divided(ROWS), divided(COLUMNS))
    assert again.out_shardings_jax(there) == (divided(ROWS),)
    with pytest.raises(ValueError, match=r"expected a mesh of the axes \{'a': 2, 'b': 2\}"):
        again.in_shardings_jax(mesh(4))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("is_put", [False, True])
@pytest.mark.parametrize("spmd", ["one_buffer", "threads"])
def test_it_runs_on_as_many_devices(again: Any, is_put: bool, spmd: str):
    with config.scoped("spmd", spmd), irax.set_mesh(mesh(2, 2)):
        x, w = X, W
        if is_put:
            x, w = irax.device_put(X, divided(ROWS)), irax.device_put(W, divided(P("b", "a")))
        found = again.call(x, w)
        inside = irax.jit(lambda x, w: 2 * again.call(x, w))(x, w)
    np.testing.assert_allclose(found, np.tanh(X @ W), rtol=1e-5)
    assert found.sharding.is_equivalent_to(divided(ROWS), 2)
    np.testing.assert_allclose(inside, 2 * np.tanh(X @ W), rtol=1e-5)


def test_collectives_are_kept():
    total = irax.shard_map(
        lambda x: lax.psum(x, "a"), mesh=mesh(2, 2), in_specs=ROWS, out_specs=P()
    )
    again = export.deserialize(export.export(irax.jit(total))(X).serialize())
    assert again.nr_devices == 4
    found = again.call(irax.device_put(X, divided(P("b"))))
    np.testing.assert_array_equal(found, X[:4] + X[4:])
    assert found.sharding.is_equivalent_to(divided(P()), 2)


def test_another_number_of_devices_is_refused(again: Any):
    pair = irax.NamedSharding(mesh(2), P("a"))
    with pytest.raises(ValueError, match=r"was exported for 4 devices and is called .* on 2"):
        again.call(irax.device_put(X, pair), W)


def test_the_mesh_of_the_context(again: Any):
    devices = mesh(2, 2).devices[::-1]
    with irax.set_mesh(irax.sharding.Mesh(devices, ("a", "b"))):
        found = again.call(X, W)
    assert list(found.sharding.mesh.devices.flat) == list(devices.flat)
    np.testing.assert_allclose(found, np.tanh(X @ W), rtol=1e-5)


def test_one_device_computes_what_all_do(tmp_path: Any):
    np.testing.assert_allclose(by_arguments().call(X, W), np.tanh(X @ W), rtol=1e-5)
    by_options().save(tmp_path / "f.irax")
    program = irax_runtime.load(tmp_path / "f.irax")
    np.testing.assert_allclose(program(X, W), np.tanh(X @ W), rtol=1e-5)


def test_types_tell_the_layouts_along_explicit_axes():
    kinds = (irax.sharding.AxisType.Explicit,) * 2
    there = irax.sharding.Mesh(mesh(2, 2).devices, ("a", "b"), axis_types=kinds)
    x = irax.device_put(X, irax.NamedSharding(there, P("a", "b")))
    with irax.set_mesh(there):
        doubled = export.export(irax.jit(lambda x: 2 * x.T))(x)
        pulled_back = doubled.vjp()
    told = [str(aval) for aval in (*doubled.in_avals, *doubled.out_avals)]
    assert told == ["float32[8@a,4@b]", "float32[4@b,8@a]"]
    assert list(map(str, pulled_back.in_avals)) == told
    assert list(map(str, pulled_back.out_avals)) == told[:1]
    found = doubled.call(x)
    assert found.sharding == irax.NamedSharding(there, P("b", "a"))
    np.testing.assert_array_equal(found, 2 * X.T)
    np.testing.assert_array_equal(pulled_back.call(x, 3 * x.T)[0], 6 * X)
