"""Kernex: stencils by maps and by scans, and their gradients."""

import jax
import jax.numpy as jnp
import kernex as kex


def run():
    x = jax.random.normal(jax.random.key(0), (12, 13))

    @kex.kmap(kernel_size=(3, 3), padding="same")
    def conv(x, w):
        return jnp.sum(x * w)

    @kex.kscan(kernel_size=(3,))
    def sums(x):
        return jnp.sum(x)

    @kex.kmap(kernel_size=(3, 3), relative=True, padding=1)
    def laplace(x):
        return x[0, 1] + x[0, -1] + x[1, 0] + x[-1, 0] - 4 * x[0, 0]

    @kex.kmap(kernel_size=(2, 2), strides=(2, 2))
    def pool(x):
        return jnp.max(x)

    w = jnp.arange(9.0).reshape(3, 3)
    return {
        "conv": jax.jit(conv)(x, w),
        "grad": jax.grad(lambda w: jnp.sum(conv(x, w) ** 2))(w),
        "scan": sums(jnp.arange(1.0, 9.0)),
        "laplace": laplace(x),
        "pool": pool(x),
        "scangrad": jax.grad(lambda v: jnp.sum(jnp.sin(sums(v))))(jnp.arange(1.0, 9.0) / 10),
    }
