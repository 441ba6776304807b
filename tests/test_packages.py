"""Packages: the workflows' commands exist, and the check of the README's examples can fail."""

from __future__ import annotations

import os
import re
import runpy
import shutil
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
    monkeypatch.setattr("irax_compiler.versions.version", lambda name: version)
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


@pytest.mark.slow
def test_the_runtime_alone_is_small(tmp_path: Path) -> None:
    """All that an exported function needs to run is under 40 MB, but for NumPy."""
    import iree.runtime
    import numpy as np

    import irax
    import irax.numpy as jnp

    exported = irax.export.export(irax.jit(lambda x: jnp.sin(x @ x)))(jnp.ones((3, 3)))
    exported.save(str(tmp_path / "f.irax"))
    alone, numpy = tmp_path / "alone", tmp_path / "numpy"
    packages = Path(iree.runtime.__file__).parents[2]
    shutil.copytree(ROOT / "runtime" / "irax_runtime", alone / "irax_runtime")
    for name in ("runtime", "_runtime", "_runtime_libs"):
        shutil.copytree(packages / "iree" / name, alone / "iree" / name)
    for folder in (*packages.glob("iree_base_runtime.libs"), packages / "ml_dtypes"):
        shutil.copytree(folder, alone / folder.name)
    numpy.mkdir()
    for folder in Path(np.__file__).parents[1].glob("numpy*"):
        (numpy / folder.name).symlink_to(folder)
    size = sum(file.stat().st_size for file in alone.rglob("*") if file.is_file())
    assert size < 40e6
    program = (
        f"import sys; sys.path[:0] = [{str(alone)!r}, {str(numpy)!r}]\n"
        "import numpy as np, irax_runtime\n"
        "f = irax_runtime.load('f.irax')\n"
        "x = np.eye(3, dtype=np.float32)\n"
        "print(np.allclose(f(x), np.sin(x @ x), atol=1e-6))\n"
        "print(sorted(n for n in ('scipy', 'irax', 'iree.compiler') if n in sys.modules))\n"
    )
    command = [sys.executable, "-I", "-S", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "True\n[]\n", done.stderr
    print(f"{size / 1e6:.1f} MB")
