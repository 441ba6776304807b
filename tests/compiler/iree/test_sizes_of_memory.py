"""The pipelines of programs that compute the sizes of memory."""

from collections.abc import Mapping

import pytest

from irax_compiler import mlir
from irax_compiler.iree.compiler import FLAGS
from irax_compiler.iree.invocation import invocation
from irax_compiler.iree.pipelines import OF_SIZES, PIPELINES
from irax_compiler.passes.core import nested

_LOOP = """
    util.func public @f(%list: !util.list<?>, %size: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %aligned = util.align %size, %c64 : index
      %first = arith.addi %aligned, %c64 : index
      %0 = scf.for %i = %c0 to %c64 step %c1 iter_args(%now = %first) -> (index) {
        util.list.set %list[%i], %now : index -> !util.list<?>
        scf.yield %c128 : index
      }
      util.return
    }
"""


@pytest.mark.parametrize("pipelines, is_right", [(PIPELINES, False), (OF_SIZES, True)])
def test_size_that_changes(pipelines: Mapping[str, str], is_right: bool) -> None:
    """When IREE's own pipeline no longer takes the second for the first, it will do."""
    with invocation(_LOOP.encode(), FLAGS) as run:
        run.run_pipeline(pipelines["stream"])
        left = mlir.parse_module(run.bytecode())
    (use,) = [o for o in nested(left.operation) if o.name == "util.list.set"]
    assert mlir.is_argument(use.operands[2]) == is_right
