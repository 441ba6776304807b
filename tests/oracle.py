"""JAX's results, to compare with: those of functions as they are called, without `jit`.

XLA's CPU compiler fuses an update with what it reads of the array that it updates, and then reads
what it has just written (docs/differences.md), in jitted functions alone. So these are no oracle.

The oracle is the newest JAX of the Python that runs: 0.12 from Python 3.12 on, 0.10.2 on 3.11. Here
stands what tests know of the difference: names and parameters that 0.12 has and irax lacks, and
what only 0.12 says of its objects.
"""

import importlib.metadata
from collections.abc import Callable
from typing import Any

import numpy as np


def results(function: Callable[..., Any], *arguments: Any) -> list[np.ndarray]:
    """The leaves of what a function returns that calls JAX's, and is not jitted itself."""
    import jax

    return [np.asarray(x) for x in jax.tree_util.tree_leaves(function(*arguments))]


def is_0_12() -> bool:
    """Return True if the JAX installed is 0.12 or newer."""
    try:
        version = importlib.metadata.version("jax")
    except importlib.metadata.PackageNotFoundError:
        return False
    return tuple(map(int, version.split(".")[:2])) >= (0, 12)


LACKING = {
    "numpy.histogram": "counts are whole: irax.reshard divides them",
    "random.Key": "a name for annotations, which JAX's can be called as",
    "distributed.initialize": "certificates of connections",
    "export.Exported": "files say their own version; shardings are those of a mesh",
    "stages.Traced": "they are jaxprs of JAX's own stages",
}
"""The parameters and methods that irax lacks, of functions and classes of JAX 0.12."""


def lacking(module: str) -> set[str]:
    """Return the functions and classes of a module of which irax lacks a part."""
    within = module.removeprefix("jax").removeprefix(".")
    parts = (name.rpartition(".") for name in LACKING)
    return {name for of, _, name in parts if of == within}


ARRAY_NAMES = {"__release_buffer__", "__reversed__", "unsafe_raw_buffer"} if is_0_12() else set()
"""Members of arrays of JAX 0.12 that irax's lack."""
OTHER_CLASSES = {"array class"} if is_0_12() else {"jaxpr"}
"""Objects of which JAX says another class: arrays of 0.12 have a metaclass, and 0.10 has a second
class of jaxprs."""
GONE = {"concrete_arguments"} if is_0_12() else set()
"""Programs about what is traced that call what JAX 0.12 no longer has: `jax.core.is_concrete`."""
