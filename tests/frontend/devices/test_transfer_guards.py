"""Options that log or forbid copies between the host and devices: those that JAX 0.10.2 does, where
irax makes a copy at all.
"""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import NamedSharding, P
from irax.config import config
from irax.sharding import Mesh
from irax_runtime.iree.cpu import cpu

N = np.ones(4, np.float32)
MESH = Mesh(np.array([cpu(n) for n in range(2)], dtype=object), ("i",))
DIVIDED = NamedSharding(MESH, P("i"))
double, product = irax.jit(lambda x: 2 * x), irax.jit(lambda x, y: x * y)

HOST_TO_DEVICE = {
    "a call with an array of NumPy's": lambda x: double(N),
    "a call with a number": lambda x: product(x, 2.0),
    "an operation": lambda x: x + N,
    "ones": lambda x: jnp.ones(1),
    "array": lambda x: jnp.array([1, 2]),
    "asarray": lambda x: jnp.asarray(N),
}
DEVICE_TO_DEVICE = {
    "shard_map": lambda x: irax.shard_map(
        lambda x: x, mesh=MESH, in_specs=P("i"), out_specs=P("i")
    )(x),
    "in_shardings": lambda x: irax.jit(lambda x: x, in_shardings=DIVIDED)(x),
    "a call on a device": lambda x: irax.jit(lambda x: x + x, device=cpu(1))(x),
}
EXPLICIT = {
    "host_to_device": [lambda x: irax.device_put(N), lambda x: irax.device_put(N, DIVIDED)],
    "device_to_device": [
        lambda x: irax.device_put(x, cpu(1)),
        lambda x: irax.device_put(x, DIVIDED),
    ],
}
IMPLICIT = {
    "host_to_device": list(HOST_TO_DEVICE.values()),
    "device_to_device": list(DEVICE_TO_DEVICE.values()),
}
ALLOWED: list[Any] = [double, lambda x: product(x, x), np.asarray, irax.device_get, lambda x: x + x]


def guard(direction: str, level: str) -> Any:
    return getattr(irax, f"transfer_guard_{direction}")(level)


@pytest.fixture(name="x")
def array() -> irax.Array:
    x = jnp.ones(4)
    double(x)
    return x


@pytest.mark.parametrize("direction", EXPLICIT)
def test_levels(direction: str, x: irax.Array, caplog: pytest.LogCaptureFixture):
    shown = direction.replace("_", "-")
    for f in IMPLICIT[direction]:
        for level in ("disallow", "disallow_explicit"):
            with guard(direction, level), pytest.raises(RuntimeError, match=f"disallowed {shown}"):
                f(x)
        for level in ("log", "log_explicit"):
            caplog.clear()
            with guard(direction, level), caplog.at_level(logging.WARNING, "irax"):
                f(x)
            assert f"{shown} transfer" in caplog.text
    for f in EXPLICIT[direction]:
        with guard(direction, "disallow"):
            f(x)
        with (
            guard(direction, "disallow_explicit"),
            pytest.raises(RuntimeError, match=f"disallowed {shown}"),
        ):
            f(x)


@pytest.mark.parametrize("other", EXPLICIT)
def test_each_option_is_of_one_direction(other: str, x: irax.Array):
    direction = next(name for name in EXPLICIT if name != other)
    for f in IMPLICIT[direction] + EXPLICIT[direction]:
        with guard(other, "disallow_explicit"):
            f(x)


def test_what_functions_compute_with_is_no_copy(x: irax.Array):
    key = irax.random.key(0)
    with irax.transfer_guard("disallow"):
        np.testing.assert_array_equal(jnp.arange(3), [0, 1, 2])
        np.testing.assert_array_equal(jnp.arange(3.0), [0, 1, 2])
        np.testing.assert_array_equal(jnp.interp(x, x, x), N)
        for draw in (irax.random.normal, irax.random.gumbel, irax.random.exponential):
            assert draw(key, (3,)).shape == (3,)
        assert irax.random.permutation(key, x).shape == (4,)
        assert np.isfinite(irax.nn.softmax(irax.scipy.special.gammaln(x + x))).all()
        for call in (
            lambda: jnp.interp(x, x, N),
            lambda: jnp.concatenate([x, N]),
            lambda: irax.lax.dot_general(x, N, dimension_numbers=(((0,), (0,)), ((), ()))),
            lambda: jnp.clip(x, min=N),
            lambda: N @ x,
        ):
            with pytest.raises(RuntimeError, match="disallowed host-to-device"):
                call()


def test_what_is_no_copy_is_allowed(x: irax.Array):
    with irax.transfer_guard("disallow_explicit"):
        for f in ALLOWED:
            for _ in range(3):  # the short way of calls, too
                np.testing.assert_array_equal(np.asarray(f(x)) > 0, [True] * 4)
        new = irax.jit(lambda x: x * jnp.arange(4) + np.float32(1))  # parts of its program
        np.testing.assert_array_equal(new(x), np.arange(4) + 1)


def test_calls_known_before_are_seen_too():
    for _ in range(3):
        _ = double(N), jnp.ones(1)
    for _ in range(3):
        for f in (lambda: double(N), lambda: jnp.ones(1)):
            with irax.transfer_guard("disallow"), pytest.raises(RuntimeError, match="disallowed"):
                f()


def test_contexts_nest():
    with irax.transfer_guard("disallow"):
        with irax.transfer_guard_host_to_device("allow"):
            jnp.ones(1)
        with irax.transfer_guard("allow"):
            jnp.ones(1)
        with pytest.raises(RuntimeError, match="disallowed host-to-device transfer of ones"):
            jnp.ones(1)
    jnp.ones(1)
    with pytest.raises(ValueError, match=r"transfer_guard must be one of .* got 'never'"):
        irax.transfer_guard("never")


def test_options_of_the_process():
    config.update("jax_transfer_guard", "disallow")
    try:
        assert config.transfer_guard_device_to_host == "disallow"
        with pytest.raises(RuntimeError, match="disallowed host-to-device"):
            jnp.ones(1)
        config.update("jax_transfer_guard_host_to_device", "allow")
        jnp.ones(1)
    finally:
        config.update("jax_transfer_guard", None)
    jnp.ones(1)
