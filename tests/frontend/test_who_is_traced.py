"""Tests of which operations are traced: under `jit` all, elsewhere those on traced values."""

from __future__ import annotations

from typing import Any

import pytest
from tests.frontend.tracing_programs import PROGRAMS

import irax
import irax.experimental
from irax.compat.jax import core


class _Library:
    """irax, with what JAX has under its own name alone."""

    core = core

    def __getattr__(self, name: str) -> Any:
        return getattr(irax, name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str):
    run, expected = PROGRAMS[name]
    assert run(_Library()) == expected


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_in_jax(name: str):
    jax = pytest.importorskip("jax")
    run, expected = PROGRAMS[name]
    assert run(jax) == expected
