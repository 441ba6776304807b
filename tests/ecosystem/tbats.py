"""tbats-jax: a seasonal series, fitted by TBATS, and its forecast."""

import jax
import numpy as np
from tbats_jax import TBATSSpec, fit_jax, forecast


def run():
    n = np.arange(120)
    y = (
        50
        + 0.1 * n
        + 5 * np.sin(2 * np.pi * n / 7)
        + np.random.default_rng(0).normal(size=120) * 0.3
    )
    spec = TBATSSpec(seasonal=((7.0, 2),), use_trend=True, use_damping=True)
    jax.config.update("jax_enable_x64", True)
    try:
        result = fit_jax(y, spec)
        ahead = forecast(y, result.theta, spec, horizon=14)
    finally:
        jax.config.update("jax_enable_x64", False)
    return {"ahead": ahead}
