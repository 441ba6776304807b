"""The pass pin-signatures: what it protects functions from."""

import pytest

from irax_compiler import mlir
from irax_compiler.iree.compiler import FLAGS
from irax_compiler.iree.invocation import invocation
from irax_compiler.pipeline import run_pipeline

_CALLED_TWICE = """
    util.func private @f(%list: !util.list<?>, %a: index, %b: index) -> index
        attributes {inlining_policy = #util.inline.never} {
      %0 = arith.subi %a, %b : index
      util.list.set %list[%b], %a : index -> !util.list<?>
      util.return %0 : index
    }
    util.func public @main(%list: !util.list<?>, %a: index, %b: index) -> (index, index) {
      %0 = util.call @f(%list, %a, %b) : (!util.list<?>, index, index) -> index
      %1 = util.call @f(%list, %a, %a) : (!util.list<?>, index, index) -> index
      util.return %0, %1 : index, index
    }
"""


@pytest.mark.parametrize("passes, is_right", [("", False), ("pin-signatures", True)])
def test_arguments_that_are_one_in_the_last_call(passes: str, is_right: bool) -> None:
    """When this IREE no longer takes them for one in all calls, the pass can go."""
    module = mlir.parse_module(_CALLED_TWICE)
    if passes:
        run_pipeline(module, passes)
    with invocation(mlir.bytecode(module), FLAGS) as run:
        run.run_pipeline("iree-util-ipo")
        left = mlir.parse_module(run.bytecode())
    function = left.body.operations[0].operation
    (difference,) = [o for o in mlir.body(function).operations if o.name == "arith.subi"]
    a, b = difference.operands
    assert (a != b) == is_right
