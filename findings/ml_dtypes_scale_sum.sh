#!/usr/bin/env bash
# ml_dtypes 0.6.0: sums of float8_e8m0fnu, the type of scales, and nan in the floats of 6 and 4 bits.
#
# Guess: 1 + 1 is 2, and so is the sum of an array of two ones. nan becomes 0, or the largest value.
# Seen: the sum is nan. It begins with zero, which the type lacks: zero is converted to nan. cumsum,
# which begins with the first element, gives 1, 2. np.zeros is not zero either, but the smallest power
# of two. nan becomes -0 in float6_e2m3fn, float6_e3m2fn and float4_e2m1fn.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq ml_dtypes==0.6.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import ml_dtypes
import numpy as np

print("ml_dtypes", ml_dtypes.__version__)
scale = ml_dtypes.float8_e8m0fnu
ones = np.ones(2, scale)
found = {
    "1 + 1": float((ones[:1] + ones[1:])[0]),
    "sum": float(ones.sum()),
    "cumsum": [float(v) for v in np.cumsum(ones)],
    "0 converted": float(np.zeros(1).astype(scale)[0]),
    "np.zeros": float(np.zeros(1, scale)[0]),
}
for name, value in found.items():
    print(f"{name}: {value}")
assert found["1 + 1"] == 2 and found["cumsum"] == [1, 2], "changed"
assert np.isnan(found["sum"]) and np.isnan(found["0 converted"]), "changed"
assert found["np.zeros"] == 2.0**-127, "changed"
for name in ("float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"):
    value = float(np.array([np.nan], np.float32).astype(getattr(ml_dtypes, name))[0])
    print(f"nan as {name}: {value}")
    assert value == 0 and np.signbit(value), "changed"
PYTHON
