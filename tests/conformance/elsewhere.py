"""Programs whose results are wrong in another compiler, although each of their operations is right.

    // XLA adds the starts of nested dynamic slices.
    // WRONG: jaxlib 0.10.2, jaxlib 0.12.0.1
    // INPUT: np.arange(8.0)
    // NUMPY: a[4:8][1:3]
    func.func @main(%a: tensor<8xf64>) -> tensor<2xf64> { ... }

They lie in the folder `elsewhere`, made small from what `programs.py` found. `NUMPY` is a result,
of the inputs a, b, ...

python -m tests.conformance.elsewhere ENVIRONMENT/bin/python     tries them in its jaxlib
python -m tests.conformance.elsewhere                            writes docs/reports/elsewhere.md
"""

from __future__ import annotations

import re
import string
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tests.conformance.peers import found_by
from tests.conformance.run import versions

FOLDER = Path(__file__).with_name("elsewhere")
PAGE = Path(__file__).parents[2] / "docs" / "reports" / "elsewhere.md"
MARK = "<!-- made by `python -m tests.conformance.elsewhere` from here -->\n"


@dataclass(frozen=True)
class Elsewhere:
    """A program, and where it is wrong."""

    name: str
    why: str
    wrong: tuple[str, ...]
    inputs: tuple[str, ...]
    numpy: tuple[str, ...]
    program: str

    @classmethod
    def read(cls, name: str) -> Elsewhere:
        """The program of a name."""
        text = (FOLDER / f"{name}.mlir").read_text("utf-8")
        lines = re.findall(r"^// (.*)$", text, re.MULTILINE)
        fields = [re.fullmatch(r"(WRONG|INPUT|NUMPY): (.*)", line) for line in lines]
        found: dict[str, list[str]] = {"WRONG": [], "INPUT": [], "NUMPY": []}
        for field in fields:
            if field is not None:
                found[field[1]].append(field[2])
        why = " ".join(line for line, field in zip(lines, fields, strict=True) if field is None)
        wrong = tuple(found["WRONG"][0].split(", "))
        program = re.sub(r"^//.*\n", "", text, flags=re.MULTILINE)
        return cls(name, why, wrong, tuple(found["INPUT"]), tuple(found["NUMPY"]), program)

    def module(self) -> str:
        """The program as StableHLO."""
        return self.program

    @property
    def operands(self) -> list[np.ndarray]:
        """The arrays that @main is called with."""
        return [np.asarray(eval(text, {"np": np})) for text in self.inputs]

    def expected(self) -> list[np.ndarray]:
        """The results, by NumPy."""
        known: dict[str, Any] = dict(zip(string.ascii_lowercase, self.operands, strict=False))
        return [np.asarray(eval(text, {"np": np, **known})) for text in self.numpy]


def all_programs() -> list[Elsewhere]:
    """All programs, by name."""
    return [Elsewhere.read(path.stem) for path in sorted(FOLDER.glob("*.mlir"))]


def tried(python: str) -> None:
    """Tell which programs are wrong in the jaxlib of an environment, and what they give."""
    programs, version = all_programs(), f"jaxlib {versions('jaxlib', python)}"
    for program, found in zip(programs, found_by(python, "xla", programs), strict=True):
        right = program.expected()
        is_right = not isinstance(found, str) and all(map(np.array_equal, found, right))
        said = version in program.wrong
        told = "as said" if is_right != said else "CHANGED"
        print(f"{program.name}: {'right' if is_right else found} in {version}, {told}")


def page() -> str:
    """The page, with the table and the programs anew."""
    head = PAGE.read_text("utf-8").partition(MARK)[0]
    return "".join([head, MARK, *sections()])


def sections() -> list[str]:
    """A section for each program."""
    return [
        f"\n### {p.name.replace('_', ' ').capitalize()}\n\n{p.why}\n\n"
        f"- wrong in: {', '.join(p.wrong)}\n"
        f"- inputs: {', '.join(f'`{x}`' for x in p.inputs)}\n"
        f"- right: {', '.join(f'`{x}`' for x in p.numpy)}, with the inputs as `a`, `b`, ...\n\n"
        f"```mlir\n{p.program.strip()}\n```\n"
        for p in all_programs()
    ]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        tried(sys.argv[1])
    else:
        PAGE.write_text(page(), "utf-8")
