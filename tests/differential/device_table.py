"""Writes the table of docs/devices.md: what of each op runs on which device.

    python -m tests.differential.device_table

A case is refused where lowering it for the device's target raises UnsupportedOp. That the others
are right there, or compile, is what the tests in `DEVICES` assert.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.differential.devices.test_vulkan import narrower
from tests.differential.harness import CASES, Case
from tests.differential.ops_table import dtypes, listed

from irax_compiler import targets
from irax_compiler.lowering import lower
from irax_compiler.ops.core import UnsupportedOp

PATH = Path(__file__).parents[2] / "docs" / "devices.md"
BEGIN = "<!-- made by `make docs` from here -->\n"
END = "<!-- to here -->\n"


@dataclass(frozen=True)
class Column:
    """A device, and what its tests assert of what is not refused."""

    title: str
    target: str
    word: str


DEVICES = (
    Column("cpu", "iree-cpu", "right"),  # test_iree.py
    Column("vulkan", "iree-vulkan", "right"),  # test_vulkan.py, on lavapipe
    Column("cuda", "iree-cuda", "compiles"),  # test_cuda.py
    Column("pjrt:cpu", "pjrt", "right"),  # test_pjrt.py
    Column("tpu", "tpu", "compiles"),  # test_tpu.py
)


@cache
def refusal(case: Case, target: str) -> str | None:
    """Why a target does not take a case; None if it does."""
    try:
        lowered = lower(case.module(), "main", target)
        if target in ("pjrt", "tpu"):
            targets.compile(lowered, target)
    except UnsupportedOp as error:
        return reason_of(str(error))
    return None


def reason_of(text: str) -> str:
    """An error without what it says of the one case: places, shapes, names of ops and targets."""
    text = re.sub(r"^(argument|result) \d+ of [\w.]+ is [^:]*: ", "", text)
    text = re.sub(r" at (loc\([^()]*\)|unknown location|unknown)", "", text)
    text = re.sub(r" (has|takes or returns) a value of type [^:]*", "", text)
    text = re.sub(r"^(irax|stablehlo|chlo|func)\.\w+: ", "", text)
    text = re.sub(r"\biree-\w+ (has|does)", r"it \1", text)
    return re.sub(r"the target (iree-\w+|pjrt|tpu) call", "it call", text)


@cache
def _narrower(case: Case) -> Case:
    """As it is tested where there is no float64."""
    return narrower(case)


class Notes:
    """Reasons, numbered as they come."""

    def __init__(self, text: str = "") -> None:
        """Read the marks of a page; without one, there are none."""
        found = re.findall(r"^(\d+)\. (.*)$", text, re.MULTILINE)
        self._numbers = {reason: int(number) for number, reason in found}

    def number(self, reason: str) -> int:
        return self._numbers.setdefault(reason, len(self._numbers) + 1)

    def __str__(self) -> str:
        return "".join(f"{number}. {reason}\n" for reason, number in self._numbers.items())


def table() -> str:
    """The table and its notes."""
    notes = Notes()
    rows = [row(name, cases, notes) for name, cases in by_op().items()]
    return "\n".join([*head(), *rows]) + f"\n\nReasons:\n\n{notes}"


def head() -> list[str]:
    """The lines above the rows."""
    titles = [f"`{column.title}`" for column in DEVICES]
    return [f"| op | {' | '.join(titles)} |", "|----" * (len(titles) + 1) + "|"]


def by_op() -> dict[str, list[Case]]:
    """The cases of each op, by its name: those of it alone, if there are any."""
    found: dict[str, list[Case]] = {}
    for case in CASES:
        for name in set(case.op_names):
            found.setdefault(name, []).append(case)
    return {
        name: [c for c in found[name] if len(set(c.op_names)) == 1] or found[name]
        for name in sorted(found)
    }


def row(name: str, cases: list[Case], notes: Notes) -> str:
    cells = [cell(cases, column, notes) for column in DEVICES]
    return f"| `{name}` | {' | '.join(cells)} |"


def cell(cases: list[Case], column: Column, notes: Notes) -> str:
    """`right`, `refused (1)`, or `right; not f64, complex<f64> (1)`."""
    if column.target == "iree-vulkan":
        cases = [case for each in cases for case in dict.fromkeys([_narrower(each), each])]
    refused: dict[str, list[Case]] = {}
    accepted = []
    for case in cases:
        reason = refusal(case, column.target)
        if reason is None:
            accepted.append(case)
        else:
            refused.setdefault(reason, []).append(case)
    parts = [column.word] if accepted else []
    for reason, those in refused.items():
        number = notes.number(reason)
        if not accepted:
            parts.append(f"refused ({number})")
            continue
        missing = set(dtypes(those)) - set(dtypes(accepted))
        what = listed(missing) or f"{len(those)} of {len(cases)} cases"
        parts.append(f"not {what} ({number})")
    return "; ".join(dict.fromkeys(parts))


def on_page() -> str:
    """The table as it is in the page."""
    _, _, rest = PATH.read_text("utf-8").partition(BEGIN)
    return rest.partition(END)[0].strip() + "\n"


def write() -> None:
    """Puts the table into the page."""
    before, _, rest = PATH.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PATH.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}", "utf-8")


if __name__ == "__main__":
    write()
