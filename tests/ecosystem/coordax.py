"""Coordax: fields with named axes and coordinates, mapped and differentiated."""

import coordax as cx
import jax
import jax.numpy as jnp
import numpy as np


def run():
    x = cx.LabeledAxis("x", np.linspace(0.0, 1.0, 5))
    y = cx.SizedAxis("y", 4)
    f = cx.field(jnp.arange(20.0).reshape(5, 4), x, y)
    g = cx.cmap(lambda v: v / jnp.linalg.norm(v))(f.untag(y)).tag(y)
    h = (f + g * 2).order_as(y, x)
    t = cx.cmap(jnp.sum)(f.untag(x, y))

    def size(data):
        return cx.cmap(lambda v: jnp.sum(v**2))(cx.field(data, x, y).untag(x, y)).data

    j = jax.jit(lambda f: cx.cmap(jnp.cumsum)(f.untag(x)).tag(x))(f)
    return {
        "g": g.data,
        "h": h.data,
        "t": t.data,
        "grad": jax.grad(size)(f.data),
        "j": j.data,
    }
