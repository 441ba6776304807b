"""Text of others', made fit to be printed."""

from __future__ import annotations


def printable(text: str) -> str:
    r"""The text with escapes for what is not to be seen, but for line ends and tabs: the codes that
    move a terminal's cursor, or change the direction of what is written.

    >>> printable("tab\tle\x1b[2J")
    'tab\tle\\x1b[2J'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else repr(c)[1:-1] for c in text)
