"""ZERNIPAX: radial Zernike polynomials and their derivatives."""

import jax.numpy as jnp
import numpy as np
from zernipax.zernike import zernike_radial_unique


def run():
    r = jnp.linspace(0.0, 1.0, 12)
    degrees, orders = np.array([0, 1, 2, 3, 4, 6]), np.array([0, 1, 0, 1, 2, 4])
    return {f"d{n}": zernike_radial_unique(r, degrees, orders, dr=n) for n in (0, 1, 2)}
