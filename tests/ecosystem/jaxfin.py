"""jaxfin: prices of options by Black, Scholes and Heston, their Greeks, and paths of prices."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxfin.models.gbm import UnivGeometricBrownianMotion
from jaxfin.models.heston import UnivHestonModel
from jaxfin.price_engine import black_scholes, fft


def run():
    spots, strikes = jnp.array([100.0, 90.0, 110.0]), jnp.array([100.0, 100.0, 95.0])
    market = jnp.array([1.0, 0.5, 2.0]), jnp.array([0.2, 0.3, 0.25]), jnp.array([0.02, 0.0, 0.05])
    greeks = [
        jnp.stack([g(*x) for x in zip(spots, strikes, *market, strict=True)])
        for g in (
            black_scholes.delta_european,
            black_scholes.gamma_european,
            black_scholes.vega_european,
            black_scholes.theta_european,
            black_scholes.rho_european,
        )
    ]
    heston = (100.0, 95.0, 1.0, 0.04, 0.02, 0.05, 0.3, 1.5, -0.6)
    np.random.seed(0)
    prices, variances = UnivHestonModel(100.0, 0.04, 0.02, 2.0, 0.04, 0.3, -0.7).sample_paths(
        1.0, 20, 8
    )
    paths = UnivGeometricBrownianMotion(100.0, 0.03, 0.2).sample_paths(1.0, 20, 8)
    return {
        "prices": black_scholes.european_price(spots, strikes, *market),
        "greeks": greeks,
        "heston": [fft.fourier_inv_call(*heston), fft.fourier_inv_put(*heston)],
        "slope": jax.grad(fft.fourier_inv_call)(*heston),
        "paths": [prices, variances, paths],
    }
