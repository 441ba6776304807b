"""NetKet: the ground state of a spin chain, exactly and by variational Monte Carlo with SR."""

import netket as nk
import optax


def run():
    graph = nk.graph.Chain(6)
    hilbert = nk.hilbert.Spin(0.5, N=6)
    H = nk.operator.Ising(hilbert, graph, h=1.0)
    exact = nk.exact.lanczos_ed(H)
    state = nk.vqs.FullSumState(hilbert, nk.models.RBM(alpha=1, param_dtype=float), seed=1)
    driver = nk.driver.VMC(
        H, optax.sgd(0.1), variational_state=state, preconditioner=nk.optimizer.SR(diag_shift=0.1)
    )
    energies = []
    for _ in range(4):
        driver.run(1, show_progress=False)
        energies.append(state.expect(H).mean.real)
    sampled = nk.vqs.MCState(
        nk.sampler.MetropolisLocal(hilbert, n_chains=8),
        nk.models.RBM(alpha=1, param_dtype=float),
        n_samples=256,
        seed=1,
        sampler_seed=2,
    )
    sr = nk.driver.VMC_SR(H, optax.sgd(0.1), variational_state=sampled, diag_shift=0.1)
    sr.run(2, show_progress=False)
    return {"exact": exact, "energies": energies, "about sampled": sampled.expect(H).mean.real}
