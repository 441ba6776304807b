"""Programs on the devices of a mesh: in one buffer, in threads, in processes, and by XLA."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from tests.frontend.meshes.mesh_job import FAULTS
from tests.frontend.meshes.mesh_training import (
    AXES,
    COPIES,
    ROWS,
    SPECS,
    WHOLE,
    arguments,
    loss,
    put,
    train,
)
from tests.runtime.communication.test_communication import job
from tests.runtime.pjrt.pjrt_programs import devices, needs_plugin

import irax
import irax.numpy as jnp
from irax.core.array import device_of
from irax_runtime.communication.communicator import CommunicationError
from irax_runtime.iree.cpu import cpu
from irax_runtime.mesh import MeshDevice, mesh_device


def processor(shares_memory: bool) -> MeshDevice:
    return mesh_device(AXES, tuple(cpu(i) for i in range(4)), shares_memory)


def xla() -> MeshDevice:
    return mesh_device(AXES, devices(4), False)


MESHES = {"one buffer": lambda: processor(True), "threads": lambda: processor(False), "xla": xla}
every_mesh = pytest.mark.parametrize(
    "kind", ["one buffer", "threads", pytest.param("xla", marks=needs_plugin)]
)


@every_mesh
@pytest.mark.parametrize("layout", SPECS)
@pytest.mark.slow
def test_training_follows_the_layouts_of_its_arguments(kind: str, layout: str):
    w1, w2, x, y = arguments()
    expected, whole = train((w1, w2), x, y)
    mesh = MESHES[kind]()
    a, b, c, d = (put(mesh, v, s) for v, s in zip(arguments(), SPECS[layout], strict=True))
    losses, weights = train((a, b), c, d)
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    for one, other, spec in zip(weights, whole, SPECS[layout], strict=False):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-4, atol=1e-6)
        assert one._buffer.device is mesh
        if layout != "both":
            assert one._buffer.spec == spec


@pytest.mark.sampled(3)
@every_mesh
def test_meshes_of_the_same_devices_go_together(kind: str):
    _, _, x, _ = arguments()
    mesh = MESHES[kind]()
    line = mesh_device((("line", 4),), mesh.devices, mesh.shares_memory)
    a, b = put(mesh, x, ROWS), put(line, x, (("line",), ()))
    for add in (jnp.add, irax.jit(jnp.add)):
        for first, second in ((a, b), (b, a)):
            total = add(first, second)
            np.testing.assert_allclose(np.asarray(total), 2 * x, rtol=1e-6)
            assert device_of([total], "total") is device_of([first], "first")
    turned = mesh_device((("line", 4),), mesh.devices[::-1], mesh.shares_memory)
    with pytest.raises(ValueError, match="incompatible devices"):
        irax.jit(jnp.add)(a, put(turned, x, (("line",), ())))
    lines = irax.sharding.Mesh(np.array(mesh.devices), ("line",))
    places = irax.shard_map(
        lambda v: v + irax.lax.axis_index("line"),
        mesh=lines,
        in_specs=irax.P("line"),
        out_specs=irax.P("line"),
    )
    expected = x + np.repeat(np.arange(4), len(x) // 4)[:, None]
    np.testing.assert_allclose(np.asarray(irax.jit(places)(a)), expected, rtol=1e-6)


def test_a_mesh_of_one_device_goes_together_with_it():
    x = np.arange(4, dtype=np.float32)
    mesh = irax.sharding.Mesh(np.array([cpu(0)]), ("line",))
    a = irax.device_put(x, irax.NamedSharding(mesh, irax.P("line")))
    b = irax.device_put(x, cpu(0))
    for add in (jnp.add, irax.jit(jnp.add)):
        np.testing.assert_array_equal(add(a, b), 2 * x)
        np.testing.assert_array_equal(add(b, a), 2 * x)


def test_meshes_of_one_program():
    """One mesh has the other's devices in its order, and its axes joined."""
    devices = [cpu(i) for i in range(4)]
    square = irax.sharding.Mesh(np.array(devices).reshape(2, 2), ("a", "b"))

    def divided(x: Any, line: irax.sharding.Mesh) -> Any:
        x = irax.lax.with_sharding_constraint(x, irax.NamedSharding(line, irax.P("line")))
        return irax.lax.with_sharding_constraint(x, irax.NamedSharding(square, irax.P("a")))

    x = np.arange(16, dtype=np.float32).reshape(4, 4)
    line = irax.sharding.Mesh(np.array(devices), ("line",))
    found = irax.jit(partial(divided, line=line))(x)
    assert found.sharding == irax.NamedSharding(square, irax.P("a"))
    np.testing.assert_array_equal(found, x)
    turned = irax.sharding.Mesh(np.array(devices[::-1]), ("line",))
    with pytest.raises(ValueError, match="runs on the devices of one mesh, or on one device"):
        irax.jit(partial(divided, line=turned))(x)


@pytest.mark.sampled(3)
@every_mesh
def test_single_operations_and_derivatives(kind: str):
    w1, w2, x, y = arguments()
    mesh = MESHES[kind]()
    rows = put(mesh, x, ROWS)
    np.testing.assert_allclose(np.asarray(jnp.sin(rows) + 1), np.sin(x) + 1, rtol=1e-6)
    slopes = irax.grad(loss)((w1, w2), rows, y)
    expected = irax.grad(loss)((w1, w2), x, y)
    for one, other in zip(slopes, expected, strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-4, atol=1e-6)


