"""The GPT of gpt.py, trained by several devices.

The program is that of one device: it says how arrays are divided among the devices of a mesh, and
the compiler makes the program of each device, with the communication between them.

- data: each device has some of the sequences, and all weights;
- tensor: the hidden layers' weights are divided, too, by columns and then by rows;
- sharded: each device has a part of all weights and of Adam's moments, which are gathered where
  they are used.

The losses are those of one device. The state is written to files as the devices have it, and a
training that was cut off goes on from there, on another number of devices if need be.

    IRAX_CPU_DEVICES=4 python examples/parallel_gpt.py --layout tensor
    mpiexec -n 4 python examples/parallel_gpt.py --layout sharded --checkpoint weights

After N. Shazeer et al., Mesh-TensorFlow (2018); M. Shoeybi et al., Megatron-LM (2019); S.
Rajbhandari et al., ZeRO (2020).
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

import numpy as np

import irax
from irax import NamedSharding, P
from irax.experimental import multihost_utils

sys.path.insert(0, str(Path(__file__).parent))

import gpt

LAYOUTS = ("data", "tensor", "sharded")
EVERY = 10
"""The steps from one checkpoint to the next."""


def mesh_for(layout):
    """A mesh of all devices: for `tensor`, two of them share each part of the sequences."""
    count = irax.device_count()
    across = 2 if layout == "tensor" and count % 2 == 0 else 1
    return irax.make_mesh((count // across, across), ("data", "model"))


def spec_of(layout, name, x, mesh):
    """Return the spec of an array of weights, by its name."""
    if layout == "tensor" and "up" in name:
        return P(None, "model")
    if layout == "tensor" and "down" in name:
        return P("model", None)
    if layout == "sharded" and x.ndim and x.shape[0] % mesh.shape["data"] == 0:
        return P("data")
    return P()


def divide(tree, layout, mesh):
    """The arrays of a pytree, on the devices."""

    def put(path, x):
        name = irax.tree_util.keystr(path)
        return irax.device_put(x, NamedSharding(mesh, spec_of(layout, name, x, mesh)))

    return irax.tree_util.tree_map_with_path(put, tree)


# ---- checkpoints ---------------------------------------------------------------------------------


def save(folder, tree, step):
    """Write the parts of arrays that this process has: each part by one process. A checkpoint gets
    its name when it is complete; then older ones are removed.
    """
    partial = folder / "partial"
    if irax.process_index() == 0:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
    multihost_utils.sync_global_devices("there is a folder")
    for path, x in irax.tree_util.tree_leaves_with_path(tree):
        name = irax.tree_util.keystr(path, simple=True, separator=".")
        for shard in x.addressable_shards:
            if shard.replica_id == 0:
                starts = "-".join(str(index.start or 0) for index in shard.index)
                np.save(partial / f"{name}@{starts}.npy", np.asarray(shard.data))
    multihost_utils.sync_global_devices("all parts are written")
    if irax.process_index() == 0:
        older = checkpoints(folder)
        os.replace(partial, folder / f"step-{step:06}")
        for path in older:
            shutil.rmtree(path)
    multihost_utils.sync_global_devices("the checkpoint is complete")


def checkpoints(folder):
    """The complete checkpoints in a folder, the last one last."""
    return sorted(folder.glob("step-*"))


def load(folder, like, layout, mesh):
    """Read arrays like those of a pytree, for the devices that there are now, and the step."""
    folder = checkpoints(folder)[-1]

    def read(path, x):
        name = irax.tree_util.keystr(path, simple=True, separator=".")
        whole = np.empty(x.shape, x.dtype)
        for file in folder.glob(f"{name}@*.npy"):
            part = np.load(file)
            starts = [int(n) for n in file.stem.split("@")[1].split("-") if n]
            places = zip(starts, part.shape, strict=True)
            whole[tuple(slice(start, start + n) for start, n in places)] = part
        return whole

    tree = irax.tree_util.tree_map_with_path(read, like)
    return divide(tree, layout, mesh), int(folder.name.removeprefix("step-"))


# ---- training ------------------------------------------------------------------------------------


def train(size, layout, steps, folder):
    """The loss after each step. A training that was cut off goes on from its last checkpoint."""
    mesh = mesh_for(layout)
    state, done = divide(gpt.start(size), layout, mesh), 0
    if folder is not None and checkpoints(folder):
        state, done = load(folder, state, layout, mesh)
    params, moments = state
    rows = NamedSharding(mesh, P("data"))
    rng = np.random.default_rng(0)
    losses = []
    for step in range(1, steps + 1):
        sequences = gpt.examples(rng, size.batch, size.digits)
        if step <= done:
            continue
        given = irax.device_put(sequences, rows)
        count = np.float32(step)
        params, moments, value = gpt.train_step(params, moments, count, given, size.heads)
        losses.append(float(value))
        if folder is not None and step % EVERY == 0:
            save(folder, (params, moments), step)
    return losses


def main(arguments=None):
    """Train, and print the first and the last loss."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a size for tests")
    parser.add_argument("--layout", choices=LAYOUTS, default="data")
    parser.add_argument("--checkpoint", metavar="FOLDER", type=Path, help="where to keep the state")
    parser.add_argument("--steps", type=int, help="the number of steps")
    options = parser.parse_args(arguments)

    size = gpt.SMALL if options.small else gpt.Size()
    losses = train(size, options.layout, options.steps or size.steps, options.checkpoint)
    figures = {"devices": irax.device_count(), "first loss": losses[0], "last loss": losses[-1]}
    if irax.process_index() == 0:
        for name, value in figures.items():
            print(f"{name:24} {value:.4f}")
    return figures


if __name__ == "__main__":
    irax.distributed.initialize()
    main()
