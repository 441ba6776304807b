"""Modules that irax did not make: each primitive of JAX in its dtypes and forms, as JAX lowers it
for the CPU, with arguments and the results JAX has for them.

The list is that of JAX's own tests of its exporters, about 6200 functions of one primitive each.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from tests import oracle

SEED = 0
BIG = 60
"""The most forms of a primitive that are all tested; of more, such as scatter's 3149, every n-th
is."""


@dataclass(frozen=True, eq=False)
class Foreign:
    """One of JAX's functions."""

    name: str
    harness: Any

    def __str__(self) -> str:
        return self.name

    @property
    def primitive(self) -> str:
        return self.harness.group_name

    @property
    def is_determined(self) -> bool:
        """Not where elements that compare equal may come in any order, or vectors with any sign."""
        if self.primitive in ("eig", "eigh", "schur", "svd"):
            return False
        unstable = self.primitive == "sort" and "isstable_False" in self.name
        return not unstable and self.primitive != "approx_top_k"

    def lowered(self) -> tuple[str, list[np.ndarray], list[np.ndarray]]:
        """The module's text, arguments, and the results that JAX has for them."""
        import jax

        with jax.enable_x64(True):
            arguments = self.harness.dyn_args_maker(np.random.RandomState(SEED))
            lowered = jax.jit(self.harness.dyn_fun, keep_unused=True).lower(*arguments)
            results = oracle.results(self.harness.dyn_fun, *arguments)
            return lowered.as_text(), _arrays(arguments), results


def _arrays(tree: Any) -> list[np.ndarray]:
    from jax import tree_util

    return [np.asarray(x) for x in tree_util.tree_leaves(tree)]


@cache
def functions() -> dict[str, list[Foreign]]:
    """The functions that JAX itself can lower for the CPU, by primitive."""
    from jax._src.internal_test_util import test_harnesses

    found = defaultdict(list)
    # In an order of their own: JAX's differs from process to process.
    for harness in sorted(test_harnesses.all_harnesses, key=lambda h: h.fullname):
        if harness.filter("cpu"):
            found[harness.group_name].append(Foreign(harness.fullname, harness))
    return dict(found)


def sample() -> list[Foreign]:
    """One function of each primitive."""
    return [forms[len(forms) // 2] for forms in functions().values()]


def everything() -> list[Foreign]:
    """All functions of most primitives, and a part of those of the largest."""
    return [f for forms in functions().values() for f in forms[:: max(1, len(forms) // BIG)]]
