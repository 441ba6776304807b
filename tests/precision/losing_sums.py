"""Programs that lose digits in sums, products and differences of functions, with their cures."""

from typing import Any

import mpmath
import numpy as np
from mpmath import mp
from tests.precision.losing_arrays import two_product
from tests.precision.losing_programs import bf16, case, f32, f64

import irax
import irax.numpy as jnp
from irax import lax

RANDOM = np.random.default_rng(11)
TERMS = RANDOM.normal(size=400).astype(f32)
CANCELLING = RANDOM.permutation(np.concatenate([TERMS, -TERMS * f32(1 + 2e-5)])).astype(f32)
SAME = np.full(30_000, 0.1, f32)


def compensated(x: Any) -> Any:
    """The sum, and that of its rounding errors."""

    def step(carry: Any, x: Any) -> Any:
        total, c = carry
        t = total + x
        z = t - total
        return (t, c + ((total - (t - z)) + (x - z))), None

    zero = jnp.zeros((), x.dtype)
    total, c = lax.scan(step, (zero, zero), x)[0]
    return total + c


@case(mp.fsum, CANCELLING, cure=compensated)
def sum_of_cancelling_terms(x):
    return jnp.sum(x)  # loses


@case(lambda x: mp.fsum(x) / len(x), CANCELLING, cure=lambda x: compensated(x) / x.size)
def mean_of_cancelling_terms(x):
    return jnp.mean(x)  # loses


@case(mp.fsum, SAME, cure=compensated)
def sum_in_a_loop(x):
    return lax.scan(lambda total, x: (total + x, None), f32(0), x)[0]  # loses


@case(mp.fsum, SAME.astype(bf16)[:4000], cure=lambda x: jnp.sum(x))
def counted_sum_in_bfloat16(x):
    return lax.fori_loop(0, x.size, lambda i, total: total + x[i], bf16(0))  # loses


LEFT = np.array([33962.035, -30438.8, 1.5], f32)
RIGHT = np.array([41563.4, 46374.195, 0.25], f32)


def mp_dot(x, y):
    return mp.fsum(a * b for a, b in zip(x, y, strict=True))


def accurate_dot(x, y):
    products, errors = two_product(x, y)
    return compensated(products) + jnp.sum(errors)


@case(mp_dot, LEFT, RIGHT, cure=accurate_dot)
def dot_that_cancels(x, y):
    return jnp.dot(x, y)  # loses


@case(
    lambda a, b, c: b * b - a * c, f32(4097.3), f32(4099.001), f32(4100.703),
    cure=lambda a, b, c: (
        lambda p, q: (p[0] - q[0]) + (p[1] - q[1])
    )(two_product(b, b), two_product(a, c)),
)  # fmt: skip
def discriminant(a, b, c):
    square, product = b * b, a * c
    return square - product  # loses


@case(lambda x: mp.log(1 - x), f32(2e-6), cure=lambda x: jnp.log1p(-x))
def logarithm_of_the_rest(x):
    rest = 1 - x
    return jnp.log(rest)  # loses


@case(lambda x: mp.log(1 - mp.exp(x)) + 12, f32(-3e-6), cure=lambda x: jnp.log(-jnp.expm1(x)) + 12)
def logarithm_of_one_less_exponential(x):
    rest = 1 - jnp.exp(x)  # loses
    return jnp.log(rest) + 12


@case(
    lambda x, y: mp.log(x) - mp.log(y),
    f32(1000.01),
    f32(1000),
    cure=lambda x, y: jnp.log1p((x - y) / y),
)
def difference_of_logarithms(x, y):
    first, second = jnp.log(x), jnp.log(y)
    return first - second  # loses


@case(
    lambda x, y: mp.exp(x) - mp.exp(y), f32(3.00001), f32(3),
    cure=lambda x, y: jnp.exp(y) * jnp.expm1(x - y),
)  # fmt: skip
def difference_of_exponentials(x, y):
    first, second = jnp.exp(x), jnp.exp(y)
    return first - second  # loses


@case(
    lambda x, y: mp.cos(x) - mp.cos(y), f32(1.00001), f32(1),
    cure=lambda x, y: -2 * jnp.sin((x + y) / 2) * jnp.sin((x - y) / 2),
)  # fmt: skip
def difference_of_cosines(x, y):
    first, second = jnp.cos(x), jnp.cos(y)
    return first - second  # loses


@case(lambda x: mp.sqrt(1 + x) - 1, f32(2e-5), cure=lambda x: x / (jnp.sqrt(1 + x) + 1))
def root_less_one(x):
    root = jnp.sqrt(1 + x)
    return root - 1  # loses


