"""Custom calls by the names that XLA has for them, in modules of JAX for TPUs and TensorFlow."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import irax
from irax_compiler.forms.reading import read_module
from irax_compiler.ops.evaluation.evaluator import Evaluator
from irax_compiler.ops.foreign import TARGETS

RNG = np.random.default_rng(0)


def tensor(*shape: int, of: str = "f64") -> str:
    return "tensor<" + "".join(f"{n}x" for n in shape) + f"{of}>"


def loaded(text: str) -> Callable[..., list[np.ndarray]]:
    evaluator = Evaluator(read_module(text))
    return lambda *arrays: evaluator("main", arrays)


@pytest.mark.parametrize(("m", "n"), [(5, 3), (4, 4)])
def test_qr(m: int, n: int) -> None:
    a, t = tensor(2, m, n), tensor(2, n)
    run = loaded(
        f"""func.func @main(%a: {a}) -> ({a}, {a}) {{
          %0:2 = stablehlo.custom_call @Qr(%a) : ({a}) -> ({a}, {t})
          %1 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%0#0, %0#1)
              : ({a}, {t}) -> {a}
          return %1, %0#0 : {a}, {a} }}"""
    )
    x = RNG.normal(size=(2, m, n))
    q, packed = run(x)
    r = np.triu(packed)[:, :n]
    np.testing.assert_allclose(q @ r, x, atol=1e-12)
    np.testing.assert_allclose(q.swapaxes(1, 2) @ q, [np.eye(n)] * 2, atol=1e-12)


def test_lu() -> None:
    a, p = tensor(4, 4), tensor(4, of="i32")
    run = loaded(
        f"""func.func @main(%a: {a}) -> ({a}, {p}, {p}) {{
          %0:3 = stablehlo.custom_call @LuDecomposition(%a) : ({a}) -> ({a}, {p}, {p})
          return %0#0, %0#1, %0#2 : {a}, {p}, {p} }}"""
    )
    x = RNG.normal(size=(4, 4))
    factors, pivots, order = run(x)
    lower, upper = np.tril(factors, -1) + np.eye(4), np.triu(factors)
    np.testing.assert_allclose(lower @ upper, x[order], atol=1e-12)
    exchanged = np.arange(4)
    for i, pivot in enumerate(pivots):  # of rows that are numbered from 0
        exchanged[[i, pivot]] = exchanged[[pivot, i]]
    np.testing.assert_array_equal(exchanged, order)


@pytest.mark.parametrize("lower", [0, 1])
@pytest.mark.parametrize("values_first", [False, True])
def test_eigh(lower: int, values_first: bool) -> None:
    a, w = tensor(4, 4), tensor(4)
    types = f"{w}, {a}" if values_first else f"{a}, {w}"
    run = loaded(
        f"""func.func @main(%a: {a}) -> ({types}) {{
          %0:2 = stablehlo.custom_call @Eigh(%a) {{backend_config = "{lower},1,100,1e-6"}}
              : ({a}) -> ({types})
          return %0#0, %0#1 : {types} }}"""
    )
    x = RNG.normal(size=(4, 4))
    whole = np.tril(x) + np.tril(x, -1).T if lower else np.triu(x) + np.triu(x, 1).T
    values, vectors = run(x) if values_first else run(x)[::-1]
    np.testing.assert_allclose(values, np.linalg.eigvalsh(whole), atol=1e-12)
    np.testing.assert_allclose(whole @ vectors, vectors * values, atol=1e-12)


@pytest.mark.parametrize("target", ["TopK", "__gpu$TopK"])
@pytest.mark.parametrize("direction", ["GT", "LT"])
def test_top_k(target: str, direction: str) -> None:
    x, v, i = tensor(2, 9), tensor(2, 3), tensor(2, 3, of="i32")
    run = loaded(
        f"""func.func private @before(%a: tensor<f64>, %b: tensor<f64>) -> tensor<i1> {{
          %0 = stablehlo.compare {direction}, %a, %b : (tensor<f64>, tensor<f64>) -> tensor<i1>
          return %0 : tensor<i1> }}
        func.func @main(%x: {x}) -> ({v}, {i}) {{
          %0:2 = stablehlo.custom_call @{target}(%x) {{called_computations = [@before]}}
              : ({x}) -> ({v}, {i})
          return %0#0, %0#1 : {v}, {i} }}"""
    )
    given = RNG.normal(size=(2, 9))
    values, places = run(given)
    expected = np.argsort(given if direction == "LT" else -given)[:, :3]
    np.testing.assert_array_equal(places, expected)
    np.testing.assert_array_equal(values, np.take_along_axis(given, expected, 1))


def test_tan() -> None:
    x = tensor(5, of="f32")
    run = irax.ir.load(
        f"""func.func @main(%x: {x}) -> {x} {{
          %0 = stablehlo.custom_call @mhlo.tan(%x) {{mhlo.attributes = {{}},
              mhlo.version = 1 : i64}} : ({x}) -> {x}
          return %0 : {x} }}""",
        device="reference",
    )
    given = RNG.uniform(-1, 1, 5).astype(np.float32)
    np.testing.assert_allclose(run(given), np.tan(given), rtol=1e-6)
    slope = irax.grad(lambda x: run(x).sum())(given)
    np.testing.assert_allclose(slope, 1 / np.cos(given) ** 2, rtol=1e-5)


def names_in(page: str) -> set[str]:
    """The names between back quotes, those with `{a,b}` written out."""
    found: set[str] = set()
    pending = re.findall(r"`([^`\n]+)`", page)
    while pending:
        name = pending.pop()
        choice = re.search(r"\{([^{}]*)\}", name)
        if choice is None:
            found.add(name)
        else:
            before, after = name[: choice.start()], name[choice.end() :]
            pending += [f"{before}{one}{after}" for one in choice[1].split(",")]
    return found


def test_the_page_has_all_that_are_computed_and_none_of_the_others() -> None:
    page = (Path(__file__).parents[2] / "docs" / "custom-calls.md").read_text("utf-8")
    computed, _, refused = page.partition("## Refused by name")
    assert set(TARGETS) <= names_in(computed)
    assert not set(TARGETS) & names_in(refused)
