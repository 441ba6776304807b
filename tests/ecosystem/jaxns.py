"""JAXNS: a Bayesian model of a line: samples of its prior, and their likelihoods."""

import jax
import jax.numpy as jnp
from jaxns.model import Model
from jaxns.priors import Prior
from tensorflow_probability.substrates import jax as tfp

tfpd = tfp.distributions


def prior_model(predictor, observations, uncertainty):
    intercept = Prior(tfpd.Normal(loc=0.0, scale=1.0), name="intercept").realise()
    slope = Prior(tfpd.Normal(loc=0.0, scale=2.0), name="slope").realise()
    predicted = intercept + slope * predictor
    return jnp.sum(tfpd.Normal(loc=predicted, scale=uncertainty).log_prob(observations))


def run():
    model = Model(prior_model=prior_model)
    args = (
        jnp.linspace(0.0, 1.0, 6),
        jnp.asarray([0.15, 0.32, 0.83, 1.08, 1.52, 1.77]),
        jnp.asarray(0.15),
    )
    model.sanity_check(key=jax.random.PRNGKey(1), args=args)
    U = model.sample_U(key=jax.random.PRNGKey(2), args=args)
    return {
        "U": U,
        "X": model.transform_to_X(U, args=args),
        "likelihood": model.log_likelihood(U, args=args),
    }
