"""Training steps whose optimizers' state is divided among the devices that share the batch."""

from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import P
from irax.config import config
from irax.sharding import AxisType, Mesh, NamedSharding
from irax_compiler import api
from irax_runtime.iree.cpu import cpu

N = 256
"""The size of weights: their gradients, of 256 KB, are worth a sum of parts."""


def loss(w: Any, x: Any, y: Any) -> Any:
    return jnp.mean((jnp.tanh(x @ w["in"]) @ w["out"] - y) ** 2)


def step(w: Any, state: Any, x: Any, y: Any, put: Any = lambda name, tree: tree) -> Any:
    gradients = irax.grad(loss)(w, x, y)
    decayed = irax.tree.map(lambda g, w: g + 0.25 * w, gradients, w)
    parts = put("state", decayed)
    state = irax.tree.map(lambda m, g: 0.5 * m + g, state, parts)
    return put("whole", irax.tree.map(lambda w, m: w - 0.125 * m, put("state", w), state)), state


def arrays(dtype: Any) -> Any:
    rng = np.random.default_rng(0)
    w = {"in": rng.normal(size=(N, N)) / 16, "out": rng.normal(size=(N, N)) / 16}
    state = {name: rng.normal(size=(N, N)) for name in w}
    data = [rng.normal(size=(32, N)) for _ in "xy"]
    return irax.tree.map(lambda a: a.astype(dtype), (w, state, *data))


@pytest.mark.parametrize(
    "dtype",
    [
        pytest.param(np.float32, id="float32"),
        pytest.param(jnp.bfloat16, id="bfloat16", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize(
    "sizes, spec", [((4, 1), P("data")), ((2, 2), P(None, "data")), ((2, 2), P(("data", "model")))]
)
def test_gradients_are_summed_where_the_state_is(sizes, spec, dtype, monkeypatch):
    devices = np.array([cpu(i) for i in range(4)], object).reshape(sizes)
    mesh = Mesh(devices, ("data", "model"), (AxisType.Auto,) * 2)
    by_name = {name: NamedSharding(mesh, s) for name, s in {"state": spec, "whole": P()}.items()}

    def put(name: str, tree: Any) -> Any:
        wanted = by_name[name]
        return irax.tree.map(lambda x: irax.lax.with_sharding_constraint(x, wanted), tree)

    w, state, x, y = arrays(dtype)
    batch = NamedSharding(mesh, P("data"))
    programs = []
    partition = api.partition

    def seen(*args: Any, **options: Any) -> Any:
        programs.append(partition(*args, **options))
        return programs[-1]

    monkeypatch.setattr(api, "partition", seen)
    with config.scoped("spmd", "threads"):
        given = [irax.device_put(w, by_name["whole"]), irax.device_put(state, by_name["state"])]
        given += [irax.device_put(a, batch) for a in (x, y)]
        found = irax.jit(lambda *args: step(*args, put=put))(*given)
    (program,) = map(str, programs)
    assert program.count("@irax.reduce_scatter(") >= 2
    sums = [line for line in program.splitlines() if "@irax.all_reduce(" in line]
    assert not any(f"tensor<{N}x{N}x" in line for line in sums), sums
    wide = irax.tree.map(lambda a: a.astype(np.float32), (w, state, x, y))
    expected = step(*wide)
    rtol = 1e-5 if dtype == np.float32 else 0.05
    for name in w:
        assert found[1][name].sharding.spec == spec
        for ours, theirs in zip(found, expected, strict=True):
            ours = np.asarray(ours[name]).astype(np.float32)
            np.testing.assert_allclose(ours, theirs[name], rtol, rtol)
