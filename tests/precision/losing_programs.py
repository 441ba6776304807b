"""Programs that lose digits, at the line that says so, and their cures.

`truth` is the same in mpmath, of the arguments as they are. A program without a cure here has none
by another order of operations alone: it is given more digits, or another algorithm.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from mpmath import mp

import irax
import irax.numpy as jnp

f16, f32, f64 = np.float16, np.float32, np.float64
bf16 = jnp.bfloat16
CASES: list["Case"] = []


@dataclass
class Case:
    """A program, its arguments, what it should give, and a program that does."""

    program: Callable[..., Any]
    args: Sequence[Any]
    truth: Callable[..., Any]
    cure: Callable[..., Any] | None = None

    @property
    def name(self) -> str:
        return self.program.__name__


def case(truth: Callable[..., Any], *args: Any, cure: Callable[..., Any] | None = None):
    def register(program: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append(Case(program, args, truth, cure))
        return program

    return register


def rows(x: Any) -> Any:
    """An array of mpmath's numbers, as lists."""
    return [rows(row) for row in x] if np.ndim(x) else mpmath.mpf(float(x))


# ---- subtraction of near equals ------------------------------------------------------------------


def citardauq(a, b, c):
    return -2 * c / (b + jnp.sqrt(b * b - 4 * a * c))


@case(
    lambda a, b, c: (-b + mp.sqrt(b * b - 4 * a * c)) / (2 * a), f32(1), f32(5e3), f32(1),
    cure=citardauq,
)  # fmt: skip
def quadratic(a, b, c):
    root = jnp.sqrt(b * b - 4 * a * c)
    top = -b + root  # loses
    return top / (2 * a)


DATA = (1000 + np.random.default_rng(0).normal(size=60)).astype(f32)


def mp_variance(x):
    mean = mp.fsum(x) / len(x)
    return mp.fsum((v - mean) ** 2 for v in x) / len(x)


@case(mp_variance, DATA, cure=jnp.var)
def variance(x):
    mean = jnp.mean(x)
    squares = jnp.mean(x * x)
    return squares - mean * mean  # loses


def mp_heron(a, b, c):
    s = (a + b + c) / 2
    return mp.sqrt(s * (s - a) * (s - b) * (s - c))


def kahan_area(a, b, c):
    inner = (a + (b + c)) * (c - (a - b)) * (c + (a - b)) * (a + (b - c))
    return jnp.sqrt(inner) / 4


@case(mp_heron, f32(100), f32(99.99999), f32(3e-5), cure=kahan_area)
def heron(a, b, c):
    s = (a + b + c) / 2
    return jnp.sqrt(s * (s - a) * (s - b) * (s - c))  # loses


@case(lambda x: mp.log(1 + x), f32(3e-6), cure=jnp.log1p)
def logarithm_near_one(x):
    shifted = 1 + x
    return jnp.log(shifted)  # loses


@case(lambda x: mp.expm1(x), f32(3e-6), cure=jnp.expm1)
def exponential_less_one(x):
    grown = jnp.exp(x)
    return grown - 1  # loses


@case(lambda x: (1 - mp.cos(x)) / x**2, f32(1e-3), cure=lambda x: 2 * (jnp.sin(x / 2) / x) ** 2)
def kahan_cosine(x):
    cosine = jnp.cos(x)
    return (1 - cosine) / x**2  # loses


@case(lambda x, y: x * x - y * y, f32(1.0001), f32(1.00009), cure=lambda x, y: (x - y) * (x + y))
def difference_of_squares(x, y):
    first = x * x
    second = y * y
    return first - second  # loses


@case(
    lambda x: mp.sqrt(x + 1) - mp.sqrt(x), f32(1e5),
    cure=lambda x: 1 / (jnp.sqrt(x + 1) + jnp.sqrt(x)),
)  # fmt: skip
def difference_of_roots(x):
    upper = jnp.sqrt(x + 1)
    lower = jnp.sqrt(x)
    return upper - lower  # loses


@case(lambda x: 1 / x - 1 / (x + 1), f32(1e4), cure=lambda x: 1 / (x * (x + 1)))
def difference_of_reciprocals(x):
    lower = 1 / x
    upper = 1 / (x + 1)
    return lower - upper  # loses


