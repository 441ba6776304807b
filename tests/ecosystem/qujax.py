"""qujax: a variational quantum circuit: its state, an expectation, and descent on it."""

import jax
import jax.numpy as jnp
import qujax


def run():
    gates = ["H", "Ry", "CZ", "Rx", "CX", "Rz"]
    qubits = [[0], [0], [0, 1], [1], [1, 2], [2]]
    params = [[], [0], [], [1], [], [2]]
    state = qujax.get_params_to_statetensor_func(gates, qubits, params)
    energy_of = qujax.get_statetensor_to_expectation_func(
        [["Z", "Z"], ["X"], ["X"]], [[0, 1], [1], [2]], [-1.0, 0.5, 0.5]
    )
    energy = jax.jit(lambda p: energy_of(state(p)))
    density = qujax.get_params_to_densitytensor_func(gates, qubits, params)
    p = jnp.array([0.1, 0.2, 0.3])
    energies = []
    for _ in range(10):
        value, slope = jax.value_and_grad(energy)(p)
        energies.append(value)
        p = p - 0.1 * slope
    found = state(p)
    return {
        "energies": energies,
        "probabilities": jnp.abs(found) ** 2,
        "real": found.real,
        "density": density(p).imag,
        "sample": qujax.sample_integers(jax.random.key(0), found, 20),
    }
