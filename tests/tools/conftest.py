"""The real command line, in a folder with a module and inputs for it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

MODULE = """
func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<f32> {
  %0 = stablehlo.multiply %x, %w : tensor<4xf32>
  %1 = stablehlo.tanh %0 : tensor<4xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [0]
    : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
"""

Irax = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in.mlir").write_text(MODULE)
    np.save(tmp_path / "x.npy", np.array([1, -2, 3, 0.5], np.float32))
    return tmp_path


@pytest.fixture
def irax(folder: Path) -> Irax:
    def run(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "irax_tools.cli", *arguments],
            cwd=folder,
            input=stdin,
            capture_output=True,
            text=True,
        )

    return run
