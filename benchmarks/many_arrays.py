"""Compile times of functions of many arrays, beside JAX, as their number grows.

    python -m benchmarks.many_arrays --count 100 400 1000

Times are those of the processor, in seconds, with nothing kept from earlier runs.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import irax
from benchmarks.timing import rival


def _map(lib: Any, x: Any, count: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    tree = {f"a{i}": x for i in range(count)}
    return lambda a, b: lib.tree.map(lambda x, r: x * 2 + r, a, b), (tree, tree)


def _sum(lib: Any, x: Any, count: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return sum, ([x] * count,)


PROGRAMS = {
    "map of trees": (_map, np.ones(16, np.float32)),
    "sum of arrays": (_sum, np.ones(1000, np.float32)),
    "sum of scalars": (_sum, np.float32(1)),
}


def _seconds(lib: Any, make: Callable[..., Any], x: Any, count: int) -> float:
    function, arguments = make(lib, x, count)
    start = time.process_time()
    lib.jit(function).lower(*arguments).compile()
    return time.process_time() - start


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, nargs="+", default=[100, 400, 1000])
    options = parser.parse_args()
    libraries = [lib for lib in (irax, rival()) if lib is not None]
    print(f"{'program':20}{'arrays':>8}" + "".join(f"{lib.__name__:>10}" for lib in libraries))
    with tempfile.TemporaryDirectory() as cache:
        os.environ["IRAX_CACHE_DIR"] = cache
        for name, (make, x) in PROGRAMS.items():
            for count in options.count:
                times = [_seconds(lib, make, x, count) for lib in libraries]
                print(f"{name:20}{count:8}" + "".join(f"{t:10.2f}" for t in times), flush=True)


if __name__ == "__main__":
    main()
