"""CAX: a neural cellular automaton, trained through its steps."""

import jax.numpy as jnp
import optax
from cax.core import ComplexSystem
from cax.core.perceive import ConvPerceive
from cax.core.update import NCAUpdate
from flax import nnx


class Automaton(ComplexSystem):
    def __init__(self, rngs):
        sizes = {"channel_size": 8, "perception_size": 24}
        self.perceive = ConvPerceive(**sizes, rngs=rngs, feature_group_count=8)
        self.update = NCAUpdate(**sizes, hidden_layer_sizes=(16,), rngs=rngs, cell_dropout_rate=0.5)

    def _step(self, state, given=None, *, sow=False):
        return self.update(state, self.perceive(state), given)


def run():
    automaton = Automaton(nnx.Rngs(0))
    state = jnp.zeros((12, 12, 8)).at[6, 6, 3:].set(1.0)
    optimizer = nnx.Optimizer(automaton, optax.adam(1e-2), wrt=nnx.Param)

    @nnx.jit
    def step(automaton, optimizer, state):
        def loss(automaton):
            return jnp.mean((automaton(state, num_steps=8)[..., :4] - 0.3) ** 2)

        found, slopes = nnx.value_and_grad(loss)(automaton)
        optimizer.update(automaton, slopes)
        return found

    return {"losses": jnp.stack([step(automaton, optimizer, state) for _ in range(4)])}
