#!/usr/bin/env bash
# tensorstore 0.1.86: downsampling of the floats of 8 bits, which it stores and converts.
#
# Guess: as for float16 and bfloat16: the pairs (1, 2) and (4, 4) have the means 1.5 and 4.
# Seen: every mean is zero, for each of these types. The methods min and max give nan for the types
# without an infinity (float8_e4m3fn and those with fnuz), and are right for float8_e5m2; median and
# mode are right. No error is raised.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq tensorstore==0.1.86 ml_dtypes==0.6.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import ml_dtypes
import numpy as np
import tensorstore

print("tensorstore", version("tensorstore"))


def downsampled(name, method):
    array = np.array([1, 2, 4, 4]).astype(getattr(ml_dtypes, name, np.float16))
    store = tensorstore.downsample(tensorstore.array(array), [2], method)
    return store.read().result().astype(np.float32).tolist()


right = {"mean": [1.5, 4], "min": [1, 4], "max": [2, 4], "median": [1, 4]}
for name in ("float16", "bfloat16", "float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz"):
    found = {method: downsampled(name, method) for method in right}
    print(name, found)
    known = dict(right)
    if name.startswith("float8"):
        known["mean"] = [0, 0]
    if name.startswith("float8_e4m3"):
        known["min"] = known["max"] = [float("nan")] * 2
    for method, values in known.items():
        assert np.array_equal(found[method], values, equal_nan=True), "changed"
PYTHON
