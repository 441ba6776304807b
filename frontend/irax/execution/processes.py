"""The processes of a computation: this one alone, until there are several."""

from __future__ import annotations


def process_count(backend: str | None = None) -> int:
    """How many processes there are."""
    return 1


def process_index(backend: str | None = None) -> int:
    """The number of this process."""
    return 0


def process_indices(backend: str | None = None) -> list[int]:
    """The numbers of all processes."""
    return [0]


host_count = process_count
host_id = process_index
host_ids = process_indices
