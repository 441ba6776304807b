"""Programs with sizes that are not known, beside themselves with known ones.

    python -m benchmarks.dynamic
    python -m benchmarks.dynamic --service 50

A ratio is the time of the program for all sizes over that of the one that was compiled for the size
that it is called with. With `--often`, the size is called until it has a program of its own. With
`--service`, the seconds are told that an MLP takes to be traced, compiled and called for that many
sizes of a batch, for JAX too.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log
from typing import Any

import numpy as np

import irax
import irax.numpy as jnp
from benchmarks.families import FAMILIES
from benchmarks.program import Program
from benchmarks.timing import alternate, median, rival


@dataclass(frozen=True)
class Case:
    """A program of a family, and the sizes of its arguments that are not known."""

    family: str
    name: str
    specs: tuple[str, ...]
    """The shape of each argument, as `jit(dynamic_shapes=...)` takes it."""

    @property
    def program(self) -> Program:
        """The program."""
        return next(p for p in FAMILIES[self.family] if p.name == self.name)


CASES = (
    Case("elementwise", "add 1e6", ("batch", "batch")),
    Case("elementwise", "gelu 1e6", ("batch",)),
    Case("elementwise", "tanh sin log 1e6", ("batch",)),
    Case("elementwise", "Adam 1e6", ("batch",) * 4),
    Case("elementwise", "row + column 1000x1000", ("batch", "_")),
    Case("elementwise", "linear regression step 100x3", ("_", "batch, _", "batch")),
    Case("reductions", "sum all 1000x1000", ("batch, _",)),
    Case("reductions", "sum rows 1280x784", ("batch, _",)),
    Case("reductions", "sum columns 1000x1000", ("batch, _",)),
    Case("reductions", "std columns 1000x1000", ("batch, _",)),
    Case("reductions", "softmax 1024x1024", ("batch, _",)),
    Case("reductions", "log_softmax 512x10", ("batch, _",)),
    Case("reductions", "layer norm 1280x784", ("batch, _",)),
    Case("reductions", "layer norm gradient 1280x784", ("batch, _",)),
    Case("reductions", "batch norm 64x28x28x32", ("batch, ...", "_", "_")),
    Case("moves", "gather rows 4096 of 256", ("...", "batch")),
    Case("moves", "concatenate columns 4 x 1000x250", ("batch, _",) * 4),
    Case("moves", "transpose heads 8x128x8x64", ("batch, ...",)),
    Case("products", "matmul 128x784x512", ("batch, _", "...")),
    Case("products", "matmul 512x784x1024", ("batch, _", "...")),
    Case("products", "matmul 16x64x64", ("batch, _", "...")),
    Case("products", "A^T B 784x128x512", ("batch, _", "batch, _")),
    Case("products", "batched 32 x 128", ("batch, ...", "batch, ...")),
    Case("products", "dense layer 512x784x1024", ("batch, _", "...", "_")),
    Case("attention", "causal attention 4x128x8x32", ("batch, length, _, _",) * 3),
    Case("attention", "attention gradient 4x128x8x32", ("batch, length, _, _",) * 3),
    Case("attention", "transformer block 4x128x256", ("...", "batch, length, _")),
    Case("training", "digits step, batch 32", ("...", "batch, _", "batch")),
    Case("training", "MLP 784-1024-1024-10", ("...", "batch, _")),
    Case("training", "MLP step", ("...", "batch, _", "batch")),
    Case("training", "MLP of 8 layers of 256, step", ("...", "batch, _", "batch")),
    Case("training", "CNN, batch 64", ("...", "batch, ...")),
    Case("recurrent", "RNN 100x32x64", ("...", "batch, _", "_, batch, _")),
)

WAIT = 60.0
"""The most seconds to wait for a program of a size of its own."""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="programs whose names contain this")
    parser.add_argument("--turn", type=float, default=0.1, help="seconds of a turn")
    parser.add_argument(
        "--processor-time", action="store_true", help="the time of threads, not the clock's"
    )
    parser.add_argument("--service", type=int, default=0, help="measure compiling for these sizes")
    parser.add_argument("--often", action="store_true", help="wait for programs of their own")
    options = parser.parse_args()
    irax.config.update("specialize_sizes", options.often)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["IRAX_CACHE_DIR"] = cache
        if options.service:
            _tell_service(options.service)
            return
        clock = time.process_time if options.processor_time else time.perf_counter
        print(f"{'program':36}{'known':>10}{'not known':>11}{'ratio':>7}")
        logs = []
        for case in CASES:
            if options.only in case.name:
                known, unknown, note = _measured(case, options.turn, clock)
                ratio = f"{unknown / known:7.2f}" if not note else ""
                print(
                    f"{case.name:36}{1e6 * known:10.1f}{1e6 * unknown:11.1f}{ratio} {note}",
                    flush=True,
                )
                if not note:
                    logs.append(log(unknown / known))
        if logs:
            print(f"geometric mean of {len(logs)}: {exp(sum(logs) / len(logs)):.3f}")


def _measured(case: Case, turn: float, clock: Callable[[], float]) -> tuple[float, float, str]:
    """Return the seconds of the program for known and for unknown sizes, and a note where there is
    no program for all sizes.
    """
    program = case.program
    generator = np.random.default_rng(0)
    drawn = irax.tree.map(lambda x: x.draw(generator), program.arguments)
    given = irax.device_put(list(drawn))
    function = program.make(irax, jnp)
    shapes = {"arguments": list(case.specs)}
    known = irax.jit(lambda arguments: function(*arguments))
    unknown = irax.jit(lambda arguments: function(*arguments), dynamic_shapes=shapes)
    both = (known, unknown)
    found = [irax.tree.leaves(f(given)) for f in both]
    for x, y in zip(*found, strict=True):
        x, y = (np.asarray(a, np.float64) for a in (x, y))
        bound = program.tolerance * np.max(np.abs(x), initial=0.0)
        np.testing.assert_allclose(y, x, rtol=program.tolerance, atol=bound)
    runs = [lambda f=f: irax.block_until_ready(f(given)) for f in both]
    start = time.perf_counter()
    while irax.config.specialize_sizes and time.perf_counter() - start < WAIT:
        runs[1]()
        if any(told.endswith("alone") for told in irax.explain(unknown).sizes):
            break
    times = alternate(tuple(runs), turn=turn, clock=clock)
    told = irax.explain(unknown).sizes[0]
    note = "" if told.startswith("one program") else "compiled for each size"
    return median(times[0]), median(times[1]), note


def _tell_service(sizes: int) -> None:
    """Measure an MLP that is called with batches of many sizes."""
    generator = np.random.default_rng(0)
    widths = (784, 256, 256, 10)
    layers = [
        (generator.normal(size=(n, m)).astype("f") / n**0.5, np.zeros(m, "f"))
        for n, m in pairwise(widths)
    ]

    def network(lib: Any) -> Callable[..., Any]:
        def predict(layers: Any, x: Any) -> Any:
            for w, b in layers[:-1]:
                x = lib.nn.relu(x @ w + b)
            w, b = layers[-1]
            return lib.nn.log_softmax(x @ w + b)

        return predict

    functions = {
        "for all sizes": irax.jit(network(irax), dynamic_shapes={"x": "batch, _"}),
        "for each size": irax.jit(network(irax)),
    }
    jax = rival()
    if jax is not None:
        functions["JAX"] = jax.jit(network(jax))
    for name, predict in functions.items():
        start = time.process_time()
        for size in range(1, sizes + 1):
            np.asarray(predict(layers, np.ones((size, 784), "f")))
        took = time.process_time() - start
        print(f"{sizes} sizes of a batch, {name}: {took:.2f} s of processors' time", flush=True)


if __name__ == "__main__":
    main()
