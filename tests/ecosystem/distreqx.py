"""distreqx: distributions and bijectors as modules, and the gradient of a likelihood."""

import equinox as eqx
import jax
import jax.numpy as jnp
from distreqx import bijectors, distributions


def run():
    key = jax.random.key(1234)
    mu, sigma = jnp.array([-1.0, 0.0, 1.0]), jnp.array([0.1, 0.2, 0.3])
    dist = distributions.MultivariateNormalDiag(mu, sigma)
    samples = dist.sample(key)
    log_normal = distributions.Transformed(
        distributions.Normal(jnp.array(0.1), jnp.array(0.5)), bijectors.Tanh()
    )
    x = jnp.tanh(jax.random.normal(key, (20,)))
    slopes = eqx.filter_grad(lambda d: -jnp.mean(jax.vmap(d.log_prob)(x)))(log_normal)
    mixture = distributions.MixtureSameFamily(
        distributions.Categorical(logits=jnp.zeros(3)),
        eqx.filter_vmap(distributions.Normal)(mu, sigma),
    )
    chain = bijectors.Chain(
        [bijectors.Tanh(), bijectors.ScalarAffine(jnp.array(0.1), jnp.array(2.0))]
    )
    return {
        "sample": samples,
        "log_prob": dist.log_prob(samples),
        "entropy": dist.entropy(),
        "kl": dist.kl_divergence(distributions.MultivariateNormalDiag(mu + 1, sigma)),
        "slopes": slopes,
        "mixture": mixture.log_prob(jnp.array(0.3)),
        "chain": chain.forward_and_log_det(jnp.array(0.3)),
        "many": jax.vmap(dist.sample)(jax.random.split(key, 5)),
    }
