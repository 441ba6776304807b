"""TensorCircuit-NG: circuits by tensor networks on JAX, their gradients, and batches."""

import jax
import jax.numpy as jnp
import tensorcircuit as tc


def run():
    K = tc.set_backend("jax")

    def energy(p):
        c = tc.Circuit(4)
        for i in range(4):
            c.rx(i, theta=p[i])
        for i in range(3):
            c.cnot(i, i + 1)
        c.rzz(0, 3, theta=p[0])
        return K.real(c.expectation_ps(z=[0, 1]) + c.expectation_ps(x=[2]))

    p = jnp.array([0.1, 0.2, 0.3, 0.4])
    value_and_grad = K.jit(K.value_and_grad(energy))
    c = tc.Circuit(3)
    c.h(0)
    c.cnot(0, 1)
    c.cnot(1, 2)
    state = c.state()
    return {
        "value": value_and_grad(p),
        "batch": K.vmap(energy)(jnp.stack([p, 2 * p])),
        "state": jnp.abs(state),
        "hessian": jax.hessian(energy)(p),
        "sample": c.sample(
            batch=4, allow_state=True, random_generator=jax.random.PRNGKey(1), format="sample_bin"
        ),
    }
