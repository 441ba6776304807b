"""Training that goes on after a host is lost: checkpoints of each process, committed by all.

Run it in a loop until it is done; each start goes on from the last whole checkpoint, on as many
processes as there are now:

    until [ -e run/finished ]; do mpiexec -n 2 python examples/hosts/train.py run; done

Each process writes the parts of arrays that it has, in a thread, while training goes on. A
checkpoint counts when all its files are there: then process 0 gives it its name. The random keys
and the place in the data follow from the number of the step, so a step that is done again has the
same result.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import irax
import irax.numpy as jnp
from irax import NamedSharding, P
from irax.experimental.multihost_utils import sync_global_devices

WIDTH, ROWS = 32, 48
"""The width of the model, and the examples of a step: a multiple of the number of devices."""


class Checkpoints:
    """Checkpoints in a folder that all processes see.

    Args:
        folder: the folder.
        keep: the number of checkpoints that are kept.
    """

    def __init__(self, folder: Path, keep: int = 2) -> None:
        self._folder, self._keep = folder, keep
        self._writer: threading.Thread | None = None
        self._step = -1
        folder.mkdir(parents=True, exist_ok=True)

    def save(self, step: int, arrays: Sequence[Any]) -> None:
        """Begin to write arrays. All processes call this together."""
        self.commit()
        whole = {
            f"{number} {_name(shard.index, x.shape)}": np.array(shard.data)
            for number, x in enumerate(arrays)
            for shard in x.addressable_shards
            if shard.replica_id == 0
        }
        self._step = step
        self._writer = threading.Thread(target=self._write, args=(step, whole))
        self._writer.start()

    def _write(self, step: int, whole: dict[str, np.ndarray[Any, Any]]) -> None:
        folder = self._unfinished(step)
        folder.mkdir(exist_ok=True)
        with (folder / f"process-{irax.process_index()}.npz").open("wb") as file:
            np.savez(file, allow_pickle=False, **whole)
            file.flush()
            os.fsync(file.fileno())

    def _unfinished(self, step: int) -> Path:
        return self._folder / f"unfinished-{step}-of-{irax.process_count()}"

    def commit(self) -> None:
        """Have the checkpoint that is being written count. All processes call this together."""
        if self._writer is None:
            return
        self._writer.join()
        self._writer = None
        sync_global_devices(f"written {self._step}")
        if irax.process_index() == 0:
            target = self._folder / f"step-{self._step:08}"
            shutil.rmtree(target, ignore_errors=True)
            self._unfinished(self._step).rename(target)
            irax.distributed.note_saved(f"step {self._step} in {self._folder}")
            for old in self._whole()[: -self._keep]:
                shutil.rmtree(old)

    def _whole(self) -> list[Path]:
        return sorted(self._folder.glob("step-*"))

    def last(self) -> int | None:
        """Return the step of the last checkpoint, the same in all processes; None without one."""
        if irax.process_index() == 0:
            for left in self._folder.glob("unfinished-*"):
                shutil.rmtree(left)
        sync_global_devices("cleaned")
        whole = self._whole()
        return int(whole[-1].name.removeprefix("step-")) if whole else None

    def restore(self, step: int, like: Sequence[Any]) -> list[Any]:
        """Return the arrays of a checkpoint, divided as others are, on these processes."""
        files = [np.load(f) for f in sorted((self._folder / f"step-{step:08}").glob("*.npz"))]
        found = []
        for number, x in enumerate(like):
            whole = np.empty(x.shape, x.dtype)
            for file in files:
                for name in file.files:
                    own, _, index = name.partition(" ")
                    if int(own) == number:
                        whole[_index(index)] = file[name]
            found.append(irax.device_put(whole, x.sharding))
        for file in files:
            file.close()
        return found


def _name(index: tuple[slice, ...], shape: tuple[int, ...]) -> str:
    return ",".join("{}:{}".format(*s.indices(n)[:2]) for s, n in zip(index, shape, strict=True))


def _index(name: str) -> tuple[slice, ...]:
    return tuple(slice(*map(int, part.split(":"))) for part in name.split(",") if part)


def batch(step: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the examples of a step, which any process can make from its number alone."""
    rng = np.random.default_rng(step)
    x = rng.standard_normal((ROWS, WIDTH)).astype(np.float32)
    return x, np.sin(x.sum(1, keepdims=True)).astype(np.float32)


def loss(weights: Sequence[Any], key: Any, x: Any, y: Any) -> Any:
    """Return the loss of a network with dropout."""
    w1, w2 = weights
    hidden = jnp.tanh(x @ w1)
    kept = irax.random.bernoulli(key, 0.9, hidden.shape)
    return jnp.mean((jnp.where(kept, hidden / 0.9, 0.0) @ w2 - y) ** 2)


@irax.jit
def train_step(weights: Any, momenta: Any, key: Any, x: Any, y: Any) -> Any:
    """Return the weights and momenta after a step, and its loss."""
    value, slopes = irax.value_and_grad(loss)(weights, key, x, y)
    momenta = [0.9 * m + g for m, g in zip(momenta, slopes, strict=True)]
    return [w - 0.05 * m for w, m in zip(weights, momenta, strict=True)], momenta, value


def main(folder: str, steps: int = 40, every: int = 5) -> None:
    """Train, from the last checkpoint in a folder on."""
    irax.distributed.initialize(heartbeat_timeout_seconds=30)
    auto = (irax.sharding.AxisType.Auto,)  # the compiler divides what lies between
    mesh = irax.make_mesh((irax.device_count(),), ("data",), axis_types=auto)
    everywhere, rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    columns = NamedSharding(mesh, P(None, "data"))  # momenta and the large weights are divided
    first, second = irax.random.split(irax.random.key(0))
    w1 = irax.device_put(irax.random.normal(first, (WIDTH, ROWS)) / WIDTH**0.5, columns)
    w2 = irax.device_put(irax.random.normal(second, (ROWS, 1)) / ROWS**0.5, everywhere)
    weights = [w1, w2]
    momenta = [irax.device_put(jnp.zeros(w.shape), w.sharding) for w in weights]
    checkpoints = Checkpoints(Path(folder) / "checkpoints")
    start = 0
    if (last := checkpoints.last()) is not None:
        restored = checkpoints.restore(last, [*weights, *momenta])
        weights, momenta, start = restored[:2], restored[2:], last
    for step in range(start, steps):
        with irax.profiler.StepTraceAnnotation("train", step_num=step):
            x, y = (irax.device_put(a, rows) for a in batch(step))
            key = irax.random.fold_in(irax.random.key(1), step)
            weights, momenta, value = train_step(weights, momenta, key, x, y)
        if irax.process_index() == 0:
            with (Path(folder) / "losses.txt").open("a") as file:
                file.write(f"{step} {float(value).hex()}\n")
        if (step + 1) % every == 0:
            checkpoints.save(step + 1, [*weights, *momenta])
    checkpoints.commit()
    if irax.process_index() == 0:
        (Path(folder) / "finished").touch()
    print("done", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
