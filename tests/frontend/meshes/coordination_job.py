"""Values that each process of a job of `test_tcp.py` tells the others outside of
compiled programs: JAX's coordination client, multihost_utils, and printing of arrays.
"""

from __future__ import annotations

import numpy as np
import pytest

import irax
from irax import NamedSharding, P
from irax.compat.jax._src.distributed import global_state
from irax.errors import JaxRuntimeError
from irax.experimental import multihost_utils


def check_client() -> None:
    client = global_state.client
    assert client is not None
    own, count = irax.process_index(), irax.process_count()
    following = (own + 1) % count
    client.key_value_set(f"name/{own}", f"host {own}")
    assert client.blocking_key_value_get(f"name/{following}", 20_000) == f"host {following}"
    client.key_value_set_bytes(f"bytes/{own}", bytes([own, 0, 255]))
    client.wait_at_barrier("told", 20_000)
    expected = [(f"name/{i}", f"host {i}") for i in range(count)]
    assert client.key_value_dir_get("name") == client.key_value_dir_get("name/") == expected
    assert client.key_value_try_get_bytes(f"bytes/{following}") == bytes([following, 0, 255])
    with pytest.raises(JaxRuntimeError, match="ALREADY_EXISTS"):
        client.key_value_set("name/0", "another")
    with pytest.raises(JaxRuntimeError, match="NOT_FOUND"):
        client.key_value_try_get("absent")
    with pytest.raises(JaxRuntimeError, match="DEADLINE_EXCEEDED"):
        client.blocking_key_value_get("absent", 100)
    client.key_value_increment("sum", own + 1)
    client.wait_at_barrier("told", timeout_in_ms=20_000)  # used again
    assert client.key_value_increment("sum", 0) == count * (count + 1) // 2
    client.wait_at_barrier("alone", 20_000, process_ids=[own])
    client.wait_at_barrier("read", 20_000)
    if own == 0:
        client.key_value_delete("name")
        with pytest.raises(JaxRuntimeError, match=r"DEADLINE_EXCEEDED.*processes \[1"):
            client.wait_at_barrier("nobody else comes", 100)
    client.wait_at_barrier("deleted", 20_000)
    assert client.key_value_dir_get("name") == []
    assert (global_state.process_id, global_state.num_processes) == (own, count)


def check_utilities() -> None:
    own, count = irax.process_index(), irax.process_count()
    told = multihost_utils.broadcast_one_to_all({"x": np.arange(3) + own, "y": np.float64(own)})
    assert told["x"].dtype == np.int32
    assert told["y"].dtype == np.float32
    assert isinstance(told["y"], np.ndarray)
    np.testing.assert_array_equal(told["x"], np.arange(3))
    multihost_utils.assert_equal({"x": 1, "y": np.ones(3)})
    with pytest.raises(
        AssertionError, match=r"of the run: expected 0, .*other values in processes"
    ):
        multihost_utils.assert_equal(own, "numbers of the run")  # in all of them, in process 0 too
    mesh = irax.make_mesh((irax.device_count(),), ("x",))
    x = irax.device_put(np.arange(float(2 * irax.device_count())), NamedSharding(mesh, P("x")))
    expected = f"Array(shape=({2 * irax.device_count()},), dtype=float32)"
    assert count == 1 or repr(x) == str(x) == f"{x}" == expected
    assert "0." in str(irax.device_put(x, NamedSharding(mesh, P())))


if __name__ == "__main__":
    irax.distributed.initialize()
    check_client()
    check_utilities()
    print("done")
