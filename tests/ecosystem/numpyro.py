"""numpyro: NUTS, variational inference and predictions."""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS, SVI, Predictive, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal


def model(x, y=None):
    slope = numpyro.sample("slope", dist.Normal(0, 1))
    offset = numpyro.sample("offset", dist.Normal(0, 1))
    noise = numpyro.sample("noise", dist.HalfNormal(1))
    with numpyro.plate("data", x.shape[0]):
        numpyro.sample("y", dist.Normal(slope * x + offset, noise), obs=y)


def run():
    x = np.linspace(-1, 1, 20, dtype=np.float32)
    y = 0.7 * x + 0.2 + 0.1 * np.random.default_rng(0).normal(size=20).astype(np.float32)
    chain = MCMC(NUTS(model), num_warmup=100, num_samples=100, progress_bar=False)
    chain.run(jax.random.key(0), x, y)
    samples = chain.get_samples()
    guide = AutoNormal(model)
    svi = SVI(model, guide, numpyro.optim.Adam(0.05), Trace_ELBO())
    fitted = svi.run(jax.random.key(1), 200, x, y, progress_bar=False)
    predicted = Predictive(model, samples)(jax.random.key(2), x)["y"]
    return {
        "about slope": samples["slope"].mean(),
        "about noise": samples["noise"].mean(),
        "about elbo": fitted.losses[-50:].mean(),
        "about svi": fitted.params["slope_auto_loc"],
        "about predicted": predicted.mean(0)[::5],
        "log_prob": dist.Gamma(2.0, 3.0).log_prob(jnp.arange(1.0, 4.0)),
    }
