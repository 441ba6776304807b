"""irax check: the table, and what it is worth where something is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from irax_compiler import mlir
from irax_tools import checking
from irax_tools.sources import Source, read_module

WRONG_RULE = """
import irax
import irax.numpy as jnp

@irax.custom_jvp
def square(x):
    return x * x

@square.defjvp
def square_jvp(primals, tangents):
    (x,), (dx,) = primals, tangents
    return square(x), 3 * x * dx

def f(x):
    y = jnp.exp(-x * x)
    return jnp.sum(jnp.sin(square(y)) * 2)
"""


def rows(done):
    return {line[:26].strip(): line[26:].split(maxsplit=1) for line in done.stdout.splitlines()}


def test_what_is_right(irax):
    done = irax("check", "in.mlir")
    assert done.returncode == 0, done.stdout
    assert set(rows(done)) == set(checking.PROPERTIES)
    assert {outcome for (outcome,) in rows(done).values()} == {"ok"}


def test_what_is_wrong_is_cut_short(folder, irax):
    (folder / "wrong.py").write_text(WRONG_RULE)
    done = irax("check", "wrong.py:f", "--args", "f32[3]", "-o", "found")
    assert done.returncode == 1
    outcome, detail = rows(done)["jvp = differences"]
    assert (outcome, detail[:7]) == ("FAILED", "off by ")
    assert [name for name, row in rows(done).items() if row[0] != "ok"] == ["jvp = differences"]
    assert "found.mlir with found.npz" in done.stderr
    text = (folder / "found.mlir").read_text()
    assert text.startswith("// jvp = differences: off by ")
    body = text[text.index("func.func @f(") :]
    assert "irax.custom_jvp" in body
    assert "stablehlo.sine" not in body  # comes after the wrong operation
    with np.load(folder / "found.npz") as inputs:
        assert [inputs[name].shape for name in inputs] == [(3,)]
    again = irax("check", "found.mlir", "--inputs", "found.npz")
    assert again.returncode == 1
    assert "jvp = differences         FAILED" in again.stdout


def test_what_has_no_rule_is_told(folder, irax):
    text = """
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.while(%i = %x) : tensor<f32>
      cond {
        %c = stablehlo.constant dense<9.0> : tensor<f32>
        %p = stablehlo.compare LT, %i, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      } do {
        %c = stablehlo.constant dense<1.5> : tensor<f32>
        %n = stablehlo.add %i, %c : tensor<f32>
        stablehlo.return %n : tensor<f32>
      }
      return %0 : tensor<f32>
    }
    """
    done = irax("check", "-", stdin=text)
    assert done.returncode == 0, done.stdout + done.stderr
    outcome, detail = rows(done)["<u, jvp v> = <vjp u, v>"]
    assert outcome == "refused"
    assert detail.startswith("no derivative: ")
    assert rows(done)["jvp = differences"][0] == "ok"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "property_", "reason"),
    [
        (
            "func.func @main(%x: tensor<3xi32>) -> tensor<3xi32> { return %x : tensor<3xi32> }",
            "jvp = differences",
            "no argument of a floating-point type",
        ),
        (
            "func.func @main(%x: tensor<bf16>) -> tensor<bf16> { return %x : tensor<bf16> }",
            "jvp = differences",
            "bfloat16 has too few digits for differences",
        ),
        (
            "func.func @main() -> tensor<f32> { %0 = stablehlo.constant dense<1.0> : tensor<f32> "
            "return %0 : tensor<f32> }",
            "vmap = loop",
            "no arguments",
        ),
    ],
)
def test_what_says_nothing_is_not_tried(text, property_, reason):
    found = checking.check_source(Source(mlir.parse_module(text), "main"), 1, 0)
    (row,) = [row for row in found if row.name == property_]
    assert (row.outcome, row.detail) == ("not tried", reason)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("property_", ["evaluator = IREE", "vmap = loop", "text round trip"])
def test_each_property_can_fail(folder, monkeypatch, property_):
    source = Source(read_module(str(folder / "in.mlir"))[0], "main")
    right = checking.program

    def wrong(source, device):
        run = right(source, device)
        shapes = [shape for shape, _ in checking.argument_types(source)]
        is_wrong = device == "cpu" if property_ == "evaluator = IREE" else len(shapes[0]) > 1
        return lambda inputs: [r + is_wrong for r in run(inputs)]

    monkeypatch.setattr(checking, "program", wrong)
    if property_ == "text round trip":
        monkeypatch.setattr(mlir, "bytecode", lambda module: "module {}")
    (row,) = [row for row in checking.check_source(source, 1, 0) if row.name == property_]
    assert row.outcome == "FAILED"


@pytest.mark.parametrize(
    ("arrays", "code", "message"),
    [
        ([np.ones(4, np.float32)], 1, "main takes 2 arguments, got 1"),
        ([np.ones(4), np.ones(4)], 1, "argument 0 is float64[4]; expected tensor<4xf32>"),
        ([], 2, "--inputs in.npz: no such file"),
    ],
)
def test_inputs_of_other_types(folder, irax, arrays, code, message):
    if arrays:
        np.savez(folder / "in.npz", *arrays)
    done = irax("check", "in.mlir", "--inputs", "in.npz")
    assert done.returncode == code
    assert message in done.stderr
    one = irax("check", "in.mlir", "--inputs", "x.npy")
    assert "one array; expected a .npz file" in one.stderr


def test_no_module(irax):
    done = irax("check", "none.mlir")
    assert done.returncode == 2
    assert "none.mlir: No such file" in done.stderr


CANCELS = """
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = stablehlo.abs %x : tensor<64xf32>
  %1 = stablehlo.log %0 : tensor<64xf32>
  %2 = stablehlo.exponential %1 : tensor<64xf32>
  %3 = stablehlo.subtract %2, %0 : tensor<64xf32>
  return %3 : tensor<64xf32>
}
"""


def checked(text):
    """The outcome for each property."""
    found = checking.check_source(Source(mlir.parse_module(text), "main"), 3, 0)
    return {row.name: (row.outcome, row.detail) for row in found}


def test_what_rounding_leaves_is_no_failure():
    assert {outcome for outcome, _ in checked(CANCELS).values()} == {"ok"}


def test_what_rounding_would_not_do_is_one(monkeypatch):
    right = checking.program

    def wrong(source, device):
        run = right(source, device)
        return lambda inputs: [r + 1e-4 * (device == "cpu") for r in run(inputs)]

    monkeypatch.setattr(checking, "program", wrong)
    outcomes = [n for n, (outcome, _) in checked(CANCELS).items() if outcome == "FAILED"]
    assert outcomes == ["evaluator = IREE"]


def test_what_the_compiler_refuses_does_not_disagree(monkeypatch):
    right = checking.program

    def refuses(source, device):
        if device == "cpu":
            raise checking.CompileError("bindings: 33 > 32")
        return right(source, device)

    monkeypatch.setattr(checking, "program", refuses)
    outcome, detail = checked(CANCELS)["evaluator = IREE"]
    assert (outcome, detail) == ("refused", "not compiled: CompileError: bindings: 33 > 32")


SCATTER = """
func.func @main(%x: tensor<40x3xf32>, %i: tensor<{count}x1xi32>, %u: tensor<{count}x3xf32>)
    -> tensor<40x3xf32> {{
  %0 = "stablehlo.scatter"(%x, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<
    update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
    index_vector_dim = 1>, unique_indices = true}}> ({{
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }}) : (tensor<40x3xf32>, tensor<{count}x1xi32>, tensor<{count}x3xf32>) -> tensor<40x3xf32>
  return %0 : tensor<40x3xf32>
}}
"""


@pytest.mark.parametrize(("count", "outcome"), [(30, "ok"), (41, "not tried")])
def test_indices_are_as_distinct_as_is_promised(count, outcome):
    source = Source(mlir.parse_module(SCATTER.format(count=count)), "main")
    for row in checking.check_source(source, trials=2, seed=0):
        wanted = "ok" if row.name == "text round trip" else outcome
        assert row.outcome == wanted, (row.name, row.detail)
