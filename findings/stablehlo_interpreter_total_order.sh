#!/usr/bin/env bash
# StableHLO's reference interpreter in jaxlib 0.10.2: compare with compare_type = TOTALORDER.
#
# Guess: as IEEE 754 orders: nan is equal to itself and above infinity, -0 is below 0, since the
# specification's own tests run on this interpreter.
# Seen: the attribute is not looked at. The results are those of FLOAT: nan is equal to nothing, not
# even to itself, 0 is equal to -0, and 1 < nan is false.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq jaxlib==0.10.2 ml_dtypes==0.6.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import jaxlib
import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import stablehlo

x = np.array([np.nan, 0.0, 1.0, -0.0], np.float32)
y = np.array([np.nan, -0.0, np.nan, 0.0], np.float32)
PROGRAM = """
func.func public @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {{
  %0 = stablehlo.compare {}, %x, %y, {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}}
"""


def compared(direction, kind):
    with ir.Context() as context, ir.Location.unknown():
        registry = ir.DialectRegistry()
        _jax_mlir_ext.register_dialects(registry)
        context.append_dialect_registry(registry)
        stablehlo.register_dialect(context)
        stablehlo.register_interpreter_dialect(context)
        module = ir.Module.parse(PROGRAM.format(direction, kind))
        given = [ir.DenseElementsAttr.get(a) for a in (x, y)]
        return np.array(stablehlo.eval_module(module, given)[0]).tolist()


print("jaxlib", jaxlib.__version__, "x =", x.tolist(), "y =", y.tolist())
total = {"EQ": [True, False, False, False], "LT": [False, False, True, True]}
for direction, right in total.items():
    found = compared(direction, "TOTALORDER")
    print(direction, "in the total order:", found, "expected:", right)
    assert found == compared(direction, "FLOAT") != right, "changed"
PYTHON
