"""Tests of which operations are traced: under `jit` all, elsewhere those on traced values."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
from tests import oracle
from tests.frontend import lax_cases, linalg_cases, nn_cases, numpy_cases, scipy_cases
from tests.frontend.case_checks import bound, compare
from tests.frontend.numpy_operands import CASES
from tests.frontend.tracing_programs import PROGRAMS
from tests.sampling import ALL_FORMS

import irax
import irax.experimental
from irax import tree_util
from irax.compat.jax import core

pytestmark = pytest.mark.filterwarnings("ignore:jax.core.is_concrete")  # gone in JAX 0.12


class _Library:
    """irax, with what JAX has under its own name alone."""

    core = core

    def __getattr__(self, name: str) -> Any:
        return getattr(irax, name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str):
    run, expected = PROGRAMS[name]
    assert run(_Library()) == expected


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in oracle.GONE])
def test_programs_in_jax(name: str):
    jax = pytest.importorskip("jax")
    run, expected = PROGRAMS[name]
    assert run(jax) == expected


TABLES = (lax_cases, linalg_cases, nn_cases, numpy_cases, scipy_cases)
MIXED = {c.full_name: c for c in CASES if c.traced and len(c.operands) > 1}
"""For each function with several operands, the last of its cases."""


@pytest.mark.parametrize("name", [n for n in MIXED if ALL_FORMS or not zlib.crc32(n.encode()) % 8])
def test_each_operand_may_be_traced_alone(name: str):
    case = MIXED[name]
    call, arrays = bound(case, 0)
    wanted = tree_util.tree_leaves(call(case.function, arrays))
    for place, x in enumerate(arrays):

        def function(own: Any, place: int = place) -> Any:
            return call(case.function, [*arrays[:place], own, *arrays[place + 1 :]])

        lanes = tree_util.tree_leaves(irax.vmap(function)(np.stack([x, x])))
        for result, value in zip(lanes, wanted, strict=True):
            compare(case, np.asarray(result)[1], np.asarray(value))
