"""JAX's results, to compare with: those of functions as they are called, without `jit`.

XLA's CPU compiler fuses an update with what it reads of the array that it updates, and then reads
what it has just written (docs/differences.md), in jitted functions alone. So these are no oracle.
"""

from collections.abc import Callable
from typing import Any

import numpy as np


def results(function: Callable[..., Any], *arguments: Any) -> list[np.ndarray]:
    """The leaves of what a function returns that calls JAX's, and is not jitted itself."""
    import jax

    return [np.asarray(x) for x in jax.tree_util.tree_leaves(function(*arguments))]
