"""The time of a call of a tiny jitted function beside JAX, by the kind of its arguments.

IRAX_NUM_THREADS=1 taskset -c 0 python -m benchmarks.dispatch        the time of one processor
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.timing import rival

Call = Callable[[], object]


def one(lib: Any) -> Call:
    """One array."""
    return _repeated(lib.jit(lambda x: x + 1), _ones(lib))


def many(count: int) -> Callable[[Any], Call]:
    """Return a maker of calls with a number of arrays."""
    return lambda lib: _repeated(lib.jit(lambda *xs: xs[0] + xs[-1]), *[_ones(lib)] * count)


def many_results(lib: Any) -> Call:
    """One array, and 20 results."""
    return _repeated(lib.jit(lambda x: [x + n for n in range(20)]), _ones(lib))


def tree(layers: int) -> Callable[[Any], Call]:
    """Return a maker of calls with nested dicts, two arrays in each."""

    def make(lib: Any) -> Call:
        params = {f"layer {n}": {"w": _ones(lib), "b": _ones(lib)} for n in range(layers)}
        return _repeated(lib.jit(lambda p: p["layer 0"]["w"] + p["layer 1"]["b"]), params)

    return make


def step(lib: Any) -> Call:
    """A tree of 20 arrays to one of the same structure, as a training step takes it."""
    params = [{"w": _ones(lib), "b": _ones(lib)} for _ in range(10)]
    jitted = lib.jit(lambda p, x: (lib.tree_util.tree_map(lambda a: a + x, p), x))
    return _repeated(jitted, params, _ones(lib))


def keyword(lib: Any) -> Call:
    """Two arrays, one of them by name."""
    x, jitted = _ones(lib), lib.jit(lambda x, y: x + y)
    return lambda: jitted(x, y=x)


def static(lib: Any) -> Call:
    """One array and a static number."""
    return _repeated(lib.jit(lambda x, n: x + n, static_argnums=1), _ones(lib), 3)


def static_name(lib: Any) -> Call:
    """One array and a static string by name."""
    x, jitted = _ones(lib), lib.jit(lambda x, mode: x + len(mode), static_argnames="mode")
    return lambda: jitted(x, mode="train")


def alternating(lib: Any) -> Call:
    """Two shapes, one after the other: the time of two calls."""
    jitted, x, y = lib.jit(lambda x: x + 1), _ones(lib), lib.numpy.ones(8)

    def both() -> object:
        jitted(x)
        return jitted(y)

    return both


def captured(lib: Any) -> Call:
    """One array, and an array that the function closes over."""
    constant = lib.numpy.arange(4096.0)
    return _repeated(lib.jit(lambda x: x[0] + constant), _ones(lib))


def committed(lib: Any) -> Call:
    """One array that was put on a device."""
    return _repeated(lib.jit(lambda x: x + 1), lib.device_put(_ones(lib), lib.devices()[0]))


def number(lib: Any) -> Call:
    """A number of Python's."""
    return _repeated(lib.jit(lambda x: x + 1), 2.0)


def numpy_array(lib: Any) -> Call:
    """An array of NumPy's."""
    return _repeated(lib.jit(lambda x: x + 1), np.ones(16, np.float32))


def method(lib: Any) -> Call:
    """A method with one array; its object is static."""

    class Layer:
        @lib.jit
        def twice(self, x: Any) -> Any:
            return x + x

    lib.tree_util.register_pytree_node(Layer, lambda _: ((), None), lambda *_: Layer())
    layer, x = Layer(), _ones(lib)
    return lambda: layer.twice(x)


CASES: dict[str, Callable[[Any], Call]] = {
    "1 argument": one,
    "20 arguments": many(20),
    "200 arguments": many(200),
    "20 results": many_results,
    "tree of 20": tree(10),
    "tree of 200": tree(100),
    "step of 20": step,
    "by name": keyword,
    "static": static,
    "static by name": static_name,
    "two shapes": alternating,
    "captured": captured,
    "committed": committed,
    "number": number,
    "NumPy's": numpy_array,
    "method": method,
}


def _ones(lib: Any) -> Any:
    return lib.numpy.ones(16)


def _repeated(function: Callable[..., object], *args: Any) -> Call:
    return lambda: function(*args)


def _seconds(call: Call, turn: float) -> float:
    """The processor's time of a call, over a turn of this length."""
    count, start = 0, time.process_time()
    while (took := time.process_time() - start) < turn:
        for _ in range(50):
            call()
        count += 50
    return took / count


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--rounds", type=int, default=7, help="turns of each library")
    parser.add_argument("--turn", type=float, default=0.05, help="seconds of a turn")
    given = parser.parse_args()
    import irax

    libraries = [lib for lib in (irax, rival()) if lib is not None]
    print(f"{'call':16}{'irax us':>10}{'JAX us':>10}{'ratio':>8}")
    for name in given.only:
        calls = [CASES[name](lib) for lib in libraries]
        for call in calls:
            for _ in range(50):
                call()
        turns = [[_seconds(call, given.turn) for call in calls] for _ in range(given.rounds)]
        best = [min(times) * 1e6 for times in zip(*turns, strict=True)]
        ratio = f"{best[0] / best[1]:8.2f}" if len(best) > 1 else ""
        print(f"{name:16}" + "".join(f"{us:10.2f}" for us in best) + ratio, flush=True)


if __name__ == "__main__":
    main()
