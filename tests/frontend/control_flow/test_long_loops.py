"""Loops outside of jit that are compiled once they have taken many steps, beside Python's."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.execution import backend
from irax.scipy import special
from irax_compiler import api, mlir
from irax_compiler.ops.control_flow import long_loops
from irax_compiler.ops.evaluation import evaluator as evaluate

STEPS = long_loops.MANY


@pytest.fixture
def compiled(monkeypatch):
    """The names of the loops that were compiled."""
    names = []
    rest = long_loops.rest

    def noted(op, call, operands):
        found = rest(op, call, operands)
        names.append(op.name if found is not None else None)
        return found

    monkeypatch.setattr(long_loops, "rest", noted)
    return names


def test_while_loop(compiled):
    """The logistic map, which ends at a value that each step is needed for."""
    scale = jnp.float32(0.25)
    found, steps = lax.while_loop(
        lambda c: c[1] < STEPS, lambda c: (c[0] * (1 - c[0]) * 3.5, c[1] + 1), (scale, 0)
    )
    x = np.float32(0.25)
    for _ in range(STEPS):
        x = x * (1 - x) * np.float32(3.5)
    np.testing.assert_allclose(found, x, rtol=1e-4)
    assert steps == STEPS
    assert compiled == ["stablehlo.while"]


@pytest.mark.parametrize("reverse", [False, True])
def test_scan(compiled, reverse):
    xs = np.random.default_rng(0).integers(0, 9, (STEPS, 2)).astype(np.int32)

    def step(carry, x):
        carry = (carry * 5 + x) % 1009
        return carry, (carry, x[0] > 4)

    last, (rows, flags) = lax.scan(step, jnp.zeros(2, "int32"), xs, reverse=reverse)
    carry, expected = np.zeros(2, np.int32), np.zeros_like(xs)
    for i in reversed(range(STEPS)) if reverse else range(STEPS):
        expected[i] = carry = (carry * 5 + xs[i]) % 1009
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(last, carry)
    np.testing.assert_array_equal(flags, xs[:, 0] > 4)
    assert compiled == ["irax.scan"]


@pytest.mark.parametrize("mapped", [False, True])
def test_in_a_function_that_is_traced(compiled, mapped):
    """A loop that does not depend on what is differentiated is computed at once, while the function
    that it stands in has no end yet.
    """

    def scaled(x):
        return x * lax.fori_loop(0, STEPS, lambda i, total: (total * 3 + i) % 1009, 1)

    total = 1
    for i in range(STEPS):
        total = (total * 3 + i) % 1009
    slope = irax.grad(scaled)
    xs = jnp.arange(3.0)
    found = irax.vmap(slope)(xs) if mapped else slope(2.0)
    np.testing.assert_array_equal(found, np.full(3, total) if mapped else total)
    assert compiled == ["irax.scan"]


def test_loops_inside_of_loops_count(compiled):
    def inner(i, total):
        return lax.fori_loop(0, 100, lambda j, t: (t * 3 + i + j) % 1009, total)

    found = lax.fori_loop(0, STEPS // 50, inner, 1)
    total = 1
    for i in range(STEPS // 50):
        for j in range(100):
            total = (total * 3 + i + j) % 1009
    assert found == total
    assert compiled
    assert set(compiled) <= {"irax.scan", "stablehlo.while"}


def test_loops_with_effects_stay(compiled):
    seen = []

    def step(i, x):
        irax.debug.callback(lambda i: seen.append(int(i)), i)
        return x + 1

    lax.fori_loop(0, STEPS, step, 0)
    irax.effects_barrier()
    assert seen == list(range(STEPS))
    assert set(compiled) <= {None}


def test_derivatives(compiled):
    """The loop is the product of its steps."""
    rates = np.linspace(-1e-4, 1e-4, STEPS, dtype=np.float32)

    def product(x):
        return lax.scan(lambda c, r: (c * (1 + r), None), x, rates)[0]

    expected = np.prod(1 + rates.astype(np.float64))
    np.testing.assert_allclose(irax.grad(product)(2.0), expected, rtol=1e-3)
    np.testing.assert_allclose(irax.jvp(product, (2.0,), (1.0,))[1], expected, rtol=1e-3)
    assert compiled


def test_loops_that_the_compiler_refuses_go_on(compiled, monkeypatch):
    def refuse(*_):
        raise api.CompileError("refused")

    monkeypatch.setattr(backend, "compile", refuse)
    found = lax.while_loop(lambda c: c[1] < STEPS, lambda c: (c[0] * 3 % 1009, c[1] + 1), (1, 0))
    assert found == (pow(3, STEPS, 1009), STEPS)
    assert compiled == [None]


def test_values_that_begin_equal(compiled):
    """Two that are carried begin as what the steps read: they are told apart by their places."""

    def f(x):
        def step(c):
            return c[0] + x, c[1] + 2 * x, c[2] + 1

        return lax.while_loop(lambda c: c[2] < STEPS, step, (x, x, 0))

    module = mlir.parse_module(irax.jit(f).lower(1.0).as_text())
    found = evaluate.Evaluator(module)("f", [np.array(1, np.float32)])
    assert [int(x) for x in found] == [STEPS + 1, 2 * STEPS + 1, STEPS]
    assert compiled == ["stablehlo.while"]


def test_a_long_series(compiled):
    """The sum and its last term begin as one value."""
    with irax.enable_x64(True):
        np.testing.assert_allclose(
            special.hyp1f1(0.5, 1.0, jnp.array([-600.0, -1000.0])),
            [0.0230425584150855, 0.0178457065001532],
        )
    assert compiled == ["stablehlo.while"]
