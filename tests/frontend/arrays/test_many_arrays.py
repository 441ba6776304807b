"""Expressions of more arrays than a kernel may read and write: IREE binds 32 to one."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import irax
import irax.numpy as jnp
from irax import lax
from irax_compiler import mlir
from irax_compiler.lowering import lower

COUNT = 40


def _arrays(*shape: int) -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.normal(size=shape).astype(np.float32) for _ in range(COUNT)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", [(), (16,), (300,)])
def test_an_expression_may_read_any_number_of_arrays(shape: tuple[int, ...]) -> None:
    arrays = _arrays(*shape)
    expected = np.sum(np.stack(arrays), 0)
    np.testing.assert_allclose(irax.jit(lambda a: sum(a))(arrays), expected, atol=1e-4)


@pytest.mark.slow
def test_loops_and_branches_may_use_any_number_of_arrays() -> None:
    arrays = _arrays(300)
    total = np.sum(np.stack(arrays), 0)

    @irax.jit
    def f(a: list[Any], chosen: Any) -> Any:
        carried = lax.fori_loop(0, 3, lambda i, x: 0.5 * x + sum(a) * i, a[0])
        branch = lax.cond(a[0][0] > 100, lambda: a[1], lambda: a[1] - sum(a))
        return carried, branch, lax.select_n(chosen, *a), [2 * x + jnp.sum(sum(a)) for x in a]

    chosen = np.arange(300, dtype=np.int32) % COUNT
    carried, branch, selected, several = f(arrays, chosen)
    np.testing.assert_allclose(carried, arrays[0] / 8 + total * 2.5, atol=1e-3)
    np.testing.assert_allclose(branch, arrays[1] - total, atol=1e-4)
    np.testing.assert_array_equal(selected, np.stack(arrays)[chosen, np.arange(300)])
    for x, result in zip(arrays, several, strict=True):
        np.testing.assert_allclose(result, 2 * x + total.sum(), rtol=1e-3, atol=1e-3)


def test_an_expression_may_have_any_number_of_results() -> None:
    def prefixes(arrays: list[Any]) -> list[Any]:
        return [sum(arrays[: i + 1]) for i in range(len(arrays))]

    arrays = _arrays(16)
    expected = np.cumsum(np.stack(arrays), 0)
    np.testing.assert_allclose(np.stack(irax.jit(prefixes)(arrays)), expected, atol=1e-4)


@pytest.mark.slow
def test_any_number_of_complex_elements_may_be_computed_and_joined() -> None:
    rng = np.random.default_rng(0)
    z = (rng.normal(size=COUNT) + 1j * rng.normal(size=COUNT)).astype(np.complex64)

    @irax.jit
    def f(scalars: list[Any], rows: list[Any]) -> Any:
        products = [x * y for x, y in pairwise(scalars)]
        joined = jnp.concatenate([x * (1 + k) for k, x in enumerate(rows)])
        return products, joined

    products, joined = f(list(z), list(z[:, None]))
    np.testing.assert_allclose(np.stack(products), z[:-1] * z[1:], rtol=1e-5)
    np.testing.assert_allclose(joined, z * np.arange(1, COUNT + 1), rtol=1e-5)


@pytest.mark.slow
def test_any_number_of_single_elements_may_be_compared_and_written() -> None:
    x, places = np.arange(100, dtype=np.float32), np.arange(70, dtype=np.int32)

    @irax.jit
    def f(x: Any, scalars: list[Any], places: Any) -> Any:
        compared = [a > b for a, b in pairwise(scalars)]
        for k in range(70):
            x = x.at[places[k]].set(scalars[-k])
        return compared, x

    compared, written = f(x, list(x[:70]), places)
    assert not any(map(bool, compared))
    np.testing.assert_array_equal(written, [0, *range(69, 0, -1), *range(70, 100)])


@pytest.mark.slow
def test_a_function_of_very_many_arrays_is_compiled_in_parts() -> None:
    """More than the passes look at together: those that are alike are compiled once."""

    def f(tree: dict[str, Any], scale: Any, number: Any) -> Any:
        scaled = irax.tree.map(lambda x: x * scale, tree)
        moved = {name: x.at[0].set(jnp.sum(scaled["a0"])) for name, x in scaled.items()}
        return scaled, moved, scale, number + number, jnp.arange(3)

    tree = {f"a{i}": np.full(4, i + 1, np.float32) for i in range(100)}
    scaled, moved, scale, number, constant = irax.jit(f)(tree, np.float32(3), np.uint8(200))
    for name, x in tree.items():
        np.testing.assert_array_equal(scaled[name], 3 * x)
        np.testing.assert_array_equal(moved[name], [12, *3 * x[1:]])
    assert (float(scale), int(number), number.dtype) == (3, 144, np.uint8)
    np.testing.assert_array_equal(constant, [0, 1, 2])


def test_functions_of_hundreds_of_arrays_take_lists() -> None:
    """IREE's compile time grows with the cube of the number of arrays of a function."""
    arrays = [np.float32([i]) for i in range(300)]
    text = irax.jit(lambda xs: [-x for x in xs]).lower(arrays).as_text()
    module = mlir.parse_module(text)
    assert "irax.lists" in str(lower(module, next(iter(mlir.functions(module)))))


