"""Loops that call the host in few of their steps: the calls are those of the plain loop."""

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax

N = 50


def noting(when, seen, fails=False):
    def note(x):
        seen.append(float(x))
        if fails:
            raise ValueError("too large")

    def body(carry):
        i, x = carry
        x = x + 3 - lax.cond(x > 40, lambda: 40.0, lambda: 0.0)

        def host():
            irax.debug.callback(note, x, ordered=True)
            return x + 1

        return i + 1, lax.cond(when(i), host, lambda: x)

    return body


@pytest.mark.parametrize(
    "when",
    [
        lambda i: i % 7 == 3,
        lambda i: i >= 0,
        lambda i: i == N - 1,
        lambda i: i < 0,
        lambda i: i == 0,
    ],
)
@pytest.mark.parametrize("is_scan", [False, True])
def test_calls_are_those_of_each_step(when, is_scan):
    def loop(body, x):
        if is_scan:
            return lax.scan(lambda c, _: (body(c), None), (0, x), length=N)[0]
        return lax.while_loop(lambda c: c[0] < N, body, (0, x))

    seen: list[float] = []
    found = irax.jit(lambda x: loop(noting(when, seen), x))(jnp.float32(1))
    irax.effects_barrier()
    expected_seen: list[float] = []
    with irax.disable_jit():
        expected = loop(noting(when, expected_seen), jnp.float32(1))
    irax.effects_barrier()
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(seen, expected_seen)


def test_an_exception_ends_the_loop():
    seen: list[float] = []
    body = noting(lambda i: i == 5, seen, fails=True)
    f = irax.jit(lambda x: lax.while_loop(lambda c: c[0] < N, body, (0, x)))
    with pytest.raises(ValueError, match="too large"):
        f(jnp.float32(1))
    assert len(seen) == 1


def test_the_steps_without_a_call_are_a_kernel():
    f = irax.jit(lambda x: lax.while_loop(lambda c: c[0] < N, noting(lambda i: i == 5, []), (0, x)))
    text = f.lower(jnp.float32(1)).as_text("host-steps")
    assert text.count("stablehlo.while") == 3
    assert f.lower(jnp.float32(1)).as_text("loops").count("stablehlo.while") == 1
