"""The example that several devices train: alone, in threads, in processes, by XLA; cut off and
gone on with.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.communication.test_communication import launcher
from tests.runtime.pjrt.pjrt_programs import needs_plugin
from tests.sampling import all_forms

ON_ONE_DEVICE = 1.7344
"""The loss after twelve steps on one device."""
EXAMPLE = Path(__file__).parents[3] / "examples" / "parallel_gpt.py"
SMALL_STEPS = ("--small", "--steps", "12")
THREADS = {"IRAX_SPMD": "threads", "IRAX_CPU_DEVICES": "4"}
WAYS: dict[str, Any] = {
    "one device": ([], {}),
    "one buffer": ([], {"IRAX_CPU_DEVICES": "4"}),
    "threads": ([], THREADS),
    "two processes": (launcher(2), {}),
    "four processes": (launcher(4), {}),
    "devices of processes": (launcher(2), {"IRAX_CPU_DEVICES": "2"}),
    "xla": ([], {"IRAX_PLATFORMS": "pjrt:cpu", "IRAX_CPU_DEVICES": "4"}),
}
"""The launcher and the environment of each way to run it."""
KILLED = f"""
import os, signal, sys
sys.path.insert(0, {str(EXAMPLE.parent)!r})
import gpt, irax, parallel_gpt
irax.distributed.initialize()
train_step = gpt.train_step
def step(params, moments, count, *rest):
    if count == 12 and irax.process_index() == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return train_step(params, moments, count, *rest)
gpt.train_step = step
parallel_gpt.main(sys.argv[1:])
"""


def run(
    command: list[str], program: tuple[str, ...], *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    full = [*command, sys.executable, *program, *SMALL_STEPS, *arguments]
    return subprocess.run(
        full, env={**os.environ, **environment}, capture_output=True, text=True, timeout=300
    )


def last_loss(command: list[str], *arguments: str, **environment: str) -> float:
    done = run(command, (str(EXAMPLE),), *arguments, **environment)
    assert done.returncode == 0, done.stderr
    found = re.search(r"last loss +([\d.]+)", done.stdout)
    assert found is not None, done.stdout
    return float(found[1])


@all_forms
@pytest.mark.parametrize(
    "way", [w if w != "xla" else pytest.param(w, marks=needs_plugin) for w in WAYS]
)
@pytest.mark.parametrize("layout", ["data", "tensor", "sharded"])
def test_all_ways_have_the_same_losses(way: str, layout: str):
    command, environment = WAYS[way]
    assert abs(last_loss(command, "--layout", layout, **environment) - ON_ONE_DEVICE) < 2e-4


@all_forms
def test_a_training_whose_rank_is_killed_goes_on_with_other_devices(tmp_path: Path):
    state = ("--checkpoint", str(tmp_path / "state"))
    killed = run(launcher(2), ("-c", KILLED), "--layout", "sharded", *state)
    assert killed.returncode != 0
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["step-000010"]
    after = last_loss([], "--layout", "tensor", *state, **THREADS)
    assert abs(after - ON_ONE_DEVICE) < 2e-4
