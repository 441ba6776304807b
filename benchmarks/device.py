"""The speed of a device, beside JAX: the cost of a call, and how many bytes and operations a
second large programs come to.

    python -m benchmarks.device cuda
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import irax
import irax.numpy as jnp
import irax_runtime.devices
from benchmarks.timing import compare, rival

RIVALS = {"cuda": "cuda", "hip": "rocm", "cpu": "cpu", "pjrt:cpu": "cpu", "pjrt:cuda": "cuda"}
"""JAX's names for what irax's platforms run on."""


@dataclass(frozen=True)
class Task:
    """A function of some arrays, of which a call takes `work` bytes or operations."""

    name: str
    function: Callable[[Any], Callable[..., Any]]
    shapes: tuple[tuple[int, ...], ...]
    dtype: str = "float32"
    work: float = 0
    unit: str = ""

    def prepare(self, lib: Any, np_like: Any, device: Any) -> Callable[[], Any]:
        """A call whose arguments are on the device, and that waits for its result."""
        function = lib.jit(self.function(np_like))
        arguments = [
            lib.device_put(np_like.full(shape, 0.5, self.dtype), device) for shape in self.shapes
        ]
        return lambda: lib.block_until_ready(function(*arguments))


def matmul(size: int, dtype: str) -> Task:
    """In float32 JAX may round operands to 10 bits on a GPU (TF32); irax does not."""
    work = 2 * size**3
    shapes = ((size, size), (size, size))
    return Task(f"matmul {size} {dtype}", lambda np: np.dot, shapes, dtype, work / 1e12, "TFLOP/s")


def elementwise(count: int) -> Task:
    """One array read, one written."""
    name = f"1.5 x + tanh(x), {count:.0e} float32"
    moved = 2 * 4 * count / 1e9
    return Task(
        name, lambda np: lambda x: 1.5 * x + np.tanh(x), ((count,),), work=moved, unit="GB/s"
    )


def row_sums(count: int) -> Task:
    """An array read, next to nothing written."""
    moved = 4 * count / 1e9
    shapes = ((count // 1000, 1000),)
    return Task(
        f"sums of rows, {count:.0e}",
        lambda np: lambda x: np.sum(x, 1),
        shapes,
        work=moved,
        unit="GB/s",
    )


def tasks(largest: int) -> list[Task]:
    """The tasks for a device: the processor gets smaller ones."""
    sizes = [n for n in (512, 1024, 4096, 8192) if n <= largest]
    return [
        Task("call of x + 1, 16 elements", lambda np: lambda x: x + 1, ((16,),)),
        *(elementwise(n) for n in (10**6, 10**8) if n <= largest**2),
        row_sums(10**6 if largest < 4096 else 10**8),
        *(matmul(n, dtype) for dtype in ("float32", "float16", "bfloat16") for n in sizes),
    ]


def main() -> None:
    """The command line: `python -m benchmarks.device PLATFORM`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("platform", help="one of irax's: cuda, vulkan, pjrt:cuda, cpu, ...")
    platform = parser.parse_args().platform
    try:
        device = irax.devices(platform)[0]
    except irax_runtime.devices.NoDevice as error:
        parser.error(str(error))
    theirs = _theirs(platform)
    print(f"{device} {device.device_kind}; JAX: {theirs[1] if theirs else 'not there'}")
    print(f"{'program':34}{'irax us':>12}{'jax us':>12}{'irax':>10}{'jax':>10}")
    for task in tasks(1024 if "cpu" in platform else 8192):
        calls = [task.prepare(irax, jnp, device)]
        if theirs:
            jax, its_device = theirs
            calls.append(task.prepare(jax, jax.numpy, its_device))
        times = compare(*calls)
        line = f"{task.name:34}" + "".join(f"{t * 1e6:12.1f}" for t in times)
        if task.work:
            line += " " * 12 * (2 - len(times))
            line += "".join(f"{task.work / t:10.3g}" for t in times) + f"  {task.unit}"
        print(line, flush=True)


def _theirs(platform: str) -> tuple[Any, Any] | None:
    """JAX, and its device that is the same one."""
    if platform not in RIVALS:
        return None
    # Both are to have memory of the device.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax = rival(RIVALS[platform])
    if jax is None:
        return None
    try:
        return jax, jax.devices()[0]
    except RuntimeError:
        return None


if __name__ == "__main__":
    main()
