"""Compile times of chains of elementwise functions, beside JAX.

    python -m benchmarks.compiling --only lax.sin numpy.arctan2 --dtype float32 --count 10 100 1000
    python -m benchmarks.compiling --rows rows.jsonl

The chains are of all elementwise functions of lax, numpy, nn and scipy.special, for each dtype that
a function takes. Functions that are traced to the same operations are measured once. Each chain is
compiled in a process of its own, which ends after some seconds of CPU time. Times are CPU seconds.
"""

from __future__ import annotations

import argparse
import functools
import json
import multiprocessing
import os
import resource
import tempfile
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from operator import attrgetter
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import irax
from benchmarks.timing import rival

FUNCTIONS = {
    "lax": (
        "abs acos acosh add asin asinh atan atan2 atanh bessel_i0e bessel_i1e betainc bitwise_and "
        "bitwise_not bitwise_or bitwise_xor cbrt ceil clamp clz cos cosh digamma div eq erf "
        "erf_inv erfc exp exp2 expm1 floor ge gt igamma igamma_grad_a igammac is_finite le lgamma "
        "log log1p logistic lt max min mul mulhi ne neg nextafter polygamma population_count pow "
        "random_gamma_grad reciprocal rem round rsqrt shift_left shift_right_arithmetic "
        "shift_right_logical sign sin sinh sqrt square sub tan tanh zeta"
    ),
    "numpy": (
        "absolute angle arctan2 argsort cbrt clip conjugate copysign cumsum deg2rad digitize "
        "divide divmod exp2 fabs float_power floor_divide fmax fmin fmod frexp gcd heaviside "
        "hypot i0 imag isclose isinf isnan lcm ldexp log10 log2 logaddexp logaddexp2 logical_and "
        "logical_not logical_or logical_xor maximum mod modf nan_to_num nextafter power rad2deg "
        "real remainder rint sign signbit sinc sort spacing square trunc unwrap"
    ),
    "nn": (
        "celu elu gelu hard_sigmoid hard_silu hard_tanh leaky_relu log1mexp log_sigmoid "
        "log_softmax mish relu relu6 selu sigmoid silu soft_sign softmax softplus sparse_plus "
        "sparse_sigmoid squareplus"
    ),
    "scipy.special": (
        "bernoulli beta betainc betaln boxcox boxcox1p comb dawsn digamma entr erf erfc erfcx "
        "erfinv exp1 expi expit expn factorial fresnel gamma gammainc gammaincc gammaln gammasgn "
        "hyp1f1 hyp2f1 i0 i0e i1 i1e kl_div log_ndtr loggamma logit multigammaln ndtr ndtri "
        "owens_t poch polygamma rel_entr sici spence wofz xlog1py xlogy zeta"
    ),
}
"""The functions by module. Those of rows, `argsort`, `cumsum`, `digitize`, `log_softmax`,
`softmax`, `sort` and `unwrap`, are not elementwise, but used so."""
DTYPES = ("float32", "float64", "complex64", "int32", "bool", "uint8", "bfloat16", "float16")
COUNTS = (10, 100, 300, 1000)
OPERANDS = {
    "numpy.unwrap": lambda f, x, y: f(x, axis=-1, discont=1.0),
    "numpy.ldexp": lambda f, x, y: f(x, 2),
    "scipy.special.multigammaln": lambda f, x, y: f(x + 2, 3),
    "scipy.special.polygamma": lambda f, x, y: f(2, x),
    "lax.polygamma": lambda f, x, y: f(y, x),
    "scipy.special.expn": lambda f, x, y: f(2, x),
    "scipy.special.hyp2f1": lambda f, x, y: f(1.5, y, 2.5, x),
}
"""The calls of functions whose operands are not arrays of one dtype, the last of which is x."""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", help="these functions")
    parser.add_argument("--dtype", nargs="+", default=DTYPES)
    parser.add_argument("--count", type=int, nargs="+", default=COUNTS)
    parser.add_argument("--size", type=int, default=16, help="elements (default: 16)")
    parser.add_argument("--limit", type=int, default=60, help="CPU s of a chain (default: 60)")
    parser.add_argument("--libraries", nargs="+", default=["irax", "jax"])
    parser.add_argument("--rows", type=Path, help="a file to continue, of rows of JSON")
    options = parser.parse_args()
    irax.config.update("enable_x64", True)
    jax = rival() if "jax" in options.libraries else None
    if jax is not None:
        jax.config.update("jax_enable_x64", True)
    libraries = {"irax": irax, "jax": jax}
    all_names = [f"{module}.{f}" for module, fs in FUNCTIONS.items() for f in fs.split()]
    names = options.only or all_names
    known = _known(options.rows) if options.rows else set()
    for name, dtype in _distinct(names, options.dtype, options.size):
        if (name, dtype) in known:
            continue
        row: dict[str, Any] = {"function": name, "dtype": dtype}
        for library in options.libraries:
            row[library] = {}
            for count in options.count:
                chain = (libraries[library], name, dtype, options.size, count)
                row[library][count] = took = measure(options.limit, *chain)
                if not isinstance(took, float):
                    break
        shown = (
            "  ".join(f"{_text(t):>8}" for t in row[lib].values())
            for lib in row
            if lib in libraries
        )
        print(f"{name:28}{dtype:10}" + " | ".join(shown), flush=True)
        if options.rows:
            with options.rows.open("a") as file:
                print(json.dumps(row), file=file)


