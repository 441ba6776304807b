"""Gathers, scatters and copies by kernels that use vectors, against the evaluator: by default half
of the forms of windows, and each move of one dtype; all with IRAX_ALL_FORMS=1.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from tests.differential.harness import CASES, assert_near
from tests.differential.test_iree import UNDETERMINED, Function, compiled, lowered
from tests.sampling import ALL_FORMS

import irax
import irax.numpy as jnp
from irax import lax
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.passes.kernels.moves import copies, gathers
from irax_compiler.passes.legalize.iree import moves
from irax_runtime.iree.cpu import cpu

FUNCTIONS = [
    Function(case, "value")
    for case in CASES
    if case.name.startswith(("gather", "scatter")) and case.name not in UNDETERMINED
]
PARTS = [FUNCTIONS[i::4] for i in range(4 if ALL_FORMS else 2)]


@pytest.mark.parametrize("functions", PARTS, ids=range(len(PARTS)))
@pytest.mark.slow
def test_all_forms_of_windows(functions: Sequence[Function], monkeypatch) -> None:
    monkeypatch.setattr(copies, "MANY", 1)
    monkeypatch.setattr(gathers, "WIDE", 1)
    monkeypatch.setattr(moves, "SOME", 1)
    module, ready, names = lowered(functions)
    artefact = compiled(functions, ready)
    evaluator = Evaluator(module)
    assert str(ready).count("flow.dispatch @") > len(functions) / 2
    wrong = []
    for function, name in zip(functions, names, strict=True):
        arrays = function.arguments()
        results = cpu().load(artefact, name)([cpu().put(a) for a in arrays])
        try:
            for result, value in zip(results, evaluator(name, arrays), strict=True):
                assert_near(result.numpy(), value, function.case.tolerance or 1e-6)
        except AssertionError as error:
            wrong.append(f"{function}: {error}")
    assert not wrong, "\n".join(wrong)


def _moves(x, i, j, u):
    return (
        x[i],
        x[i, j],
        x[:, j],
        jnp.take(x, i, axis=0, mode="clip"),
        jnp.take(x, i, axis=0, fill_value=3),
        jnp.take(x, j, axis=1, fill_value=4),
        jnp.take(x, i, fill_value=5),
        x.at[i, j].get(mode="fill", fill_value=6),
        x.reshape(-1).at[i[:, None] + i[:7]].get(mode="fill", wrap_negative_indices=False),
        jnp.take_along_axis(x, j[:, None], 1),
        x.reshape(-1)[i],
        x.at[i].add(u),
        x.at[i].set(u, mode="drop"),
        x.at[i].max(u),
        x.at[:, j % 77].add(u.T[0, 0]),
        jnp.zeros_like(x).at[i, j].add(u[:, 0]),
        jnp.zeros(5, x.dtype).at[i % 5].add(u[:, 3]),
    )


@pytest.mark.parametrize("number, dtype", [*enumerate([np.uint8, np.float64, np.bool_])])
@pytest.mark.slow
def test_shares_of_workgroups(number: int, dtype: type) -> None:
    part = slice(None) if ALL_FORMS else slice(number, None, 3)
    rng = np.random.default_rng(0)
    x, u = (rng.integers(0, 100, (5001, 77)).astype(dtype) for _ in range(2))
    i = rng.integers(-6000, 6000, 5001).astype(np.int32)
    j = rng.integers(-90, 90, 5001).astype(np.int32)
    with irax.enable_x64(True):
        found = irax.jit(lambda x, i, j, u: _moves(x, i, j, u)[part])(x, i, j, u)
        expected = _moves(*map(jnp.asarray, (x, i, j, u)))[part]
        for place, (a, b) in enumerate(zip(found, expected, strict=True)):
            np.testing.assert_array_equal(a, b, err_msg=f"result {place}")


def _copies(x, y):
    zero = jnp.zeros((), x.dtype)
    return (
        jnp.flip(x),
        jnp.flip(x, 0),
        jnp.flip(x, 1),
        jnp.flip(x.reshape(-1)[:-1]),
        jnp.flip(x.reshape(7, 11, -1), (0, 2)),
        jnp.concatenate([x, y, x], 1),
        jnp.stack([x, x], -1),
        jnp.roll(x, 5, 1),
        jnp.concatenate([x[::2, 1:-1:3], y[:501]], 1),
        jnp.pad(x, 3),
        jnp.pad(x.reshape(-1), (5, 100_000)),
        lax.pad(x.reshape(7, 11, -1), zero + True, [(1, 0, 0), (0, 2, 0), (3, 4, 0)]),
        x.at[1:1001:2].set(x[:500]),
        jnp.flip(x).at[::3, 2::4].set(x[:334, :19]),
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "number, dtype", [*enumerate([np.int8, np.float32, np.complex64, np.bool_])]
)
def test_copies_of_parts(number: int, dtype: type) -> None:
    part = slice(None) if ALL_FORMS else slice(number, None, 4)
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-9, 100, (1001, n)).astype(dtype) for n in (77, 5))
    found = irax.jit(lambda x, y: _copies(x, y)[part])(x, y)
    expected = _copies(jnp.asarray(x), jnp.asarray(y))[part]
    for place, (a, b) in enumerate(zip(found, expected, strict=True)):
        np.testing.assert_array_equal(a, b, err_msg=f"result {place}")


@pytest.mark.sampled(5)
@pytest.mark.filterwarnings("ignore:.*imaginary part")
@pytest.mark.parametrize("dtype", [np.bool_, np.float32, np.complex64])
@pytest.mark.parametrize(
    "of", [jnp.exp, jnp.real, jnp.negative, lambda x: x.astype(np.int8), lambda x: x != 0]
)
def test_functions_of_a_reshaped_array_and_of_its_broadcast(of, dtype: type) -> None:
    x = np.random.default_rng(0).integers(-1, 2, (2, 8)).astype(dtype)
    if dtype == np.bool_ and of is jnp.negative:
        of = jnp.logical_not

    def both(x):
        y = x.reshape(16)
        return of(y), of(jnp.broadcast_to(y, (5, 16)))

    one, several = irax.jit(both)(x)
    expected = of(jnp.asarray(x)).reshape(16)
    np.testing.assert_allclose(one, expected, rtol=1e-6)
    np.testing.assert_allclose(several, np.tile(expected, (5, 1)), rtol=1e-6)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "of",
    [
        lambda x: jnp.concatenate([x, x[::-1]]),
        lambda x: lax.pad(x, 1.5, [(3, 3, 0)]),
        lambda x: x.at[jnp.array([0, 2, 2])].multiply(2.0),
        lambda x: jnp.outer(x, x).sum(1),
    ],
    ids=["concatenate", "pad", "scatter", "reduce"],
)
def test_updates_of_parts(of) -> None:
    def program(x):
        return of(x)[1:].at[jnp.array([3, 1, 3])].add(1.5), of(x)[:-1].at[2].set(0.0)

    x = np.random.default_rng(0).standard_normal(33).astype(np.float32)
    with irax.disable_jit():
        expected = program(jnp.asarray(x))
    for a, b in zip(irax.jit(program)(x), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shape", [(15,), (9, 40)])
def test_derivative_of_every_other_element_from_a_computed_place_on(shape: tuple[int, ...]) -> None:
    def loss(x, i):
        taken = lax.dynamic_slice(x, [i] * x.ndim, [n - 3 for n in x.shape])
        return jnp.sum(jnp.sin(taken[(slice(None, None, 2),) * x.ndim]))

    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    expected = np.zeros_like(x)
    places = tuple(slice(2, n - 1, 2) for n in shape)
    expected[places] = np.cos(x[places])
    found = irax.jit(irax.grad(loss))(x, np.int32(2))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("size", [100, 1000])
def test_update_by_a_function_of_what_it_overwrites(size: int) -> None:
    def program(x):
        largest = lax.reduce_window(x, -np.inf, lax.max, (3,), (1,), "VALID")
        return lax.dynamic_update_slice(largest, largest[: size // 2] * 2 + 2, [1])

    x = np.random.default_rng(0).standard_normal(size).astype(np.float32)
    expected = np.max([x[:-2], x[1:-1], x[2:]], axis=0)
    expected[1 : size // 2 + 1] = expected[: size // 2] * 2 + 2
    np.testing.assert_allclose(irax.jit(program)(x), expected, rtol=1e-6)


def _reversed_bits(x):
    return lax.bitcast_convert_type(x[::2, 1:], np.int32)[::-1]


def _gaps_as_signed(x):
    gaps = lax.pad(x, x.dtype.type(0), [(0, 0, 1), (0, 0, 0)])
    there = lax.bitcast_convert_type(gaps, np.int32)
    return jnp.zeros((80, 9), np.int32).at[2:49, 1:7].set(there)


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("program", "dtype"),
    [
        (lambda x: x[::-2], np.uint8),
        (lambda x: x[::2, 1:][::-1], np.uint32),
        (lambda x: lax.cummax(x[::3], reverse=True), np.uint16),
        (_reversed_bits, np.float32),
        (_gaps_as_signed, np.uint32),
    ],
    ids=["every other", "columns", "cumulative", "bits", "update"],
)
def test_moves_of_numbers_of_another_sign(program, dtype: type) -> None:
    x = np.arange(144).reshape(24, 6).astype(dtype)
    np.testing.assert_array_equal(irax.jit(program)(x), program(jnp.asarray(x)))
