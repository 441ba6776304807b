"""The processes of a computation: this one alone, until there are several."""

from __future__ import annotations


def process_count(backend: str | None = None) -> int:
    """Return the number of processes, which is 1."""
    return 1


def process_index(backend: str | None = None) -> int:
    """Return the number of this process, which is 0."""
    return 0


def process_indices(backend: str | None = None) -> list[int]:
    """The numbers of all processes."""
    return [0]


host_count = process_count
host_id = process_index
host_ids = process_indices