@case(lambda x: 1 - mp.exp(-x), f32(4e-6), cure=lambda x: -jnp.expm1(-x))
def absorbed_light(x):
    left = jnp.exp(-x)
    return 1 - left  # loses


@case(lambda x: mp.exp(x) / (1 + mp.exp(x)), f32(120), cure=irax.nn.sigmoid)
def logistic_by_quotient(x):
    grown = jnp.exp(x)  # loses
    return grown / (1 + grown)


SCORES = np.array([100.0, 99.0, 95.0], f32)


def mp_softmax(x):
    total = mp.fsum(map(mp.exp, x))
    return [mp.exp(v) / total for v in x]


@case(mp_softmax, SCORES, cure=irax.nn.softmax)
def shares_of_scores(x):
    grown = jnp.exp(x)  # loses
    return grown / jnp.sum(grown)


@case(lambda x: mp.log1p(mp.exp(x)), f32(200), cure=irax.nn.softplus)
def softplus_of_large_numbers(x):
    grown = jnp.exp(x)  # loses
    return jnp.log1p(grown)


CHANCES = np.full(40, 2e-2, f32)


@case(
    lambda x: mp.fsum(map(mp.log, x)), CHANCES, cure=lambda x: jnp.sum(jnp.log(x))
)  # fmt: skip
def likelihood_by_product(x):
    product = jnp.prod(x)  # loses
    return jnp.log(product)


NEAR = (500 + RANDOM.normal(size=50)).astype(f32)
OTHER = (NEAR + RANDOM.normal(size=50)).astype(f32)


def mp_covariance(x, y):
    n = len(x)
    a, b = mp.fsum(x) / n, mp.fsum(y) / n
    return mp.fsum((u - a) * (v - b) for u, v in zip(x, y, strict=True)) / n


@case(
    mp_covariance, NEAR, OTHER,
    cure=lambda x, y: jnp.mean((x - jnp.mean(x)) * (y - jnp.mean(y))),
)  # fmt: skip
def covariance(x, y):
    products = jnp.mean(x * y)
    return products - jnp.mean(x) * jnp.mean(y)  # loses


@case(
    lambda x: mp.fsum((v - mp.fsum(x) / len(x)) ** 2 for v in x), NEAR,
    cure=lambda x: jnp.sum((x - jnp.mean(x)) ** 2),
)  # fmt: skip
def sum_of_squares_about_the_mean(x):
    squares = jnp.sum(x * x)
    return squares - jnp.sum(x) ** 2 / x.size  # loses


@case(
    lambda x: [v / mpmath.norm(x) for v in x], np.array([1e25, 2e25, -3e24], f32),
    cure=lambda x: x / jnp.max(jnp.abs(x)) / jnp.linalg.norm(x / jnp.max(jnp.abs(x))),
)  # fmt: skip
def direction_by_dot(x):
    square = x @ x  # loses
    return x * lax.rsqrt(square)


@case(lambda x: mp.log(1 / (1 + mp.exp(-x))), f32(-120), cure=irax.nn.log_sigmoid)
def logarithm_of_sigmoid(x):
    share = irax.nn.sigmoid(x)  # loses
    return jnp.log(share)


@case(lambda x: mp.log1p(x) / x - 1, f64(1e-9), cure=lambda x: -x / 2 + x * x / 3)
def relative_logarithm_in_float64(x):
    quotient = jnp.log1p(x) / x
    return quotient - 1  # loses


SPEEDS = RANDOM.normal(size=100).astype(f32)


@case(
    lambda x, y: mp_dot(x, x) - mp_dot(y, y), SPEEDS, SPEEDS * f32(1.00001),
    cure=lambda x, y: jnp.dot(x - y, x + y),
)  # fmt: skip
def difference_of_energies(x, y):
    first = x @ x
    return first - jnp.sum(y * y)  # loses


def mp_rump_revisited(a, b):
    first = (333.75 - a**2) * b**6 + a**2 * (11 * a**2 * b**2 - 121 * b**4 - 2)
    return first + 5.5 * b**8 + a / (2 * b)


@case(mp_rump_revisited, f32(77617), f32(33096))
def rump_revisited(a, b):
    """Float32, float64 and double-double numbers agree, and are wrong."""
    a2, b2 = a * a, b * b
    b4 = b2 * b2
    first = (333.75 - a2) * (b4 * b2) + a2 * (11 * a2 * b2 - 121 * b4 - 2)
    whole = first + 5.5 * (b4 * b4)  # loses
    return whole + a / (2 * b)
