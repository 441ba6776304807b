"""Try the commands that docs/how-to/frameworks.md shows on a module of each folder:
`python -m tests.modules.commands FOLDER ...`. What `irax run` and the runtime alone compute from
the file of `irax compile` is compared with what the framework did.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

IRAX = [sys.executable, "-m", "irax_tools.cli"]
ALONE = """
import sys
import irax_runtime, numpy
given = numpy.load(sys.argv[2])
run = irax_runtime.load(sys.argv[1])
numpy.savez(sys.argv[3], *run(*(given[f"arg{i}"] for i in range(len(given)))))
assert not {"irax", "irax_compiler"} & set(sys.modules)
"""


def call(*command: str) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def first(path: Path) -> np.ndarray:
    with np.load(path) as found:
        return found[found.files[0]]


def try_commands(module: Path) -> None:
    """Raise an error where a command fails, or computes other values."""
    with np.load(module.with_suffix(".npz")) as arrays:
        result = arrays["result"]
        given = {f"arg{i}": arrays[f"argument{i}"] for i in range(len(arrays) - 1)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inputs, file = str(folder / "inputs.npz"), str(folder / "f.irax")
        np.savez(inputs, **given)
        for command in ("info", "show"):
            call(*IRAX, command, str(module))
        call(*IRAX, "show", str(module), "--html", str(folder / "f.html"))
        call(*IRAX, "vjp", str(module), "-o", str(folder / "vjp.mlir"))
        call(*IRAX, "vmap", str(module), "--size", "2", "-o", str(folder / "rows.mlir"))
        call(*IRAX, "compile", str(module), "-o", file)
        call(*IRAX, "run", str(module), "--inputs", inputs, "-o", str(folder / "run.npz"))
        call(*IRAX, "run", file, "--inputs", inputs, "-o", str(folder / "file.npz"))
        call(sys.executable, "-c", ALONE, file, inputs, str(folder / "alone.npz"))
        for found in ("run", "file", "alone"):
            got = first(folder / f"{found}.npz")
            np.testing.assert_allclose(got, result, rtol=2e-3, atol=1e-4, err_msg=found)


if __name__ == "__main__":
    for one in map(Path, sys.argv[1:]):
        chosen = min(one.glob("*.mlir"))
        try_commands(chosen)
        print(f"{one.name}: the commands do {chosen.stem}")
