#!/usr/bin/env bash
# MLIR's Python bindings in jaxlib 0.10.2: the value of an attribute of type i1.
#
# Guess: 1, or True.
# Seen: IntegerAttr.value is -1, since integers without sign are read as signed. The same attribute as a
# BoolAttr is True, and the elements of a dense attribute of i1 are 1 and 0; those of i8 are signed. A
# number too large is cut without an error: 200 of i8 is -56, and equal to the attribute of -56.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq jaxlib==0.10.2 ml_dtypes==0.6.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import jaxlib
from jaxlib.mlir import ir

print("jaxlib", jaxlib.__version__)
with ir.Context(), ir.Location.unknown():
    i1, i8 = ir.IntegerType.get_signless(1), ir.IntegerType.get_signless(8)
    true = ir.IntegerAttr.get(i1, 1)
    dense = ir.Attribute.parse("dense<[true, false]> : tensor<2xi1>")
    large = ir.IntegerAttr.get(i8, 200)
    found = true.value, ir.BoolAttr.get(True).value, [int(v) for v in dense], large.value
    print(f"{true}: {found[0]}; BoolAttr: {found[1]}; dense: {found[2]}; 200 of i8: {found[3]}")
    assert ir.BoolAttr.get(True) == true, "changed"
    assert found == (-1, True, [1, 0], -56) and found[1] is True, "changed"
    assert large == ir.IntegerAttr.get(i8, -56), "changed"
PYTHON
