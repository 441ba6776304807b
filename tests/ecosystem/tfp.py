"""TensorFlow Probability on JAX: distributions, bijectors, chains of samples and an optimizer."""

import jax
import jax.numpy as jnp
from tensorflow_probability.substrates import jax as tfp

tfd, tfb = tfp.distributions, tfp.bijectors


def log_density(x):
    return -0.5 * jnp.sum(x**2)


def run():
    normal = tfd.MultivariateNormalTriL(jnp.zeros(2), jnp.array([[1.0, 0.0], [0.5, 2.0]]))
    joint = tfd.JointDistributionSequential(
        [tfd.Normal(0.0, 1.0), lambda m: tfd.Independent(tfd.Normal(m * jnp.ones(4), 1.0), 1)]
    )
    drawn = joint.sample(seed=jax.random.key(1))
    kernel = tfp.mcmc.HamiltonianMonteCarlo(log_density, step_size=0.5, num_leapfrog_steps=3)
    nuts = tfp.mcmc.NoUTurnSampler(log_density, step_size=0.5)
    chains = {
        name: tfp.mcmc.sample_chain(
            50, current_state=jnp.zeros(2), kernel=k, trace_fn=None, seed=jax.random.key(2)
        )
        for name, k in (("hmc", kernel), ("nuts", nuts))
    }
    process = tfd.GaussianProcess(
        tfp.math.psd_kernels.ExponentiatedQuadratic(),
        jnp.linspace(0.0, 1.0, 5)[:, None],
        observation_noise_variance=0.1,
    )
    mixture = tfd.MixtureSameFamily(
        tfd.Categorical(probs=[0.3, 0.7]), tfd.Normal([0.0, 1.0], [1.0, 0.5])
    )
    chain = tfb.Chain([tfb.Exp(), tfb.Scale(2.0)])
    found = tfp.optimizer.lbfgs_minimize(
        jax.value_and_grad(lambda x: jnp.sum((x - 1.0) ** 4)), jnp.zeros(3)
    )
    return {
        "samples": normal.sample(3, seed=jax.random.key(0)),
        "density": normal.log_prob(jnp.ones(2)),
        "gradient": jax.grad(lambda x: tfd.Gamma(2.0, x).log_prob(1.5))(3.0),
        "joint": joint.log_prob(drawn),
        "forward": chain.forward(0.5),
        "jacobian": chain.forward_log_det_jacobian(0.5, 0),
        "first_states": [chains["hmc"][:10], chains["nuts"][:5]],
        "about_chains": [jnp.std(chains["hmc"]), jnp.std(chains["nuts"])],
        "process": process.log_prob(jnp.sin(jnp.arange(5.0))),
        "mixture": mixture.log_prob(jnp.array([0.3, 2.0])),
        "divergence": tfd.kl_divergence(tfd.Normal(0.0, 1.0), tfd.Normal(1.0, 2.0)),
        "minimum": found.position,
        "student": jax.vmap(tfd.StudentT(3.0, 0.0, 1.0).log_prob)(jnp.linspace(-2, 2, 5)),
    }
