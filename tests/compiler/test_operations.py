"""Operations of modules, listed."""

import pytest

from irax_compiler import mlir

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
