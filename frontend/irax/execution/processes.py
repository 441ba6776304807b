"""The processes of a job."""

from __future__ import annotations

from irax.core.wrapping import name_aliases
from irax_runtime import distributed


def process_count(backend: str | None = None) -> int:
    """Return the number of processes of the job: 1, but for `irax.distributed.initialize`.

    Args:
        backend: of no effect: a job has the same processes for all platforms.

    >>> irax.host_count()
    1

    >>> irax.process_count()
    1
    """
    return distributed.process_count()


def process_index(backend: str | None = None) -> int:
    """Return the number of this process in its job.

    Args:
        backend: of no effect: a process has one number for all platforms.

    >>> irax.host_id()
    0

    >>> irax.process_index()
    0
    """
    return distributed.process_index()


def process_indices(backend: str | None = None) -> list[int]:
    """The numbers of all processes.

    Args:
        backend: of no effect: a job has the same processes for all platforms.

    >>> irax.host_ids()
    [0]

    >>> irax.process_indices()
    [0]
    """
    return list(range(process_count(backend)))


host_count = process_count
host_id = process_index
host_ids = process_indices
name_aliases(globals(), "host_count", "host_id", "host_ids")
