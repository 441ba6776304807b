"""irax.precision on programs without trouble: the functions of irax.numpy and others, as their
tables call them. It reports that their digits hold.
"""

import numpy as np
import pytest
from tests.frontend import lax_cases, linalg_cases, nn_cases, numpy_cases, scipy_cases
from tests.frontend.case_checks import bound
from tests.frontend.numpy_operands import CASES

import irax
import irax.numpy as jnp

TABLES = (lax_cases, linalg_cases, nn_cases, numpy_cases, scipy_cases)
NAMES = sorted({case.full_name for case in CASES if case.traced})


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", NAMES)
def test_digits_hold(name):
    for case in CASES:
        if case.full_name == name and case.traced:
            call, arrays = bound(case, 0)
            report = irax.precision(lambda *given: call(case.function, given))(*arrays)  # noqa: B023
            assert report.holds, report


RANDOM = np.random.default_rng(0)
X, Y = (RANDOM.normal(size=(16, 8)).astype(np.float32) for _ in range(2))


def attention(x):
    x = x.astype(jnp.bfloat16)
    return irax.nn.softmax(x @ x.T / 4) @ x


def training(x, y):
    def loss(w):
        return jnp.mean((jnp.tanh(x @ w["a"]) @ w["b"] - y) ** 2)

    def step(_, w):
        return irax.tree.map(lambda a, g: a - 0.01 * g, w, irax.grad(loss)(w))

    w = {"a": jnp.full((8, 8), 0.1), "b": jnp.full((8, 8), 0.1)}
    return loss(irax.lax.fori_loop(0, 5, step, w))


def markov_chain(x):
    def step(state, key):
        x, density = state
        move, choice = irax.random.split(key)
        y = x + 0.5 * irax.random.normal(move, x.shape)
        new = -jnp.sum(y**2) / 2
        accepted = jnp.log(irax.random.uniform(choice)) < new - density
        state = jnp.where(accepted, y, x), jnp.where(accepted, new, density)
        return state, state[1]

    keys = irax.random.split(irax.random.key(0), 10)
    return jnp.mean(irax.lax.scan(step, (x[0], -jnp.sum(x[0] ** 2) / 2), keys)[1])


def newton(x):
    def step(state):
        root, _ = state
        return root - (root**2 - 2) / (2 * root), jnp.abs(root**2 - 2)

    start = jnp.abs(x[0, 0]) + 1, jnp.ones(())
    return irax.lax.while_loop(lambda state: state[1] > 1e-4, step, start)[0]


def correlation(x, y):
    return jnp.fft.irfft(jnp.fft.rfft(x) * jnp.conj(jnp.fft.rfft(y)))


def pendulum(x):
    def step(state, _):
        angle, speed = state
        speed = speed - 0.01 * jnp.sin(angle)
        return (angle + 0.01 * speed, speed), angle

    return irax.lax.scan(step, (x[0], x[1]), length=50)[1]


def gaussian_process(x, y):
    gaps = jnp.sum((x[:, None] - x) ** 2, -1)
    kernel = jnp.exp(-gaps / 2) + 0.1 * jnp.eye(16)
    factor = jnp.linalg.cholesky(kernel)
    weights = irax.scipy.linalg.cho_solve((factor, True), y)
    return -jnp.sum(y * weights) / 2 - jnp.sum(jnp.log(jnp.diag(factor)))


PROGRAMS = {
    attention: (X,),
    training: (X, Y),
    markov_chain: (X,),
    newton: (X,),
    correlation: (X, Y),
    pendulum: (X,),
    gaussian_process: (X, Y),
    irax.grad(gaussian_process): (X, Y),
}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_digits_of_programs_hold(program):
    report = irax.precision(program)(*PROGRAMS[program])
    assert report.holds, report
    assert not any(line.cures for line in report.lines), report
