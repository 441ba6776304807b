#!/usr/bin/env bash
# safetensors 0.8.0 with NumPy and ml_dtypes 0.6.0: arrays of bfloat16 and of float8.
#
# Guess: safetensors.numpy refuses to save them, or loads what it has saved.
# Seen: it saves them, under the right names, and cannot load its own file: a KeyError, "BF16". The
# floats of 8 bits named ...fn, ...fnuz and e8m0fnu do the same; those of IEEE's kind, float8_e4m3,
# are refused when they are saved. The bytes in the file are right.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq safetensors==0.8.0 ml_dtypes==0.6.0 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import json
import struct

import ml_dtypes
import numpy as np
import safetensors
import safetensors.numpy

print("safetensors", safetensors.__version__, "ml_dtypes", ml_dtypes.__version__)
names = {
    "bfloat16": "BF16",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "float8_e4m3fnuz": "F8_E4M3FNUZ",
    "float8_e8m0fnu": "F8_E8M0",
}
for dtype, name in names.items():
    array = np.array([1, 2, 4], getattr(ml_dtypes, dtype))
    data = safetensors.numpy.save({"x": array})
    (size,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + size])
    assert header["x"]["dtype"] == name, "changed"
    assert data[8 + size :] == array.tobytes(), "changed"
    try:
        safetensors.numpy.load(data)
    except KeyError as error:
        print(f"{dtype}: saved as {name}; load: KeyError({error})")
        assert error.args == (name,), "changed"
    else:
        raise SystemExit(f"changed: {dtype} is loaded")
try:
    safetensors.numpy.save({"x": np.array([1], ml_dtypes.float8_e4m3)})
except safetensors.SafetensorError:
    print("float8_e4m3: not saved")
else:
    raise SystemExit("changed: float8_e4m3 is saved")
PYTHON
