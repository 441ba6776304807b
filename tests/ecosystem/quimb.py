"""quimb, cotengra and autoray: the energy of a matrix product state, its gradient and descent."""

import autoray
import cotengra
import jax
import jax.numpy as jnp
import numpy as np
import quimb.tensor as qtn


def run():
    state = qtn.MPS_rand_state(6, bond_dim=4, seed=1)
    heisenberg = qtn.MPO_ham_heis(6)
    state.apply_to_arrays(lambda x: jnp.asarray(x, jnp.float32))
    heisenberg.apply_to_arrays(lambda x: jnp.asarray(np.real(x), jnp.float32))

    def energy(parts):
        found = qtn.unpack(parts, skeleton)
        return qtn.expec_TN_1D(found.H, heisenberg, found) / (found.H @ found)

    arrays, skeleton = qtn.pack(state)
    step = jax.jit(jax.value_and_grad(energy))
    energies = []
    for _ in range(5):
        value, slopes = step(arrays)
        energies.append(value)
        arrays = jax.tree.map(lambda x, slope: x - 0.5 * slope, arrays, slopes)

    matrices = [jax.random.normal(jax.random.key(i), (3, 3)) for i in range(4)]
    tree = cotengra.array_contract_tree(
        [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")], (), shapes=[(3, 3)] * 4
    )
    return {
        "energies": energies,
        "trace": tree.contract(matrices),
        "slope": jax.grad(lambda x: tree.contract([x, *matrices[1:]]))(matrices[0]),
        "backend": autoray.infer_backend(matrices[0]) == "jax",
        "values": autoray.do("linalg.svd", matrices[0])[1],
    }
