"""Without place for temporary files, a compilation is an error, and not the end of the process."""

import errno
import os
import subprocess
import sys

import pytest

import irax
from irax_compiler import cache
from irax_compiler.api import CompileError
from irax_compiler.iree import temporary

COMPILED = """
import resource, sys
if sys.argv[1:]:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
import irax
try:
    irax.jit(irax.numpy.sin)(1.0)
except RuntimeError as error:
    print(error)
"""


def told(*arguments: str, **environment: str) -> str:
    """Compile in a process of its own, and return what it prints."""
    path = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run(
        [sys.executable, "-c", COMPILED, *arguments],
        env={**os.environ, "PYTHONPATH": path, "IRAX_CACHE_DIR": "off", **environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="LLVM looks elsewhere for the folder")
def test_a_folder_that_is_missing(tmp_path):
    missing = str(tmp_path / "missing")
    assert f"to {missing}: No such file or directory: make room" in told(TMPDIR=missing)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="sizes are limited otherwise")
def test_files_that_may_not_be_large():
    assert "File too large: make room there, or name another folder" in told("100000")


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the room is not asked for")
def test_a_full_disk(monkeypatch):
    def full(*_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(cache.settings, "is_on", False)
    with monkeypatch.context() as patched:
        patched.setattr(os, "posix_fallocate", full)
        with pytest.raises(CompileError, match="No space left"):
            irax.jit(lambda x: x + 71.0)(1.0)
    assert irax.jit(lambda x: x + 71.0)(1.0) == 72.0


def test_the_folder_is_the_one_that_is_named(monkeypatch, tmp_path):
    for name in ("TMPDIR", "TMP", "TEMP", "TEMPDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TEMP", str(tmp_path))
    assert temporary.folder() == str(tmp_path)
    temporary.check()
    assert temporary.holds_programs()
