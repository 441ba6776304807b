"""A wrong program, and the words that its message has to have."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mistake:
    """A wrong program."""

    title: str
    code: str
    words: tuple[str, ...]
    """The words that a message has to have: the argument, the numbers, the cure."""
