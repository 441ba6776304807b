"""Training that goes on after processes are killed, until it is done, with the same losses."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.hosts.bed import ROOT, Bed, why_not
from tests.hosts.jobs import is_python
from tests.sampling import ALL_FORMS, all_forms

pytestmark = [pytest.mark.needs_system(why_not()), pytest.mark.slow]

EXAMPLES = ROOT / "examples" / "hosts"
OWN = f"{sys.executable} {EXAMPLES / 'train.py'}"
ORBAX = f"{sys.executable} -m irax.compat {EXAMPLES / 'with_orbax.py'}"
needs_orbax = pytest.mark.skipif(find_spec("orbax") is None, reason="orbax is not installed")
PROGRAMS = [OWN, pytest.param(ORBAX, marks=[needs_orbax, all_forms])]
programs = pytest.mark.parametrize("program", PROGRAMS, ids=["own", "orbax"])
KILLS = 10 if ALL_FORMS else 2
LOOP = "until [ -e {0}/finished ]; do {1} {0} {2} || sleep 0.2; done"


def losses(folder: Path) -> dict[int, str]:
    """Return the loss of each step. One that was done again has the same."""
    found: dict[int, str] = {}
    for line in (folder / "losses.txt").read_text().splitlines():
        step, value = line.split()
        assert found.setdefault(int(step), value) == value
    return found


def train(bed: Bed, program: str, folder: Path, steps: int, kills: int = 0) -> None:
    """Train in a loop on each host of a bed, and kill processes meanwhile, now and then."""
    folder.mkdir(exist_ok=True)
    rng = random.Random(0)
    loops = []
    for number, host in enumerate(bed.hosts):
        variables = {
            "JAX_COORDINATOR_ADDRESS": "h1:7777",
            "JAX_NUM_PROCESSES": str(len(bed.hosts)),
            "JAX_PROCESS_ID": str(number),
        }
        loop = LOOP.format(folder, program, steps)
        said = open(folder / f"said-{number}.txt", "a")  # noqa: SIM115 (the loop has it)
        loops.append(host.start(["sh", "-c", loop], env=variables, stdout=said))
        said.close()
    for _ in range(kills):
        before = len((folder / "losses.txt").read_text()) if (folder / "losses.txt").exists() else 0
        while not (folder / "losses.txt").exists() or (
            len((folder / "losses.txt").read_text()) <= before
        ):
            assert not (folder / "finished").exists()
            time.sleep(0.01)
        time.sleep(rng.random() * (0.3 if program == OWN else 5.0))
        for pid in rng.choice(bed.hosts).processes(f"{program} {folder}"):
            if is_python(pid):  # not the loop
                os.kill(pid, signal.SIGKILL)
    for loop in loops:
        assert loop.wait(600) == 0


@programs
def test_kills_change_no_bit_of_the_losses(program: str, tmp_path: Path):
    steps = (400 if program == OWN else 40) * KILLS
    with Bed(2) as bed:
        train(bed, program, tmp_path / "undisturbed", steps)
        train(bed, program, tmp_path / "killed", steps, KILLS)
    expected, found = losses(tmp_path / "undisturbed"), losses(tmp_path / "killed")
    assert list(expected) == list(range(steps))
    assert found == expected


@programs
def test_a_checkpoint_is_restored_on_other_numbers_of_processes(program: str, tmp_path: Path):
    whole = {}
    with Bed(2) as bed:
        train(bed, program, tmp_path / "start", 10)
    (tmp_path / "start" / "finished").unlink()
    for count in (1, 3):
        folder = tmp_path / str(count)
        shutil.copytree(tmp_path / "start", folder)
        with Bed(count) as bed:
            train(bed, program, folder, 20)
        whole[count] = {step: float.fromhex(value) for step, value in losses(folder).items()}
    assert list(whole[1]) == list(whole[3]) == list(range(20))
    assert [whole[1][step] for step in range(20)] == pytest.approx(
        [whole[3][step] for step in range(20)], rel=1e-4
    )
