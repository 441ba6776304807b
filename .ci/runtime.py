"""Runs the tutorial on deployment where only irax-runtime is installed.

python runtime.py DEPLOYMENT.md IRAX

The Python that runs this has irax-runtime and no irax, and IRAX is the command `irax` of another
environment, which compiles the file. It fails where the program prints other than the page says.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path


def main(page: Path, irax: str) -> None:
    """Compile the tutorial's function with irax, and run its program without."""
    for name in ("irax", "irax_compiler", "iree.compiler", "scipy"):
        parent = name.partition(".")[0]
        if importlib.util.find_spec(parent) and importlib.util.find_spec(name):
            sys.exit(f"{name} is installed in {sys.prefix}, which was to have irax-runtime alone")
    text = page.read_text("utf-8")
    files = dict(re.findall(r"^```py\n# (\w+\.py)\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
    for name in ("model.py", "serve.py"):
        Path(name).write_text(files[name], "utf-8")
    (command,) = re.findall(r"^(irax compile .* -o predict\.irax)$", text, re.MULTILINE)
    output([irax, *shlex.split(command)[1:]])
    wanted = re.search(
        r"^python serve\.py\n```\n+```text\n(.*?)^```", text, re.DOTALL | re.MULTILINE
    )
    found = output([sys.executable, "serve.py"])
    if wanted is None or found != wanted[1]:
        sys.exit(f"serve.py prints\n{found}and the page says\n{wanted and wanted[1]}")
    print(f"The tutorial's program runs with {sys.prefix}")


def output(command: list[str]) -> str:
    """Return what a command prints. Ends this program where the command fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2])