def _known(rows: Path) -> set[tuple[str, str]]:
    """Return the functions and dtypes that a file has rows of."""
    lines = rows.read_text().splitlines() if rows.exists() else ()
    return {(row["function"], row["dtype"]) for row in map(json.loads, lines)}


def _text(took: float | str) -> str:
    return took if isinstance(took, str) else f"{took:.2f}"


def _distinct(names: list[str], dtypes: list[str], size: int) -> Iterator[tuple[str, str]]:
    """Yield the functions and dtypes whose chains are traced to different modules."""
    seen: set[str] = set()
    for dtype in dtypes:
        for name in names:
            try:
                text = _lowered(irax, name, dtype, size, 1).as_text()
            except (TypeError, ValueError, NotImplementedError):
                continue
            if text not in seen:
                seen.add(text)
                yield name, dtype


def _call(library: Any, name: str) -> Callable[[Any, Any], Any]:
    """Return the function of x and of y, another array, that is called `name`."""
    function = attrgetter(name)(library)
    if name in OPERANDS:
        return functools.partial(OPERANDS[name], function)

    def call(x: Any, y: Any) -> Any:
        error: Exception = TypeError(name)
        for given in ((x,), (y, x), (y, y, x)):
            try:
                return function(*given)
            except TypeError as e:
                error = e
        raise error

    return call


def _chained(library: Any, name: str, count: int) -> Callable[..., Any]:
    """Return x = f(x) * 1.01 + i, as many times; for booleans, exclusive ors with one of two
    arrays.
    """
    call = _call(library, name)

    def chained(x: Any, y: Any) -> Any:
        z, dtype = x, x.dtype
        for i in range(count):
            result = call(x, y)
            result = result[0] if isinstance(result, tuple) else result
            if dtype.kind == "b":
                x = result.astype(bool) ^ (z if i % 2 else y)
            elif dtype.kind in "iu":
                x = result.astype(dtype) * 3 + i % 100
            else:
                real = result if dtype.kind == "c" else result.real
                x = real.astype(dtype) * 1.01 + i
        return x

    return chained


def _lowered(library: Any, name: str, dtype: str, size: int, count: int) -> Any:
    array = np.linspace(0.1, 0.9, size) * (1 if np.dtype(dtype).kind in "fc" else 10)
    x = library.numpy.asarray(array.astype(dtype))
    return library.jit(_chained(library, name, count)).lower(x, x[::-1])


def measure(limit: int, *what: Any) -> float | str:
    """Return the CPU seconds that a chain takes to be traced and compiled, in a process of its own,
    or why there are none.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, limit, *what))
    process.start()
    sender.close()
    try:
        return receiver.recv()
    except EOFError:
        return f"> {limit}"
    finally:
        process.join()


def _send(sender: Connection, limit: int, library: Any, *what: Any) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    with tempfile.TemporaryDirectory() as cache:
        os.environ["IRAX_CACHE_DIR"] = cache
        try:
            library.jit(lambda x: x + 1).lower(np.float32(1)).compile()
            start = process_time()
            _lowered(library, *what).compile()
            sender.send(process_time() - start)
        except Exception as error:
            sender.send(f"{type(error).__name__}: {str(error)[:300]}")


if __name__ == "__main__":
    main()
