"""The example that several devices train: processes begin, threads go on from their checkpoint."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.runtime.test_communication import launcher
from tests.sampling import all_forms

ON_ONE_DEVICE = 1.7344
"""The loss after twelve steps on one device."""
EXAMPLE = Path(__file__).parents[2] / "examples" / "parallel_gpt.py"


def last_loss(command: list[str], *arguments: str, **environment: str) -> float:
    full = [*command, sys.executable, str(EXAMPLE), "--small", *arguments]
    done = subprocess.run(
        full, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    found = re.search(r"last loss +([\d.]+)", done.stdout)
    assert found is not None, done.stdout
    return float(found[1])


@all_forms
def test_a_training_that_was_cut_off_goes_on_with_other_devices(tmp_path: Path):
    folder = str(tmp_path / "state")
    before = last_loss(launcher(2), "--layout", "sharded", "--steps", "10", "--checkpoint", folder)
    assert before > ON_ONE_DEVICE
    after = last_loss(
        [],
        *("--layout", "tensor", "--steps", "12", "--checkpoint", folder),
        IRAX_SPMD="threads",
        IRAX_CPU_DEVICES="4",
    )
    assert abs(after - ON_ONE_DEVICE) < 2e-4
