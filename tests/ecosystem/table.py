"""Writes docs/compatibility.md: the libraries whose quickstart programs run on irax, and how fast.

python -m tests.ecosystem.table                runs all programs, and takes minutes
python -m tests.ecosystem.table NAME ...       runs these; other rows stay
python -m tests.ecosystem.table --times        runs none: new are what `speed` and `suites` found
"""

import ast
import json
import math
import subprocess
import sys
from pathlib import Path

from tests.ecosystem.run import HERE, NAMES, RECORDED, package

PATH = Path(__file__).parents[2] / "docs" / "compatibility.md"

HEAD = """# JAX's libraries

Libraries for JAX run on irax without changes, and without JAX:

```python
import irax.compat

irax.compat.install()

import jax  # irax, under JAX's names
import jax.numpy as jnp

print(jax.jit(jax.grad(jnp.sin))(0.0))
```

```text
1.0
```

`irax python script.py` (or `python -m irax.compat script.py`) runs a program in the same way, and
takes what `python` takes: its own options (`-W ignore`), `-m package`, `-c code`, and `-` for
standard input. A traceback is the program's own.
Install the libraries without their dependency on JAX: `pip install --no-deps optax`.

`irax python --show out.html script.py` writes a page of all functions that the program jitted and
called: how often, how long that took, and how long to trace and compile, and for each function what
[`irax show`](command_line.md) has. The page is there also if the program fails. `--open` shows it
in a browser.

irax follows JAX 0.12.0.1, and `jax.__version__` says so. `irax.compat.install("0.10.2")`, or the
environment variable `IRAX_JAX_VERSION`, has it say another version, for libraries that choose by
it. Names and parameters of 0.10 are there still, with a warning where they have new names.

Options have JAX's names, in `jax.config.update` and in environment variables (`JAX_ENABLE_X64`,
`JAX_PLATFORMS`). `jax_compilation_cache_dir`, `jax_compilation_cache_max_size` and
`jax_enable_compilation_cache` choose where compiled programs are kept, which irax does without
being asked. Options that are about XLA alone, such as `jax_memory_fitting_level` or
`jax_persistent_cache_min_compile_time_secs`, are taken and change nothing
([the list](../frontend/irax/core/settings/xla_options.py)).

Classes of arrays, traced arrays, keys, shardings and devices say the modules and names of JAX's, by
which libraries choose what to do, and pickles of arrays, keys, specs and functions are read by JAX,
as JAX's are by irax. [Names that libraries use](compatibility-names.md) lists those of JAX's names
that are missing; [What JAX has and irax lacks](parity.md) lists all names, members and parameters
that are, each with its reason.

Jaxprs are those of 0.12: one class, `jax.extend.core.Jaxpr`, which has its constants; `ClosedJaxpr`
is another name of it. Programs for 0.10 that take `closed.jaxpr` and `closed.consts` run as before.

To write a program for irax itself, see [Moving from JAX](moving-from-jax.md).

The programs of this table ([tests/ecosystem](../tests/ecosystem)) train, solve or sample for some
seconds with one library each. `make ecosystem` installs the libraries and runs the programs;
`python -m tests.ecosystem.table` writes the table. "Equal" is within 0.2% of what the same program
computed with JAX, of the largest element of an array; means over long chains of random draws are
within 20%.

| library | version | its program | on irax |
|---------|---------|-------------|---------|
"""

SUITES = """
## Libraries' own tests

Samples of the libraries' own tests, drawn at random and run as they are, without JAX
(`make suites`), and the same tests with JAX; on IREE those of diffrax, equinox and lineax, on XLA's
plugin for PJRT, which compiles faster, the others. Skipped tests are not counted.

| library | version | passed | run | passed on JAX | run |
|---------|---------|-------:|----:|--------------:|----:|
"""

