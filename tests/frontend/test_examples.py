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


def printed_numbers(name: str, platform: str, *arguments: str) -> dict[str, float]:
    """What an example prints, by line, but for times."""

    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "IRAX_PLATFORMS": platform},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = re.findall(r"^([a-z ]+?)  +(-?\d+\.\d+)$", done.stdout, re.MULTILINE)
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
