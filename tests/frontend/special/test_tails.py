"""Functions with the factor exp(-x**2), in whose tails a rounding of the square is amplified."""

import mpmath as mp
import numpy as np
import pytest

import irax
import irax.scipy.special as special

X = np.array([-12.0, -10.425222, -8.0521545, -4.5749297, -1.9058493, 0.3, 2.7, 9.1606045])


def below(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


FUNCTIONS = {
    "erfc": (special.erfc, mp.erfc),
    "ndtr": (special.ndtr, below),
    "log_ndtr": (special.log_ndtr, lambda x: mp.log(below(x))),
    "gelu": (lambda x: irax.nn.gelu(x, approximate=False), lambda x: x * below(x)),
    "erfcx": (lambda x: special.erfcx(x / 2), lambda x: mp.exp(x * x / 4) * mp.erfc(x / 2)),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_tails_keep_their_digits(name, dtype):
    function, exact = FUNCTIONS[name]
    x = X.astype(dtype)
    x = np.abs(x[x > -9]) if name == "erfc" else x
    with mp.workdps(60):
        true = [exact(mp.mpf(float(v))) for v in x]
    with irax.enable_x64():
        for found in (function(x), irax.jit(function)(x)):
            for v, t in zip(np.asarray(found).tolist(), true, strict=True):
                unit = np.spacing(dtype(abs(float(t))))
                assert abs(v - t) <= 6 * float(unit)
