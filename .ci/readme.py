"""Runs the README's examples with the Python that runs this, as someone does who installed irax.

python readme.py README.md

It is for an environment in which nothing but irax is installed, and for a folder outside of the
sources. It fails where irax is not that environment's, or prints other than the README says.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path


def main(readme: Path) -> None:
    """Run the first block of Python and the first of commands."""
    text = readme.read_text("utf-8")
    python, printed, commands = (block(text, kind) for kind in ("python", "text", "sh"))
    place = output([sys.executable, "-c", "import irax; print(irax.__file__)"]).strip()
    if not Path(place).is_relative_to(sys.prefix):
        sys.exit(f"irax is imported from {place}, which is not in {sys.prefix}")
    found = output([sys.executable, "-c", python])
    if found != printed:
        sys.exit(f"The README's example prints\n{found}and not\n{printed}")
    output(["sh", "-ec", commands])
    print(f"The README's examples run with {place}")


def block(text: str, kind: str) -> str:
    """Return the first block of a kind."""
    found = re.search(rf"^```{kind}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    if not found:
        sys.exit(f"The README has no block of {kind}")
    return found[1]


def output(command: list[str]) -> str:
    """Return what a command prints. Ends this program where the command fails."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, env={**environment, "PATH": path}, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
