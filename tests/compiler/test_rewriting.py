"""The drivers of rewrite patterns: what is looked at, in what order, and what is erased."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from irax_compiler import mlir
from irax_compiler.mlir import Operation, Value
from irax_compiler.ops import elementwise
from irax_compiler.ops.computation import Computation
from irax_compiler.ops.elementwise import Elementwise
from irax_compiler.ops.elementwise_map import Map
from irax_compiler.ops.reduce_window import ReduceWindow
from irax_compiler.ops.sorting.sort import Sort
from irax_compiler.ops.structured import DefinedOp
from irax_compiler.passes.core import nested
from irax_compiler.passes.legalize.legalization import legalizes
from irax_compiler.passes.legalize.legalize import Legalize
from irax_compiler.passes.legalize.numerics import scalar_formulas
from irax_compiler.passes.rewriting import (
    read_as,
    rewrite_greedily,
    rewrite_in_order,
    rewrites,
)


def test_operations_are_found_in_sets_after_they_change() -> None:
    """The bindings' own hash is that of operands, attributes and types, which passes change."""
    whole = mlir.parse_module("""
        func.func @f(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
          %0 = stablehlo.add %a, %a : tensor<f32>
          return %0 : tensor<f32>
        }""")
    function = whole.body.operations[0].operation
    changed = next(nested(function))
    known = {changed}
    changed.operands[1] = mlir.arguments(function)[1]
    changed.attributes["note"] = mlir.ir.UnitAttr.get(function.context)
    assert next(nested(function)) in known
    assert function in {function.opview}


def test_an_erased_operation_is_no_new_one() -> None:
    """The memory of an erased operation is the next one's, as a rule."""
    whole = mlir.parse_module("""
        func.func @f(%a: tensor<f32>) -> tensor<f32> {
          %0 = stablehlo.sine %a : tensor<f32>
          return %a : tensor<f32>
        }""")
    function = whole.body.operations[0].operation
    (argument,) = mlir.arguments(function)
    sine = next(nested(function))
    erased = {sine}
    for _ in range(20):
        sine.erase()
        with mlir.InsertionPoint.at_block_begin(mlir.body(function)), function.location:
            mlir.emit("stablehlo.sine", [argument], {}, [argument.type])
        sine = next(nested(function))
        assert sine not in erased
        erased.add(sine)


def module(body: str, result: str) -> mlir.Module:
    return mlir.parse_module(
        f"func.func @main(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {{ {body}\n"
        f" return {result} : tensor<f32> }}"
    )


def unary(result: str, name: str, operand: str) -> str:
    return f"\n %{result} = stablehlo.{name} %{operand} : tensor<f32>"


def names(module: mlir.Module) -> list[str]:
    """The operations of @main in order, but for its return."""
    inner = nested(mlir.functions(module)["main"])
    return [o.name.partition(".")[2] for o in inner if not o.name.endswith(".return")]


@rewrites(elementwise.negate)
def twice(op: Elementwise, x: Value) -> Value | None:
    source = mlir.definition(x)
    return source.operands[0] if source is not None and source.name == op.name else None


@rewrites("stablehlo.sine")
def cosine_for_sine(operation: Operation) -> Sequence[Value]:
    return [elementwise.cosine(operation.operands[0])]


@rewrites("stablehlo.cosine")
def sine_for_cosine(operation: Operation) -> Sequence[Value]:
    return [elementwise.sine(operation.operands[0])]


@rewrites("stablehlo.sine")
def sine_of_negation(operation: Operation) -> Sequence[Value]:
    return [elementwise.sine(elementwise.negate(operation.operands[0]))]


def test_users_of_what_was_replaced_are_looked_at_again():
    text = unary("0", "negate", "x") + unary("1", "sine", "0") + unary("2", "negate", "1")
    found = module(text + unary("3", "negate", "2") + unary("4", "negate", "3"), "%4")
    rewrite_greedily(mlir.functions(found)["main"], [twice])
    assert names(found) == ["negate", "sine", "negate"]


def test_what_was_built_is_looked_at():
    text = unary("0", "negate", "x") + unary("1", "sine", "0")
    found = module(text, "%1")

    @rewrites("stablehlo.sine")
    def odd(operation: Operation) -> Value | None:
        source = mlir.definition(operation.operands[0])
        if source is None or source.name != "stablehlo.negate":
            return None
        return elementwise.negate(elementwise.sine(elementwise.negate(source.results[0])))

    rewrite_greedily(mlir.functions(found)["main"], [odd, twice])
    assert names(found) == ["sine", "negate"]


def test_what_nobody_needs_is_erased():
    text = unary("0", "cosine", "x") + unary("1", "negate", "0") + unary("2", "sine", "1")
    found = module(text + unary("3", "tan", "x"), "%3")
    rewrite_greedily(mlir.functions(found)["main"], [])
    assert names(found) == ["tan"]


