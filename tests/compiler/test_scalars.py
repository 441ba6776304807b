"""Numbers that become arguments of a program: which, and of what functions."""

from __future__ import annotations

import numpy as np
import pytest

from irax_compiler import determinism, mlir
from irax_compiler.apart import scalars
from irax_compiler.ops.evaluation.evaluator import Evaluator

X = np.arange(1.0, 5.0, dtype="f")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have numbers of small programs set apart."""
    monkeypatch.setattr(scalars, "LEAST", 1)
    monkeypatch.setattr(scalars, "ELEMENTS", 1)


def apart(text: str) -> tuple[mlir.Module, list[float]]:
    """Return a module with numbers set apart, and these; both compute the same."""
    module = mlir.parse_module(text)
    found, numbers = scalars.set_apart(module, "main")
    found.operation.verify()
    own = [X] * (len(mlir.arguments(mlir.functions(module)["main"])))
    expected = Evaluator(module)("main", own)
    for a, b in zip(Evaluator(found)("main", [*own, *numbers]), expected, strict=True):
        np.testing.assert_array_equal(a, b)
    return found, [float(x) for x in numbers]


def binary(op: str, number: str) -> str:
    return f"""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %c = stablehlo.constant dense<{number}> : tensor<4xf32>
      %0 = stablehlo.{op} %x, %c : tensor<4xf32>
      return %0 : tensor<4xf32> }}"""


@pytest.mark.parametrize("op", ["add", "subtract", "multiply", "divide", "maximum"])
def test_arithmetic_takes_it(op: str) -> None:
    assert apart(binary(op, "0.3"))[1] == [np.float32(0.3)]


@pytest.mark.parametrize("number", ["0.0", "-0.0", "1.0", "-2.0", "0.125", "0x7F800000"])
def test_special_numbers_stay(number: str) -> None:
    assert apart(binary("multiply", number))[1] == []


def test_exponents_stay() -> None:
    assert apart(binary("power", "3.0"))[1] == []


def test_what_is_computed_beforehand_stays() -> None:
    """A table of sines is folded where its factor is known; its users' numbers are taken."""
    _, numbers = apart("""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %i = stablehlo.iota dim = 0 : tensor<4xf32>
      %a = stablehlo.constant dense<0.7> : tensor<4xf32>
      %b = stablehlo.constant dense<0.3> : tensor<4xf32>
      %0 = stablehlo.multiply %i, %a : tensor<4xf32>
      %1 = stablehlo.sine %0 : tensor<4xf32>
      %2 = stablehlo.multiply %x, %1 : tensor<4xf32>
      %3 = stablehlo.add %2, %b : tensor<4xf32>
      %4 = func.call @of_a_table(%1) : (tensor<4xf32>) -> tensor<4xf32>
      %5 = stablehlo.add %3, %4 : tensor<4xf32>
      return %5 : tensor<4xf32> }
    func.func private @of_a_table(%x: tensor<4xf32>) -> tensor<4xf32> {
      %c = stablehlo.constant dense<0.9> : tensor<4xf32>
      %0 = stablehlo.multiply %x, %c : tensor<4xf32>
      return %0 : tensor<4xf32> }""")
    assert numbers == [np.float32(0.3)]