@pytest.mark.slow
def test_memory_of_functions_of_hundreds_of_arrays() -> None:
    arrays = [np.ones(256, np.float32)] * 300
    compiled = irax.jit(lambda xs: [-x for x in xs[:200]]).lower(arrays).compile()
    memory = compiled.memory_analysis()
    assert memory.argument_size_in_bytes == memory.output_size_in_bytes == 200 << 10


@pytest.mark.sampled(3)
@pytest.mark.parametrize("count", [8, 9, 40])
def test_many_arrays_are_reduced_together(count: int) -> None:
    """The elements where the first array is greatest."""
    rng = np.random.default_rng(0)
    arrays = [rng.random((7, 3), np.float32) for _ in range(count)]

    def greatest(a: list[Any], b: list[Any]) -> list[Any]:
        return [lax.select(a[0] >= b[0], x, y) for x, y in zip(a, b, strict=True)]

    starts = [np.float32(-1)] * count
    found = irax.jit(lambda xs: lax.reduce(xs, starts, greatest, (0,)))(arrays)
    places = arrays[0].argmax(0)
    for x, wanted in zip(found, arrays, strict=True):
        np.testing.assert_array_equal(x, wanted[places, range(3)])


@pytest.mark.slow
def test_equal_steps_of_an_optimizer_are_compiled_once() -> None:
    """Leaves of two shapes in no regular order, with the norm of all gradients: a call of Adam's
    step computes some of them.
    """
    shapes = [(4,) if i % 3 else (2, 3) for i in range(60)]
    rng = np.random.default_rng(0)
    trees = [[rng.random(shape).astype(np.float32) for shape in shapes] for _ in range(4)]

    def step(lib: Any, p: Any, g: Any, m: Any, v: Any, rate: Any) -> Any:
        norm = lib.sqrt(sum(lib.sum(x * x) for x in g))
        g = [x / norm for x in g]
        m = [0.75 * a + 0.25 * x for a, x in zip(m, g, strict=True)]
        v = [0.5 * a + 0.5 * x * x for a, x in zip(v, g, strict=True)]
        steps = zip(p, m, v, strict=True)
        return [x - rate * a / (lib.sqrt(b) + 1e-3) for x, a, b in steps], m, v

    lowered = irax.jit(lambda *a: step(jnp, *a)).lower(*trees, np.float32(0.125))
    module = mlir.parse_module(lowered.as_text())
    text = str(lower(module, next(iter(mlir.functions(module)))))
    assert text.count("call @") > 2 * text.count("func.func private @") > 0
    results = lowered.compile()(*trees, np.float32(0.125))
    expected = step(np, *trees, np.float32(0.125))
    for found, wanted in zip(irax.tree.leaves(results), irax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
