"""jaxwt: wavelet transforms of one and two dimensions, there and back, and gradients."""

import jax
import jax.numpy as jnp
import jaxwt as jwt
import pywt


def run():
    data = jax.random.normal(jax.random.key(0), (2, 64))
    image = jax.random.normal(jax.random.key(1), (16, 16))
    parts = jwt.wavedec(data, "db2", mode="zero", level=2)
    parts2 = jwt.wavedec2(image, "haar", level=2, mode="reflect")
    packet = jwt.WaveletPacket(data, "haar", mode="reflect")
    cwt, _ = jwt.cwt(data, jnp.arange(1, 8), pywt.ContinuousWavelet("mexh"))
    return {
        "parts": parts,
        "back": jwt.waverec(parts, "db2"),
        "image": parts2,
        "image back": jwt.waverec2(parts2, "haar"),
        "packet": [packet[node] for node in packet.get_level(2)],
        "slope": jax.grad(lambda x: sum(jnp.sum(c**3) for c in jwt.wavedec(x, "db2")))(data),
        "continuous": cwt,
    }