@case(
    lambda x: x - mp.sin(x), f32(2e-2), cure=lambda x: x**3 / 6 * (1 - x**2 / 20 * (1 - x**2 / 42))
)
def less_its_sine(x):
    sine = jnp.sin(x)
    return x - sine  # loses


@case(lambda x: mp.sinh(x), f32(2e-5), cure=jnp.sinh)
def hyperbolic_sine(x):
    up, down = jnp.exp(x), jnp.exp(-x)
    return (up - down) / 2  # loses


@case(lambda x: mp.erfc(x), f32(3), cure=irax.scipy.special.erfc)
def complement_of_erf(x):
    inside = irax.scipy.special.erf(x)
    return 1 - inside  # loses


@case(lambda x: 1 / (1 + mp.exp(x)), f32(12), cure=lambda x: jnp.reciprocal(1 + jnp.exp(x)))
def complement_of_logistic(x):
    p = irax.nn.sigmoid(x)
    return 1 - p  # loses


@case(lambda a, b, c, d: a * d - b * c, f32(33962.035), f32(-30438.8), f32(41563.4), f32(-37251.2))
def determinant(a, b, c, d):
    first = a * d
    second = b * c
    return first - second  # loses


@case(lambda x, h: (mp.sin(x + h) - mp.sin(x)) / h, f32(1), f32(2.0**-14))
def finite_difference(x, h):
    moved = jnp.sin(x + h)
    there = jnp.sin(x)
    return (moved - there) / h  # loses


POINTS = (
    (np.array([3.0, 4.0, 5.0]) * 100).astype(f32),
    (np.array([3.001, 4.0, 5.0]) * 100).astype(f32),
)


@case(
    lambda x, y: mp.fsum((a - b) ** 2 for a, b in zip(x, y, strict=True)), *POINTS,
    cure=lambda x, y: jnp.sum((x - y) ** 2),
)  # fmt: skip
def squared_distance(x, y):
    norms = jnp.dot(x, x) + jnp.dot(y, y)
    cross = jnp.dot(x, y)
    return norms - 2 * cross  # loses


@case(lambda x: (x - 1) ** 7, f32(1.04), cure=lambda x: (x - 1) ** 7)
def expanded_power(x):
    return x**7 - 7 * x**6 + 21 * x**5 - 35 * x**4 + 35 * x**3 - 21 * x**2 + 7 * x - 1  # loses


def mp_rump(a, b):
    return (
        333.75 * b**6 + a**2 * (11 * a**2 * b**2 - b**6 - 121 * b**4 - 2) + 5.5 * b**8 + a / (2 * b)
    )


@case(mp_rump, f32(77617), f32(33096))
def rump(a, b):
    a2, b2 = a * a, b * b
    b4 = b2 * b2
    middle = 11 * a2 * b2 - b4 * b2 - 121 * b4 - 2
    return 333.75 * b4 * b2 + a2 * middle + 5.5 * b4 * b4 + a / (2 * b)  # loses


@case(mp_rump, f64(77617), f64(33096))
def rump_in_float64(a, b):
    a2, b2 = a * a, b * b
    b4 = b2 * b2
    middle = 11 * a2 * b2 - b4 * b2 - 121 * b4 - 2
    return 333.75 * b4 * b2 + a2 * middle + 5.5 * b4 * b4 + a / (2 * b)  # loses


@case(lambda x: mp.log(1 + x) / x, f64(1e-9), cure=lambda x: jnp.log1p(x) / x)
def logarithm_in_float64(x):
    shifted = 1 + x
    return jnp.log(shifted) / x  # loses


@case(lambda p, r: p * r / (p + r), f32(1e4), f32(1e-2), cure=lambda p, r: p * r / (p + r))
def kalman_covariance(p, r):
    gain = p / (p + r)
    return p - gain * p  # loses


def mp_angle(x, y):
    norm = mp.sqrt(mp.fsum(a * a for a in x) * mp.fsum(b * b for b in y))
    return mp.acos(mp.fsum(a * b for a, b in zip(x, y, strict=True)) / norm)


@case(
    mp_angle, np.array([1, 0.3], f32), np.array([1, 0.3003], f32),
    cure=lambda x, y: jnp.arctan2(jnp.abs(x[0] * y[1] - x[1] * y[0]), jnp.dot(x, y)),
)  # fmt: skip
def angle(x, y):
    cosine = jnp.dot(x, y) / jnp.sqrt(jnp.dot(x, x) * jnp.dot(y, y))
    return jnp.arccos(cosine)  # loses


