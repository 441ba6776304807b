"""Options from the command line, as absl reads them."""

import subprocess
import sys

import pytest

pytest.importorskip("absl", reason="absl reads the command line")

PROGRAM = """
from absl import app
import irax
irax.config.parse_flags_with_absl()
print(irax.config.debug_nans, irax.config.numpy_rank_promotion, irax.config.enable_x64)

def main(rest):
    print(rest[1:], irax.config.debug_infs)

app.run(main)
"""


def test_options_from_the_command_line():
    given = ["--jax_debug_nans=true", "--irax_numpy_rank_promotion=warn", "--nojax_enable_x64"]
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, *given, "--jax_debug_infs", "--", "--jax_enable_x64"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.splitlines() == ["True warn False", "['--jax_enable_x64'] True"]
