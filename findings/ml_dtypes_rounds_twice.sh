#!/usr/bin/env bash
# ml_dtypes 0.6.0: float64 and integers to bfloat16 and to the floats of 8, 6 and 4 bits.
#
# Guess: the nearest value, since that is what one rounding gives.
# Seen: the number is rounded to float32 first, then again. The number of float64 next to the middle of
# two neighbors becomes the middle itself, and then goes to the even one, which is the wrong one for
# every second pair of neighbors, in each type. From float32 all are right. int64 goes the same way.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq ml_dtypes==0.6.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import ml_dtypes
import numpy as np

print("ml_dtypes", ml_dtypes.__version__)
types = "bfloat16 float8_e4m3fn float8_e5m2 float8_e3m4 float6_e2m3fn float6_e3m2fn float4_e2m1fn"
for name in types.split():
    dtype = getattr(ml_dtypes, name)
    bits = ml_dtypes.finfo(dtype).bits
    every = np.arange(2**bits, dtype=np.uint16 if bits == 16 else np.uint8).view(dtype)
    with np.errstate(invalid="ignore"):
        values = every.astype(np.float64)
    values = np.unique(values[np.isfinite(values)])
    above = np.nextafter((values[:-1] + values[1:]) / 2, np.inf)
    wrong = above.astype(dtype).astype(np.float64) != values[1:]
    once = np.nextafter(above.astype(np.float32), np.float32(np.inf))
    right = once.astype(dtype).astype(np.float64) == values[1:]
    print(f"{name}: {wrong.sum()} of {len(above)} just above the middle are wrong")
    assert right.all(), "changed"
    assert abs(2 * wrong.sum() - len(above)) <= 2, "changed"
integer = 2**31 + 2**23 + 1
found = int(np.array([integer]).astype(ml_dtypes.bfloat16).astype(np.int64)[0])
print(f"int64 {integer}: bfloat16 {found}, nearest {2**31 + 2**24}")
assert found == 2**31, "changed"
PYTHON
