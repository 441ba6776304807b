"""Measures which products BLAS is faster at than the code that IREE compiles, and writes the table
that the pass `blas` reads.

    python -m benchmarks.thresholds

It takes some minutes, on a machine that should have nothing else to do.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.results import processor
from irax_compiler import mlir, targets
from irax_compiler.lowering import lower
from irax_compiler.passes.blas import Blas
from irax_compiler.passes.blas.measured import TABLE
from irax_runtime import libraries
from irax_runtime.iree import cpu

TARGET = "iree-cpu"
DTYPES = ("float32", "float64", "complex64", "complex128", "bfloat16")

Extents = tuple[int, int, int, int]
"""The number of products, and their m, n and k."""

SQUARE = (8, 16, 32, 64, 128, 192, 256, 384, 512, 768, 1024)
ODD = (7, 15, 30, 50, 75, 100, 150, 300, 500, 1000)
"""IREE's code is another where extents are no multiples of a vector."""
EXTENTS: list[Extents] = [
    *((1, n, n, n) for n in (*SQUARE, *ODD)),
    *((1, m, n, n) for m in (4, 16, 64, 128) for n in (64, 256, 1024)),
    *((1, m, 10, k) for m in (32, 256) for k in (128, 1024)),
    *((1, n, n, k) for n in (256, 1024) for k in (4, 32, 128)),
    *((32, n, n, n) for n in (4, 8, 16, 32, 64, 128, 10, 25, 60)),
    *((32, 128, 32, 128), (32, 128, 128, 32)),
    *((1, n, 1, n) for n in (32, 100, 300, 512, 1000, 2048)),
    *((1, 1, n, n) for n in (32, 100, 300, 512, 1000, 2048)),
    *((32, 256, 1, 256), (32, 1, 256, 256)),
]


def main() -> None:
    """The command line: `python -m benchmarks.thresholds [--output FILE]`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=TABLE, help="where to write the table")
    options = parser.parse_args()
    os.environ["IRAX_CACHE_DIR"] = "off"
    times: dict[str, list[list[float]]] = {}
    for dtype in DTYPES:
        times[dtype] = []
        for extents in EXTENTS:
            iree, blas = (round(t * 1e6, 1) for t in _measure(extents, dtype))
            times[dtype].append([*extents, iree, blas])
            print(f"{dtype:12}{extents!s:28}{iree:12}{blas:12}{blas / iree:8.2f}", flush=True)
    options.output.write_text(_written(times))


def _written(times: dict[str, list[list[float]]]) -> str:
    """The table as text, a line for each product."""
    about = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{processor()}, {os.cpu_count()} processors",
        "iree": metadata.version("iree-base-compiler"),
        "openblas": libraries.describe(),
        "microseconds": times,
    }
    text = json.dumps(about, indent=1)
    return re.sub(r"\[\s*([-\d.,\s]+?)\s*\]", lambda m: f"[{' '.join(m[1].split())}]", text) + "\n"


def _measure(extents: Extents, dtype: str) -> tuple[float, float]:
    """The least seconds of a product by IREE's code, and by BLAS."""
    runs = [_prepared(extents, dtype, by_blas) for by_blas in (False, True)]
    best = [float("inf")] * 2
    for _ in range(6):
        for i, run in enumerate(runs):
            best[i] = min(best[i], _least(run))
    return best[0], best[1]


def _least(run: Callable[[], Any], budget: float = 0.02) -> float:
    run()
    times: list[float] = []
    start = time.perf_counter()
    while len(times) < 3 or time.perf_counter() - start < budget:
        before = time.perf_counter()
        run()
        times.append(time.perf_counter() - before)
    return min(times)


def _prepared(extents: Extents, dtype: str, by_blas: bool) -> Callable[[], Any]:
    module = mlir.parse_module(_text(extents, dtype))
    always = [Blas(always=True)] if by_blas else []
    passes = [
        p for q in targets.find(TARGET).passes for p in (always if isinstance(q, Blas) else [q])
    ]
    program = cpu().load(targets.compile(lower(module, target=TARGET, passes=passes), TARGET))
    generator = np.random.default_rng(0)
    types = program.arguments or ()
    arrays = [generator.standard_normal(t.shape).astype(t.dtype) for t in types]
    buffers = [cpu().put(x) for x in arrays]
    return lambda: program.run(buffers)


def _text(extents: Extents, dtype: str) -> str:
    """A module that multiplies; factors of one row or column are vectors."""
    batch, m, n, k = extents
    head = () if batch == 1 else (batch,)
    shapes = [
        (*head, *(() if m == 1 else (m,)), k),
        (*head, k, *(() if n == 1 else (n,))),
        (*head, *(() if m == 1 else (m,)), *(() if n == 1 else (n,))),
    ]
    x, y, z = (mlir.tensor_type(shape, np.dtype(dtype)) for shape in shapes)
    batching = "batching_dims = [0] x [0], " if head else ""
    contracting = f"contracting_dims = [{len(shapes[0]) - 1}] x [{len(head)}]"
    return f"""
    func.func @main(%x: {x}, %y: {y}) -> {z} {{
      %0 = stablehlo.dot_general %x, %y, {batching}{contracting} : ({x}, {y}) -> {z}
      return %0 : {z}
    }}"""


if __name__ == "__main__":
    main()
