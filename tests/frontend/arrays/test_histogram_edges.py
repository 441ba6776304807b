"""Histograms of intervals of equal widths: numbers at edges, beside and beyond them."""

from __future__ import annotations

import numpy as np
import pytest

import irax
import irax.numpy as jnp


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("ends", "bins"),
    [((-4.1, 4.0), 100), ((1, 2), 7), ((1e6, 1e6 + 1), 9)],  # the last: edges a few units apart
)
def test_counts_are_those_that_the_edges_tell(ends: tuple[float, float], bins: int) -> None:
    edges = np.asarray(jnp.histogram_bin_edges(jnp.zeros(1), bins, ends))
    beside = [np.nextafter(edges, np.float32(to)) for to in (-np.inf, np.inf)]
    between = np.random.default_rng(0).uniform(*ends, 500).astype(np.float32)
    beyond = np.float32([np.nan, np.inf, -np.inf, ends[0] - 9, ends[1] + 9])
    x = np.concatenate([edges, *beside, between, beyond])
    found = irax.jit(lambda x: jnp.histogram(x, bins, ends)[0])(x)
    number = np.searchsorted(edges, x, side="right") - 1
    number[x == edges[-1]] = bins - 1
    inside = (edges[0] <= x) & (x <= edges[-1])
    np.testing.assert_array_equal(found, np.bincount(number[inside], minlength=bins))
