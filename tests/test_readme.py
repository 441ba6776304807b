"""The README claims only what runs."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def block(language: str, number: int = 0) -> str:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)[number]


def test_example_prints_what_the_readme_says():
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(block("python"), {})
    found, expected = (
        [float(n) for n in re.findall(r"-?\d+\.\d*", text)]
        for text in (printed.getvalue(), block("text"))
    )
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_commands_run(tmp_path):
    (tmp_path / "in.mlir").write_text(
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n"
        "  %0 = stablehlo.sine %x : tensor<f32>\n"
        "  return %0 : tensor<f32>\n"
        "}\n"
    )
    np.save(tmp_path / "x.npy", np.float32(0.5))
    printed = []
    for command in block("sh").splitlines():
        name, *arguments = shlex.split(command)
        assert name == "irax"
        done = subprocess.run(
            [sys.executable, "-m", "irax_tools.cli", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert float(printed[1].split()[-1]) == pytest.approx(np.cos(0.5))
    assert "stablehlo" in (tmp_path / "gradient.html").read_text()


@pytest.mark.parametrize("path", re.findall(r"[`(]((?:docs|examples)/[\w./-]+)[`)]", README))
def test_files_exist(path):
    assert (ROOT / path).exists()


@pytest.mark.parametrize("target", re.findall(r"^    make (\w+)", README, re.MULTILINE))
def test_make_targets_exist(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
