"""SGP4jax: orbits of satellites from their elements, their frames, and gradients."""

import jax
import jax.numpy as jnp
from sgp4jax import propagate, tle_to_satrec

L = (
    "1 25544U 98067A   19343.69339541  .00001764  00000-0  40967-4 0  9996",
    "2 25544  51.6439 211.2001 0007417  17.6667  85.6398 15.50103472202482",
)
G = (
    "1 28129U 03058A   06175.57071136 -.00000104  00000-0  10000-3 0   459",
    "2 28129  54.7298 324.8098 0048506 266.2640  93.1663  2.00562768 18443",
)


def run():
    out = {}
    for name, tle in (("low", L), ("deep", G)):
        sat = tle_to_satrec(*tle)
        t = jnp.linspace(0.0, 1440.0, 8)
        r = jax.vmap(propagate, (None, 0))(sat, t)
        out[name] = jax.tree.leaves(r)

        def place(t, sat=sat):
            return jax.tree.leaves(propagate(sat, t))[0]

        out[name + " grad"] = jax.jacfwd(place)(100.0)
    return out
