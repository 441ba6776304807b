"""The examples give the same results on every device that is here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.runtime.pjrt_programs import needs_plugin

EXAMPLES = Path(__file__).parents[2] / "examples"


def printed(name: str, platform: str, *arguments: str) -> str:
    """What an example prints."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "IRAX_PLATFORMS": platform},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def printed_numbers(name: str, platform: str, *arguments: str) -> dict[str, float]:
    """The numbers that an example prints, by line, but for times."""
    text = printed(name, platform, *arguments)
    lines = re.findall(r"^([a-z ]+?)  +(-?\d+\.\d+)$", text, re.MULTILINE)
    return {label: float(number) for label, number in lines}


@needs_plugin
@pytest.mark.parametrize("name, arguments", [("digits.py", ["--epochs", "3"])])
def test_an_example_on_iree_and_on_pjrt(name: str, arguments: list[str], tmp_path: Path):
    arguments = [*arguments, "--ir", str(tmp_path)]
    ours = printed_numbers(name, "cpu", *arguments)
    theirs = printed_numbers(name, "pjrt:cpu", *arguments)
    assert "last loss" in ours
    assert ours.keys() == theirs.keys()
    for label, number in ours.items():
        np.testing.assert_allclose(theirs[label], number, rtol=2e-3, err_msg=label)


def test_gradients_of_a_solver_are_as_good_as_its_steps():
    rows = re.findall(r"(?m)^1e-\d\d.*$", printed("ode_adjoint.py", "cpu"))
    assert len(rows) == 3
    for row in rows:
        tolerance, of_steps, of_adjoint = map(float, row.split())
        assert of_steps < 10 * tolerance
        assert of_adjoint < 100 * tolerance
