"""The disk cache of artefacts: found again, never wrong, never in the way."""

from __future__ import annotations

import os

import pytest
from tests.runtime.programs import elementwise

from irax_compiler import cache
from irax_compiler.iree import compiler as iree_compiler


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("IRAX_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def compilations(monkeypatch):
    """The modules that IREE is asked to compile."""
    made = []
    monkeypatch.setattr(
        iree_compiler, "_invoke_iree", lambda module, flags: made.append(module) or b"artefact"
    )
    return made


def test_nothing_is_compiled_twice(folder, compilations):
    text = elementwise("sine")
    for _ in range(2):
        assert iree_compiler.compile(text) == b"artefact"
        assert iree_compiler.compile(text, ["--other-flag"]) == b"artefact"
        assert iree_compiler.compile(elementwise("cosine")) == b"artefact"
    assert len(compilations) == 3


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
    cache.store("name", b"artefact")

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "utime", refuse)
    monkeypatch.setattr(os, "replace", refuse)
    cache.store("other", b"artefact")
    assert cache.load("name") == b"artefact"
    assert cache.load("other") is None


def test_off(monkeypatch):
    monkeypatch.setenv("IRAX_CACHE_DIR", "off")
    cache.store("name", b"artefact")
    assert cache.load("name") is None


def test_drops_what_was_unused_for_longest(folder, monkeypatch):
    a, b, c, d = (letter * 64 for letter in "abcd")  # as long as the names of artefacts
    for i, name in enumerate((a, b, c)):
        cache.store(name, bytes(64))
        os.utime(folder / name, (i, i))
    assert cache.load(a) == bytes(64)  # now the latest
    monkeypatch.setattr(cache, "SIZE_LIMIT", 3 * 100)  # three artefacts with their checksums
    cache.store(d, bytes(64))
    assert [cache.load(name) is None for name in (a, b, c, d)] == [False, True, False, False]


def test_lists_and_clears_its_own(folder):
    assert cache.entries() == []
    cache.store("a" * 64, bytes(64))
    (folder / "notes.txt").write_text("somebody's")
    (entry,) = cache.entries()
    assert (entry.path.name, entry.size) == ("a" * 64, 96)
    assert cache.clear() == [entry]
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
