"""PennyLane: a variational circuit of JAX's interface, its gradient, Hessian and batches."""

import jax
import jax.numpy as jnp
import pennylane as qml


def run():
    device = qml.device("default.qubit", wires=3)

    @qml.qnode(device, interface="jax", diff_method="backprop")
    def circuit(p):
        for i in range(3):
            qml.RY(p[i], wires=i)
        qml.CNOT([0, 1])
        qml.CNOT([1, 2])
        qml.RX(p[3], wires=1)
        return qml.expval(qml.PauliZ(0) @ qml.PauliX(1) + 0.5 * qml.PauliZ(2))

    @qml.qnode(device, interface="jax", diff_method="parameter-shift")
    def shifted(p):
        qml.RX(p[0], wires=0)
        qml.RY(p[1], wires=1)
        qml.CNOT([0, 1])
        return qml.probs(wires=[0, 1])

    p = jnp.array([0.1, 0.2, 0.3, 0.4])
    energies = []
    q = p
    step = jax.jit(jax.value_and_grad(circuit))
    for _ in range(5):
        value, slope = step(q)
        energies.append(value)
        q = q - 0.4 * slope
    return {
        "energies": energies,
        "hessian": jax.hessian(circuit)(p),
        "batch": jax.vmap(circuit)(jnp.stack([p, 2 * p])),
        "probabilities": shifted(p),
        "jacobian": jax.jacobian(shifted)(p[:2]),
    }
