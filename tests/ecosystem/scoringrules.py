"""scoringrules: scores of ensembles and of distributions on JAX's arrays, and their gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import scoringrules as sr


def run():
    draws = np.random.default_rng(0)
    seen = jnp.asarray(draws.normal(size=6).astype(np.float32))
    members = jnp.asarray(draws.normal(size=(6, 20)).astype(np.float32))
    places = jnp.asarray(draws.normal(size=(4, 3)).astype(np.float32))
    fields = jnp.asarray(draws.normal(size=(4, 15, 3)).astype(np.float32))
    found = {
        f"ensemble: {e}": sr.crps_ensemble(seen, members, estimator=e, backend="jax")
        for e in ("nrg", "fair", "pwm", "qd")
    }
    for name, parameters in {
        "normal": (0.3, 1.2),
        "logistic": (0.1, 0.8),
        "laplace": (0.2, 0.9),
        "t": (5.0, 0.3, 1.2),
        "mixnorm": (members[:, :3], jnp.abs(members[:, 3:6]) + 0.5, jnp.full((6, 3), 1 / 3)),
    }.items():
        found[f"crps: {name}"] = getattr(sr, f"crps_{name}")(seen, *parameters, backend="jax")
        found[f"log: {name}"] = getattr(sr, f"logs_{name}")(seen, *parameters, backend="jax")

    def score(mean, scale):
        return sr.crps_normal(seen, mean, scale, backend="jax").mean()

    return found | {
        "energy": sr.es_ensemble(places, fields, backend="jax"),
        "variogram": sr.vs_ensemble(places, fields, backend="jax"),
        "slope": jax.grad(score, (0, 1))(0.3, 1.2),
        "slope of an ensemble": jax.grad(lambda m: sr.crps_ensemble(seen, m, backend="jax").sum())(
            members
        ),
    }
