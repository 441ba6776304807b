"""Ctrl-C ends what the main thread waits for: programs that never end, and compilers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")


def lines(case: str) -> list[str]:
    path = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("interrupts.py"), case],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (7, "")
    return done.stdout.splitlines()


def test_loops_that_never_end_are_interrupted():
    assert lines("loops") == ["interrupted", "interrupted", "2.0"]


@pytest.mark.slow
def test_a_compiler_that_takes_minutes_is_interrupted():
    assert lines("compiling") == ["interrupted", "2.0"]


@pytest.mark.slow
def test_functions_of_libraries_are_interrupted():
    assert lines("libraries") == ["interrupted", "interrupted", "2.0"]


@pytest.mark.slow
def test_operations_outside_of_jit_are_interrupted():
    assert lines("eager") == ["interrupted"] * 5 + ["2.0"]


@pytest.mark.slow
def test_callbacks_are_run_and_interrupted_where_the_program_was_called():
    assert lines("callbacks") == ["8.0", "interrupted", "interrupted", "True False"]


@pytest.mark.slow
def test_what_is_left_behind_may_end_while_python_does():
    assert lines("ending") == ["interrupted"]
