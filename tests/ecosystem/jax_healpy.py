"""jax-healpy: pixels of the sphere, their places, neighbors, interpolation and its gradient."""

import jax
import jax.numpy as jnp
import jax_healpy as hp

SIDE = 16


def run():
    jax.config.update("jax_enable_x64", True)
    pixels = jnp.arange(hp.nside2npix(SIDE))
    theta, phi = hp.pix2ang(SIDE, pixels)
    sky = jnp.sin(3 * theta) * jnp.cos(phi)
    t = jax.random.uniform(jax.random.key(0), (50,)) * 3.0
    p = jax.random.uniform(jax.random.key(1), (50,)) * 6.0
    pole = jnp.array([0.0, 0.0, 1.0])
    return {
        "angles": (theta[::16], phi[::16]),
        "pixels": hp.ang2pix(SIDE, theta[::16], phi[::16]),
        "nested": (hp.ring2nest(SIDE, pixels[::16]), hp.nest2ring(SIDE, pixels[::16])),
        "interpolated": hp.get_interp_val(sky, t, p),
        "slopes": jax.grad(lambda t: jnp.sum(hp.get_interp_val(sky, t, p)))(t),
        "neighbors": hp.get_all_neighbours(SIDE, pixels[::11]),
        "coarse": hp.ud_grade(sky, 8)[::8],
        "disc": jnp.sort(hp.query_disc(SIDE, pole, 0.3, max_length=200)),
    }
