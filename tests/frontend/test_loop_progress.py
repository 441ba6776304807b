"""Loops that tell how far they have come: results are those of loops that do not."""

import re

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax.execution.diagnostics import loop_progress


def step(carry, row):
    x, n = carry
    moved = jnp.cos(x) * row["a"] - row["b"][0]
    return (moved, n + 1), {"x": moved, "pair": (n, row["b"])}


def rows(length):
    a = np.linspace(0.5, 1, length, dtype="float32")
    return {"a": a, "b": np.stack([a / 7, a], axis=1)}


@pytest.fixture
def seen(monkeypatch):
    monkeypatch.setattr(loop_progress, "is_seen", lambda: True)
    monkeypatch.setattr(loop_progress, "TIMES", 5)


@pytest.mark.usefixtures("seen")
@pytest.mark.sampled(2)
@pytest.mark.parametrize("reverse", [False, True])
def test_results_and_gradients_are_those_of_plain_loops(reverse, capsys):
    """Blocks divide some of these lengths, others not, and some are shorter than so many blocks."""

    def run(x, given, name):
        carry, ys = lax.scan(step, (x, 0), given, reverse=reverse, progress=name)
        return carry, ys

    def loss(x, given, name):
        (last, _), ys = run(x, given, name)
        return last + jnp.sum(ys["x"] ** 2)

    for f, length in ((run, 20), (run, 3), (irax.value_and_grad(loss), 23)):
        given = rows(length)
        found = irax.jit(f, static_argnums=2)(0.3, given, "rows")
        assert irax.effects_barrier() is None
        told = capsys.readouterr().err
        assert "rows: 0 of" in told
        assert re.search(rf"rows: {length} of {length}, [\d.]+ s\n$", told)
        expected = irax.jit(f, static_argnums=2)(0.3, given, None)
        assert irax.tree.structure(found) == irax.tree.structure(expected)
        for one, other in zip(*map(irax.tree.leaves, (found, expected)), strict=True):
            assert (one.shape, one.dtype) == (other.shape, other.dtype)
            np.testing.assert_allclose(one, other, rtol=2e-6)
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("seen")
def test_a_loop_over_numbers_tells_each_block(capsys):
    @irax.jit
    def total(x):
        return lax.fori_loop(10, 110, lambda i, c: c + i * x, 0.0, progress="steps")

    for _ in range(2):
        assert total(2.0) == 2 * sum(range(10, 110))
        irax.effects_barrier()
        told = re.findall(r"steps: (\d+) of 100", capsys.readouterr().err)
        assert told == ["0", "20", "40", "60", "80", "100"]
    with pytest.raises(ValueError, match="progress='steps' wants bounds that are known"):
        irax.jit(lambda n: lax.fori_loop(0, n, lambda i, c: c, 0.0, progress="steps"))(3)
    assert lax.scan(lambda c, x: (c, x), 1.0, jnp.zeros((0, 2)), progress="none")[1].shape == (0, 2)


def test_nothing_is_told_where_nobody_looks(capsys):
    f = irax.jit(lambda x: lax.scan(lambda c, _: (c * x, None), 1.0, length=99, progress="rows")[0])
    assert f(1.0) == 1
    assert capsys.readouterr().err == ""
    assert "custom_call" not in str(irax.make_ir(f)(1.0))
