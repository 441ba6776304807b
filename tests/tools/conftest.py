"""The command line, in a folder with a module and inputs for it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from tests.tools import commands

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


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The socket of a process that runs commands: see tests/tools/commands.py."""
    with tempfile.TemporaryDirectory() as home:
        path = os.path.join(home, "socket")
        command = [sys.executable, "-m", commands.__name__, path]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield path
            process.communicate()


@pytest.fixture
def irax(folder: Path, server: str) -> Irax:
    def run(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        with ExitStack() as stack:
            files = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(3)]
            given, printed, told = files
            given.write(stdin or "")
            given.seek(0)
            numbers = [file.fileno() for file in files]
            code = commands.run(server, arguments, str(folder), numbers)
            printed.seek(0)
            told.seek(0)
            return subprocess.CompletedProcess(arguments, code, printed.read(), told.read())

    return run
