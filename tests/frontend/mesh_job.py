"""The program of each process of the MPI jobs of `test_mesh_programs.py`.

python -m tests.frontend.mesh_job [other-program | leaves]: what process 1 does in the end.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest
from tests.frontend.test_mesh_programs import SPECS, arguments, put, train

import irax
from irax import lax
from irax_runtime.mesh import MeshDevice, NotAddressableError, mesh_device


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


def main(fault: str = "") -> None:
    irax.distributed.initialize(limit=2 if fault == "leaves" else 60)
    assert irax.process_count() == 2
    mesh = mesh_device((("data", 1), ("model", 2)), tuple(irax.devices()), False)
    if not fault:
        check_devices()
        check_training(mesh)
        check_pmap()
    columns = put(mesh, arguments()[0], SPECS["tensor"][0])
    if fault == "leaves" and irax.process_index() == 1:
        return
    rows = 8 if fault != "other-program" or irax.process_index() == 0 else 4
    total = irax.jit(lambda w: w[:rows].sum())(columns)
    assert np.isfinite(float(total))
    print("done", flush=True)


def check_devices() -> None:
    assert irax.distributed.is_initialized()
    assert len(irax.devices()) == 2
    assert [d.process_index for d in irax.devices()] == [0, 1]
    assert irax.local_devices() == [irax.devices()[irax.process_index()]]


def check_training(mesh: MeshDevice) -> None:
    w1, w2, x, y = arguments()
    with irax.disable_jit():
        expected, _ = train((w1, w2), x, y)
    a, b, c, d = (put(mesh, v, s) for v, s in zip(arguments(), SPECS["tensor"], strict=True))
    losses, weights = train((a, b), c, d)
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    with pytest.raises(NotAddressableError, match="process_allgather"):
        np.asarray(weights[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
