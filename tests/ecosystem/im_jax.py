"""Im-jax: bicubic interpolation of images, by modes of the boundary, and its gradients."""

import jax
import jax.numpy as jnp
from im_jax import flat_nd_cubic_interpolate


def run():
    im = jax.random.normal(jax.random.key(0), (7, 9))
    loc = jnp.array([[0.5, 1.25, 6.4, -0.7], [1.0, 2.5, 8.2, 3.3]])
    out = {m: flat_nd_cubic_interpolate(im, loc, mode=m) for m in ("nearest", "wrap", "reflect")}
    out["grad"] = jax.grad(lambda i: jnp.sum(flat_nd_cubic_interpolate(i, loc) ** 2))(im)
    out["dloc"] = jax.jit(jax.grad(lambda at: jnp.sum(flat_nd_cubic_interpolate(im, at) ** 2)))(loc)
    return out
