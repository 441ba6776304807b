"""jaxloudnorm: the loudness of sounds by ITU-R BS.1770, batched, normalized, and a gradient."""

import jax
import jax.numpy as jnp
import jaxloudnorm as jln


def run():
    rate = 8000
    t = jnp.arange(rate) / rate
    sound = jnp.stack([0.3 * jnp.sin(2 * jnp.pi * 440 * t), 0.2 * jnp.sin(2 * jnp.pi * 990 * t)])
    meter = jln.Meter(rate)
    loudness = meter.integrated_loudness(sound)
    many = jax.vmap(meter.integrated_loudness)(jnp.stack([sound, 0.5 * sound]))
    quieter = jln.normalize.loudness(sound, loudness, -30.0)
    slope = jax.grad(lambda s: meter.integrated_loudness(s * sound))(1.0)
    return {
        "loudness": loudness,
        "many": many,
        "quieter": meter.integrated_loudness(quieter),
        "slope": slope,
    }
