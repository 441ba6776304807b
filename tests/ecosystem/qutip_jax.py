"""qutip-jax: QuTiP's objects and its solver on JAX's arrays, and a gradient through them."""

import jax
import jax.numpy as jnp
import qutip


def run():
    with qutip.CoreOptions(default_dtype="jax"):
        sx, sz = qutip.sigmax(), qutip.sigmaz()
        state = qutip.basis(2, 0)

        def expectation(angle):
            turned = (-0.5j * angle * sx).expm() @ state
            return qutip.expect(sz, turned).real

        steps = qutip.sesolve(
            0.5 * sx,
            state,
            jnp.linspace(0.0, 2.0, 11),
            e_ops=[sz],
            options={"method": "diffrax", "normalize_output": False},
        )
        return {
            "value": expectation(0.3),
            "slope": jax.grad(expectation)(0.3),
            "tensor": qutip.tensor(sx, sz).full().real,
            "evolved": jnp.asarray(steps.expect[0]).real,
        }
