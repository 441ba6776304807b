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
    monkeypatch.setattr(loop_progress, "EVERY", 0.0)


@pytest.mark.slow
@pytest.mark.usefixtures("seen")
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
def test_a_loop_over_numbers_tells_of_its_blocks(capsys):
    """After one block first, and then after as many as take a while, here one."""

    @irax.jit
    def total(x):
        return lax.fori_loop(10, 110, lambda i, c: c + i * x, 0.0, progress="steps")

    for _ in range(2):
        assert total(2.0) == 2 * sum(range(10, 110))
        irax.effects_barrier()
        told = re.findall(r"steps: (\d+) of 100", capsys.readouterr().err)
        assert told == ["0", "20", "40", "60", "80", "100"]
    assert lax.scan(lambda c, x: (c, x), 1.0, jnp.zeros((0, 2)), progress="none")[1].shape == (0, 2)


def test_short_loops_are_told_of_once(capsys, monkeypatch):
    """A loop that ended before its line could be seen shows none when it runs again, and asks a few
    times in all.
    """
    monkeypatch.setattr(loop_progress, "is_seen", lambda: True)
    monkeypatch.setattr(loop_progress, "EVERY", 3600.0)
    asked = []
    at_once = loop_progress.Line._at_once
    monkeypatch.setattr(
        loop_progress.Line, "_at_once", lambda line: asked.append(0) or at_once(line)
    )

    @irax.jit
    def total(x):
        return lax.fori_loop(0, 1000, lambda i, c: c + i * x, 0.0, progress="steps")

    for expected in (1, 0, 0):
        asked.clear()
        assert total(2.0) == 2 * sum(range(1000))
        irax.effects_barrier()
        assert len(asked) == 3  # after 0, 1 and 17 of 50 blocks
        err = capsys.readouterr().err
        assert err.count("steps: 0 of 1000") == expected
        assert "1000 of 1000" not in err


@pytest.mark.usefixtures("seen")
def test_steps_that_take_long_tell_each_time(capsys):
    @irax.jit
    def powers(x):
        return lax.scan(lambda c, _: (c @ x, c[0, 0]), x, length=15, progress="products")

    x = np.diag(np.linspace(0.9, 1, 128, dtype="float32"))
    last, corners = powers(x)
    np.testing.assert_allclose(last, np.linalg.matrix_power(x, 16), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(corners, 0.9 ** np.arange(1, 16), rtol=1e-5)
    assert [n for n, _ in counts(capsys, "products")] == ["0", "3", "6", "9", "12", "15"]


def counts(capsys, name):
    irax.effects_barrier()
    return re.findall(rf"{name}: (\d+) of (\d+)", capsys.readouterr().err)


@pytest.mark.sampled(3)
@pytest.mark.usefixtures("seen")
@pytest.mark.parametrize("length", [0, 3, 23])
def test_loops_whose_length_is_known_when_they_run(length, capsys):
    @irax.jit
    def total(n, x):
        return lax.fori_loop(2, n + 2, lambda i, c: c + i * x, 0.0, progress="steps")

    assert total(length, 2.0) == 2 * sum(range(2, length + 2))
    told = counts(capsys, "steps")
    assert told[-1:] == [(str(length), str(length))] * bool(length)  # of no steps, none is told
    assert len(told) == {0: 0, 3: 4, 23: 7}[length]


@pytest.mark.slow
@pytest.mark.usefixtures("seen")
def test_loops_in_transformations(capsys):
    def power(x, n, name=None):
        def step(i, c):
            return c * x

        return lax.fori_loop(0, n, step, 1.0, max_steps=20, progress=name)

    slope = irax.jit(irax.value_and_grad(power), static_argnums=2)
    for n in (0, 7, 19):
        np.testing.assert_allclose(slope(1.25, n, "steps"), slope(1.25, n, None), rtol=1e-5)
        assert counts(capsys, "steps")[-1:] == [(str(n), str(n))] * bool(n)

    def rows(x, name):
        return lax.scan(lambda c, y: (c * y, c + y), x, x + np.ones(12, "f"), progress=name)

    x = jnp.linspace(0.5, 1, 4)
    for lanes in (
        irax.vmap(rows, (0, None)),
        irax.jit(irax.vmap(rows, (0, None)), static_argnums=1),
    ):
        for one, other in zip(lanes(x, "rows"), lanes(x, None), strict=True):
            np.testing.assert_array_equal(one, other)
        assert counts(capsys, "rows")[-1] == ("12", "12")

    @irax.jit
    def nested(x):
        def outer(i, c):
            return lax.fori_loop(0, 10, lambda j, d: d + j, c, progress="inner")

        return lax.fori_loop(0, 3, outer, x, progress="outer")

    assert nested(1.0) == 1 + 3 * 45
    irax.effects_barrier()
    err = capsys.readouterr().err
    assert err.count("inner: 10 of 10") == 3
    assert err.count("outer: 3 of 3") == 1


def test_nothing_is_told_where_nobody_looks(capsys):
    f = irax.jit(lambda x: lax.scan(lambda c, _: (c * x, None), 1.0, length=99, progress="rows")[0])
    assert f(1.0) == 1
    assert capsys.readouterr().err == ""
    assert "custom_call" not in str(irax.make_ir(f)(1.0))
