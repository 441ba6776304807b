"""gpjax: a Gaussian process, its marginal likelihood and predictions."""

import gpjax as gpx
import jax
import jax.numpy as jnp


def run():
    jax.config.update("jax_enable_x64", True)
    x = jnp.linspace(0, 1, 30)[:, None]
    y = jnp.sin(6 * x) + 0.1 * jax.random.normal(jax.random.key(0), x.shape)
    data = gpx.Dataset(X=x, y=y)
    kernel = gpx.kernels.RBF() + gpx.kernels.Matern32()
    prior = gpx.gps.Prior(mean_function=gpx.mean_functions.Zero(), kernel=kernel)
    posterior = prior * gpx.likelihoods.Gaussian()
    latent = posterior.predict(jnp.linspace(0, 1, 7)[:, None], train_data=data)
    return {
        "likelihood": gpx.objectives.conjugate_mll(posterior, data),
        "mean": latent.mean,
        "variance": latent.variance,
    }
