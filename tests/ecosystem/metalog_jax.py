"""Metalog: distributions fitted to quantiles, their densities and samples."""

import jax.numpy as jnp
from metalog_jax.base import (
    MetalogBoundedness,
    MetalogFitMethod,
    MetalogInputData,
    MetalogParameters,
)
from metalog_jax.metalog import fit
from metalog_jax.utils import DEFAULT_Y


def run():
    data = jnp.array(
        [
            45.0,
            52,
            58,
            61,
            67,
            72,
            78,
            85,
            93,
            102,
            115,
            128,
            145,
            167,
            195,
            238,
            312,
            456,
            623,
            892,
        ]
    )
    out = {}
    for b in (MetalogBoundedness.STRICTLY_LOWER_BOUND, MetalogBoundedness.UNBOUNDED):
        for m in (MetalogFitMethod.Feasible,):
            d = MetalogInputData.from_values(data, DEFAULT_Y, precomputed_quantiles=False)
            mt = fit(
                d,
                MetalogParameters(
                    boundedness=b, lower_bound=0.0, upper_bound=0.0, method=m, num_terms=5
                ),
            )
            q = jnp.array([0.1, 0.5, 0.9])
            out[f"{b} {m}"] = [mt.ppf(q), mt.pdf(q), mt.cdf(150.0)]
    return out
