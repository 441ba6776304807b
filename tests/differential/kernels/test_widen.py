"""The cases of 4-bit integers on IREE, inside programs of 8-bit ones."""

import numpy as np
import pytest
from tests.differential.harness import CASES, Case

from irax_compiler import mlir
from irax_compiler.lowering import lower
from irax_compiler.mlir import InsertionPoint
from irax_compiler.ops.conversion import convert
from irax_compiler.ops.core import UnsupportedOp
from irax_compiler.passes.legalize.widen import WIDE
from irax_compiler.targets.cpu import CPU
from irax_runtime.iree.cpu import cpu


def in_bytes(case: Case) -> mlir.Module:
    """The case's module, with a function `bytes` that takes and returns wider integers."""
    module = case.module()
    inner = mlir.functions(module)["main"]
    types = [mlir.tensor_type(o.shape, WIDE.get(o.dtype, o.dtype)) for o in case.operands]
    outer = mlir.new_function(module, "bytes", types, public=True)
    with InsertionPoint(mlir.body(outer)), mlir.UNKNOWN:
        operands = mlir.arguments(outer)
        narrow = [convert(x, o.dtype) for x, o in zip(operands, case.operands, strict=True)]
        call = mlir.emit(
            "func.call", narrow, {"callee": mlir.symbol("main")}, mlir.result_types(inner)
        )
        results = [convert(x, WIDE.get(mlir.dtype_of(x), mlir.dtype_of(x))) for x in call.results]
    mlir.finish_function(outer, results)
    return module


OF_4_BITS = [
    case
    for case in CASES
    if {*(o.dtype for o in case.operands), *map(mlir.dtype_of_type, case.result_types)} & {*WIDE}
]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", OF_4_BITS, ids=lambda case: case.name)
def test_cases_in_bytes(case: Case) -> None:
    arrays = case.arrays(case.rng())
    wide = [x.astype(WIDE.get(x.dtype, x.dtype)) for x in arrays]
    artefact = CPU.compile_text(mlir.bytecode(lower(in_bytes(case), "bytes")))
    found = cpu().load(artefact, "bytes")([cpu().put(x) for x in wide])
    for buffer, expected in zip(found, case.run(arrays), strict=True):
        np.testing.assert_array_equal(buffer.numpy(), expected.astype(buffer.numpy().dtype))


def test_the_upper_halves_of_products_of_4_bit_integers_are_refused() -> None:
    module = mlir.parse_module(
        """
        func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {
          %0 = stablehlo.convert %x : (tensor<4xi8>) -> tensor<4xi4>
          %1 = chlo.mulhi %0, %0 : tensor<4xi4>, tensor<4xi4> -> tensor<4xi4>
          %2 = stablehlo.convert %1 : (tensor<4xi4>) -> tensor<4xi8>
          return %2 : tensor<4xi8>
        }
        """
    )
    with pytest.raises(UnsupportedOp, match=r"chlo\.mulhi of int4"):
        lower(module)
