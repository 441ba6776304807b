"""The README claims only what runs."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
HOME = (ROOT / "docs" / "index.md").read_text()


def block(language: str, number: int = 0) -> str:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)[number]


def test_example_prints_what_the_readme_says():
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(block("python"), {})
    assert printed.getvalue() == block("text")


def test_commands_run(tmp_path):
    command = tmp_path / "irax"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m irax_tools.cli "$@"\n')
    command.chmod(0o755)
    done = subprocess.run(
        ["sh", "-e"],
        input=block("sh"),
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    x = np.arange(3.0)
    found = [float(n) for n in re.findall(r"-?\d+\.\d*", done.stdout)]
    np.testing.assert_allclose(found, np.sin(x) + x * np.cos(x), rtol=1e-5, atol=1e-6)
    assert "stablehlo" in (tmp_path / "gradient.html").read_text()


def test_figures_are_those_of_the_table():
    table = (ROOT / "docs" / "compatibility.md").read_text()
    programs = table.partition("its program")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| ([\w-]+) \| .* \| (\w+) \|$", programs, re.MULTILINE)
    assert {state for _, state in rows} == {"equal"}
    libraries = f"{len({name for name, _ in rows})} libraries"
    assert f"Programs of {libraries}" in README
    for page in ("index", "comparison"):
        assert f"[{libraries}](compatibility.md)" in (ROOT / "docs" / f"{page}.md").read_text()
    steps, first = re.findall(
        r"^\| geometric mean \| \| \| ([\d.]+) \| \| \| ([\d.]+)", table, re.MULTILINE
    )[0]
    assert f"take {steps} of JAX's time" in README
    assert f"first calls {first}." in README


def test_figures_are_those_of_the_benchmarks_and_of_conformance():
    text, home = (re.sub(r"\s+", " ", page) for page in (README, HOME))
    benchmarks = (ROOT / "docs" / "benchmarks.md").read_text()
    programs, time, first, slower = re.findall(
        r"^\| all \| (\d+) \| ([\d.]+) \| [\d.]+ \| [\d.]+ \| ([\d.]+) \| (\d+) \|$",
        benchmarks,
        re.MULTILINE,
    )[0]
    assert f"{time} of JAX's time over [{programs} programs]" in text
    assert f"slower by more than a fifth in {slower} of them" in text
    assert f"is compile time: {first} times JAX's" in text
    assert f"{time} of JAX's time over [{programs} programs](benchmarks.md)" in home
    assert f"is compile time: {first} times JAX's" in home
    conformance = (ROOT / "docs" / "reports" / "conformance.md").read_text()
    (cases, wrong), (others, others_wrong) = (
        re.findall(rf"^\| {name} \|[^|]*\|[^|]*\| (\d+) \| (\d+) \|", conformance, re.MULTILINE)[0]
        for name in ("irax, `cpu`", "XLA's CPU plugin alone")
    )
    assert f"of {int(cases):,} operations" in text
    assert f"irax has {wrong} wrong" in text
    assert f"of {int(cases):,} operations at the edges" in home
    assert f"irax has {wrong} wrong" in home
    assert f"by itself {others_wrong} of {int(others):,}" in text
    assert "18 MB beside NumPy" in text
    assert "18 MB without NumPy" in (ROOT / "docs" / "comparison.md").read_text()


def test_the_benchmarks_begin_with_their_results():
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    rows = re.findall(
        r"^\| (\w+) \| (\d+) \| ([\d.]+) \| [\d.]+ \| [\d.]+ \| ([\d.]+) \| (\d+) \|$",
        page,
        re.MULTILINE,
    )
    *families, (name, programs, time, first, slower) = rows
    assert name == "all"
    least, *_, most = sorted(families, key=lambda row: float(row[2]))
    begin = re.sub(r"\s+", " ", page.partition("`python -m")[0])
    assert f"over {programs} programs: **calls are faster**, {time} of JAX's time" in begin
    assert least[0] == "indexed"
    assert float(most[2]) < 1, "calls are not faster in each family"
    assert f"from {least[2]} (loops that index arrays) to {most[2]} ({most[0]})" in begin
    assert f"{slower} programs are slower by more than a fifth" in begin
    assert f"**Compiling is slower**: {first} times JAX's time" in begin


def test_the_table_is_a_part_of_that_of_the_comparison():
    whole = (ROOT / "docs" / "comparison.md").read_text().splitlines()
    others = README[README.index("| | irax |") :]
    rows = [line for line in others.splitlines() if line.startswith("| ")]
    assert len(rows) > 8
    for row in rows:
        assert row.replace("](docs/", "](") in whole


@pytest.mark.parametrize("path", re.findall(r"[`(]((?:docs|examples)/[\w./-]+)[`)]", README))
def test_files_exist(path):
    assert (ROOT / path).exists()


@pytest.mark.parametrize("target", re.findall(r"^    make (\w+)", README, re.MULTILINE))
def test_make_targets_exist(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
