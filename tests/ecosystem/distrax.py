"""distrax: distributions, bijectors and their derivatives."""

import distrax
import jax
import jax.numpy as jnp


def run():
    normal = distrax.MultivariateNormalDiag(jnp.array([0.0, 1.0]), jnp.array([1.0, 2.0]))
    mixture = distrax.MixtureSameFamily(
        distrax.Categorical(logits=jnp.array([0.2, 0.8])),
        distrax.Normal(jnp.array([-1.0, 1.0]), jnp.array([0.5, 1.5])),
    )
    flow = distrax.Transformed(
        distrax.Normal(0.0, 1.0), distrax.Chain([distrax.Tanh(), distrax.ScalarAffine(0.5, 2.0)])
    )
    bijector = distrax.Lambda(lambda x: jnp.exp(2 * x))
    sample, log_prob = flow.sample_and_log_prob(seed=jax.random.PRNGKey(0), sample_shape=(3,))
    return {
        "normal": normal.log_prob(jnp.ones((3, 2))),
        "sample": normal.sample(seed=jax.random.PRNGKey(1), sample_shape=(2,)),
        "mixture": mixture.log_prob(jnp.linspace(-1.0, 1.0, 3)),
        "flow": sample,
        "log_prob": log_prob,
        "gradient": jax.grad(lambda m: distrax.Normal(m, 1.0).log_prob(2.0))(0.5),
        "inverse": bijector.inverse(jnp.array(3.0)),
        "kl": distrax.Normal(0.0, 1.0).kl_divergence(distrax.Normal(1.0, 2.0)),
    }
