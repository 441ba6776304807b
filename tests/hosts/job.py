"""The program of each process of the jobs of `test_faults.py`: steps of training, one line each.

python -m tests.hosts.job STEPS LIMIT [FAULT [FOLDER]]

A fault, "swapped" or one of `FAULTS`, is that of rank 1 in step 5. In the folder each process
saves its weights.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import irax
import irax.numpy as jnp
from irax import NamedSharding, P


def _raise() -> None:
    raise ValueError("on purpose")


FAULTS: dict[str, Callable[[], object]] = {
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "stopped": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "raises": _raise,
    "leaves": lambda: sys.exit(3),
}


def save(folder: Path, step: int, w: Any) -> None:
    new = folder / f"new-{irax.process_index()}"
    np.save(new.with_suffix(".npy"), np.resize(w, 10_000))
    new.with_suffix(".npy").replace(folder / f"weights-{irax.process_index()}.npy")
    irax.distributed.note_saved(f"step {step} in {folder}")


def main(steps: str, limit: str, fault: str = "", folder: str = "") -> None:
    irax.distributed.initialize(limit=float(limit))
    mesh = irax.make_mesh((irax.device_count(),), ("data",))
    everywhere, rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
    rng = np.random.default_rng(0)
    x = irax.device_put(jnp.asarray(rng.standard_normal((24, 4)), "float32"), rows)
    y = irax.device_put(jnp.asarray(rng.standard_normal(24), "float32"), rows)

    def loss(w: Any, x: Any, y: Any) -> Any:
        return jnp.mean((x @ w - y) ** 2)

    @irax.jit
    def step(w: Any, x: Any, y: Any) -> Any:
        value, gradient = irax.value_and_grad(loss)(w, x, y)
        return w - 0.1 * gradient, value

    @irax.jit
    def evaluate(w: Any, x: Any, y: Any) -> Any:
        return w + 0.0 * irax.grad(loss)(w, x, y), loss(w, x, y)

    w = irax.device_put(jnp.zeros(4, "float32"), everywhere)
    programs, value = [step, evaluate], 0.0
    for i in range(int(steps)):
        if i == 5 and fault and irax.process_index() == 1:
            print("now", flush=True)
            if fault == "swapped":
                programs.reverse()
            else:
                FAULTS[fault]()
        with irax.profiler.StepTraceAnnotation("train", step_num=i):
            for program in programs:
                w, value = program(w, x, y)
            if folder and i % 5 == 0:
                save(Path(folder), i, np.asarray(w))
        print(f"step {i} loss {float(value):.9g}", flush=True)
        if i > 3:
            time.sleep(0.02)
    print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
