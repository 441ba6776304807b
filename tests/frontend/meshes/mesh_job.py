"""The program of each process of the MPI jobs of `test_mesh_programs.py`.

python -m tests.frontend.meshes.mesh_job [FAULT]: what process 1 does, one of `FAULTS`.
python -m tests.frontend.meshes.mesh_job devices: each process has two devices.
python -m tests.frontend.meshes.mesh_job swapped SIZE: process 1 runs programs in the other order.
"""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from typing import Any

import numpy as np
import pytest
from tests.frontend.meshes.mesh_training import AXES, SPECS, arguments, put, train

import irax
from irax import lax
from irax.experimental.multihost_utils import live_devices, process_allgather
from irax_runtime.mesh import MeshDevice, NotAddressableError, mesh_device

FAULTS = {
    "other-program": "runs another program than rank",
    "other-shapes": "process_allgather: rank . runs another program than rank .* same shapes",
    "raises": "a fault of process 1",
    "leaves": "has waited for other ranks for more than 2 seconds",
    "leaves-later": "has waited for other ranks for more than 2 seconds",
    "is-killed": r"signal 9|Killed|lost rank 1 on host .*, which has ended",
    "is-stopped": "has not been heard of for|has waited for other ranks for more than 2 seconds",
}
"""The faults of process 1, and what the job says of each."""


def check_pmap() -> None:
    """Each process gives its own row, and has the result of its own row."""
    rows = np.arange(6, dtype=np.float32).reshape(2, 3)
    own = rows[irax.process_index()][None]
    mapped = irax.pmap(
        lambda v, w: (v * w / lax.psum(v, "i"), lax.pmax(v, "i")), "i", in_axes=(0, None)
    )
    part, largest = mapped(own, 2.0)
    np.testing.assert_allclose(part, 2 * own / rows.sum(0), rtol=1e-6)
    np.testing.assert_array_equal(largest, rows[1:])
    same = irax.pmap(lambda v: lax.psum(v, "i"), "i", out_axes=None)(own)
    np.testing.assert_array_equal(same, rows.sum(0))
    whole = irax.jit(lambda v: irax.pmap(lambda u: lax.psum(u, "i"), "i")(v)[0])(rows)
    np.testing.assert_array_equal(whole, rows.sum(0))
    check_pmap_on_devices(own)


def check_pmap_on_devices(own: np.ndarray[Any, Any]) -> None:
    """Devices are named of all processes, those of one alone, or too few for the rows."""
    largest = irax.pmap(lambda v: lax.pmax(v, "i"), "i", devices=irax.devices()[::-1])(own)
    np.testing.assert_array_equal(largest, [[3, 4, 5]])
    alone = irax.pmap(lambda v: 2 * v, devices=irax.devices()[:1])
    if irax.process_index() == 0:
        np.testing.assert_array_equal(alone(own), 2 * own)
    else:
        with pytest.raises(ValueError, match=r"none of the devices .* is of process 1"):
            alone(own)
    with pytest.raises(ValueError, match=r"got 2 slices, but process . has 1 devices: each of"):
        irax.pmap(lambda v: v)(np.ones((2, 3)))


def check_pmap_of_two_rows_each() -> None:
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    own = rows[2 * irax.process_index() :][:2]
    part = irax.pmap(lambda v: v / lax.psum(v, "i") + lax.axis_index("i"), "i")(own)
    numbers = 2 * irax.process_index() + np.arange(2)[:, None]
    np.testing.assert_allclose(part, own / rows.sum(0) + numbers, rtol=1e-6)


def check_collectives() -> None:
    """Collectives among threads, among processes, and among the threads of all processes."""
    mesh = irax.make_mesh((2, 2), ("a", "b"))
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    blocks = x.reshape(2, 4, 2, 4).swapaxes(1, 2)
    totals = {"a": blocks.sum(0), "b": blocks.sum(1), ("a", "b"): blocks.sum((0, 1))}
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    for axes, total in totals.items():
        rest = tuple(axis for axis in ("a", "b") if axis not in axes)

        @irax.jit
        @partial(
            irax.shard_map, mesh=mesh, in_specs=irax.P("a", "b"), out_specs=irax.P(rest or None)
        )
        def summed(part: Any, axes: Any = axes) -> Any:
            return lax.psum(part, axes)

        found = process_allgather(summed(x))
        np.testing.assert_array_equal(found, total.reshape(-1, 4))

    @irax.jit
    @partial(irax.shard_map, mesh=mesh, in_specs=irax.P(("a", "b")), out_specs=irax.P(("a", "b")))
    def moved(part: Any) -> Any:
        shifted = lax.ppermute(part, ("a", "b"), ring)
        exchanged = lax.all_to_all(part.reshape(4, 4), ("a", "b"), 0, 0)
        scattered = lax.psum_scatter(part.reshape(4, 4), ("a", "b"))
        whole = lax.all_gather(part, "b").sum(0)
        columns = [shifted.reshape(16), exchanged.reshape(16), whole.reshape(16)]
        return irax.numpy.concatenate([*columns, scattered.reshape(4)])

    parts = process_allgather(moved(x)).reshape(4, -1)
    mine = x.reshape(4, 16)
    np.testing.assert_array_equal(parts[:, :16], np.roll(mine, 1, 0))
    by_part = mine.reshape(4, 4, 4)
    np.testing.assert_array_equal(parts[:, 16:32], by_part.swapaxes(0, 1).reshape(4, 16))
    pairs = mine.reshape(2, 2, 16).sum(1)
    np.testing.assert_array_equal(parts[:, 32:48], np.repeat(pairs, 2, 0))
    np.testing.assert_array_equal(parts[:, 48:], by_part.sum(0))


