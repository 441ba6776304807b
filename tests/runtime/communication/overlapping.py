"""Programs that compute while their collectives take place; the program of each process of a job.

python -m tests.runtime.communication.overlapping [raise]: run one on two ranks or more, of which
the last may raise an exception while a collective is on its way.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.runtime.communication.mpi_job import start

from irax_compiler import mlir, targets
from irax_compiler.lowering import lower
from irax_compiler.passes.host.donation import donate
from irax_runtime import host
from irax_runtime.communication.communicator import Array, Communicator
from irax_runtime.communication.ranks import ProcessRanks
from irax_runtime.iree.cpu import cpu
from irax_runtime.iree.executable import IreeExecutable

_CONFIG = 'backend_config = {axis = "data", size = RANKS : i64, combiner = "add"}'
_REDUCE = f"custom_call @irax.all_reduce(%0) {{api_version = 4 : i32, {_CONFIG}}}"
_LOOK = 'backend_config = {key = "test.overlap", kind = "pure", ordered = false, vmap_method = ""}'
PROGRAM = f"""
func.func @main(%x: tensor<300x300xf32>, %w: tensor<300x300xf32>)
    -> (tensor<300x300xf32>, tensor<300x300xf32>, tensor<300x300xf32>, tensor<2xf32>)
    attributes {{irax.mesh = "data=RANKS"}} {{
  %q = stablehlo.{_REDUCE.replace("%0", "%x")} : (tensor<300x300xf32>) -> tensor<300x300xf32>
  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<300x300xf32>, tensor<300x300xf32>) -> tensor<300x300xf32>
  %p = stablehlo.{_REDUCE.replace("%0", "%a")} : (tensor<300x300xf32>) -> tensor<300x300xf32>
  %b = stablehlo.dot_general %w, %a, contracting_dims = [1] x [0]
    : (tensor<300x300xf32>, tensor<300x300xf32>) -> tensor<300x300xf32>
  %row = stablehlo.slice %b [0:1, 0:300] : (tensor<300x300xf32>) -> tensor<1x300xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %c = stablehlo.dynamic_update_slice %a, %row, %zero, %zero
    : (tensor<300x300xf32>, tensor<1x300xf32>, tensor<i32>, tensor<i32>) -> tensor<300x300xf32>
  %d = stablehlo.slice %c [0:1, 0:2] : (tensor<300x300xf32>) -> tensor<1x2xf32>
  %e = stablehlo.reshape %d : (tensor<1x2xf32>) -> tensor<2xf32>
  %looked = stablehlo.custom_call @irax.callback(%e) {{api_version = 4 : i32, {_LOOK}}}
    : (tensor<2xf32>) -> tensor<2xf32>
  return %p, %q, %c, %looked
    : tensor<300x300xf32>, tensor<300x300xf32>, tensor<300x300xf32>, tensor<2xf32>
}}"""
"""A program that computes, and calls a function, before it needs two sums. It writes to an array
that is summed, unless that is seen to. Its first argument is donated."""


def compiled(ranks: int) -> IreeExecutable:
    """Return the program for a number of ranks."""
    module = mlir.parse_module(PROGRAM.replace("RANKS", str(ranks)))
    donate(mlir.functions(module)["main"], [0])
    return cpu().load(targets.compile(lower(module, "main", "iree-cpu"), "iree-cpu"))


class Look:
    """The function that programs call when they have computed."""

    def __init__(self) -> None:
        self.then: Callable[[], Any] = lambda: None
        """A function that it calls."""

    def __call__(self, arrays: Any, _expected: Any) -> list[Array]:
        self.then()
        return [2 * arrays[0]]


LOOK = host.CALLBACKS["test.overlap"] = Look()


def arguments(rank: int) -> tuple[Array, Array]:
    """Return the arguments of a rank, small whole numbers."""
    rng = np.random.default_rng(rank)
    x, w = (rng.integers(-2, 3, (300, 300)).astype(np.float32) for _ in range(2))
    return x, w


def run(program: IreeExecutable, rank: int) -> list[Array]:
    """Run the program in a rank."""
    return [x.numpy() for x in program([cpu().put(x) for x in arguments(rank)])]


def expected(rank: int, ranks: int) -> list[Array]:
    """Return what the program computes in a rank."""
    xs, products = [], []
    for x, w in map(arguments, range(ranks)):
        xs.append(x)
        products.append(x @ w)
    own = products[rank].copy()
    own[0] = arguments(rank)[1][0] @ products[rank]
    return [np.sum(products, axis=0), np.sum(xs, axis=0), own, 2 * own[0, :2]]


def main(fault: str = "") -> None:
    process = start(5.0)
    program = compiled(process.size)
    times = 0

    def look() -> None:
        nonlocal times
        times += 1
        if fault and times == 2 and process.rank == process.size - 1:
            raise ZeroDivisionError("a fault of the last rank")

    LOOK.then = look
    ranks = ProcessRanks(process, range(process.size)).for_program("overlapping", "jit of step")

    def run_here(communicator: Communicator) -> list[Array]:
        return run(program, communicator.rank)

    for _ in range(4):
        (found,) = ranks.run(run_here)
        for x, y in zip(found, expected(process.rank, process.size), strict=True):
            np.testing.assert_array_equal(x, y)
    print("checked", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