# ---- loops ---------------------------------------------------------------------------------------


def mp_muller(x, y):
    for _ in range(20):
        x, y = y, 111 - (1130 - 3000 / x) / y
    return y


def muller_of(x, y):
    def step(_, state):
        x, y = state
        return y, 111 - (1130 - 3000 / x) / y  # loses

    return irax.lax.fori_loop(0, 20, step, (x, y))[1]


@case(mp_muller, f32(2), f32(-4))
def muller(x, y):
    return muller_of(x, y)


@case(mp_muller, f64(2), f64(-4))
def muller_in_float64(x, y):
    return muller_of(x, y)


def mp_integrals(x):
    start = 1 - mp.exp(-x)
    for n in range(1, 13):
        start = 1 - n * start
    return start


@case(mp_integrals, f32(1))
def integrals_upwards(x):
    def step(n, value):
        return 1 - (n + 1) * value  # loses

    return irax.lax.fori_loop(0, 12, step, 1 - jnp.exp(-x))


def mp_series(x):
    term = total = mpmath.mpf(1)
    for k in range(1, 60):
        term = term * x / k
        total += term
    return total


@case(mp_series, f32(-10), cure=lambda x: 1 / jnp.exp(-x))
def alternating_series(x):
    def step(k, state):
        term, total = state
        term = term * x / (k + 1)
        return term, total + term  # loses

    return irax.lax.fori_loop(0, 59, step, (jnp.ones_like(x), jnp.ones_like(x)))[1]


TENTHS = np.full(600, 0.1, f32).astype(bf16)


@case(lambda x: mp.fsum(x), TENTHS, cure=jnp.sum)
def sum_in_bfloat16(x):
    def step(total, value):
        return total + value, None  # loses

    return irax.lax.scan(step, bf16(0), x)[0]


@case(lambda x: mp.fsum(x) / len(x), np.full(3000, 1.1, f16), cure=jnp.mean)
def mean_in_float16(x):
    def step(total, value):
        return total + value, None  # loses

    return irax.lax.scan(step, f16(0), x)[0] / x.size


def mp_leapfrog(q, p, h):
    start = (p * p + q * q) / 2
    for _ in range(40):
        p = p - h / 2 * q
        q = q + h * p
        p = p - h / 2 * q
    return (p * p + q * q) / 2 - start


@case(mp_leapfrog, f32(1), f32(0.5), f32(2.0**-7))
def leapfrog_energy(q, p, h):
    def step(_, state):
        q, p = state
        p = p - h / 2 * q
        q = q + h * p
        return q, p - h / 2 * q

    start = (p * p + q * q) / 2
    q, p = irax.lax.fori_loop(0, 40, step, (q, p))
    return (p * p + q * q) / 2 - start  # loses


# ---- overflow and underflow ----------------------------------------------------------------------


@case(
    lambda x: mp.log(mp.fsum(map(mp.exp, x))), np.array([95, 90, 1], f32),
    cure=irax.scipy.special.logsumexp,
)  # fmt: skip
def log_sum_exp(x):
    grown = jnp.exp(x)  # loses
    return jnp.log(jnp.sum(grown))


@case(lambda x, y: mp.hypot(x, y), f32(3e30), f32(4e30), cure=jnp.hypot)
def length(x, y):
    squares = x * x + y * y  # loses
    return jnp.sqrt(squares)


@case(
    lambda x: mp.log(mp.cosh(x)),
    f32(100),
    cure=lambda x: jnp.logaddexp(x, -x) - np.log(2).astype(f32),
)
def log_cosh(x):
    grown = jnp.cosh(x)  # loses
    return jnp.log(grown)


def scaled_unit(x):
    x = x / jnp.max(jnp.abs(x))
    return x / jnp.sqrt(jnp.sum(x * x))


@case(
    lambda x: [v / mp.sqrt(mp.fsum(w * w for w in x)) for v in x], np.array([3e-22, 4e-22], f32),
    cure=scaled_unit,
)  # fmt: skip
def unit_vector(x):
    squares = x * x  # loses
    return x / jnp.sqrt(jnp.sum(squares))


def mp_adam(g, m, v):
    m = mpmath.mpf("0.9") * m + mpmath.mpf("0.1") * g
    v = mpmath.mpf("0.999") * v + mpmath.mpf("0.001") * g * g
    return m / (mp.sqrt(v) + mpmath.mpf("1e-8"))


