"""Tests that the default suite takes a sample of.

With `@pytest.mark.sampled(5)`, a fifth of a test's cases run by default, and the others are slow
tests. What is too much for these goes through `sample`: IRAX_ALL_FORMS=1 (`make fuzz`) runs all.
"""

from __future__ import annotations

import math
import os
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TypeVar

import pytest

T = TypeVar("T")

ALL_FORMS = bool(os.environ.get("IRAX_ALL_FORMS"))
all_forms = pytest.mark.skipif(not ALL_FORMS, reason="takes long: set IRAX_ALL_FORMS=1 to run it")


def sample(items: Sequence[T], every: int) -> Sequence[T]:
    """Return each of so many items; all of them in the whole suite."""
    return items if ALL_FORMS else items[::every]


def mark_slow(items: Iterable[pytest.Item]) -> None:
    """Mark as slow what the samples of tests with the marker `sampled` leave out."""
    functions = defaultdict(list)
    for item in items:
        is_sampled = item.get_closest_marker("sampled") and not item.get_closest_marker("slow")
        if isinstance(item, pytest.Function) and is_sampled:
            functions[item.nodeid.partition("[")[0]].append(item)
    for cases in functions.values():
        (every,) = cases[0].get_closest_marker("sampled").args
        chosen = covering(cases, math.ceil(len(cases) / every))
        for case in cases:
            if case not in chosen:
                case.add_marker(pytest.mark.slow)


def covering(cases: Sequence[pytest.Function], count: int) -> list[pytest.Function]:
    """Return so many of a test's cases, always the same: they have as many values as possible of
    each `parametrize`.
    """
    rest = sorted(cases, key=lambda case: zlib.crc32(case.nodeid.encode()))
    if len(rest[0].callspec._idlist) == 1:
        return rest[:count]
    seen: set[tuple[int, str]] = set()
    chosen = []
    for _ in range(count):
        best = max(rest, key=lambda case: len(_values(case) - seen))
        rest.remove(best)
        chosen.append(best)
        seen |= _values(best)
    return chosen


def _values(case: pytest.Function) -> set[tuple[int, str]]:
    return set(enumerate(case.callspec._idlist))
