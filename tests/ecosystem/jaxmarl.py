"""JaxMARL: random rollouts of environments of several agents."""

import jax
import jaxmarl


def run():
    found = {}
    for name in ("MPE_simple_spread_v3", "MPE_simple_tag_v3"):
        env = jaxmarl.make(name)

        def rollout(key, env=env):
            _, state = env.reset(key)

            def body(state, key):
                keys = jax.random.split(key, env.num_agents + 1)
                actions = {
                    a: env.action_space(a).sample(k)
                    for a, k in zip(env.agents, keys[1:], strict=True)
                }
                obs, state, reward, _, _ = env.step(keys[0], state, actions)
                return state, (reward, obs[env.agents[0]])

            return jax.lax.scan(body, state, jax.random.split(key, 10))[1]

        found[name] = jax.jit(jax.vmap(rollout))(jax.random.split(jax.random.PRNGKey(0), 2))
    return found
