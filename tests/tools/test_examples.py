"""The example in each command's help runs, in a shell, and so do the pages of docs/ on commands.

A block of MLIR is the file in.mlir; a block of Python that begins with `# NAME.py` is that file. A
block of text after commands is what they print.
"""

from __future__ import annotations

import itertools
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.tools.commands import __file__ as CLIENT

from irax_tools.cli import main

DOCS = Path(__file__).parents[2] / "docs"
PAGES = (
    "command_line.md",
    "getting-started.md",
    "how-to/digits.md",
    *(
        pytest.param(f"tutorials/{name}.md", marks=pytest.mark.slow)
        for name in ("modules", "deployment", "several-devices", "vulkan")
    ),
)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
FUNCTION = """
import irax
import irax.numpy as jnp

def f(x, y):
    return jnp.sin(x) + y

def batch():
    return jnp.arange(8.0), 1.0

def step_and_arguments():
    return f, batch()

def total(x):
    return irax.pmap(lambda row: irax.lax.psum(row, "i"), "i", out_axes=None)(x)

def rows():
    return (jnp.arange(8.0).reshape(4, 2),)

def layer(x, w):
    x = irax.lax.with_sharding_constraint(x, irax.P("data"))
    w = irax.lax.with_sharding_constraint(w, irax.P(None, "model"))
    return jnp.tanh(x @ w).sum()
"""
Shell = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.fixture
def shell(folder: Path, server: str) -> Shell:
    (folder / "function.py").write_text(FUNCTION)
    command = folder / "irax"
    client = shlex.join([sys.executable, "-I", "-S", CLIENT, server])
    command.write_text(f'#!/bin/sh\nexec {client} "$@"\n')
    command.chmod(0o755)
    path = os.pathsep.join([str(folder), str(Path(sys.executable).parent), os.environ["PATH"]])

    def run(commands: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-ec", commands],
            cwd=folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
        )

    return run


@pytest.mark.parametrize("name", sorted(main.commands))
def test_example(name, shell):
    helped = shell(f"irax {name} --help")
    assert helped.returncode == 0
    _, _, example = helped.stdout.partition("\nExample:\n  ")
    assert example.startswith(f"irax {name}") or f"| irax {name}" in example
    done = shell(example)
    assert done.returncode == 0, done.stderr
    assert "error" not in done.stderr


def test_every_command_is_documented():
    text = (DOCS / "command_line.md").read_text("utf-8")
    assert {name for name in main.commands if f"irax {name}" not in text} == set()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("page", PAGES)
def test_docs(page, shell, folder):
    blocks = BLOCK.findall((DOCS / page).read_text("utf-8"))
    for (kind, commands), (next_kind, printed) in itertools.pairwise([*blocks, ("", "")]):
        if kind == "mlir":
            (folder / "in.mlir").write_text(commands)
        if kind == "py" and (name := re.match(r"# (\w+\.py)\n", commands)):
            (folder / name[1]).write_text(commands)
        if kind == "sh":
            done = shell(commands)
            assert done.returncode == 0, done.stderr
            assert "error:" not in done.stderr
            if next_kind == "text":
                assert done.stdout == printed
