"""The table of what the installed JAX has and irax lacks: its rows, which have reasons."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests import oracle, parity

DOCS = Path(__file__).parents[1] / "docs" / "parity.md"


def test_rows_tell_what_a_function_lacks():
    def theirs(x, /, y, *, z, _private=None):
        raise NotImplementedError

    assert parity.lacking(theirs, lambda x, y, *, z: None) == []
    assert parity.lacking(theirs, lambda x, *, z: None) == ["y"]
    assert parity.lacking(theirs, lambda x, **options: None) == []
    assert parity.lacking(lambda x, y: None, lambda x, *, y: None) == ["y by position"]


def test_rows_tell_what_a_class_lacks():
    class Theirs:
        shown = hidden = show = 1

        def method(self, x, y):
            raise NotImplementedError

    class Ours:
        def __init__(self):
            self.shown = 1

        def method(self, x):
            raise NotImplementedError

    found = list(parity.members(Theirs, Ours))
    assert found == [("member", "hidden"), ("parameter", "method: y"), ("member", "show")]


def test_all_that_is_lacking_has_a_reason(tmp_path):
    if not oracle.is_0_12():
        pytest.skip("JAX 0.12, which is compared with, is not installed")
    page = tmp_path / "parity.md"
    subprocess.run([sys.executable, "-m", "tests.parity", page], check=True, capture_output=True)
    rows = page.read_text("utf-8").splitlines()
    assert [row for row in rows if row.endswith("| ? |")] == []
    assert len(rows) > 100
    kept = DOCS.read_text("utf-8").splitlines()
    if kept[0] == rows[0]:  # the same version of JAX
        assert rows == kept, "python -m tests.parity docs/parity.md writes it anew"
