"""The package in examples/extension is found by its entry points, by irax and by its command."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "extension"
TANH = """
func.func @main(%x: tensor<3xf32>) -> tensor<f32> {
  %0 = stablehlo.tanh %x : tensor<3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0]
    : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
"""
PROGRAM = """
import sys
import numpy as np
from irax_compiler import api, mlir, targets
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_runtime import platforms

module = mlir.parse_module(open("in.mlir").read())
api.run_pipeline(module, "softsign-for-tanh")
again = mlir.parse_module(str(module))
api.run_pipeline(again, "vjp{func=main},batch{func=main.vjp size=2 in_axes=0,None}")
x = np.array([[-2, 0.5, 1], [3, 0, -1]], "f")
sums, slopes = Evaluator(again)("main.vjp.batch", [x, np.float32(1)])
np.savez("results.npz", x=x, sums=sums, slopes=slopes)
assert "text" in [target.name for target in targets.all_targets()]
assert targets.compile(module, "text").startswith(b"module")
assert platforms.find("pjrt:abacus").package == "abacus-pjrt"
"""


def install(place: Path, points: dict[str, dict[str, str]]) -> dict[str, str]:
    """Write entry points down as pip does; return an environment in which Python finds them."""
    information = place / "irax_softsign-0.1.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: irax-softsign\nVersion: 0.1\n"
    )
    lines = [
        line
        for group, named in points.items()
        for line in [f"[{group}]", *(f"{name} = {value}" for name, value in named.items())]
    ]
    (information / "entry_points.txt").write_text("\n".join(lines) + "\n")
    path = [str(place), str(FOLDER), *filter(None, sys.path)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


def run(folder: Path, environment: dict[str, str], *arguments: str):
    (folder / "in.mlir").write_text(TANH)
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text("utf-8"))["project"]
    return install(tmp_path / "site", project["entry-points"])


def test_in_python(tmp_path: Path, installed: dict[str, str]) -> None:
    done = run(tmp_path, installed, "-W", "error", "-c", PROGRAM)
    assert done.returncode == 0, done.stderr
    with np.load(tmp_path / "results.npz") as found:
        x = found["x"]
        np.testing.assert_allclose(found["sums"], (x / (1 + abs(x))).sum(1), rtol=1e-6)
        np.testing.assert_allclose(found["slopes"], 1 / (1 + abs(x)) ** 2, rtol=1e-6)


def test_by_the_command(tmp_path: Path, installed: dict[str, str]) -> None:
    command = ("-m", "irax_tools.cli", "opt", "in.mlir", "--pipeline", "softsign-for-tanh")
    done = run(tmp_path, installed, *command)
    assert done.returncode == 0, done.stderr
    assert 'stablehlo.composite "softsign.softsign"' in done.stdout
    without = run(tmp_path, {**installed, "PYTHONPATH": os.pathsep.join(sys.path)}, *command)
    assert without.returncode == 1
    assert "unknown pass 'softsign-for-tanh'" in without.stderr


def test_one_that_fails_is_left_out(tmp_path: Path) -> None:
    environment = install(tmp_path / "site", {"irax.passes": {"absent": "irax_softsign.absent"}})
    program = "from irax_compiler import api; print('vjp' in api.passes())"
    done = run(tmp_path, environment, "-c", program)
    assert done.stdout == "True\n"
    assert "'absent' of irax-softsign (irax.passes) is left out: ModuleNotFoundError" in done.stderr