def test_patterns_that_undo_each_other_end():
    found = module(unary("0", "sine", "x"), "%0")
    rewrite_greedily(mlir.functions(found)["main"], [cosine_for_sine, sine_for_cosine])
    assert len(names(found)) == 1


def test_a_user_that_becomes_the_only_one_is_looked_at():
    """The negation has two users until the first one is gone."""
    text = unary("0", "negate", "x") + unary("1", "sine", "0") + unary("2", "cosine", "0")
    found = module(text + "\n %3 = stablehlo.add %1, %2 : tensor<f32>", "%3")
    asked: list[bool] = []

    @rewrites("stablehlo.sine")
    def alone(operation: Operation) -> Value | None:
        (x,) = operation.operands
        asked.append(mlir.num_uses(x) == 1)
        return elementwise.tan(x) if asked[-1] else None

    @rewrites("stablehlo.cosine")
    def elsewhere(operation: Operation) -> Value:
        return elementwise.sine(mlir.arguments(mlir.functions(found)["main"])[0])

    rewrite_greedily(mlir.functions(found)["main"], [alone, elsewhere])
    assert asked[:2] == [False, True]


def test_in_order_a_pattern_does_not_see_what_it_built():
    found = module(unary("0", "sine", "x"), "%0")
    rewrite_in_order(found.operation, [sine_of_negation, sine_of_negation])
    assert names(found) == ["negate", "negate", "sine"]


def test_in_order_a_pattern_sees_what_those_before_it_built():
    found = module(unary("0", "sine", "x"), "%0")
    rewrite_in_order(found.operation, [sine_of_negation, cosine_for_sine, sine_for_cosine])
    assert names(found) == ["negate", "sine"]


def test_in_order_others_may_be_replaced():
    """Both readers of the sine go, and with them the sine."""
    text = unary("0", "sine", "x") + unary("1", "negate", "0") + unary("2", "cosine", "0")
    found = module(text + "\n %3 = stablehlo.add %1, %2 : tensor<f32>", "%3")

    @rewrites("stablehlo.sine")
    def readers(operation: Operation) -> Mapping[Value, Value]:
        x = operation.operands[0]
        uses = [use.owner.operation.results[0] for use in operation.results[0].uses]
        return {result: elementwise.tan(x) for result in uses}

    rewrite_in_order(found.operation, [readers, sine_for_cosine])
    assert names(found) == ["tan", "tan", "add"]


def test_in_regions_that_are_replaced_operations_are_forgotten():
    text = """
      %0 = "stablehlo.if"(%p) ({
        %1 = stablehlo.sine %x : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }, {
        stablehlo.return %x : tensor<f32>
      }) : (tensor<i1>) -> tensor<f32>"""

    @rewrites("stablehlo.if")
    def branch(operation: Operation) -> Value:
        return elementwise.tan(operation.regions[1].blocks[0].operations[0].operands[0])

    for rewrite in (rewrite_greedily, rewrite_in_order):
        found = module(text, "%0")
        rewrite(mlir.functions(found)["main"], [branch, cosine_for_sine])
        assert names(found) == ["tan"]


def test_legalizations_are_named_in_locations():
    found = module(unary("0", "sine", "x"), "%0")
    legalization = legalizes("stablehlo.sine", kind="bug", of="IREE")(cosine_for_sine.build)
    rewrite_in_order(found.operation, [legalization])
    assert 'loc("cosine_for_sine"' in mlir.text_of(found.operation, locations=True)


SINES = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %x : tensor<4xf32>
  %1 = stablehlo.sine %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}"""


def test_operations_of_other_kinds_are_not_read(monkeypatch):
    found = mlir.parse_module(SINES)
    Legalize("iree-cpu").run(found)
    maps = [o for o in nested(found.operation) if o.name == Map.name]
    assert len(maps) == 2
    read = []
    of = Computation.of.__func__
    monkeypatch.setattr(Computation, "of", classmethod(lambda cls, x: read.append(x) or of(cls, x)))
    for one in maps:
        assert read_as(Sort, one) is None
        assert read_as(ReduceWindow, one) is None
    assert not read
    assert read_as(Map, maps[0]) == read_as(DefinedOp, maps[1])
    assert len(read) == 2


def test_the_computation_of_a_formula_is_built_once(monkeypatch):
    built = []
    build = Computation.build.__func__
    monkeypatch.setattr(
        Computation, "build", classmethod(lambda cls, *given: built.append(1) or build(cls, *given))
    )
    scalar_formulas._computation.cache_clear()
    for _ in range(2):
        Legalize("iree-cpu").run(mlir.parse_module(SINES))
    assert len(built) == 1


def test_a_pattern_is_for_ops_or_for_names():
    with pytest.raises(TypeError, match="not both"):
        rewrites(elementwise.sine, "stablehlo.cosine")
