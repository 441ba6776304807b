"""brainstate: a network with states, compiled, looped, mapped and trained."""

import brainstate
import jax
import jax.numpy as jnp


class Cell(brainstate.nn.Module):
    def __init__(self):
        super().__init__()
        key = jax.random.key(0)
        self.w = brainstate.ParamState(0.5 * jax.random.normal(key, (6, 6)))
        self.h = brainstate.HiddenState(jnp.zeros(6))

    def __call__(self, x):
        self.h.value = jnp.tanh(self.h.value @ self.w.value + x)
        return self.h.value


def run():
    cell = Cell()
    xs = jax.random.normal(jax.random.key(1), (10, 6))
    states = cell.states(brainstate.ParamState)

    @brainstate.transform.jit
    def unrolled(xs):
        cell.h.value = jnp.zeros(6)
        return brainstate.transform.for_loop(cell, xs)

    def loss():
        cell.h.value = jnp.zeros(6)
        return jnp.mean((brainstate.transform.for_loop(cell, xs) - 0.1) ** 2)

    @brainstate.transform.jit
    def step():
        slopes, value = brainstate.transform.grad(loss, states, return_value=True)()
        for name, slope in slopes.items():
            states[name].value = states[name].value - 0.5 * slope
        return value

    outs = unrolled(xs)
    losses = [step() for _ in range(4)]
    chosen = brainstate.transform.cond(
        losses[0] > losses[1], lambda: cell.w.value, lambda: outs[:6]
    )
    return {"outs": outs, "losses": losses, "weights": cell.w.value, "chosen": chosen}
