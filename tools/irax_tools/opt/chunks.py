"""The modules of an input, which `--split-input-file` divides at lines `// -----`."""

from __future__ import annotations

import re

SEPARATOR = "// -----"
_SEPARATORS = re.compile(rf"^{SEPARATOR}[ \t]*$", re.MULTILINE)


def split(text: str) -> list[str]:
    r"""The parts of a text, each after as many empty lines as there are lines before it, so that
    locations in it are those of the whole.

    >>> split("a\n// -----\nb\n")
    ['a\n', '\n\nb\n']
    """
    parts = _SEPARATORS.split(text)
    found, lines = [], 0
    for number, part in enumerate(parts):
        part = part.removeprefix("\n") if number else part
        found.append("\n" * lines + part)
        lines += part.count("\n") + 1
    return found


def join(outputs: list[str]) -> str:
    """The text that is divided into the given modules again."""
    return f"{SEPARATOR}\n".join(outputs)
