"""The benchmarks' own code: all programs trace, to the types that JAX gives them, and what a run
says of its rows is right.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import report, table
from benchmarks.families import FAMILIES
from benchmarks.measure import Settings, measure
from benchmarks.program import Numbers, Program, f32, of, program
from benchmarks.results import Measured, Results, Row, became_slower, geometric_mean, load, slower
from benchmarks.timing import rival

import irax
import irax.numpy as jnp


def types(program: Program, lib: Any, np_like: Any) -> list[tuple[tuple[int, ...], str]]:
    """The shapes and dtypes of a program's results."""

    def struct(x: Numbers) -> Any:
        return lib.ShapeDtypeStruct(x.shape, np.dtype(x.dtype))

    with lib.enable_x64(True) if program.x64 else contextlib.nullcontext():
        arguments = lib.tree_util.tree_map(struct, program.arguments)
        results = lib.eval_shape(program.make(lib, np_like), *arguments)
    return [(x.shape, np.dtype(x.dtype).name) for x in lib.tree_util.tree_leaves(results)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("family", FAMILIES)
def test_programs_trace_to_the_types_of_jax(family: str) -> None:
    jax = rival()
    for each in FAMILIES[family]:
        ours = types(each, irax, jnp)
        assert ours, each.name
        if jax is not None:
            assert ours == types(each, jax, jax.numpy), each.name


def test_there_are_many_programs_of_different_names() -> None:
    names = [each.name for programs in FAMILIES.values() for each in programs]
    assert len(names) >= 150
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("dtype", ["float32", "bool", "complex64", "int8"])
def test_arguments_are_drawn(dtype: str) -> None:
    drawn = of(dtype, 3, 4).draw(np.random.default_rng(0))
    assert (drawn.shape, drawn.dtype.name) == ((3, 4), dtype)
    assert len(np.unique(drawn)) > 1


def test_a_program_is_measured() -> None:
    doubled = program("doubled", lambda lib, jnp: lambda x: 2 * x, f32(16))
    row = measure("small", doubled, Settings(turn=0))
    assert row.irax is not None
    assert 0 < row.irax.minimum <= row.irax.median < row.irax.compiling
    assert row.irax.memory == 128
    assert row.failure == ""


def test_a_wrong_result_is_a_failure() -> None:
    if rival() is None:
        pytest.skip("JAX is not installed: make oracle")
    wrong = program("wrong", lambda lib, jnp: lambda x: x + (lib is irax), f32(4))
    row = measure("small", wrong, Settings(turn=0))
    assert row.failure == "wrong result: 4 of 4 elements differ"
    assert row.ratio() is None


def row(name: str, ours: float, theirs: float | None, family: str = "f") -> Row:
    def measured(seconds: float) -> Measured:
        return Measured(seconds / 2, seconds, 1.0, 100)

    return Row(family, name, measured(ours), None if theirs is None else measured(theirs))


ROWS = [row("a", 2.0, 1.0), row("b", 1.0, 2.0), row("c", 4.0, 1.0, "g"), row("d", 1.0, None, "g")]


def test_ratios_and_their_means() -> None:
    assert [r.ratio() for r in ROWS] == [2, 0.5, 4, None]
    assert geometric_mean(ROWS) == pytest.approx(4 ** (1 / 3))
    assert geometric_mean(ROWS[3:]) is None
    assert [r.name for r in slower(ROWS, 1.2)] == ["c", "a"]


def test_results_are_written_and_read(tmp_path: Path) -> None:
    results = Results([*ROWS, Row("g", "e", failure="took longer than 1 s")], {"date": "now"})
    results.save(tmp_path / "results.json")
    assert load(tmp_path / "results.json") == results
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(ValueError, match=r"other.json is not a file that --output wrote"):
        load(tmp_path / "other.json")


def test_what_became_slower_leaves_out_what_the_machine_did() -> None:
    now = [row("a", 6.0, 3.0), row("b", 2.0, 2.0), row("c", 4.0, 1.0), row("d", 3.0, None)]
    found = became_slower(now, ROWS, 1.5)
    assert [(r.name, factor) for r, factor in found] == [("d", 3.0), ("b", 2.0)]


def test_a_report_names_what_is_slow_and_what_failed() -> None:
    results = Results([*ROWS, Row("g", "e", failure="took longer than 1 s")], {"date": "now"})
    text = "\n".join(report.summary(results))
    assert "2 take more than 1.2 times JAX's time:" in text
    assert "1 failed:" in text
    assert report.line(results.rows[-1]).split() == ["e", "took", "longer", "than", "1", "s"]
    assert all(len(report.line(r)) <= len(report.head()) for r in ROWS)
    again = Results([Row("f", "a", failure="broken")], {"date": "later"})
    assert "failing since then: a" in "\n".join(report.comparison(again, results, 1.2))


def test_the_table_says_why_programs_are_slow_or_large() -> None:
    machine = {"processor": "P", "cores": 2, "system": "S", "date": "D", "versions": {"irax": "1"}}
    machine["note"] = "N."
    large, larger, same = (Measured(1.0, 1.0, 1.0, size) for size in (30, 40, 20))
    rows = [Row("f", name, x, same) for name, x in (("x", large), ("y", larger), ("z", same))]
    reasons = {"a": "it rests."}, dict.fromkeys(("x", "y"), "it copies.")
    results = Results([*ROWS, *rows], machine)
    text = table.text(results, *reasons)
    assert "### Memory above 1.1\n\n- **y**, 2.00; **x**, 1.50: it copies.\n\n" in text
    assert "S.\nN.\nVersions: irax 1.\n" in text
    assert "- **c**, 4.00\n" in text
    assert "- **a**, 2.00: it rests." in text
    assert "| b | 1000000 | 2000000 | 0.50 |" in table.programs(results)


def test_no_reason_is_for_a_program_that_is_gone() -> None:
    names = {each.name for programs in FAMILIES.values() for each in programs}
    assert table.REASONS.keys() <= names
    assert table.MEMORY.keys() <= names
