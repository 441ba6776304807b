"""Text of others', made fit to be printed."""

from __future__ import annotations

from collections.abc import Sequence


def printable(text: str) -> str:
    r"""The text with escapes for what is not to be seen, but for line ends and tabs: the codes that
    move a terminal's cursor, or change the direction of what is written.

    >>> printable("tab\tle\x1b[2J")
    'tab\tle\\x1b[2J'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)


_MOST_LISTED = 12
"""The most types of arguments that an error lists."""


def expected_types(types: Sequence[str], fits: Sequence[bool]) -> str:
    """Return the types that a function takes, as an error says them: of many, the first that an
    argument does not have. `fits` tells of arguments if they have theirs.
    """
    if len(types) <= _MOST_LISTED:
        return f"expected {', '.join(types) or 'none'}"
    first = next((i for i, fit in enumerate(fits) if not fit), len(fits))
    if first >= len(types):
        return f"argument {first} is the first beyond the {len(types)}"
    return f"the first that differs is argument {first}, expected {types[first]}"
