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


TITLES = {
    elementwise.of_floats: "functions of floats",
    elementwise.of_integers: "functions of integers",
    elementwise.conversions: "conversions",
    elementwise.precisions: "conversions",
    moves: "slices, gathers, scatters and moves",
    windows: "reductions, windows, products and convolutions",
    sorts: "sorts",
    factors: "Fourier transforms, factorizations, normalizations",
    complexes: "complex numbers and bits",
    regions: "loops and branches",
    dynamic: "dynamic shapes and broadcasts",
    synonyms: "other names and forms",
    alone: "exchanges, tokens, tuples, random and quantized numbers",
}
"""The families of operations, by what makes their cases."""


def cases(seed: int, count: int) -> Iterator[Case]:
    """Elementwise cases, and about so many of each operation with shapes."""
    for _, case in in_families(seed, count):
        yield case


def in_families(seed: int, count: int) -> Iterator[tuple[str, Case]]:
    """Yield the cases, each with the title of its family."""
    for maker, title in TITLES.items():
        rng = random.Random(seed)
        made = maker.everything(rng, count) if maker in FAMILIES else maker(rng)
        yield from ((title, case) for case in made)
