"""Training that goes on after a host is lost, as a program for JAX: checkpoints are orbax's.

Run it in a loop until it is done, on as many processes as there are:

    pip install orbax-checkpoint
    until [ -e run/finished ]; do irax python examples/hosts/with_orbax.py $PWD/run || sleep 1; done

Each process writes the parts of arrays that it has while training goes on; orbax gives a checkpoint
its name when all have written. The random keys and the place in the data follow from the number of
the step, so a step that is done again has the same result.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import jax  # pyright: ignore[reportMissingImports]
import numpy as np
import orbax.checkpoint as ocp  # pyright: ignore[reportMissingImports]
from jax import numpy as jnp  # pyright: ignore[reportMissingImports]
from jax.sharding import NamedSharding  # pyright: ignore[reportMissingImports]
from jax.sharding import PartitionSpec as P  # pyright: ignore[reportMissingImports]

WIDTH, ROWS = 32, 48
"""The width of the model, and the examples of a step: a multiple of the number of devices."""


def batch(step: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the examples of a step, which any process can make from its number alone."""
    rng = np.random.default_rng(step)
    x = rng.standard_normal((ROWS, WIDTH)).astype(np.float32)
    return x, np.sin(x.sum(1, keepdims=True)).astype(np.float32)


def loss(weights: Any, key: Any, x: Any, y: Any) -> Any:
    """Return the loss of a network with dropout."""
    hidden = jnp.tanh(x @ weights["first"])
    kept = jax.random.bernoulli(key, 0.9, hidden.shape)
    return jnp.mean((jnp.where(kept, hidden / 0.9, 0.0) @ weights["second"] - y) ** 2)


@jax.jit
def train_step(state: Any, key: Any, x: Any, y: Any) -> Any:
    """Return the weights and momenta after a step, and its loss."""
    value, slopes = jax.value_and_grad(loss)(state["weights"], key, x, y)
    momenta = jax.tree.map(lambda m, g: 0.9 * m + g, state["momenta"], slopes)
    weights = jax.tree.map(lambda w, m: w - 0.05 * m, state["weights"], momenta)
    return {"weights": weights, "momenta": momenta}, value


def main(folder: str, steps: int = 40, every: int = 5) -> None:
    """Train, from the last checkpoint in a folder on."""
    jax.distributed.initialize(heartbeat_timeout_seconds=30)
    auto = (jax.sharding.AxisType.Auto,)  # the compiler divides what lies between
    mesh = jax.make_mesh((jax.device_count(),), ("data",), axis_types=auto)
    everywhere, rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    columns = NamedSharding(mesh, P(None, "data"))
    first, second = jax.random.split(jax.random.key(0))
    weights = {
        "first": jax.device_put(jax.random.normal(first, (WIDTH, ROWS)) / WIDTH**0.5, columns),
        "second": jax.device_put(jax.random.normal(second, (ROWS, 1)) / ROWS**0.5, everywhere),
    }
    momenta = jax.tree.map(lambda w: jax.device_put(jnp.zeros(w.shape), w.sharding), weights)
    state = {"weights": weights, "momenta": momenta}
    options = ocp.CheckpointManagerOptions(save_interval_steps=every, max_to_keep=2)
    with ocp.CheckpointManager(Path(folder) / "checkpoints", options=options) as manager:
        start = manager.latest_step() or 0
        if start:
            like = jax.tree.map(ocp.utils.to_shape_dtype_struct, state)
            state = manager.restore(start, args=ocp.args.StandardRestore(like))
        for step in range(start, steps):
            x, y = (jax.device_put(a, rows) for a in batch(step))
            key = jax.random.fold_in(jax.random.key(1), step)
            state, value = train_step(state, key, x, y)
            if jax.process_index() == 0:
                with (Path(folder) / "losses.txt").open("a") as file:
                    file.write(f"{step} {float(value).hex()}\n")
            manager.save(step + 1, args=ocp.args.StandardSave(state))
    if jax.process_index() == 0:
        (Path(folder) / "finished").touch()
    print("done", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
