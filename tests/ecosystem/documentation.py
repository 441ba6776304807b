"""Runs the cells of JAX's documentation on irax, and counts those that end as they do on JAX.

python -m tests.ecosystem.documentation DOCS [--jax PYTHON] [--errors] [PAGE ...]

DOCS is the folder `docs` of JAX's sources. A page is a Markdown file with cells, which run in
order in one process, as a notebook's do: one that raises an error does not end it. PYTHON has JAX
and runs the same cells; without it, a cell is taken to raise an error on JAX where it has the tag
`raises-exception`, and only there. What is printed is not compared. `--errors` shows the errors of
cells that end otherwise.
"""

import argparse
import ast
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECONDS = 600
SKIPPED = {
    "notebooks/Neural_Network_and_Data_Loading": "downloads data",
    "notebooks/neural_network_with_tfds_data": "downloads data",
    "notebooks/colocated-python": "is of Pathways, in the cloud",
    "notebooks/cute_dsl_jax": "needs a GPU",
    "ffi": "needs a library that is built with XLA's headers",
    "notebooks/layout": "shows what some platforms alone do",
    "notebooks/host-offloading": "needs a TPU or GPU",
    "distributed_data_loading": "needs several hosts",
    "jep/9407-type-promotion": "needs PyTorch and TensorFlow",
    "pallas/": "is of Pallas",
}
"""Pages that are not run, and why not."""
FENCE = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONS = re.compile(r"\A(?:---\n.*?^---\n|(?::[^\n]*\n)*)", re.MULTILINE | re.DOTALL)
MAGIC = re.compile(r"^(\s*)%(?:time|timeit(?: -\w+)*) (?=\S)", re.MULTILINE)
COMMAND = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)
CAUGHT = "with expectNotImplementedError"
"""A context of the page jax-primitives, which catches the errors of cells that have the tag."""
RAISES, NOT_RUN = "raises-exception", "skip-execution"


@dataclass(frozen=True)
class Cell:
    """The code of a cell, without what only a notebook understands, and if it raises an error."""

    code: str
    raises: bool


def pages(docs: Path) -> dict[str, Path]:
    """Return the pages that have cells and are run, by name."""
    found = {p.relative_to(docs).with_suffix("").as_posix(): p for p in sorted(docs.rglob("*.md"))}
    return {
        name: path
        for name, path in found.items()
        if not name.startswith(tuple(SKIPPED)) and cells(path.read_text("utf-8"))
    }


def cells(text: str) -> list[Cell]:
    """Return the cells of a page that are run."""
    found = []
    for body in FENCE.findall(text):
        options = OPTIONS.match(body)
        tags = options.group() if options else ""
        code = COMMAND.sub(r"\1pass", MAGIC.sub(r"\1", body[len(tags) :]))
        if NOT_RUN not in tags:
            found.append(Cell(code, RAISES in tags and CAUGHT not in code))
    return found


def execute(code: str, names: dict[str, Any]) -> None:
    """Run a cell, and show the value of its last line, as a notebook does."""
    body = ast.parse(code, "<cell>").body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
        if value is not None:
            print(repr(value))


def errors(path: Path) -> list[str]:
    """Run the cells of a page in this process; return their errors, empty where there is none."""
    names: dict[str, Any] = {"__name__": "__main__"}
    found = []
    for cell in cells(path.read_text("utf-8")):
        try:
            execute(cell.code, names)
            found.append("")
        except (Exception, SystemExit) as error:
            found.append(" ".join(f"{type(error).__name__}: {error}".split()))
    return found


def one(path: str, result: str) -> None:
    """Run a page in its own folder, and write the errors of its cells to a file."""
    import matplotlib

    matplotlib.use("agg")
    os.chdir(Path(path).parent)
    Path(result).write_text(json.dumps(errors(Path(path))), "utf-8")


def run(path: Path, python: list[str]) -> list[str]:
    """Run a page in a process of its own; return the errors of its cells."""
    with tempfile.TemporaryDirectory() as folder:
        result, log = Path(folder) / "result.json", Path(folder) / "log"
        call = f"one({str(path.resolve())!r}, {str(result)!r})"
        code = f"from tests.ecosystem.documentation import one; {call}"
        command = [*python, "-c", code]
        with log.open("w") as out, contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(command, stdout=out, stderr=out, timeout=SECONDS, check=False)
        if result.exists():
            return json.loads(result.read_text("utf-8"))
        tail = " ".join(log.read_text("utf-8", "replace").split())[-300:]
        return [f"the process ended: {tail}"] * len(cells(path.read_text("utf-8")))


def compare(name: str, path: Path, jax: str | None, show: bool) -> tuple[int, int]:
    """Run a page, print its line, and return how many cells end as on JAX and how many it has."""
    found = cells(path.read_text("utf-8"))
    raises = [bool(error) for error in run(path, [jax])] if jax else [c.raises for c in found]
    mine = run(path, [sys.executable, "-m", "irax.compat"])
    other = [i for i, error in enumerate(mine) if raises[i] != bool(error)]
    print(f"{name:55} {len(mine) - len(other):3} of {len(mine):3}", flush=True)
    for i in other if show else ():
        print(f"    cell {i}: {mine[i][:400] or 'no error'}", flush=True)
    return len(mine) - len(other), len(mine)


def main() -> int:
    """Run pages; return 1 if a cell of theirs does not end as on JAX."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("docs", type=Path)
    parser.add_argument("pages", nargs="*")
    parser.add_argument("--jax")
    parser.add_argument("--errors", action="store_true")
    given = parser.parse_intermixed_args()
    chosen = {n: p for n, p in pages(given.docs).items() if not given.pages or n in given.pages}
    counts = [compare(n, p, given.jax, given.errors) for n, p in chosen.items()]
    same, total = (sum(column) for column in zip(*counts, strict=True))
    print(f"{same} of {total} cells end as on JAX: {100 * same / total:.1f}%")
    return int(same < total)


if __name__ == "__main__":
    sys.exit(main())
