"""GMMX: a mixture of Gaussians, fitted by expectation maximization."""

import jax
import jax.numpy as jnp
from gmmx import EMFitter, GaussianMixtureModelJax


def run():
    x = jax.random.normal(jax.random.key(0), (600, 3)) + 4 * (jnp.arange(600)[:, None] % 3)
    mixture = GaussianMixtureModelJax.from_k_means(x, n_components=3, random_state=0)
    fitted = EMFitter(tol=1e-4, max_iter=30).fit(x=x, gmm=mixture)
    return {
        "log_prob": fitted.gmm.log_prob(x)[::20, 0, 0],
        "means": jnp.sort(fitted.gmm.means.ravel()),
    }
