"""SAX: a circuit of couplers and waveguides, and the gradient of its transmission."""

import jax
import jax.numpy as jnp
import sax


def coupler(*, coupling=0.5):
    kappa, tau = coupling**0.5, (1 - coupling) ** 0.5
    return sax.reciprocal(
        {
            ("in0", "out0"): tau,
            ("in0", "out1"): 1j * kappa,
            ("in1", "out0"): 1j * kappa,
            ("in1", "out1"): tau,
        }
    )


def waveguide(*, wl=1.55, length=10.0):
    phase = 2 * jnp.pi * 2.34 * length / wl
    return sax.reciprocal({("in0", "out0"): jnp.exp(1j * phase)})


def run():
    mzi, _ = sax.circuit(
        netlist={
            "instances": {"lft": "coupler", "top": "waveguide", "rgt": "coupler"},
            "connections": {"lft,out0": "rgt,in0", "lft,out1": "top,in0", "top,out0": "rgt,in1"},
            "ports": {"in0": "lft,in0", "in1": "lft,in1", "out0": "rgt,out0", "out1": "rgt,out1"},
        },
        models={"coupler": coupler, "waveguide": waveguide},
        backend="additive" if False else "filipsson_gunnar",
    )

    def power(length):
        return jnp.abs(mzi(top={"length": length, "wl": jnp.array(1.5)})["in0", "out0"]) ** 2

    wl = jnp.linspace(1.5, 1.6, 11)
    return {
        "transmission": jnp.abs(mzi(wl=wl, top={"length": 25.0})["in0", "out0"]) ** 2,
        "power": power(25.0),
        "slope": jax.jit(jax.grad(power))(25.0),
    }
