"""Writers and readers of the cache of compiled programs, for `benchmarks.soak`: processes that
start fast, because they import the cache and nothing else of irax.
"""

from __future__ import annotations

import random

import numpy as np

from irax_compiler import cache

ARTEFACTS = 100


def artefact(number: int) -> tuple[str, bytes]:
    """Return the name and the content of one of the artefacts."""
    content = np.random.default_rng(number).bytes(200_000 + number)
    return cache.key(b"soak", [str(number)]), content


def write_for_ever() -> None:
    """Write artefacts to the cache until the process is killed."""
    found = [artefact(number) for number in range(10)]
    print("begun", flush=True)
    while True:
        for name, content in found:
            cache.store(name, content)


def check() -> None:
    """Fail if the cache returns something that is not what was written."""
    for number in range(ARTEFACTS):
        name, content = artefact(number)
        assert cache.load(name) in (None, content)


def write_and_read(count: int) -> None:
    """Write and read artefacts in random order, as other processes do at the same time."""
    for _ in range(count):
        name, content = artefact(random.randrange(ARTEFACTS))
        cache.store(name, content)
        assert cache.load(name) in (None, content)  # another process may have removed it
