"""Compile times of chains of elementwise functions of lax or scipy.special, beside JAX.

    python -m benchmarks.compiling --only sin --count 10 100 1000

Each chain is compiled in a process of its own, which is given up after some time: there are chains
that do not end. Times are those of the processor, in seconds.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

UNARY = (
    *("abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bessel_i0e", "bessel_i1e"),
    *("cbrt", "ceil", "cos", "cosh", "dawsn", "digamma", "erf", "erf_inv", "erfc", "erfcx", "exp"),
    *("exp2", "expm1", "floor", "lgamma", "log", "log1p", "logistic", "reciprocal", "round"),
    *("rsqrt", "sign", "sin", "sinh", "sqrt", "square", "tan", "tanh"),
)
BINARY = ("add", "atan2", "div", "max", "mul", "nextafter", "pow", "rem")
SLOWER = ("igamma", "igammac", "polygamma", "zeta", "betainc")
"""Functions that JAX computes by loops."""
OF_COMPLEX = (
    *("cos", "cosh", "div", "exp", "log", "logistic", "mul", "pow", "sin", "sqrt", "tanh", "wofz"),
)
SIZES = (16, 100_000)


def chain(lib: Any, name: str, count: int) -> Callable[..., Any]:
    """x = f(x) * 1.01 + i, as many times."""
    special = importlib.import_module(f"{lib.__name__}.scipy.special")
    function = getattr(lib.lax if hasattr(lib.lax, name) else special, name)
    others = {**dict.fromkeys((*BINARY, *SLOWER), 1), "betainc": 2}.get(name, 0)

    def chained(x: Any, y: Any) -> Any:
        for i in range(count):
            given = (y, y, x) if others == 2 else (y, x) if name in SLOWER else (x, y)
            x = function(*given[: others + 1]) * 1.01 + i
        return x

    return chained


def compile_one(library: str, name: str, dtype: str, size: int, count: int) -> float:
    """The seconds that a chain takes to be traced and compiled, in this process."""
    if library == "irax":
        import irax as lib

        lib.config.update("enable_x64", True)
    else:
        from benchmarks.timing import rival

        lib = rival()
        lib.config.update("jax_enable_x64", True)
    array = np.linspace(0.1, 0.9, size).astype(dtype if dtype != "bfloat16" else "float32")
    x = lib.numpy.asarray(array, dtype)
    lib.jit(lambda x: x + 1).lower(x).compile()
    chained = lib.jit(chain(lib, name, count))
    start = time.process_time()
    chained.lower(x, x).compile()
    return time.process_time() - start


def measure(limit: float, *what: Any) -> float | None:
    """Runs it in a process of its own; None if it takes longer than the limit."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-m", "benchmarks.compiling", "--one", json.dumps(what)]
        environment = os.environ | {"IRAX_CACHE_DIR": cache, "JAX_PLATFORMS": "cpu"}
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=limit, check=True
            )
        except subprocess.TimeoutExpired:
            return None
    return float(done.stdout)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--only", nargs="+", help="these functions")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--count", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--size", type=int, nargs="+", default=SIZES)
    parser.add_argument("--limit", type=float, default=60, help="seconds for a chain (default: 60)")
    parser.add_argument("--libraries", nargs="+", default=["irax", "jax"])
    options = parser.parse_args()
    if options.one:
        print(compile_one(*json.loads(options.one)))
        return
    names = OF_COMPLEX if "complex" in options.dtype else (*UNARY, *BINARY, *SLOWER)
    title = "".join(f"{n:>9}" for n in options.count)
    print(f"{'function':14}{'size':>8}  " + "".join(f"{lib:6}{title}" for lib in options.libraries))
    for name in options.only or names:
        for size in options.size:
            print(f"{name:14}{size:8}", end="", flush=True)
            for library in options.libraries:
                print(" " * 8, end="")
                for count in options.count:
                    try:
                        took = measure(options.limit, library, name, options.dtype, size, count)
                    except subprocess.CalledProcessError as error:
                        print(f"{'refused':>9}", end="", flush=True)
                        print(error.stderr[-600:], file=sys.stderr)
                        continue
                    text = f"> {options.limit:.0f}" if took is None else f"{took:.2f}"
                    print(f"{text:>9}", end="", flush=True)
            print(flush=True)


if __name__ == "__main__":
    main()