def adam_in_float32(g, m, v):
    g, m, v = (x.astype(f32) for x in (g, m, v))
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * (g * g)
    return (m / (jnp.sqrt(v) + 1e-8)).astype(f16)


@case(mp_adam, f16(3e-4), f16(2e-4), f16(0), cure=adam_in_float32)
def adam_in_float16(g, m, v):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * (g * g)  # loses
    return m / (jnp.sqrt(v) + 1e-8)


@case(lambda x: mp.sqrt(mp.fsum(v * v for v in x)), np.array([300, 200], f16), cure=lambda x: (
    jnp.sqrt(jnp.sum(x.astype(f32) ** 2)).astype(f16)))  # fmt: skip
def norm_in_float16(x):
    squares = x * x  # loses
    return jnp.sqrt(jnp.sum(squares))


# ---- learning ------------------------------------------------------------------------------------


def mp_cross_entropy(x):
    return mp.log(mp.fsum(map(mp.exp, x))) - x[0]


@case(
    mp_cross_entropy, np.array([9, 1, 2], f32).astype(bf16),
    cure=lambda x: -irax.nn.log_softmax(x.astype(f32))[0].astype(bf16),
)  # fmt: skip
def cross_entropy_in_bfloat16(x):
    grown = jnp.exp(x - jnp.max(x))
    share = grown[0] / jnp.sum(grown)
    return -jnp.log(share)  # loses


def mp_layer_norm(x):
    mean, var = mp.fsum(x) / len(x), mp_variance(x)
    return [(v - mean) / mp.sqrt(var) for v in x]


def two_pass_layer_norm(x):
    centered = x - jnp.mean(x)
    return centered / jnp.sqrt(jnp.mean(centered * centered))


LAYER = (200 + np.random.default_rng(1).normal(size=64)).astype(f32)


@case(mp_layer_norm, LAYER, cure=two_pass_layer_norm)
def fast_layer_norm(x):
    mean = jnp.mean(x)
    var = jnp.mean(x * x) - mean * mean  # loses
    return (x - mean) / jnp.sqrt(var)


@case(lambda x: mp.exp(x) / (1 + mp.exp(x)), f32(95), cure=irax.grad(irax.nn.softplus))
def slope_of_softplus(x):
    return irax.grad(lambda x: jnp.log(1 + jnp.exp(x)))(x)  # loses


# ---- matrices ------------------------------------------------------------------------------------

TINY = 2e-4
LAUCHLI = np.array([[1, 1, 1], [TINY, 0, 0], [0, TINY, 0], [0, 0, TINY]], f32)


def mp_gram_schmidt(a):
    columns = list(zip(*a, strict=True))
    found: list[list[Any]] = []
    for column in columns:
        rest = list(column)
        for q in found:
            share = mp.fsum(x * y for x, y in zip(q, column, strict=True))
            rest = [r - share * x for r, x in zip(rest, q, strict=True)]
        norm = mp.sqrt(mp.fsum(r * r for r in rest))
        found.append([r / norm for r in rest])
    return found[2]


@case(mp_gram_schmidt, LAUCHLI)
def gram_schmidt(a):
    first = a[:, 0] / jnp.linalg.norm(a[:, 0])
    second = a[:, 1] - jnp.dot(first, a[:, 1]) * first  # loses
    second = second / jnp.linalg.norm(second)
    third = a[:, 2] - jnp.dot(first, a[:, 2]) * first - jnp.dot(second, a[:, 2]) * second  # loses
    return third / jnp.linalg.norm(third)


POWERS = np.vander(np.linspace(0, 1, 8), 5).astype(f32)


def mp_least_squares(a, b):
    a, b = mpmath.matrix(a), mpmath.matrix(b)
    return list(mpmath.lu_solve(a.T * a, a.T * b))


@case(mp_least_squares, POWERS, np.cos(np.arange(8)).astype(f32))
def normal_equations(a, b):
    square = a.T @ a
    return jnp.linalg.solve(square, a.T @ b)  # loses


@case(
    lambda r, n: (1 + r / n) ** n,
    f32(0.05),
    f32(1e5),
    cure=lambda r, n: jnp.exp(n * jnp.log1p(r / n)),
)
def compound_interest(r, n):
    growth = 1 + r / n
    return growth**n  # loses
