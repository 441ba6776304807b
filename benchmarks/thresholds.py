"""Measures which computations OpenBLAS is faster at than the code that IREE compiles, or than calls
of NumPy, and writes the table that the pass `blas` reads.

    python -m benchmarks.thresholds [products] [convolutions] [routines]

It takes some minutes, on a machine that should have nothing else to do. With parts named, others
are kept as they are in the table.
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
from irax_compiler.passes.kernels.blas import Blas
from irax_compiler.passes.kernels.blas.measured import TABLE
from irax_runtime import libraries
from irax_runtime.iree.cpu import cpu

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


CONVOLUTIONS: list[tuple[int, int, int, int, int]] = [
    (8, 14, 256, 256, 3),
    (8, 7, 512, 512, 3),
    (8, 28, 256, 256, 3),
    (1, 14, 256, 256, 3),
    (8, 28, 128, 128, 3),
    (8, 14, 128, 128, 3),
    (8, 7, 128, 128, 3),
    (8, 56, 64, 64, 3),
    (8, 28, 64, 64, 3),
    (8, 14, 64, 64, 3),
    (8, 56, 16, 16, 3),
    (8, 56, 3, 64, 3),
    (8, 112, 3, 64, 7),
    (32, 14, 16, 32, 5),
    (32, 28, 1, 32, 3),
]
"""The number of images, their rows and columns, features, output features, and the rows and columns
of the window."""

ROUTINES: dict[str, tuple[str, str, int]] = {
    "cholesky": ("lower = 1 : i64", "{0}", 1024),
    "lu": ("", "{0}, tensor<{1}xi32>, tensor<{1}xi32>", 1024),
    "solve": ("", "{0}", 1024),
    "qr": ("full = 0 : i64", "{0}, {0}", 512),
    "eigh": ("vectors = 1 : i64", "{0}, tensor<{1}xf32>", 512),
    "svd": ("full = 0 : i64, vectors = 1 : i64", "{0}, tensor<{1}xf32>, {0}", 256),
    "triangular_solve": (
        "left_side = 1 : i64, lower = 1 : i64, unit_diagonal = 0 : i64, transpose_a = 0 : i64",
        "{0}",
        1024,
    ),
}
"""The host functions: the parameters, the types of results for matrices of type {0} with {1} rows,
and the most rows that are measured."""

Row = list[float]
Times = dict[str, list[Row]]
"""The extents of computations, and the microseconds that they take without OpenBLAS and by it."""


def main() -> None:
    """The command line: `python -m benchmarks.thresholds [--output FILE] [PART ...]`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parts = {"products": _products, "convolutions": _convolutions, "routines": _routines}
    parser.add_argument("parts", nargs="*", choices=[*parts, []], help="what to measure: all")
    parser.add_argument("--output", type=Path, default=TABLE, help="where to write the table")
    options = parser.parse_args()
    os.environ["IRAX_CACHE_DIR"] = "off"
    table = json.loads(TABLE.read_text())
    for part in options.parts or parts:
        table[part] = _about() | {"microseconds": parts[part]()}
    options.output.write_text(_written(table))


def _products() -> Times:
    return {
        dtype: [_row(extents, _product(extents, dtype), dtype) for extents in EXTENTS]
        for dtype in DTYPES
    }


def _convolutions() -> Times:
    return {
        "float32": [_row(extents, _convolution(*extents), "float32") for extents in CONVOLUTIONS]
    }


def _routines() -> Times:
    return {
        name: [
            _row((n,), _routine(name, n), name)
            for n in (8, 32, 64, 128, 256, 512, 1024)
            if n <= ROUTINES[name][2]
        ]
        for name in ROUTINES
    }


def _row(extents: tuple[int, ...], text: str, kind: str) -> Row:
    others, blas = (round(t * 1e6, 1) for t in _measure(text))
    print(f"{kind:17}{extents!s:28}{others:12}{blas:12}{blas / others:8.2f}", flush=True)
    return [*extents, others, blas]


def _about() -> dict[str, Any]:
    return {
        "date": datetime.date.today().isoformat(),
        "machine": f"{processor()}, {os.cpu_count()} processors",
        "iree": metadata.version("iree-base-compiler"),
        "openblas": libraries.describe(),
    }


def _written(table: dict[str, Any]) -> str:
    """The table as text, a line for each computation."""
    text = json.dumps(table, indent=1)
    return re.sub(r"\[\s*([-\d.,\s]+?)\s*\]", lambda m: f"[{' '.join(m[1].split())}]", text) + "\n"


def _measure(text: str) -> tuple[float, float]:
    """The least seconds of a program without OpenBLAS, and by it."""
    runs = [_prepared(text, by_blas) for by_blas in (False, True)]
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


def _prepared(text: str, by_blas: bool) -> Callable[[], Any]:
    module = mlir.parse_module(text)
    always = [Blas(always=True)] if by_blas else []
    passes = [
        p for q in targets.find(TARGET).passes for p in (always if isinstance(q, Blas) else [q])
    ]
    program = cpu().load(targets.compile(lower(module, target=TARGET, passes=passes), TARGET))
    buffers = [cpu().put(_drawn(t.shape, t.dtype)) for t in program.arguments or ()]
    return lambda: program.run(buffers)


def _drawn(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Numbers; square matrices have a large diagonal, so that they can be factored."""
    x = np.random.default_rng(0).standard_normal(shape)
    if len(shape) == 2 and shape[0] == shape[1]:
        x = (x + x.T) / 2 + shape[0] * np.eye(shape[0])
    return x.astype(dtype)


def _convolution(images: int, size: int, features: int, outputs: int, window: int) -> str:
    array, kernel, out = (
        mlir.tensor_type(shape, np.dtype(np.float32))
        for shape in (
            (images, size, size, features),
            (window, window, features, outputs),
            (images, size, size, outputs),
        )
    )
    half = window // 2
    return f"""
    func.func @main(%x: {array}, %y: {kernel}) -> {out} {{
      %0 = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
        window = {{pad = [[{half}, {half}], [{half}, {half}]]}}
        {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
        : ({array}, {kernel}) -> {out}
      return %0 : {out}
    }}"""


def _routine(name: str, n: int) -> str:
    parameters, results, _ = ROUTINES[name]
    matrix = f"tensor<{n}x{n}xf32>"
    types = results.format(matrix, n)
    count = 2 if name in ("solve", "triangular_solve") else 1
    operands = ", ".join(f"%a{i}" for i in range(count))
    arguments = ", ".join(f"%a{i}: {matrix}" for i in range(count))
    several = types.count("tensor")
    results = ", ".join(f"%0#{i}" for i in range(several))
    return f"""
    func.func @main({arguments}) -> ({types}) {{
      %0:{several} = stablehlo.custom_call @irax_host.{name}({operands})
        {{api_version = 4 : i32, has_side_effect = false,
          backend_config = {{{parameters}}}}}
        : ({", ".join([matrix] * count)}) -> ({types})
      return {results} : {types}
    }}"""


def _product(extents: Extents, dtype: str) -> str:
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