DOCUMENTATION = """
## JAX's documentation

`python -m tests.ecosystem.documentation DOCS` runs the cells of the pages in JAX's folder `docs` in
order, and counts those that end as on JAX, which runs too with `--jax PYTHON`. `--errors` shows why
others do not. Pages that need a TPU, a GPU, Pallas, several hosts or downloads are left out; of the
772 cells of the others, at JAX 0.10.2, 750 end as on JAX. Others build MLIR by JAX's bindings (20),
import JAX's internals (1) or use a mesh without devices (1)."""

TIMES = """
## Time per step

Processor time on one core, in microseconds, beside JAX's
([tests/ecosystem/steps.py](../tests/ecosystem/steps.py)): of a step, the shortest of five rounds,
and of the first call, in milliseconds, with what is compiled for it. `python -m
tests.ecosystem.speed --jax PYTHON` measures. These
were taken on one core that other programs used too. Under JAX, numpyro compiles its loop again in
each run, which is most of that row.

| a step | us | JAX | ratio | first call, ms | JAX | ratio |
|--------|---:|----:|------:|---------------:|----:|------:|
"""


def summary(name: str) -> str:
    """The first sentence of a program's docstring, without the library's name."""
    text = (HERE / f"{name}.py").read_text("utf-8").split('"""')[1]
    return text.partition(": ")[2].rstrip(".\n")


def result(name: str) -> str:
    """Run a program, and return "equal" or what went wrong."""
    command = [sys.executable, "-m", "tests.ecosystem.run", name]
    printed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    outcome = printed.split(" s  ", 1)[-1].strip()
    return outcome if outcome == "equal" else f"no: {outcome[:80]}".replace("|", "\\|")


def row(name: str) -> str:
    """Run a program, and return its row of the table."""
    version = json.loads((RECORDED / f"{name}.json").read_text("utf-8"))["version"]
    made = f"| {package(name)} | {version} | {summary(name)} | {result(name)} |"
    print(made, flush=True)
    return made


def suites() -> list[str]:
    """Return the rows of the table of libraries' own tests."""
    found = json.loads((HERE / "suites.json").read_text("utf-8"))
    return [
        f"| {name} | {f['version']} | {f['run'] - len(f['failed'])} | {f['run']} "
        f"| {f['jax_run'] - len(f['jax_failed'])} | {f['jax_run']} |"
        for name, f in found.items()
    ]


def times() -> list[str]:
    """Return the rows of the table of times, and the geometric means of their ratios."""
    steps = ast.parse((HERE / "steps.py").read_text("utf-8")).body
    told = {f.name: ast.get_docstring(f) for f in steps if isinstance(f, ast.FunctionDef)}
    rows, ratios = [], []
    for name, found in json.loads((HERE / "speed.json").read_text("utf-8")).items():
        step, jax_step = 1e6 * found["step"], 1e6 * found["jax_step"]
        first, jax_first = 1e3 * found["first"], 1e3 * found["jax_first"]
        ratios.append((step / jax_step, first / jax_first))
        rows.append(
            f"| {told[name]} | {step:,.0f} | {jax_step:,.0f} | {step / jax_step:.2f} "
            f"| {first:,.0f} | {jax_first:,.0f} | {first / jax_first:.2f} |"
        )
    steps_mean, first_mean = (
        math.exp(sum(map(math.log, r)) / len(r)) for r in zip(*ratios, strict=True)
    )
    return [*rows, f"| geometric mean | | | {steps_mean:.2f} | | | {first_mean:.2f} |"]


def main(arguments: list[str]) -> None:
    """Write the page."""
    kept = [line for line in PATH.read_text("utf-8").splitlines() if line.startswith("| ")]
    names = NAMES if not arguments else [n for n in arguments if not n.startswith("-")]
    rows = [
        row(name) if name in names else next(x for x in kept if f"| {summary(name)} |" in x)
        for name in NAMES
    ]
    tests = SUITES + "\n".join(suites())
    lines = [HEAD + "\n".join(rows), tests, DOCUMENTATION, TIMES + "\n".join(times()) + "\n"]
    PATH.write_text("\n".join(lines), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
