"""The example in each command's help runs, in a shell."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from irax_tools.cli import main

FUNCTION = """
import irax.numpy as jnp

def f(x, y):
    return jnp.sin(x) + y
"""


@pytest.mark.parametrize("name", sorted(main.commands))
def test_example(name, folder, irax):
    (folder / "function.py").write_text(FUNCTION)
    command = folder / "irax"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m irax_tools.cli "$@"\n')
    command.chmod(0o755)
    helped = irax(name, "--help")
    assert helped.returncode == 0
    _, _, example = helped.stdout.partition("\nExample:\n  ")
    assert example.startswith(f"irax {name}") or f"| irax {name}" in example
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        example,
        shell=True,
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr
