"""Exports the programs of programs.py: `python -m tests.foreign.make [NAME ...]`.

NAME.mlir is what JAX lowers the program to; NAME.npz has arguments and what JAX says of them:

    argument0, ...   result0, ...                the program and its results
    tangent0, ...    slope0, ...                 jvp: of the floating-point arguments, and results
    cotangent0, ...  gradient0, ...              vjp: of the floating-point results, and arguments
    lane_argument0, ...  lane_result0, ...       vmap over all arguments, of LANES lanes
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
from tests.foreign.programs import PROGRAMS

LANES = 3
PORTABLE = ("dropout", "eigenvalues", "lstm", "mlp")
"""The programs that are exported as portable artifacts too, NAME.mlirbc."""
FOLDER = Path(__file__).parent / "exported"


def export(name: str) -> None:
    function, arguments = PROGRAMS[name]
    random = np.random.default_rng(2)

    def flat(*arguments):
        return tuple(jax.tree_util.tree_leaves(function(*arguments)))

    def draw(like: Any) -> Any:
        return jnp.asarray(random.normal(size=np.shape(like)), np.asarray(like).dtype)

    def moved(x: Any) -> Any:
        return x + 0.3 * draw(x) if is_float(x) else x

    arguments = tuple(jnp.asarray(x) for x in arguments)
    active = [i for i, x in enumerate(arguments) if is_float(x)]

    def of_active(*given):
        full = list(arguments)
        for i, x in zip(active, given, strict=True):
            full[i] = x
        return tuple(r for r in flat(*full) if is_float(r))

    primals = tuple(arguments[i] for i in active)
    tangents = tuple(draw(x) for x in primals)
    _, slopes = jax.jvp(of_active, primals, tangents)
    results, pullback = jax.vjp(of_active, *primals)
    cotangents = tuple(draw(r) for r in results)
    lanes = [jnp.stack([x, *(moved(x) for _ in range(LANES - 1))]) for x in arguments]
    arrays = {
        "argument": arguments,
        "result": flat(*arguments),
        "tangent": tangents,
        "slope": slopes,
        "cotangent": cotangents,
        "gradient": pullback(cotangents),
        "lane_argument": lanes,
        "lane_result": jax.vmap(flat)(*lanes),
    }
    FOLDER.mkdir(exist_ok=True)
    lowered = jax.jit(flat).lower(*arguments)
    (FOLDER / f"{name}.mlir").write_text(lowered.as_text())
    if name in PORTABLE:
        serialised = jax.export.export(jax.jit(flat))(*arguments).mlir_module_serialized
        (FOLDER / f"{name}.mlirbc").write_bytes(serialised)
    named = {f"{kind}{i}": np.asarray(x) for kind, of in arrays.items() for i, x in enumerate(of)}
    np.savez_compressed(FOLDER / f"{name}.npz", allow_pickle=False, **named)


def export_sharded() -> None:
    """A program for several devices, of which it says where arrays lie: sharded.mlirbc."""
    auto = jax.sharding.AxisType.Auto
    mesh = jax.make_mesh((4,), ("rows",), axis_types=(auto,))
    rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("rows"))

    def total(x):
        return jnp.sum(jax.lax.with_sharding_constraint(jnp.sin(x), rows))

    exported = jax.export.export(jax.jit(total, in_shardings=rows))(jnp.ones((8, 4)))
    (FOLDER / "sharded.mlirbc").write_bytes(exported.mlir_module_serialized)


def is_float(x: Any) -> bool:
    return jnp.issubdtype(jnp.asarray(x).dtype, jnp.floating)


def export_with_derivatives() -> None:
    """Write serialised.jax with jax.export, with a pytree and a derivative in it. Needs the
    package flatbuffers.
    """

    def loss(params, x):
        return {"loss": jnp.sum(jnp.tanh(x @ params["w"]))}

    shapes = {"w": jax.ShapeDtypeStruct((3, 2), "f")}, jax.ShapeDtypeStruct((4, 3), "f")
    exported = jax.export.export(jax.jit(loss))(*shapes)
    (FOLDER / "serialised.jax").write_bytes(exported.serialize(vjp_order=1))


if __name__ == "__main__":
    # What is exported says where it was written: in which file, but not in whose folder.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    jax.config.update("jax_num_cpu_devices", 4)
    for name in sys.argv[1:] or PROGRAMS:
        export(name)
    export_sharded()
    export_with_derivatives()
