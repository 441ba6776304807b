"""The races with other libraries: programs trace, and what the page says of rows is right."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from benchmarks.peers import libraries, report
from benchmarks.peers.families import FAMILIES, RACES
from benchmarks.peers.race import Row, Settings, race_all
from benchmarks.peers.roofline import Rates

import irax
import irax.numpy as jnp

RATES = Rates({2**20: 1e10, 2**24: 1e9}, {"float32": 1e11})


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_programs_trace(family: str) -> None:
    importlib.import_module("irax.scipy.stats")

    def struct(x: Any) -> Any:
        return irax.ShapeDtypeStruct(x.shape, x.dtype)

    for race in FAMILIES[family]:
        arguments = irax.tree_util.tree_map(struct, race.draw())
        assert irax.tree_util.tree_leaves(irax.eval_shape(race.jax(irax, jnp), *arguments))


def test_there_are_sixty_programs_of_different_names() -> None:
    assert len(RACES) == sum(map(len, FAMILIES.values())) >= 60
    for race in RACES.values():
        assert any(map(race_has, [race] * 3, ("PyTorch", "Numba", "OpenVINO"))), race.name


def race_has(race: Any, library: str) -> bool:
    return libraries.races(library, race)


def test_the_roofline_is_the_larger_bound() -> None:
    assert RATES.least(2**20, 0, "float32") == 2**20 / 1e10
    assert RATES.least(2**25, 0, "float32") == 2**25 / 1e9
    assert RATES.least(8, 1e11, "float32") == 1.0


def test_leaves_of_results_are_in_the_order_of_keys() -> None:
    found = libraries.leaves({"b": np.float32(2), "a": [np.int32(1), np.complex64(3j)]})
    assert [x.item() for x in found] == [1, 3j, 2]
    assert [x.dtype.name for x in found] == ["float64", "complex128", "float64"]


def test_the_page_names_where_irax_is_behind() -> None:
    ahead = Row("ahead", 1e-5, {"irax": 2e-5, "JAX": 8e-5}, {"irax": 0.1, "JAX": 0.2})
    behind = Row("behind", 1e-5, {"irax": 4e-5, "JAX": 8e-5, "Numba": 1e-5}, {"irax": 0.1})
    alone = Row("alone", 1e-5, {"irax": 4e-5}, {}, {"JAX": "results differ by 2"})
    about = dict.fromkeys(("note", "times", "processor", "system", "date"), "")
    about |= {"threads": 2, "cores": 2, "versions": {}, "libraries": ["irax", "JAX", "Numba"]}
    page = report.page([ahead, behind, alone], RATES, about)
    assert "takes **1.00** of the fastest other's time" in page
    assert "0.35 of JAX's (2), 4.00 of Numba's (1)" in page
    assert "## Behind by more than 1.15: 1" in page
    assert "| behind | 40.0 | Numba 10.0 | 4.00 | 0.25 |" in page
    assert "- alone, JAX: results differ by 2" in page


@pytest.mark.slow
def test_a_race_of_irax_alone() -> None:
    name = "a small call: tanh(x @ w) + x of 8x8"
    rows = list(race_all([name], Settings(("irax",), 1, 0.0, 1), RATES))
    assert [(x.name, list(x.times), x.failures) for x in rows] == [(name, ["irax"], {})]
