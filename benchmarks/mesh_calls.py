"""The caller's time for a step of training on two devices, by the way its arguments are given.

    python -m benchmarks.mesh_calls

The step has little to compute, so that the time is Python's. It is that of the thread that calls,
in microseconds, the least mean of several turns, beside JAX's with two devices of the host.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.timing import rival

Call = Callable[[], object]
TURNS, CALLS = 7, 300


class Step:
    """The step and its arguments, in irax or in JAX."""

    def __init__(self, library: Any) -> None:
        self.library, self.mesh = library, library.make_mesh((2,), ("data",))
        self.rows, self.whole = self.sharding("data"), self.sharding()
        rng = np.random.default_rng(0)
        sizes = [(16, 16), (16, 16), (16, 4)]
        self.weights = [library.numpy.array(rng.normal(size=s), "float32") for s in sizes]
        self.x = rng.normal(size=(8, 16)).astype(np.float32)
        self.y = rng.normal(size=(8, 4)).astype(np.float32)

    def sharding(self, *axes: str) -> Any:
        """Return the sharding of arrays that are divided along some axes."""
        library = self.library
        return library.sharding.NamedSharding(self.mesh, library.sharding.PartitionSpec(*axes))

    def loss(self, weights: Any, x: Any, y: Any) -> Any:
        """The loss of a network with two hidden layers."""
        for w in weights[:-1]:
            x = self.library.numpy.tanh(x @ w)
        return self.library.numpy.mean((x @ weights[-1] - y) ** 2)

    def __call__(self, weights: Any, x: Any, y: Any) -> Any:
        """Return the weights after a step."""
        slopes = self.library.grad(self.loss)(weights, x, y)
        return self.library.tree.map(lambda w, s: w - 0.01 * s, weights, slopes)

    def put(self) -> tuple[Any, ...]:
        """Return the arguments, put on the devices."""
        put = self.library.device_put
        return put(self.weights, self.whole), put(self.x, self.rows), put(self.y, self.rows)

    def jitted(self, **options: Any) -> Any:
        """Return the step, compiled."""
        return self.library.jit(self, **options)


def one_device(step: Step) -> Call:
    """All arrays are on the default device."""
    given = (step.weights, *map(step.library.numpy.array, (step.x, step.y)))
    jitted = step.jitted()
    return lambda: jitted(*given)


def put(step: Step) -> Call:
    """All arrays were put on the mesh."""
    given, jitted = step.put(), step.jitted()
    return lambda: jitted(*given)


def put_nowhere(step: Step) -> Call:
    """Arrays that were put nowhere, where a mesh is set."""
    jitted = step.jitted()
    given = (step.weights, *map(step.library.numpy.array, (step.x, step.y)))
    step.library.set_mesh(step.mesh)  # for the rest of the process: it is the last case
    return lambda: jitted(*given)


def told(step: Step) -> Call:
    """Arrays on the mesh, and `in_shardings` and `out_shardings` that say so."""
    ins, given = (step.whole, step.rows, step.rows), step.put()
    jitted = step.jitted(in_shardings=ins, out_shardings=step.whole)
    return lambda: jitted(*given)


def numpy_batch(step: Step) -> Call:
    """Weights on the mesh, and a batch in NumPy's memory that `in_shardings` divide."""
    ins, (weights, *_) = (step.whole, step.rows, step.rows), step.put()
    jitted = step.jitted(in_shardings=ins, out_shardings=step.whole)
    return lambda: jitted(weights, step.x, step.y)


CASES: dict[str, Callable[[Step], Call]] = {
    "on one device": one_device,
    "put on the mesh": put,
    "put there, and in_shardings": told,
    "a batch of NumPy's, in_shardings": numpy_batch,
    "put nowhere, set_mesh": put_nowhere,
}


def least(call: Call, wait: Callable[[Any], object]) -> float:
    """The mean time of a call in the best of several turns, in microseconds of the calling thread.
    The next call begins when its results are there.
    """
    best = float("inf")
    for _ in range(TURNS):
        taken = 0.0
        for _ in range(CALLS):
            start = time.thread_time()
            result = call()
            taken += time.thread_time() - start
            wait(result)
        best = min(best, taken)
    return best / CALLS * 1e6


def main() -> None:
    """Print a table of the ways."""
    os.environ["IRAX_CPU_DEVICES"] = "2"
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
    import irax

    libraries = [library for library in (irax, rival()) if library is not None]
    print(f"{'arguments':36}" + "".join(f"{library.__name__:>8}" for library in libraries))
    for name, case in CASES.items():
        times = [least(case(Step(library)), library.block_until_ready) for library in libraries]
        print(f"{name:36}" + "".join(f"{found:8.1f}" for found in times), flush=True)


if __name__ == "__main__":
    main()
