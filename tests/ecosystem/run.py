"""Runs quickstart programs of libraries for JAX on irax, and compares with JAX's numbers.

python -m tests.ecosystem.run [NAME ...]              on irax
python -m tests.ecosystem.run --record [NAME ...]     on JAX, whose numbers are written down

A number whose name begins with "about" is that of a long chain of random draws: it is compared
loosely.
"""

import importlib.metadata
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RECORDED = HERE / "recorded"
TOOLS = ("documentation", "names", "run", "speed", "steps", "suites", "table")
NAMES = sorted(p.stem for p in HERE.glob("[a-z]*.py") if p.stem not in TOOLS)
PACKAGES = {
    "crn_jax": "crn-jax",
    "dm_pix": "dm-pix",
    "e3nn_jax": "e3nn-jax",
    "flax_linen": "flax",
    "flax_nnx": "flax",
    "haiku": "dm-haiku",
    "hj_reachability": "hj-reachability",
    "im_jax": "im-jax",
    "jax_cosmo": "jax-cosmo",
    "jax_crps": "jax-crps",
    "jax_healpy": "jax-healpy",
    "jax_md": "jax-md",
    "jax_morph": "jax-morph",
    "jax_privacy": "jax-privacy",
    "jax_sysid": "jax-sysid",
    "jax_tqdm": "jax-tqdm",
    "jaxls": "almond-jaxls",
    "mamba2_jax": "mamba2-jax",
    "metalog_jax": "metalog-jax",
    "nano_moe": "nano-moe-jax",
    "nlls_gram": "nlls-gram",
    "orbax": "orbax-checkpoint",
    "ott": "ott-jax",
    "qutip_jax": "qutip-jax",
    "slsqp_jax": "slsqp-jax",
    "tenax_tn": "tenax-tn",
    "tbats": "tbats-jax",
    "tensorcircuit": "tensorcircuit-ng",
    "tfp": "tfp-nightly",
}
TOLERANCE, LOOSE = 2e-3, 0.2


def package(name: str) -> str:
    """The name of the package that a program is for."""
    return PACKAGES.get(name, name)


def numbers(name: str) -> dict[str, Any]:
    """The numbers of a program, in this process, as JSON has them."""
    import runpy

    import jax
    import numpy as np

    sys.path = [p for p in sys.path if Path(p or ".").resolve() != HERE]
    found = runpy.run_path(str(HERE / f"{name}.py"))["run"]()
    leaves = {
        key: [np.asarray(x).tolist() for x in jax.tree.leaves(value)]
        for key, value in found.items()
    }
    return {"version": importlib.metadata.version(package(name)), "numbers": leaves}


def difference(name: str, found: dict[str, Any]) -> str:
    """Return the first difference of a program's numbers from those of JAX, or an empty string."""
    import numpy as np

    expected = json.loads((RECORDED / f"{name}.json").read_text("utf-8"))["numbers"]
    if found.keys() != expected.keys():
        return f"has {sorted(found)}, not {sorted(expected)}"
    for key, leaves in expected.items():
        tolerance = LOOSE if key.startswith("about") else TOLERANCE
        if len(leaves) != len(found[key]):
            return f"{key}: {len(found[key])} arrays, not {len(leaves)}"
        for mine, its in zip(found[key], leaves, strict=True):
            a, b = np.asarray(mine, float), np.asarray(its, float)
            largest = max(np.abs(b).max(initial=0), 1)
            if a.shape != b.shape or not np.allclose(a, b, 0, tolerance * largest):
                return f"{key}: {mine}, not {its}"
    return ""


def main(arguments: list[str]) -> int:
    """Run programs, each in a process of its own; return the number that went wrong."""
    record = "--record" in arguments
    names = [a for a in arguments if not a.startswith("-")] or NAMES
    wrong = 0
    for name in names:
        start = time.perf_counter()
        how = [] if record else ["-m", "irax.compat"]
        code = f"from tests.ecosystem.run import one; one({name!r}, {record})"
        command = [sys.executable, *how, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = [x for x in done.stderr.splitlines() if "Error" in x] or ["ended"]
        last = lines[-1] if done.returncode else "equal"
        wrong += done.returncode != 0
        print(f"{name:12} {time.perf_counter() - start:5.1f} s  {last[:300]}", flush=True)
    return wrong


def one(name: str, record: bool) -> None:
    """Run a program; write its numbers down, or raise an error where they differ from JAX's."""
    found = numbers(name)
    if record:
        text = json.dumps(found, indent=1)
        (RECORDED / f"{name}.json").write_text(text + "\n", "utf-8")
        return
    differs = difference(name, found["numbers"])
    if differs:
        raise AssertionError(differs)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
