"""Packages: the workflows' commands exist, and the check of the README's examples can fail."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = ROOT / ".ci" / "readme.py"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_commands_of_workflows_exist(path: Path) -> None:
    text = path.read_text("utf-8")
    targets = re.findall(r"run: make (\w+)", text)
    scripts = re.findall(r"run: (\.ci/\w+)", text)
    assert targets or scripts
    assert all(re.search(rf"^{target}:", MAKEFILE, re.MULTILINE) for target in targets)
    assert all(os.access(ROOT / script, os.X_OK) for script in scripts)


@pytest.mark.parametrize(
    ("version", "numbers"),
    [("1.20.3", (1, 20, 3)), ("0.1.1.dev3+g12ab", (0, 1, 1)), ("0.1.dev12+g3", (0, 1, 0))],
)
def test_version_info_of_tags_and_of_commits_between(monkeypatch, version, numbers) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: version)
    found = runpy.run_path(str(ROOT / "frontend" / "irax" / "version.py"))
    assert (found["__version__"], found["__version_info__"]) == (version, numbers)


def test_the_readmes_examples_are_found() -> None:
    block = runpy.run_path(str(README))["block"]
    text = (ROOT / "README.md").read_text("utf-8")
    assert block(text, "python").startswith("import irax\n")
    assert "irax grad" in block(text, "sh")
    with pytest.raises(SystemExit, match="no block of rust"):
        block(text, "rust")


def test_sources_in_place_of_a_package_are_found_out(tmp_path: Path) -> None:
    program = README.read_text("utf-8").replace("sys.prefix", "'/nowhere'")
    (tmp_path / "readme.py").write_text(program)
    done = subprocess.run(
        [sys.executable, "readme.py", ROOT / "README.md"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "is imported from" in done.stderr
