"""rlax: returns, losses of agents, and their gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import rlax


def run():
    rng = np.random.default_rng(0)
    r, w = rng.normal(size=20).astype("f4"), rng.uniform(size=20).astype("f4")
    d = jnp.full(20, 0.9)
    v = jnp.asarray(rng.normal(size=21), jnp.float32)
    q = jnp.asarray(rng.normal(size=(20, 4)), jnp.float32)
    a = jnp.asarray(rng.integers(0, 4, 20))
    td = jax.jit(lambda v: rlax.td_lambda(v[:-1], r, d, v[1:], 0.8).sum())
    pg = jax.jit(lambda q: rlax.policy_gradient_loss(q, a, r, w))
    qt = jax.vmap(rlax.q_learning)
    return {
        "returns": rlax.lambda_returns(r, d, v[1:], 0.9),
        "n_step": rlax.n_step_bootstrapped_returns(r, d, v[1:], 5),
        "td": jax.grad(td)(v),
        "policy": jax.grad(pg)(q),
        "q": qt(q, a, r, d, q[::-1]),
        "retrace": rlax.vtrace(v[:-1], v[1:], r, d, w),
        "gae": rlax.truncated_generalized_advantage_estimation(r, d, 0.95, v),
        "entropy": rlax.entropy_loss(q, w),
        "categorical": rlax.categorical_cross_entropy(jax.nn.softmax(q[0]), q[1]),
        "huber": rlax.huber_loss(q[0]),
        "transform": rlax.signed_hyperbolic(q[0]),
    }
