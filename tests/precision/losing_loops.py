"""Programs with loops and arrays that lose digits: FPBench's, Hamming's, Kahan's and others known.

FPBench's names are in parentheses; its examples of Hamming's book are "NMSE".
"""

import mpmath
import numpy as np
from mpmath import mp
from tests.precision.losing_programs import case, f32, f64

import irax
import irax.numpy as jnp


def mp_repeated(step, count, *state):
    for n in range(count):
        state = step(n, *state)
    return state


# ---- loops ---------------------------------------------------------------------------------------


def mp_archimedes(t):
    (t,) = mp_repeated(lambda _, t: ((mp.sqrt(t * t + 1) - 1) / t,), 10, t)
    return 6 * 2**10 * t


def archimedes_without_differences(t):
    step = lambda _, t: t / (jnp.sqrt(t * t + 1) + 1)
    return 6 * 2**10 * irax.lax.fori_loop(0, 10, step, t)


@case(mp_archimedes, f32(1 / np.sqrt(3)), cure=archimedes_without_differences)
def archimedes(t):
    def step(_, t):
        root = jnp.sqrt(t * t + 1)
        return (root - 1) / t  # loses

    return 6 * 2**10 * irax.lax.fori_loop(0, 10, step, t)


def mp_bessel(x):
    start = (mp.sin(x) / x, mp.sin(x) / x**2 - mp.cos(x) / x)
    return mp_repeated(lambda n, a, b: (b, (2 * n + 3) / x * b - a), 6, *start)[1]


@case(mp_bessel, f32(0.5))
def spherical_bessel_upwards(x):
    def step(n, pair):
        a, b = pair
        return b, (2 * n + 3) / x * b - a  # loses

    first = jnp.sin(x) / x
    start = (first, first / x - jnp.cos(x) / x)  # loses
    return irax.lax.fori_loop(0, 6, step, start)[1]


@case(lambda x: x, f32(0.7))
def roots_and_squares(x):
    root = irax.lax.fori_loop(0, 20, lambda _, x: jnp.sqrt(x), x)
    return irax.lax.fori_loop(0, 20, lambda _, x: x * x, root)  # loses


def mp_bank(x):
    return mp_repeated(lambda n, x: (x * (n + 1) - 1,), 18, mp.exp(x) - 1)[0]


@case(mp_bank, f64(1))
def chaotic_bank(x):
    balance = jnp.exp(x) - 1  # loses
    return irax.lax.fori_loop(0, 18, lambda n, x: x * (n + 1) - 1, balance)  # loses


def mp_logistic(x):
    ratio = mpmath.mpf(float(f32(3.9)))
    return mp_repeated(lambda _, x: (ratio * x * (1 - x),), 30, x)[0]


@case(mp_logistic, f32(0.3))
def logistic_map(x):
    return irax.lax.fori_loop(0, 30, lambda _, x: f32(3.9) * x * (1 - x), x)  # loses


# ---- arrays --------------------------------------------------------------------------------------

NUMBERS = np.linspace(1000, 9000, 40).astype(f32)
SMALL = np.geomspace(1e-3, 3e-2, 40).astype(f32)


@case(
    lambda x: [mp.atan(n + 1) - mp.atan(n) for n in x],
    NUMBERS,
    cure=lambda x: jnp.arctan2(1.0, 1 + x * (x + 1)),
)
def arctangents(x):  # NMSE example 3.5
    return jnp.arctan(x + 1) - jnp.arctan(x)  # loses


@case(
    lambda x: [mp.exp(t) - 2 + mp.exp(-t) for t in x],
    SMALL,
    cure=lambda x: 4 * jnp.sinh(x / 2) ** 2,
)
def exponentials(x):  # NMSE problem 3.3.7
    return (jnp.exp(x) - 2) + jnp.exp(-x)  # loses


@case(lambda x: [1 / t - mp.cot(t) for t in x], SMALL)
def cotangent(x):  # NMSE example 3.9
    return 1 / x - 1 / jnp.tan(x)  # loses


@case(
    lambda x: [mp.cbrt(n + 1) - mp.cbrt(n) for n in x],
    NUMBERS,
    cure=lambda x: 1 / (jnp.cbrt(x + 1) ** 2 + jnp.cbrt(x + 1) * jnp.cbrt(x) + jnp.cbrt(x) ** 2),
)
def cube_roots(x):  # NMSE problem 3.3.4
    return jnp.cbrt(x + 1) - jnp.cbrt(x)  # loses


@case(lambda x: [(mp.exp(t) - 1) / t for t in x], SMALL / 10, cure=lambda x: jnp.expm1(x) / x)
def average_growth(x):  # exp1x
    grown = jnp.exp(x) - 1  # loses
    return grown / x


RNG = np.random.default_rng(3)
LEFT = RNG.normal(size=64).astype(f32)
RIGHT = RNG.normal(size=64).astype(f32)
RIGHT[-1] = -(LEFT[:-1].astype(f64) @ RIGHT[:-1].astype(f64)) / f64(LEFT[-1])


@case(lambda x, y: mp.fsum(a * b for a, b in zip(x, y, strict=True)), LEFT, RIGHT)
def dot_of_near_perpendicular_vectors(x, y):
    return jnp.dot(x, y)  # loses
