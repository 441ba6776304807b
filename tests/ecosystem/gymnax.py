"""gymnax: rollouts of several environments, and a gradient through a transition."""

import gymnax
import jax
import jax.numpy as jnp


def run():
    found = {}
    for name in ("CartPole-v1", "Pendulum-v1", "Breakout-MinAtar", "Acrobot-v1"):
        env, params = gymnax.make(name)

        def rollout(key, env=env, params=params):
            _obs, state = env.reset(key, params)

            def body(state, key):
                k1, k2 = jax.random.split(key)
                action = env.action_space(params).sample(k1)
                obs, state, reward, *_ = env.step(k2, state, action, params)
                return state, (obs, reward)

            return jax.lax.scan(body, state, jax.random.split(key, 30))[1]

        obs, reward = jax.jit(jax.vmap(rollout))(jax.random.split(jax.random.key(0), 4))
        found[name] = [reward, obs[:, -1].astype(jnp.float32)]
    env, params = gymnax.make("Pendulum-v1")
    env = env.with_transition_gradients()
    key = jax.random.key(3)
    _, state = env.reset(key, params)
    found["slope"] = jax.grad(lambda a: env.step(key, state, a, params)[1].theta_dot)(
        jnp.array([0.5])
    )
    return found
