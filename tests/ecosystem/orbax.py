"""orbax: checkpoints of pytrees, written and read, by hand and by a manager."""

import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import orbax.checkpoint as ocp


def run():
    tree = {"w": jnp.arange(6.0).reshape(2, 3), "step": jnp.array(3), "list": [jnp.ones(2)]}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder).resolve()
        with ocp.StandardCheckpointer() as checkpointer:
            checkpointer.save(path / "one", tree)
            checkpointer.wait_until_finished()
            shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), tree)
            restored = checkpointer.restore(path / "one", shapes)
        options = ocp.CheckpointManagerOptions(max_to_keep=2)
        with ocp.CheckpointManager(path / "many", options=options) as manager:
            for step in range(4):
                doubled = jax.tree.map(lambda x, step=step: x * step, tree)
                manager.save(step, args=ocp.args.StandardSave(doubled))
            manager.wait_until_finished()
            steps = manager.all_steps()
            latest = manager.restore(manager.latest_step(), args=ocp.args.StandardRestore(tree))
    return {"restored": restored, "steps": steps, "latest": latest}
