#!/usr/bin/env bash
# StableHLO's reference interpreter in jaxlib 0.10.2: roundings of whole numbers in narrow floats.
#
# Guess: 1, 2 and 3 stay as they are in every type that holds them.
# Seen: floor, ceil, round_nearest_even and round_nearest_afz are right in f32, bf16, f8E5M2, f8E4M3FN
# and f4E2M1FN. Of f8E3M4 each of them makes nan, and of f6E2M3FN zero, of each of the three. abs of
# these types is right.
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

PROGRAM = """
func.func public @main() -> tensor<3xf32> {{
  %0 = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3x{0}>
  %1 = stablehlo.{1} %0 : tensor<3x{0}>
  %2 = stablehlo.convert %1 : (tensor<3x{0}>) -> tensor<3xf32>
  return %2 : tensor<3xf32>
}}
"""


def rounded(dtype, op):
    with ir.Context() as context, ir.Location.unknown():
        registry = ir.DialectRegistry()
        _jax_mlir_ext.register_dialects(registry)
        context.append_dialect_registry(registry)
        stablehlo.register_dialect(context)
        stablehlo.register_interpreter_dialect(context)
        module = ir.Module.parse(PROGRAM.format(dtype, op))
        return np.array(stablehlo.eval_module(module, [])[0])


print("jaxlib", jaxlib.__version__)
expected = {"f8E3M4": [np.nan] * 3, "f6E2M3FN": [0.0] * 3}
for dtype in ("f32", "bf16", "f8E5M2", "f8E4M3FN", "f4E2M1FN", "f8E3M4", "f6E2M3FN"):
    for op in ("abs", "floor", "ceil", "round_nearest_even", "round_nearest_afz"):
        found = rounded(dtype, op)
        right = expected.get(dtype, [1, 2, 3]) if op != "abs" else [1, 2, 3]
        print(dtype, op, found.tolist())
        assert np.array_equal(found, right, equal_nan=True), "changed"
PYTHON