OPERATIONS = {
    "elementwise": (lambda x, w: jnp.sin(x) + 1, ROWS),
    "select": (lambda x, w: jnp.where(x > 0, x, 0), ROWS),
    "product": (lambda x, w: x @ w, ROWS),
    "sum of columns": (lambda x, w: x.sum(1), ROWS[:1]),
    "sum of rows": (lambda x, w: x.sum(0), COPIES[:1]),
    "transpose": (lambda x, w: x.T, ROWS[::-1]),
    "reshape": (lambda x, w: x.reshape(8, 2, 4), (*ROWS, WHOLE)),
    "of whole arrays": (lambda x, w: w.T, COPIES),
    "of odd size": (lambda x, w: x[:3], COPIES),
    "by columns": (lambda x, w: w @ x.T, ROWS[::-1]),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", ["one buffer", "threads"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_layouts_of_single_operations(kind: str, name: str):
    operation, spec = OPERATIONS[name]
    _, _, x, _ = arguments()
    w = np.eye(8, dtype=np.float32)
    mesh = MESHES[kind]()
    found = operation(put(mesh, x, ROWS), put(mesh, w, COPIES))
    np.testing.assert_allclose(found, operation(jnp.asarray(x), jnp.asarray(w)), rtol=1e-6)
    assert found._buffer.spec == spec


@pytest.mark.sampled(3)
@every_mesh
def test_donated_arguments(kind: str):
    mesh = MESHES[kind]()
    w = 0.1 * np.random.default_rng(0).normal(size=(64, 64)).astype(np.float32)
    step = irax.jit(lambda w, x: jnp.tanh(x @ w) @ w + w, donate_argnums=0)
    expected = np.tanh(w @ w) @ w + w
    there = put(mesh, w, ROWS)
    np.testing.assert_allclose(step(there, put(mesh, w, ROWS)), expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(RuntimeError, match="its memory had been given up"):
        np.asarray(there)
    twice = put(mesh, w, ROWS)
    with pytest.raises(RuntimeError, match="given again"):
        step(twice, twice)
    np.testing.assert_array_equal(twice, w)


@needs_plugin
def test_pmap_by_xla():
    devices = list(xla().devices)
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)

    @partial(irax.pmap, axis_name="i", devices=devices, in_axes=(0, None), out_axes=(0, None))
    def mapped(v: Any, w: Any) -> Any:
        slope = irax.grad(lambda u: jnp.sum(jnp.sin(u * w)))(v)
        return slope + irax.lax.axis_index("i"), irax.lax.psum(v, "i")

    slopes, total = mapped(rows, 2.0)
    expected = 2 * np.cos(2 * rows) + np.arange(4)[:, None]
    np.testing.assert_allclose(slopes, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(total, rows.sum(0))
    assert slopes.sharding.devices == tuple(devices)


def test_errors():
    mesh = processor(False)
    with pytest.raises(ValueError, match=r"dimension 0 .* size 3, which is no multiple of 2"):
        put(mesh, np.ones((3, 2)), ROWS)
    there = put(mesh, np.ones(4, np.float32), (("data",),))
    elsewhere = irax.device_put(np.ones(4, np.float32), cpu(1))
    with pytest.raises(ValueError, match="cannot be used together"):
        irax.jit(lambda a, b: a + b)(there, elsewhere)

    def fails(x: Any) -> Any:
        def host(a: Any) -> Any:
            raise ZeroDivisionError("on the host")

        return irax.pure_callback(host, irax.ShapeDtypeStruct((), "float32"), x.sum())

    with pytest.raises((ZeroDivisionError, CommunicationError), match="on the host"):
        irax.jit(fails)(there)


# ---- processes -----------------------------------------------------------------------------------


def report(done: subprocess.CompletedProcess[str]) -> str:
    return f"{done.stdout}\n{done.stderr}"


MeshJob = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(params=["cpu", pytest.param("pjrt:cpu", marks=needs_plugin)])
def mesh_job(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> MeshJob:
    """Runs a job of two processes with so many devices each: by IREE, and by a plugin."""

    def run(devices: int, *arguments: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.setenv("IRAX_PLATFORMS", request.param)
        if request.param == "cpu":
            monkeypatch.setenv("IRAX_CPU_DEVICES", str(devices))
            return job(2, *arguments, module="tests.frontend.meshes.mesh_job")
        return job(2, str(devices), *arguments, module="tests.runtime.pjrt.plugin_of_processes")

    return run


@pytest.mark.parametrize("devices, arguments", [(1, ()), (2, ("devices",))])
@pytest.mark.slow
def test_processes_train_as_one(mesh_job: MeshJob, devices: int, arguments: tuple[str, ...]):
    done = mesh_job(devices, *arguments)
    assert done.returncode == 0, report(done)
    assert done.stdout.count("done") == 2, report(done)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.slow
def test_processes_that_part_end_the_job(mesh_job: MeshJob, fault: str):
    done = mesh_job(1, fault)
    assert done.returncode != 0
    assert "done" not in done.stdout
    assert re.search(FAULTS[fault], done.stderr), report(done)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("devices", [1, 2])
@pytest.mark.parametrize(
    "size, message",
    [
        (3, r"rank .*: (all_reduce|all_gather) .* in jit of .* has waited for other ranks"),
        (400_000, r"in jit of .* (calls another all_reduce than rank . in jit of|has waited for)"),
    ],
)
def test_processes_that_run_programs_in_another_order_end_the_job(
    monkeypatch: pytest.MonkeyPatch, devices: int, size: int, message: str
):
    monkeypatch.setenv("IRAX_CPU_DEVICES", str(devices))
    done = job(2, "swapped", str(size), module="tests.frontend.meshes.mesh_job")
    assert done.returncode != 0
    assert "done" not in done.stdout
    assert re.search(message, done.stderr), report(done)
