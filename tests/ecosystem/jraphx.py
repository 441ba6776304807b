"""JraphX: graph networks, attention on graphs, pooling, and training."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jraphx.data import Batch, Data
from jraphx.nn.conv import GATConv, GCNConv, SAGEConv
from jraphx.nn.models import GCN
from jraphx.nn.pool import global_mean_pool


def run():
    x = jax.random.normal(jax.random.key(0), (8, 8))
    edges = jnp.array([[0, 1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 0, 5, 6, 7, 4]])
    data = Data(x=x, edge_index=edges)
    model = GCN(in_features=8, hidden_features=16, num_layers=2, out_features=3, rngs=nnx.Rngs(0))
    labels = jnp.arange(8) % 3
    opt = nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)

    @nnx.jit
    def step(model, opt):
        def loss(m):
            return optax.softmax_cross_entropy_with_integer_labels(m(x, edges), labels).mean()

        value, g = nnx.value_and_grad(loss)(model)
        opt.update(model, g)
        return value

    batch = Batch.from_data_list([data, data])
    return {
        "losses": jnp.stack([step(model, opt) for _ in range(10)]),
        "gcn": GCNConv(8, 5, rngs=nnx.Rngs(1))(x, edges),
        "gat": GATConv(8, 4, heads=2, rngs=nnx.Rngs(2))(x, edges),
        "sage": SAGEConv(8, 4, rngs=nnx.Rngs(3))(x, edges),
        "pool": global_mean_pool(batch.x, batch.batch),
    }
