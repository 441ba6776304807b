"""The disk cache of artefacts: found again, never wrong, never in the way."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner
from tests.runtime.programs import elementwise

from irax_compiler import cache
from irax_compiler.iree import compiler as iree_compiler
from irax_tools.cli import main as cli

NAME, OTHER = "a" * 64, "b" * 64


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("IRAX_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def compilations(monkeypatch):
    """The modules that IREE is asked to compile."""
    made = []

    def invoke(module: bytes, flags: tuple[str, ...], **options: object) -> bytes:
        made.append(module)
        return b"artefact"

    monkeypatch.setattr(iree_compiler, "_invoke_iree", invoke)
    return made


def test_nothing_is_compiled_twice(folder, compilations):
    text = elementwise("sine")
    for _ in range(2):
        assert iree_compiler.compile(text) == b"artefact"
        assert iree_compiler.compile(text, ["--other-flag"]) == b"artefact"
        assert iree_compiler.compile(elementwise("cosine")) == b"artefact"
    assert len(compilations) == 3


def test_what_is_kept_may_be_described(folder):
    about = "step (train.py:8) of f32[64,3]"
    with cache.describing(about):
        cache.store(NAME, b"artefact")
    assert cache.load(NAME) == b"artefact"
    cache.store(OTHER, b"another")
    assert {x.path.name: (x.about(), x.read()) for x in cache.entries()} == {
        NAME: (about, b"artefact"),
        OTHER: ("", b"another"),
    }


def test_returns_what_was_stored(folder):
    name = cache.key(b"module", ["--flag"])
    assert cache.load(name) is None
    cache.store(name, b"artefact")
    assert cache.load(name) == b"artefact"
    for other in (
        cache.key(b"module", ["--other"]),
        cache.key(b"Module", ["--flag"]),
        cache.key(b"--flagmodule", []),
        cache.key(b"flag", ["--", "module"]),
    ):
        assert cache.load(other) is None


@pytest.mark.parametrize("damage", [lambda d: d[:-1], lambda d: b"", lambda d: d[:-1] + b"?"])
def test_damaged_artefacts_are_compiled_again(folder, damage, compilations):
    iree_compiler.compile("module")
    (path,) = folder.iterdir()
    path.write_bytes(damage(path.read_bytes()))
    assert iree_compiler.compile("module") == b"artefact"
    assert iree_compiler.compile("module") == b"artefact"
    assert len(compilations) == 2


def test_a_folder_that_cannot_be_used_is_no_error(tmp_path, monkeypatch, compilations):
    occupied = tmp_path / "file"
    occupied.write_text("not a folder")
    monkeypatch.setenv("IRAX_CACHE_DIR", str(occupied))
    assert iree_compiler.compile("module") == b"artefact"
    assert len(compilations) == 1


def test_a_folder_that_can_only_be_read_serves(folder, monkeypatch):
    cache.store(NAME, b"artefact")

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "utime", refuse)
    monkeypatch.setattr(os, "replace", refuse)
    cache.store(OTHER, b"artefact")
    assert cache.load(NAME) == b"artefact"
    assert cache.load(OTHER) is None


@pytest.mark.parametrize("setting", ["", "~/irax"])
def test_users_without_a_home_directory(setting, monkeypatch, compilations):
    """A container runs as a user that it does not know."""

    def unknown(*_: object) -> None:
        raise KeyError("uid not found")

    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", unknown)
    monkeypatch.setenv("IRAX_CACHE_DIR", setting)
    assert iree_compiler.compile("module") == b"artefact"
    assert cache.load(NAME) is None
    assert "IRAX_CACHE_DIR" in cache.why_none_are_kept()
    for command in (["cache"], ["cache", "list"], ["doctor"]):
        result = CliRunner().invoke(cli, command)
        assert not isinstance(result.exception, RuntimeError)
        assert "no home directory" in result.output


def test_off(monkeypatch):
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    cache.store(NAME, b"artefact")
    assert cache.load(NAME) is None


@pytest.fixture
def three(folder):
    """The names of three artefacts of 96 bytes; the second was not used for longest."""
    names = [letter * 64 for letter in "abc"]  # as long as the names of artefacts
    for i, name in enumerate(names):
        cache.store(name, bytes(64))
        os.utime(folder / name, (i, i))
    assert cache.load(names[0]) == bytes(64)
    return names


def test_drops_what_was_unused_for_longest(three, monkeypatch):
    a, b, c = three
    monkeypatch.setenv("IRAX_CACHE_SIZE", "0.3 KB")  # three artefacts with their checksums
    cache.store("d" * 63 + "0", bytes(64))  # no artefact that has the folder searched
    assert cache.load(b) == bytes(64)
    os.utime(cache.directory() / b, (1, 1))
    cache.store("0" * 64, bytes(64))
    assert [cache.load(name) is None for name in (a, b, c)] == [False, True, True]


def test_prunes(three, folder):
    (folder / "notes.txt").write_text("somebody's")
    (folder / "unfinished-new").write_bytes(b"somebody writes it")
    (folder / "unfinished-old").write_bytes(b"its writer was killed")
    os.utime(folder / "unfinished-old", (0, 0))
    assert [entry.path.name for entry in cache.prune(200)] == [three[1]]
    kept = sorted(path.name for path in folder.iterdir())
    assert kept == [three[0], three[2], "notes.txt", "unfinished-new"]


@pytest.mark.parametrize(
    ("text", "expected"), [("0", 0), ("4096", 4096), ("1.5 KiB", 1536), ("2gb", 2 << 30)]
)
def test_sizes(text, expected):
    assert cache.size(text) == expected


def test_sizes_that_are_none(folder, monkeypatch):
    monkeypatch.setenv("IRAX_CACHE_SIZE", "much")
    with pytest.raises(ValueError, match="IRAX_CACHE_SIZE: 'much' is no size; expected a number"):
        cache.store("a" * 64, b"artefact")


def test_a_full_disk_leaves_nothing_behind(folder, monkeypatch):
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    cache.store("a" * 64, b"artefact")
    assert list(folder.iterdir()) == []


WRITER = """
import sys
from irax_compiler import cache
for i in range(1_000_000):
    name = f"{i % 50:064x}"
    cache.store(name, name.encode() * 20_000)
    if i == 0:
        print("started", flush=True)
"""


def test_writers_that_are_killed(folder):
    """Several processes write the same artefacts, and are killed at any moment."""
    environment = {**os.environ, "IRAX_CACHE_SIZE": "10MB", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", WRITER]
    for round_ in range(3):
        writers = [
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) for _ in range(3)
        ]
        for i, writer in enumerate(writers):
            assert writer.stdout.readline() == b"started\n"
            time.sleep(0.01 * (i + round_))
            writer.kill()
            writer.communicate()
        found = {path.name: cache.load(path.name) for path in folder.glob("0*")}
        assert found
        assert all(found[name] == name.encode() * 20_000 for name in found)


def test_lists_and_clears_its_own(folder):
    assert cache.entries() == []
    cache.store("a" * 64, bytes(64))
    (folder / "notes.txt").write_text("somebody's")
    (entry,) = cache.entries()
    assert (entry.path.name, entry.size) == ("a" * 64, 96)
    assert cache.clear() == [entry]
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
