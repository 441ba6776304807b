"""Writes the table of docs/legalizations.md: what each legalization works around.

python -m tests.upstream.table
"""

from __future__ import annotations

from pathlib import Path

from tests.upstream.reproduction import Reproduction

from irax_compiler.passes.legalize import sets
from irax_compiler.passes.legalize.legalization import Legalization
from irax_compiler.targets import all_targets

PATH = Path(__file__).parents[2] / "docs" / "legalizations.md"
BEGIN = "<!-- made by `make docs` from here -->\n"
END = "<!-- to here -->\n"


def legalizations() -> dict[str, tuple[Legalization, list[str]]]:
    """The legalizations there are, by name, each with the targets that have it."""
    found = {one.name: (one, ["all"]) for one in sets.CHLO}
    for target in all_targets():
        for one in target.legalizations:
            found.setdefault(one.name, (one, []))[1].append(target.name.removeprefix("iree-"))
    return dict(sorted(found.items()))


def table() -> str:
    """The table, a line for each legalization."""
    head = ["| legalization | targets | kind | of | program | status |", "|---" * 6 + "|"]
    return "\n".join([*head, *(_row(one, names) for one, names in legalizations().values())]) + "\n"


def _row(one: Legalization, names: list[str]) -> str:
    if one.fatal:
        shown, issue = f"none: {one.fatal}", one.issue
    else:
        shown = f"[{one.reproduction}](../tests/upstream/{one.reproduction}.mlir)"
        issue = Reproduction.read(one.reproduction).issue
    if issue:
        shown = f"{shown}, [issue]({issue})"
    cells = [
        *(f"`{one.name}`", ", ".join(names), one.kind, ", ".join(one.of)),
        *(shown, _status(one)),
    ]
    return f"| {' | '.join(cells)} |"


def _status(one: Legalization) -> str:
    if one.fixed_in:
        return f"needed before {one.fixed_in}"
    return "needed"


def page() -> str:
    """The whole page, with the table anew."""
    before, _, rest = PATH.read_text("utf-8").partition(BEGIN)
    return f"{before}{BEGIN}{table()}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PATH.write_text(page(), "utf-8")
