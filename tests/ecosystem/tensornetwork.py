"""TensorNetwork on JAX's arrays: contractions, splits, and the gradient of a network."""

import jax
import jax.numpy as jnp
import tensornetwork as tn


def run():
    tn.set_default_backend("jax")
    a, b, c = (jax.random.normal(jax.random.key(i), (4, 4)) for i in range(3))

    def ring(a, b, c):
        x, y, z = tn.Node(a), tn.Node(b), tn.Node(c)
        x[1] ^ y[0], y[1] ^ z[0], z[1] ^ x[0]
        return tn.contractors.greedy([x, y, z]).tensor

    _u, s, _vh, _ = tn.Node(a).backend.svd(a, 1)
    mps = tn.FiniteMPS.random([2] * 5, [3] * 4, dtype=jnp.float32, backend="jax")
    mps = tn.FiniteMPS(
        [jnp.full(t.shape, 0.3) for t in mps.tensors], backend="jax", canonicalize=True
    )
    return {
        "ring": ring(a, b, c),
        "slope": jax.jit(jax.grad(ring))(a, b, c),
        "values": s,
        "ncon": tn.ncon([a, b, c], [(-1, 1), (1, 2), (2, -2)]),
        "norm": mps.norm(0),
        "entropy": mps.bond_dimensions,
    }
