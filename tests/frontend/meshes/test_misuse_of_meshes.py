"""Misuse of meshes, specs and shardings raises errors of JAX's types.

A line is evaluated by irax here, and by JAX, with as many devices, in a process of its own.
`auto`, `explicit` and `mixed` are meshes of axes x and y; `within(mesh, f)` is `f()` where a mesh
is set.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

CALLS = """
jax.device_put(A, P("x"))
jax.jit(lambda x: jax.device_put(x, P("x")))(A)
jax.reshard(A, P("x"))
jax.jit(lambda x: jax.reshard(x, P()))(A)
lax.with_sharding_constraint(A, P("x"))
jax.jit(lambda x: x, in_shardings=P("x"))(A)
jax.jit(lambda x: x, out_shardings=P("x"))(A)
jnp.matmul(A, A, out_sharding=P("x"))
jax.shard_map(lambda x: x, in_specs=P(), out_specs=P())(A)
sharding.explicit_axes(lambda x: x, in_sharding=P("x"))(A)
within(explicit, lambda: lax.with_sharding_constraint(A, P("x", "y", None)))
within(explicit, lambda: lax.with_sharding_constraint(A, P("x")))
within(explicit, lambda: lax.with_sharding_constraint(A, P(P.UNCONSTRAINED)))
within(explicit, lambda: jax.device_put(A, P(P.UNCONSTRAINED)))
within(explicit, lambda: jax.reshard(A, P(P.UNCONSTRAINED)))
within(explicit, lambda: jnp.matmul(A, A, out_sharding=P(P.UNCONSTRAINED)))
within(explicit, lambda: jax.shard_map(lambda x: x, in_specs=P(P.UNCONSTRAINED), out_specs=P())(A))
within(explicit, lambda: jax.jit(lambda x: jax.reshard(x, P("x")))(B))
within(explicit, lambda: jax.jit(lambda x: jax.device_put(x, P("x")))(B))
within(explicit, lambda: jax.reshard(A, P("q")))
within(explicit, lambda: jax.device_put(A, P("x", "x")))
within(mixed, lambda: jax.reshard(A, P("y")))
within(auto, lambda: jax.reshard(A, P("x")))
within(auto, lambda: jax.jit(lambda x: jax.reshard(x, P("x")))(B))
jax.reshard(A, Named(auto, P("x")))
lax.with_sharding_constraint(A, Named(explicit, P("x")))
jax.jit(lambda x: lax.with_sharding_constraint(x, Named(mixed, P("x"))))(A)
jax.shard_map(lambda x: lax.with_sharding_constraint(x, P("x")), mesh=auto, **ROWS)(A)
jax.shard_map(lambda x: jax.reshard(x, P("x")), mesh=explicit, **ROWS)(A)
jax.shard_map(lambda x: x, mesh=auto, in_specs=P("x", "y", None), out_specs=P("x"))(A)
jax.shard_map(lambda x: x, mesh=auto, in_specs=P("q"), out_specs=P("x"))(A)
jax.shard_map(lambda x: x, mesh=auto, **ROWS)(B)
Named(auto, P(unreduced={"x"}))
Named(explicit, P(unreduced={"q"}))
Named(auto, P(reduced={"x"}))
Named(auto, P("q"))
jax.device_put(B, Named(auto, P("x")))
jax.jit(lambda x: x, in_shardings=Named(auto, P("x")))(B)
jax.ShapeDtypeStruct((8,), "float32", sharding=3)
jax.jit(lambda x: within(auto, lambda: x))(A)
sharding.use_abstract_mesh(auto).__enter__()
within(auto, lambda: sharding.use_abstract_mesh(sharding.AbstractMesh((2,), ("z",))).__enter__())
jax.make_mesh(((4,), 2), ("x", "y"))
jax.jit(lambda x: lax.pcast(x, "x", to="varying"))(A)
"""


def outcomes(library: Any, devices: Any) -> list[list[str]]:
    """The names of the class of the error of each line, and of those that it is derived from."""
    sharding: Any = importlib.import_module(f"{library.__name__}.sharding")
    kinds = sharding.AxisType

    def mesh(*types: Any) -> Any:
        return sharding.Mesh(np.array(devices, object).reshape(4, 2), ("x", "y"), types)

    def within(mesh: Any, call: Callable[[], Any]) -> Any:
        with library.set_mesh(mesh):
            return call()

    spec = sharding.PartitionSpec
    names = {
        "jax": library,
        "jnp": library.numpy,
        "lax": library.lax,
        "sharding": sharding,
        "P": spec,
        "Named": sharding.NamedSharding,
        "within": within,
        "auto": mesh(kinds.Auto, kinds.Auto),
        "explicit": mesh(kinds.Explicit, kinds.Explicit),
        "mixed": mesh(kinds.Explicit, kinds.Auto),
        "A": library.numpy.ones((8, 8)),
        "B": library.numpy.ones(7),
        "ROWS": {"in_specs": spec("x"), "out_specs": spec("x")},
    }
    found = []
    for line in CALLS.strip().splitlines():
        try:
            eval(line, names)
        except Exception as error:
            found.append([kind.__name__ for kind in type(error).__mro__])
        else:
            found.append(["no error"])
    return found


@pytest.mark.filterwarnings("ignore")
def test_errors_are_of_the_types_of_jax():
    pytest.importorskip("jax", reason="JAX is the oracle")
    flags = "--xla_force_host_platform_device_count=8"
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, __file__]
    told = subprocess.check_output(command, env=environment, text=True)
    theirs = json.loads(told.splitlines()[-1])  # JAX 0.12 writes lines of its own before
    irax, iree = importlib.import_module("irax"), importlib.import_module("irax_runtime.iree.cpu")
    ours = outcomes(irax, [iree.cpu(i) for i in range(8)])
    lines = CALLS.strip().splitlines()
    different = [
        (line, own[0], other[0])
        for line, own, other in zip(lines, ours, theirs, strict=True)
        if other[0] not in own
    ]
    assert not different


if __name__ == "__main__":
    jax = importlib.import_module("jax")
    json.dump(outcomes(jax, jax.devices()), sys.stdout)
