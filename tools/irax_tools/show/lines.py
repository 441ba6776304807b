"""The text of a module, line by line, and which operation each line is of.

MLIR prints the location of an operation at its end. So a copy of the module, in which the location
of each operation is its number, says where operations are in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from irax_compiler import mlir
from irax_compiler.mlir import Module, Operation, ir

LONGEST_CONSTANT = 16
"""Constants of more elements are elided."""

_AT_END = re.compile(r' loc\((#loc\d*|"#":\d+:0)\)$')
_ALIAS = re.compile(r'(#loc\d*) = loc\("#":(\d+):0\)$')
_LOCATION = re.compile(r' loc\((?:[^()"]|"[^"]*"|\((?:[^()]|\([^()]*\))*\))*\)')


@dataclass
class Line:
    """A line of the text, without locations."""

    text: str
    operation: int = -1
    """The number of the operation that begins here, in the order of the text; -1 if none does."""
    last: int = -1
    """The line that it ends on."""


def operations_of(module: Module) -> list[Operation]:
    """All operations inside a module, in the order in which they begin in its text."""
    found: list[Operation] = []

    def visit(operation: Operation) -> ir.WalkResult:
        found.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found[1:]


def number(operations: list[Operation]) -> None:
    """Makes the location of each operation its number; those that they had are lost."""
    for i, operation in enumerate(operations):
        operation.location = mlir.file_location("#", i)


def lines_of(module: Module) -> list[Line]:
    """The lines inside a module whose operations are numbered, after its abbreviations."""
    text = module.operation.get_asm(enable_debug_info=True, large_elements_limit=LONGEST_CONSTANT)
    assert isinstance(text, str)
    printed = text.splitlines()
    aliases = filter(None, map(_ALIAS.match, printed))
    numbers: dict[str, str] = {match[1]: match[2] for match in aliases}
    first = next(i for i, line in enumerate(printed) if line.startswith("module"))
    last = next(i for i, line in enumerate(printed) if line.startswith("}") and i > first)
    lines = [Line(line) for line in printed[:first] if not line.startswith("#loc")]
    open_: list[int] = []  # the lines on which the operations begin that have not ended
    inside_header = False
    for raw in printed[first + 1 : last]:
        at_end = _AT_END.search(raw)
        text = _LOCATION.sub("", raw).removeprefix("  ")
        stripped = text.lstrip()
        here = len(lines)
        lines.append(Line(text))
        is_label = stripped.startswith("^")
        if not (inside_header or is_label or stripped.startswith(("}", "cond {"))):
            open_.append(here)
        inside_header = not (at_end or text.endswith(("{", ":")))
        if at_end and open_ and not is_label:
            begin = open_.pop()
            found: str = at_end[1]
            lines[begin].operation = int(numbers.get(found) or found.split(":")[1])
            lines[begin].last = here
    return lines
