"""All cases, by a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.conformance import (
    alone,
    complexes,
    dynamic,
    elementwise,
    factors,
    moves,
    regions,
    sorts,
    synonyms,
    windows,
)
from tests.conformance.cases import Case

FAMILIES = (moves, windows, sorts, factors, complexes, regions, dynamic, synonyms, alone)
LEFT_OUT = {
    "chlo._asin_acos_kernel": "a step of CHLO's own expansion of asin and acos",
    "stablehlo.async_done": "the end of an exchange between devices: irax refuses it",
    "stablehlo.async_start": "its begin",
    "stablehlo.custom_call": "the specification leaves all of it to the target",
    "stablehlo.infeed": "it takes arrays from the host while the program runs: irax refuses it",
    "stablehlo.outfeed": "it gives arrays to the host: likewise",
    "stablehlo.recv": "it takes arrays from another program: likewise",
    "stablehlo.return": "the end of each region, without a result",
    "stablehlo.send": "it gives arrays to another program: likewise",
}
"""The operations of StableHLO and CHLO without a case, and why."""


def cases(seed: int, count: int) -> Iterator[Case]:
    """Elementwise cases, and about so many of each operation with shapes."""
    for make in (elementwise.of_floats, elementwise.of_integers, elementwise.conversions):
        yield from make(random.Random(seed))
    yield from elementwise.precisions(random.Random(seed))
    for family in FAMILIES:
        yield from family.everything(random.Random(seed), count)
