"""Operations of modules, listed."""

import sys

import pytest

from irax_compiler import mlir
from irax_compiler.passes.core import nested

MODULE = """
func.func @f(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.negate %x : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %0 : tensor<f32>
}
"""


def test_order():
    module = mlir.parse_module(MODULE)
    function = mlir.functions(module)["f"]
    inside = ["stablehlo.negate", "stablehlo.return", "stablehlo.return"]
    assert [o.name for o in mlir.operations_in(function)] == [
        *(*inside, "stablehlo.if", "func.return", "func.func")
    ]
    assert [o.name for o in mlir.operations_in(function, outermost_first=True)] == [
        *("func.func", "stablehlo.if", *inside, "func.return")
    ]


def test_nested_operations_come_before_what_they_are_in():
    module = mlir.parse_module(MODULE)
    function = mlir.functions(module)["f"]
    inside = ["stablehlo.negate", "stablehlo.return", "stablehlo.return"]
    assert [o.name for o in nested(function)] == [*inside, "stablehlo.if", "func.return"]
    for operation in nested(function):
        if operation.name == "stablehlo.if":
            operation.results[0].replace_all_uses_with(mlir.arguments(function)[1])
            operation.erase()
    assert [o.name for o in nested(function)] == ["func.return"]


def _branches(depth: int) -> mlir.Module:
    """Return a module with branches in branches."""
    unchanged = "stablehlo.return %x : tensor<f32>"
    branch = unchanged
    for i in range(depth):
        both = f'"stablehlo.if"(%p) ({{ {branch} }}, {{ {unchanged} }})'
        branch = f"%{i} = {both} : (tensor<i1>) -> tensor<f32> stablehlo.return %{i} : tensor<f32>"
    branch = branch.replace(f"stablehlo.return %{depth - 1} ", f"return %{depth - 1} ")
    text = f"func.func @f(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {{ {branch} }}"
    return mlir.parse_module(text)


def test_work_to_list_operations_in_operations_does_not_grow_with_their_depth():
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    def work(depth: int) -> float:
        nonlocal calls
        module, calls = _branches(depth), 0
        sys.setprofile(count)
        try:
            operations = list(nested(module.operation))
        finally:
            sys.setprofile(None)
        return calls / len(operations)

    assert work(64) < 1.1 * work(16)


def test_ctrl_c_is_no_other_error():
    """The bindings raise RuntimeError for what comes up in a callback."""
    module = mlir.parse_module(MODULE)
    operation = module.operation

    class Interrupted:
        def walk(self, visit, order):
            def interrupted(_):
                raise KeyboardInterrupt

            operation.walk(interrupted, order)

    with pytest.raises(RuntimeError, match="KeyboardInterrupt"):
        Interrupted().walk(None, mlir.ir.WalkOrder.POST_ORDER)
    with pytest.raises(KeyboardInterrupt):
        mlir.operations_in(Interrupted())
