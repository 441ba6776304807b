#!/usr/bin/env bash
# MLIR's Python bindings in jaxlib 0.10.2: attributes of floats that have no sign, or no nan.
#
# Guess: -1 of f8E8M0FNU, which holds powers of two alone, is an error or nan; nan of f4E2M1FN, which
# has none, is an error; nan of f8E8M0FNU reads as nan.
# Seen: the single attribute is -1 and is printed and parsed as such; the same number in a dense
# attribute is nan, 0xFF. nan of f4E2M1FN has the value nan, is printed as 0x0, and after that is
# zero. nan of f8E8M0FNU has the value infinity in Python.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq jaxlib==0.10.2 ml_dtypes==0.6.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import math

import jaxlib
from jaxlib.mlir import ir

print("jaxlib", jaxlib.__version__)
with ir.Context(), ir.Location.unknown():
    powers, quarters = ir.Float8E8M0FNUType.get(), ir.Float4E2M1FNType.get()

    minus_one = ir.FloatAttr.get(powers, -1.0)
    dense = ir.Attribute.parse("dense<-1.0> : tensor<f8E8M0FNU>")
    print("f8E8M0FNU, -1:", minus_one, "; dense:", dense)
    assert minus_one.value == -1 and ir.Attribute.parse(str(minus_one)) == minus_one, "changed"
    assert str(dense) == "dense<0xFF> : tensor<f8E8M0FNU>", "changed"

    nan = ir.FloatAttr.get(quarters, math.nan)
    again = ir.Attribute.parse(str(nan))
    print(f"f4E2M1FN, nan: {nan.value}, printed {nan}, parsed {again.value}")
    assert math.isnan(nan.value) and again.value == 0, "changed"

    nan = ir.FloatAttr.get(powers, math.nan)
    print(f"f8E8M0FNU, nan: {nan.value}, printed {nan}")
    assert str(nan) == "0xFF : f8E8M0FNU" and nan.value == math.inf, "changed"
PYTHON