def check_arrays() -> None:
    """Arrays of parts, moved from layout to layout."""
    mesh = irax.make_mesh((2, 2), ("a", "b"))
    x = np.arange(32, dtype=np.float32).reshape(8, 4)
    sharding = irax.NamedSharding(mesh, irax.P("b", "a"))
    made = irax.make_array_from_callback(x.shape, sharding, lambda index: x[index])
    assert len(made.addressable_shards) == 2
    for spec in (irax.P("a"), irax.P(None, ("b", "a")), irax.P(), irax.P(("a", "b"))):
        moved = irax.device_put(made, irax.NamedSharding(mesh, spec))
        np.testing.assert_array_equal(process_allgather(moved, tiled=True), x)
    rows = irax.NamedSharding(mesh, irax.P(("a", "b")))
    own = irax.make_array_from_process_local_data(rows, x[4 * irax.process_index() :][:4])
    np.testing.assert_array_equal(process_allgather(own), x)
    whole = irax.make_array_from_process_local_data(rows, x, (8, None))
    for same in (whole, irax.device_put(own, may_alias=False)):
        assert same.sharding == own.sharding
        np.testing.assert_array_equal(process_allgather(same, tiled=True), x)
    assert float(irax.jit(lambda v: (v * v).sum())(own)) == (x * x).sum()


def check_meshes() -> None:
    """Arrays on two meshes of the same devices go together."""
    x = np.arange(16, dtype=np.float32).reshape(4, 4)
    devices = tuple(irax.devices())
    wide = mesh_device((("one", 1), ("line", len(devices))), devices, False)
    long = mesh_device((("rows", len(devices)),), devices, False)
    a, b = put(wide, x, ((), ("line",))), put(long, x, (("rows",), ()))
    for product in (irax.jit(lambda v, w: v @ w), lambda v, w: v @ w):
        for v, w in ((a, b), (b, a)):
            np.testing.assert_allclose(process_allgather(product(v, w), tiled=True), x @ x)


def of_several_devices() -> None:
    assert (irax.device_count(), irax.local_device_count()) == (4, 2)
    assert [d.process_index for d in irax.devices()] == [0, 0, 1, 1]
    for layout in SPECS:
        for order in ((0, 1, 2, 3), (0, 2, 1, 3)):
            devices = tuple(irax.devices()[i] for i in order)
            check_training(mesh_device(AXES, devices, False), layout)
    check_pmap_of_two_rows_each()
    check_collectives()
    check_arrays()
    print("done", flush=True)


def of_swapped_programs(size: int) -> None:
    """Run two programs that sum arrays of the same shape in loops, in another order each."""
    mesh = irax.make_mesh((irax.device_count(),), ("data",))

    def program(scale: float) -> Any:
        def body(_: Any, v: Any) -> Any:
            return lax.pcast(scale * lax.psum(v, "data"), "data", to="varying")

        over_shards = partial(
            irax.shard_map, mesh=mesh, in_specs=irax.P(), out_specs=irax.P("data")
        )
        return irax.jit(
            over_shards(lambda v: lax.fori_loop(0, 3, body, lax.pcast(v, "data", to="varying")))
        )

    programs = [program(1.0), program(2.0)]
    x = np.ones(size, np.float32)
    for order in ((0, 1), (1, 0), (irax.process_index(), 1 - irax.process_index())):
        for number in order:
            irax.block_until_ready(programs[number](x))
    print("done", flush=True)


def main(fault: str = "", size: str = "") -> None:
    irax.distributed.initialize(limit=2 if fault in (*FAULTS, "swapped") else 60)
    assert irax.process_count() == 2
    if fault == "swapped":
        return of_swapped_programs(int(size))
    if fault == "devices":
        return of_several_devices()
    mesh = mesh_device((("data", 1), ("model", 2)), tuple(irax.devices()), False)
    if not fault:
        check_devices()
        check_meshes()
        check_training(mesh, "tensor")
        check_pmap()
    if fault == "other-shapes":
        process_allgather(np.ones(2 + irax.process_index(), np.float32))
    columns = put(mesh, arguments()[0], SPECS["tensor"][0])
    faulty = irax.process_index() == 1
    if fault == "leaves" and faulty:
        return
    rows = 8 if fault != "other-program" or not faulty else 4
    total = irax.jit(lambda w: w[:rows].sum())
    assert np.isfinite(float(total(columns)))
    match fault if faulty else "":
        case "raises":
            raise ValueError("a fault of process 1")
        case "leaves-later":
            return
        case "is-killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "is-stopped":
            os.kill(os.getpid(), signal.SIGSTOP)
            return  # Launchers continue a stopped process in order to end it.
    assert np.isfinite(float(total(columns)))
    print("done", flush=True)


def check_devices() -> None:
    assert irax.distributed.is_initialized()
    assert len(irax.devices()) == 2
    assert [d.process_index for d in irax.devices()] == [0, 1]
    assert irax.local_devices() == [irax.devices()[irax.process_index()]]
    with live_devices(irax.devices()) as found:
        assert found == irax.devices()
    with pytest.raises(ValueError, match="expected a device of process"):
        live_devices([irax.devices()[1 - irax.process_index()]]).__enter__()


def check_training(mesh: MeshDevice, layout: str) -> None:
    w1, w2, x, y = arguments()
    with irax.disable_jit():
        expected, _ = train((w1, w2), x, y)
    a, b, c, d = (put(mesh, v, s) for v, s in zip(arguments(), SPECS[layout], strict=True))
    losses, weights = train((a, b), c, d)
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    if layout in ("tensor", "sharded"):
        with pytest.raises(NotAddressableError, match="process_allgather"):
            np.asarray(weights[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
