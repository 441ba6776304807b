"""lrux: low-rank updates of determinants and Pfaffians, and a gradient of one."""

import jax
import jax.numpy as jnp
import lrux


def run():
    jax.config.update("jax_enable_x64", True)
    keys = jax.random.split(jax.random.key(0), 4)
    a = jax.random.normal(keys[0], (12, 12))
    u, v, w = (jax.random.normal(k, (12, 2)) for k in keys[1:])
    inverse = jnp.linalg.inv(a)
    return {
        "ratio": lrux.det_lru(inverse, u, v),
        "update": lrux.det_lru(inverse, u, v, return_update=True),
        "pfaffian": lrux.pf_lru(jnp.linalg.inv(a - a.T), w, return_update=True),
        "slope": jax.grad(lambda u: lrux.det_lru(inverse, u, v))(u),
    }