CALLS = """
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32> {irax.name = "y"}) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0.3> : tensor<4xf32>
  %0 = stablehlo.multiply %x, %c : tensor<4xf32>
  %1 = func.call @layer(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = func.call @layer(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = stablehlo.composite "irax.named" %2 {decomposition = @named}
      : (tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
func.func private @layer(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = stablehlo.constant dense<0.3> : tensor<f32>
  %e = stablehlo.constant dense<1.0e-5> : tensor<4xf32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.slice %x [0:1] : (tensor<4xf32>) -> tensor<1xf32>
  %1 = stablehlo.reshape %0 : (tensor<1xf32>) -> tensor<f32>
  %2 = stablehlo.multiply %1, %s : tensor<f32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %4 = stablehlo.add %3, %e : tensor<4xf32>
  return %4 : tensor<4xf32>
}
func.func private @named(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0.7> : tensor<4xf32>
  %0 = stablehlo.add %x, %c : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def test_calls_pass_them_on() -> None:
    """Equal ones of a line are one argument; functions that more than calls name keep theirs."""
    found, numbers = apart(CALLS)
    assert numbers == [np.float32(0.3), np.float32(0.3), np.float32(1e-5)]
    functions = mlir.functions(found)
    assert len(mlir.arguments(functions["main"])) == 5
    assert len(mlir.arguments(functions["layer"])) == 3
    assert len(mlir.arguments(functions["named"])) == 1


def test_dtypes() -> None:
    for dtype in ("f16", "bf16", "f64"):
        module = mlir.parse_module(binary("add", "0.3").replace("f32", dtype))
        _, (number,) = scalars.set_apart(module, "main")
        assert str(mlir.tensor_type((), number.dtype)) == f"tensor<{dtype}>"
    for dtype, number in (("i32", "3"), ("complex<f32>", "(0.3, 0.4)"), ("f8E4M3FN", "3.0")):
        module = mlir.parse_module(binary("add", number).replace("f32", dtype))
        assert scalars.set_apart(module, "main") == (module, [])


def test_small_programs_keep_them(monkeypatch: pytest.MonkeyPatch) -> None:
    module = mlir.parse_module(binary("add", "0.3"))
    monkeypatch.setattr(scalars, "ELEMENTS", 5)
    assert scalars.set_apart(module, "main") == (module, [])
    monkeypatch.setattr(scalars, "ELEMENTS", 4)
    assert len(scalars.set_apart(module, "main")[1]) == 1
    monkeypatch.setattr(scalars, "LEAST", 10)
    assert scalars.set_apart(module, "main") == (module, [])


def test_many_functions_are_looked_at_once() -> None:
    """Chains of 2,000 functions, and 2,000 of one caller, take no time in proportion to the square
    of their number, and no stack.
    """
    functions = [
        f"func.func private @f{i}(%x: tensor<4xf32>) -> tensor<4xf32> {{"
        "%c = stablehlo.constant dense<0.3> : tensor<4xf32> loc(unknown)"
        "%0 = stablehlo.add %x, %c : tensor<4xf32>"
        f"%1 = func.call @f{i + 1}(%0) : (tensor<4xf32>) -> tensor<4xf32>"
        "return %1 : tensor<4xf32> }"
        for i in range(2000)
    ]
    last = """func.func private @f2000(%x: tensor<4xf32>) -> tensor<4xf32> {
      return %x : tensor<4xf32> }"""
    calls = "\n".join(
        f"%{i + 1} = func.call @f{i}(%{i}) : (tensor<4xf32>) -> tensor<4xf32>" for i in range(2000)
    )
    main = f"""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %0 = stablehlo.negate %x : tensor<4xf32>
      {calls}
      return %2000 : tensor<4xf32> }}"""
    module = mlir.parse_module("\n".join([main, *functions, last]))
    functions = mlir.functions(module)
    names = mlir.callees_first(["main"], lambda x: map(mlir.callee, mlir.calls(functions[x])))
    assert names is not None
    assert names[-1] == "main"
    assert [int(x[1:]) for x in names[:-1]] == list(range(2001))[::-1]
    found, numbers = scalars.set_apart(module, "main")
    assert len(numbers) == 1
    assert len(mlir.arguments(mlir.functions(found)["f1999"])) == 2


def test_many_numbers_stay() -> None:
    lines = "\n".join(
        f"""%c{i} = stablehlo.constant dense<{i}.3> : tensor<4xf32>
        %{i + 1} = stablehlo.add %{i}, %c{i} : tensor<4xf32>"""
        for i in range(scalars.MOST + 1)
    )
    module = mlir.parse_module(f"""func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %0 = stablehlo.negate %x : tensor<4xf32>
      {lines}
      return %{scalars.MOST + 1} : tensor<4xf32> }}""")
    assert scalars.set_apart(module, "main") == (module, [])


def test_what_is_refused_later_stays() -> None:
    module = mlir.parse_module(
        """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = func.call @outside(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32> }
    func.func private @outside(tensor<4xf32>) -> tensor<4xf32>"""
    )
    assert scalars.set_apart(module, "main") == (module, [])


def test_programs_for_all_sizes_of_batches_keep_them() -> None:
    module = mlir.parse_module(binary("add", "0.3"))
    determinism.mark(mlir.functions(module)["main"])
    assert scalars.set_apart(module, "main") == (module, [])
