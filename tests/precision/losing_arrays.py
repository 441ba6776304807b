"""Programs on arrays that lose digits: distances, simulations, filters, systems of equations."""

from typing import Any

import mpmath
import numpy as np
from mpmath import mp
from tests.precision.losing_programs import case, f32

import irax
import irax.numpy as jnp

RANDOM = np.random.default_rng(3)


def mp_distances(x, y):
    return [mp.fsum((a - b) ** 2 for a, b in zip(x[0], row, strict=True)) for row in y]


CLOUD = (1000 + RANDOM.normal(size=(1, 4))).astype(f32)
CENTERS = (1000 + RANDOM.normal(size=(5, 4))).astype(f32)


@case(mp_distances, CLOUD, CENTERS, cure=lambda x, y: jnp.sum((x[:, None] - y) ** 2, -1)[0])
def distances_of_clusters(x, y):
    squares = jnp.sum(x * x, 1)[:, None] + jnp.sum(y * y, 1)
    return (squares - 2 * x @ y.T)[0]  # loses


def two_product(a, b):
    """The rounded product of two numbers and its rounding error (T. J. Dekker, 1971)."""

    def split(x):
        high = x * 4097
        high = high - (high - x)
        return high, x - high

    product = a * b
    (ah, al), (bh, bl) = split(a), split(b)
    return product, ((ah * bh - product) + ah * bl + al * bh) + al * bl


def accurate_cross(x, y):
    (p, dp), (q, dq) = two_product(x[0], y[1]), two_product(x[1], y[0])
    return (p - q) + (dp - dq)


@case(
    lambda x, y: x[0] * y[1] - x[1] * y[0],
    np.array([33962.035, -30438.8], f32), np.array([41563.4, -37251.2], f32), cure=accurate_cross,
)  # fmt: skip
def cross_product(x, y):
    return x[0] * y[1] - x[1] * y[0]  # loses


PLACES = RANDOM.normal(size=(4, 2)).astype(f32)
SPEEDS = (RANDOM.normal(size=(4, 2)) * 0.1).astype(f32)
STEP = 2.0**-8


def mp_drift(q: Any, p: Any):
    count, soft = len(q), mpmath.mpf(2) ** -6

    def force(q):
        return [
            [
                mp.fsum((b[d] - a[d]) * _gap(a, b, soft) ** mpmath.mpf(-1.5) for b in q)
                for d in (0, 1)
            ]
            for a in q
        ]

    def energy(q, p):
        moving = mp.fsum(x * x for row in p for x in row) / 2
        pairs = [(i, j) for i in range(count) for j in range(i)]
        return moving - mp.fsum(1 / mp.sqrt(_gap(q[i], q[j], soft)) for i, j in pairs)

    before = energy(q, p)
    for _ in range(8):
        p = [
            [x + STEP / 2 * f for x, f in zip(*r, strict=True)]
            for r in zip(p, force(q), strict=True)
        ]
        q = [[x + STEP * v for x, v in zip(*r, strict=True)] for r in zip(q, p, strict=True)]
        p = [
            [x + STEP / 2 * f for x, f in zip(*r, strict=True)]
            for r in zip(p, force(q), strict=True)
        ]
    return energy(q, p) - before


def _gap(a: Any, b: Any, soft: Any) -> Any:
    return mp.fsum((x - y) ** 2 for x, y in zip(a, b, strict=True)) + soft


@case(mp_drift, PLACES, SPEEDS)
def drift_of_energy(q, p):
    """Differences of bodies and themselves are zero, and lose nothing."""

    def gaps(q):
        return jnp.sum((q[None] - q[:, None]) ** 2, -1) + 2.0**-6

    def force(q):
        return jnp.sum((q[None] - q[:, None]) * (gaps(q) ** -1.5)[..., None], 1)

    def energy(q, p):
        pairs = jnp.tril(jnp.ones((4, 4)), -1) / jnp.sqrt(gaps(q))
        return jnp.sum(p * p) / 2 - jnp.sum(pairs)

    def step(_, state):
        q, p = state
        p = p + STEP / 2 * force(q)
        q = q + STEP * p
        return q, p + STEP / 2 * force(q)

    q2, p2 = irax.lax.fori_loop(0, 8, step, (q, p))
    return energy(q2, p2) - energy(q, p)  # loses


def mp_covariance(p: Any, noise: Any):
    for _ in range(3):
        p = [[p[0][0] + p[0][1] * 2 + p[1][1], p[0][1] + p[1][1]], [p[1][0] + p[1][1], p[1][1]]]
        total = p[0][0] + noise
        gain = [p[0][0] / total, p[1][0] / total]
        p = [[p[i][j] - gain[i] * p[0][j] for j in (0, 1)] for i in (0, 1)]
    return [p[0][0], p[0][1]]


@case(mp_covariance, np.array([[1e6, 0], [0, 1e6]], f32), f32(1e-2))
def covariance_of_a_filter(p, noise):
    move, see = jnp.array([[1.0, 1.0], [0.0, 1.0]]), jnp.array([[1.0, 0.0]])

    def step(p, _):
        p = move @ p @ move.T
        gain = p @ see.T / (see @ p @ see.T + noise)
        return (jnp.eye(2) - gain @ see) @ p, None  # loses

    return irax.lax.scan(step, p, length=3)[0][0]


def mp_inverse_times(a, b):
    return list(mpmath.lu_solve(mpmath.matrix(a), mpmath.matrix(b)))


HILBERT = (1 / (np.arange(6)[:, None] + np.arange(6) + 1)).astype(f32)


@case(mp_inverse_times, HILBERT, HILBERT.sum(1))
def inverse_of_hilbert(a, b):
    inverse = jnp.linalg.inv(a)  # loses
    return inverse @ b  # loses
