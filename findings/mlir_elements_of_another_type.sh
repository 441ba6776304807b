#!/usr/bin/env bash
# MLIR's Python bindings in jaxlib 0.10.2: DenseElementsAttr.get of an array with another type.
#
# Guess: the numbers are converted, or a type that is not the array's is refused.
# Seen: a type of the same width is taken, and the bits are read anew. 1.0 of float16 as bf16 is
# 0.0078125, and 1.0 of float32 as i32 is 1065353216. Since NumPy has no bfloat16, an array of float16
# is what one would pass. A type of another width is refused.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq jaxlib==0.10.2 ml_dtypes==0.6.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import jaxlib
import numpy as np
from jaxlib.mlir import ir

print("jaxlib", jaxlib.__version__)
with ir.Context(), ir.Location.unknown():
    as_bf16 = ir.DenseElementsAttr.get(np.array([1, 2], np.float16), type=ir.BF16Type.get())
    i32 = ir.IntegerType.get_signless(32)
    as_i32 = ir.DenseElementsAttr.get(np.array([1, 2], np.float32), type=i32)
    print("float16 as bf16:", as_bf16)
    print("float32 as i32:", as_i32)
    assert str(as_bf16) == "dense<[7.812500e-03, 2.000000e+00]> : tensor<2xbf16>", "changed"
    assert str(as_i32) == "dense<[1065353216, 1073741824]> : tensor<2xi32>", "changed"
    try:
        ir.DenseElementsAttr.get(np.array([1, 2], np.float32), type=ir.BF16Type.get())
    except ValueError as error:
        print("float32 as bf16: ValueError,", str(error).split(".")[0])
    else:
        raise SystemExit("changed: float32 as bf16 is taken")
PYTHON
