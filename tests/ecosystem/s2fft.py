"""s2fft: spherical harmonic transforms, there and back."""

import jax
import numpy as np
import s2fft


def run():
    jax.config.update("jax_enable_x64", True)
    given = s2fft.utils.signal_generator.generate_flm(np.random.default_rng(0), 8)
    function = s2fft.inverse_jax(given, 8)
    back = s2fft.forward_jax(function, 8)
    return {"function": (function.real, function.imag), "back": (back.real, back.imag)}
