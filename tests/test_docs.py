"""The examples in docs/ do what is written below them.

A block of Python runs after those before it in the same file; the block of text that follows it is
what it prints, and the error that it ends with, if any.
"""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import linecache
import os
import re
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest
from tests.runtime.communication.test_communication import job

from irax_compiler import passes
from irax_compiler.pipeline import parse_pipeline

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
COMPATIBILITY = DOCS / "compatibility.md"
"""Its examples change what `import jax` means, so they run in a process of their own."""
DEVICES = DOCS / "devices.md"
"""Its examples are of several devices; `python -m tests.test_docs` runs them."""
TUTORIAL = DOCS / "tutorials" / "several-devices.md"
"""It chooses how many devices there are, which a process can do once."""
HOSTS = DOCS / "tutorials" / "several-hosts.md"
"""It joins a job before it uses devices, and runs in several processes as in one."""
EXTENDING = [DOCS / "how-to" / f"{name}.md" for name in ("op", "pass", "kernel", "target")]
"""Their examples register ops, passes and targets, which other tests would find."""
ARCHITECTURE = [
    DOCS.parent / "CONTRIBUTING.md",
    DOCS / "architecture.md",
    *sorted((DOCS / "architecture").glob("*.md")),
]
FOLDERS = (
    *("frontend", "compiler", "runtime", "tools"),
    *("tests", "docs", "website", "benchmarks", "findings"),
)
NAMED = re.compile(
    r"`([\w./-]+(?:\.py|\.md|/))`|^ +((?:frontend|compiler|runtime)/[\w./]+)", re.MULTILINE
)
"""Files and folders, between backticks or at the beginning of a line of a diagram."""
ROOM = re.compile(r"^##+ .*\(`([\w/]+)/`\)\n(.*?)(?=^##)", re.DOTALL | re.MULTILINE)
"""A section about a folder."""
TOPS = [DOCS.parent / top for top in ("", "compiler", "compiler/irax_compiler", "runtime")]
TOPS.append(DOCS.parent / "compiler/irax_compiler/passes")
"""The folders that those of sections are in."""
OPTIONS = re.compile(r"`([\w-]+\{[\w-]+=[^}]+\})`")
"""A pass with options."""
VULKAN = DOCS / "tutorials" / "vulkan.md"
"""Mesa's driver for the processor keeps its cores busy until the process ends: half a minute."""
FILES = [
    pytest.param(path, id=str(path.relative_to(DOCS)), marks=[pytest.mark.slow] * (path == VULKAN))
    for path in sorted(DOCS.rglob("*.md"))
    if "```python\n" in path.read_text("utf-8")
    if path not in (COMPATIBILITY, DEVICES, TUTORIAL, HOSTS, *EXTENDING)
]


def outcome(source: str, names: dict[str, object]) -> str:
    """The output of a block, and its error."""
    lines = source.splitlines(keepends=True)
    linecache.cache["example.py"] = (len(source), None, lines, "example.py")
    printed = io.StringIO()
    error = ""
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(source, "example.py", "exec", dont_inherit=True), names)
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}\n"
    return printed.getvalue() + error


def check(path: Path) -> None:
    """Run the examples of a page."""
    blocks = BLOCK.findall(path.read_text("utf-8")) + [("", "")]
    names: dict[str, object] = {"__name__": "example"}
    for (language, source), (following, text) in itertools.pairwise(blocks):
        if language == "python":
            expected = text if following == "text" else ""
            assert outcome(source, names) == expected, source


def test_examples_that_import_jax() -> None:
    blocks = BLOCK.findall(COMPATIBILITY.read_text("utf-8"))
    source, expected = ("".join(t for kind, t in blocks if kind == k) for k in ("python", "text"))
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == expected


@pytest.mark.sampled(4)
@pytest.mark.parametrize("path", FILES)
def test_examples(path: Path) -> None:
    check(path)


@pytest.mark.parametrize(
    "pages",
    [EXTENDING, *(pytest.param([page], marks=pytest.mark.slow) for page in (TUTORIAL, HOSTS))],
    ids=["extending", "several devices", "several hosts"],
)
def test_examples_in_a_process_of_their_own(pages: list[Path]) -> None:
    command = [sys.executable, "-m", "tests.test_docs", *map(str, pages)]
    done = subprocess.run(command, cwd=DOCS.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("spmd", ["one_buffer", "threads"])
@pytest.mark.slow
def test_examples_of_several_devices(spmd: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.test_docs"],
        cwd=DOCS.parent,
        env={**os.environ, "IRAX_CPU_DEVICES": "4", "IRAX_SPMD": spmd},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_examples_of_several_processes() -> None:
    for pages in ([], [str(HOSTS)]):
        done = job(2, *pages, module="tests.test_docs")
        assert done.returncode == 0, done.stderr


@functools.cache
def all_paths() -> set[str]:
    """The files of the repository, and folders with a slash at their end."""
    found = [path for top in FOLDERS for path in (DOCS.parent / top).rglob("*.*")]
    files = {f"/{path.relative_to(DOCS.parent).as_posix()}" for path in found}
    return files | {f"{parent}/" for file in files for parent in PurePosixPath(file).parents}


@pytest.mark.parametrize("page", ARCHITECTURE, ids=lambda path: path.name)
def test_named_files_exist(page: Path) -> None:
    named = {first or second for first, second in NAMED.findall(page.read_text("utf-8"))}
    assert not {name for name in named if not any(f.endswith(f"/{name}") for f in all_paths())}


@pytest.mark.parametrize("page", ARCHITECTURE, ids=lambda path: path.name)
def test_sections_of_a_folder_name_its_files(page: Path) -> None:
    for folder, text in ROOM.findall(page.read_text("utf-8")):
        others = re.findall(r"`([\w/]+)/(?:\w+\.py)?`", text)
        rooms = [top / name for name in (folder, *others) for top in TOPS if (top / name).is_dir()]
        files = {file.name for room in rooms for file in room.glob("*.py")}
        assert not {*re.findall(r"`(\w+\.py)`", text)} - files, f"{folder} has none of these"


def test_every_room_of_kernels_is_described() -> None:
    page = (DOCS / "architecture" / "kernels.md").read_text("utf-8")
    kernels = DOCS.parent / "compiler/irax_compiler/passes/kernels"
    rooms = {path.parent.name for path in kernels.glob("*/__init__.py")}
    assert not {room for room in rooms if f"`passes/kernels/{room}/`" not in page}


@pytest.mark.parametrize("page", ARCHITECTURE, ids=lambda path: path.name)
def test_named_options_exist(page: Path) -> None:
    for text in OPTIONS.findall(page.read_text("utf-8")):
        assert parse_pipeline(text)


def test_every_pass_is_described() -> None:
    described = (DOCS / "architecture" / "ops-and-passes.md").read_text("utf-8")
    own = {n for n, found in passes.by_name().items() if found.__module__.startswith("irax_")}
    assert not {name for name in own if f"`{name}`" not in described}


if __name__ == "__main__":
    for page in sys.argv[1:] or [DEVICES]:
        check(Path(page))
