"""All cases, by a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.conformance import (
    complexes,
    dynamic,
    elementwise,
    factors,
    moves,
    regions,
    sorts,
    windows,
)
from tests.conformance.cases import Case

FAMILIES = (moves, windows, sorts, factors, complexes, regions, dynamic)


def cases(seed: int, count: int) -> Iterator[Case]:
    """Elementwise cases, and about so many of each operation with shapes."""
    for make in (elementwise.of_floats, elementwise.of_integers, elementwise.conversions):
        yield from make(random.Random(seed))
    yield from elementwise.precisions(random.Random(seed))
    for family in FAMILIES:
        yield from family.everything(random.Random(seed), count)
