"""Write modules of shard_map for eight devices: `python -m tests.foreign.make_sharded`, with JAX
and the package flatbuffers. NAME.jax is a file of `jax.export`, NAME.mlirbc the module's bytecode,
NAME.npz an argument and JAX's result.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

FOLDER = Path(__file__).parent / "sharded"
MESH = jax.make_mesh((2, 4), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)


@jax.jit
def neighbors(shard: Any) -> Any:
    """Return sums over an axis, in a function that shards call."""
    turned = lax.ppermute(shard, "y", [(i, (i + 1) % 4) for i in range(4)])
    return jax.nn.relu(turned) + lax.psum(shard, "x")


@partial(jax.shard_map, mesh=MESH, in_specs=P("x", "y"), out_specs=P("x", "y"))
def exchanged(shard: Any) -> Any:
    return lax.fori_loop(0, 2, lambda _, x: neighbors(x), shard)


@partial(jax.shard_map, mesh=MESH, in_specs=P(("y", "x")), out_specs=P("y"), check_vma=False)
def gathered(shard: Any) -> Any:
    whole = lax.all_gather(shard, ("y", "x"), tiled=True)
    return lax.psum_scatter(whole, "y", tiled=True) * (1 + lax.axis_index("y"))


def write(name: str, f: Callable[..., Any], x: np.ndarray[Any, Any]) -> None:
    jitted: Any = jax.jit(f)
    np.savez(FOLDER / f"{name}.npz", x=x, result=np.asarray(jitted(x)))
    exported = jax.export.export(jitted, platforms=["cpu", "tpu"])(x)
    (FOLDER / f"{name}.jax").write_bytes(exported.serialize())
    with (FOLDER / f"{name}.mlirbc").open("wb") as file:
        jitted.lower(x).compiler_ir("stablehlo").operation.write_bytecode(file)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    random = np.random.default_rng(0)
    write("exchanged", exchanged, random.normal(size=(4, 8)).astype("f"))
    write("gathered", gathered, random.normal(size=(16, 2)).astype("f"))
