"""Functions of irax.numpy outside of `jit`, on small arrays, beside JAX's.

`python -m benchmarks.eager` calls them as the tests' table does, and prints those that take longer
than JAX's by a factor, the worst first.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.frontend import numpy_cases  # noqa: F401  (fills the table)
from tests.frontend.case_checks import bound
from tests.frontend.numpy_operands import CASES

import irax
import irax.numpy as jnp
from benchmarks.timing import median, rival, seconds

WARM_UP = 30
"""Calls until functions are replayed, or compiled."""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--factor", type=float, default=1.5, help="how much longer (default: 1.5)")
    parser.add_argument("--only", default="", help="functions whose name has this in it")
    options = parser.parse_args()
    jax = rival()
    if jax is None:
        parser.error("JAX is not installed: there is nothing to compare with (make oracle)")
    warnings.simplefilter("ignore")
    worst: dict[str, tuple[float, float, float]] = {}
    for case in CASES:
        if case.module != "numpy" or options.only not in case.name:
            continue
        call, arrays = bound(case, 0)
        if not hasattr(jax.numpy, case.name) or not all(x.size for x in arrays):
            continue
        try:
            ours = _time(irax, jnp, case.name, call, arrays)
            theirs = _time(jax, jax.numpy, case.name, call, arrays)
        except (NotImplementedError, TypeError, ValueError):  # JAX has no such call
            continue
        worst[case.name] = max(worst.get(case.name, (0.0, 0.0, 0.0)), (ours / theirs, ours, theirs))
    print(f"{'function':24}{'irax us':>10}{'jax us':>10}{'ratio':>8}")
    for name, (ratio, ours, theirs) in sorted(worst.items(), key=lambda item: -item[1][0]):
        if ratio > options.factor:
            print(f"{name:24}{ours * 1e6:10.1f}{theirs * 1e6:10.1f}{ratio:8.2f}")
    ratios = sorted(ratio for ratio, _, _ in worst.values())
    print(f"{len(ratios)} functions, median of their worst ratios {ratios[len(ratios) // 2]:.2f}")


def _time(
    lib: Any, namespace: Any, name: str, call: Callable[..., Any], arrays: list[np.ndarray]
) -> float:
    given = [namespace.asarray(x) for x in arrays]
    function = getattr(namespace, name)

    def once() -> None:
        lib.block_until_ready(call(function, given))

    seconds(once, 0.02, WARM_UP)
    return median(seconds(once, 0.01))


if __name__ == "__main__":
    main()
