#!/usr/bin/env bash
# ml_dtypes 0.6.0: the sum of an array of int4 and one of float4_e2m1fn.
#
# Guess: a + b and b + a have one type, that of np.promote_types, and one value.
# Seen: the first operand decides. 7 + 0.5 is 7 of int4, and 0.5 + 7 is 6 of float4_e2m1fn, which
# promote_types names in both orders, although it cannot hold 7. float6_e2m3fn, which holds 7 and 7.5,
# is not promoted with int4 at all.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq ml_dtypes==0.6.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import ml_dtypes
import numpy as np

print("ml_dtypes", ml_dtypes.__version__)
a = np.array([7], ml_dtypes.int4)
b = np.array([0.5], ml_dtypes.float4_e2m1fn)
first, second = a + b, b + a
print("7 + 0.5:", first, first.dtype)
print("0.5 + 7:", second, second.dtype)
assert (float(first[0]), first.dtype) == (7, a.dtype), "changed"
assert (float(second[0]), second.dtype) == (6, b.dtype), "changed"
assert np.promote_types(a.dtype, b.dtype) == np.promote_types(b.dtype, a.dtype) == b.dtype, "changed"
try:
    np.promote_types(a.dtype, ml_dtypes.float6_e2m3fn)
except TypeError:
    print("promote_types(int4, float6_e2m3fn): TypeError")
else:
    raise SystemExit("changed: int4 and float6_e2m3fn are promoted")
PYTHON
