"""stljax: the robustness of signal temporal logic, and a signal that is made to satisfy it."""

import jax
import jax.numpy as jnp
from stljax.formula import Always, Eventually, Predicate, Until


def run():
    x = Predicate("x", lambda s: s[:, 0])
    v = Predicate("v", lambda s: s[:, 1])
    goal = Eventually(x > 2.0, interval=[0, 8]) & Always(v < 1.0)
    later = Until(v < 0.8, x > 1.0)
    t = jnp.linspace(0.0, 1.0, 12)
    signal = jnp.stack([t, jnp.sin(3 * t)], -1)

    def loss(s):
        return -goal.robustness(s, approx_method="logsumexp", temperature=10.0)

    @jax.jit
    def step(s):
        return s - 0.1 * jax.grad(loss)(s)

    found = signal
    for _ in range(10):
        found = step(found)
    return {
        "exact": goal.robustness(signal),
        "trace": goal.robustness_trace(signal),
        "until": later.robustness(signal),
        "found": found,
        "string": len(str(goal)),
    }
