"""Tenax: block-sparse tensors, a chain's ground state by DMRG, and Ising's free energy."""

import jax
import jax.numpy as jnp
import numpy as np
from tenax import (
    AutoMPO,
    DMRGConfig,
    FlowDirection,
    SymmetricTensor,
    TensorIndex,
    TRGConfig,
    U1Symmetry,
    build_random_mps,
    compute_ising_tensor,
    contract,
    dmrg,
    trg,
)


def run():
    u1 = U1Symmetry()
    ph, bo = np.array([-1, 1], dtype=np.int32), np.array([-1, 0, 1], dtype=np.int32)
    A = SymmetricTensor.random_normal(
        indices=(
            TensorIndex.from_charges(u1, ph, FlowDirection.IN, label="p0"),
            TensorIndex.from_charges(u1, bo, FlowDirection.IN, label="left"),
            TensorIndex.from_charges(u1, bo, FlowDirection.OUT, label="bond"),
        ),
        key=jax.random.PRNGKey(0),
    )
    B = SymmetricTensor.random_normal(
        indices=(
            TensorIndex.from_charges(u1, ph, FlowDirection.IN, label="p1"),
            TensorIndex.from_charges(u1, bo, FlowDirection.IN, label="bond"),
            TensorIndex.from_charges(u1, bo, FlowDirection.OUT, label="right"),
        ),
        key=jax.random.PRNGKey(1),
    )
    N = 6
    auto = AutoMPO(L=N, d=2)
    for i in range(N - 1):
        auto += (1.0, "Sz", i, "Sz", i + 1)
        auto += (0.5, "Sp", i, "Sm", i + 1)
        auto += (0.5, "Sm", i, "Sp", i + 1)
    result = dmrg(
        auto.to_mpo(compress=True),
        build_random_mps(N, physical_dim=2, bond_dim=8),
        DMRGConfig(max_bond_dim=16, num_sweeps=4),
    )
    T = compute_ising_tensor(0.4)
    return {
        "contracted": contract(A, B).todense(),
        "energy": jnp.asarray(result.energy),
        "trg": trg(T, TRGConfig(max_bond_dim=8, num_steps=6)),
    }
