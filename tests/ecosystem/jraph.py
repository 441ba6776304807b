"""jraph: a graph network, trained."""

import jax
import jax.numpy as jnp
import jraph
import numpy as np


def run():
    rng = np.random.default_rng(0)
    graph = jraph.GraphsTuple(
        nodes=rng.normal(size=(5, 3)).astype(np.float32),
        edges=rng.normal(size=(6, 2)).astype(np.float32),
        senders=np.array([0, 1, 2, 3, 4, 0]),
        receivers=np.array([1, 2, 3, 4, 0, 2]),
        n_node=np.array([3, 2]),
        n_edge=np.array([4, 2]),
        globals=np.zeros((2, 1), np.float32),
    )
    shapes = {"edge": (2 + 3 + 3 + 1, 2), "node": (3 + 2 + 2 + 1, 3), "global": (3 + 2 + 1, 1)}
    params = {k: 0.3 * rng.normal(size=s).astype(np.float32) for k, s in shapes.items()}

    def apply(params, graph):
        def layer(name):
            return lambda *xs: jnp.tanh(jnp.concatenate(xs, -1) @ params[name])

        return jraph.GraphNetwork(layer("edge"), layer("node"), layer("global"))(graph)

    @jax.jit
    def step(params):
        def loss(params):
            return jnp.sum((apply(params, graph).globals - 1.0) ** 2)

        value, grads = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value

    losses = []
    for _ in range(10):
        params, value = step(params)
        losses.append(value)
    padded = jraph.pad_with_graphs(graph, 8, 10, 4)
    mask = jraph.get_node_padding_mask(padded)
    return {"losses": losses, "nodes": apply(params, graph).nodes, "mask": mask}
