#!/usr/bin/env bash
# zarr 3.1.6: a chunk of negative zeros, with the fill value zero.
#
# Guess: it is read as it was written, or, as chunks equal to the fill value are not stored, comes back
# as zeros; the same for all floating types.
# Seen: float16, float32 and float64 keep the sign. A chunk of complex64 or complex128 whose parts
# are zeros of any sign is not stored, and the signs are gone. One element that is not zero in the
# same chunk keeps them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq zarr==3.1.6 numpy==2.4.6
"$folder/venv/bin/python" - <<'PYTHON'
import numpy as np
import zarr


def stored(dtype, values):
    array = zarr.create_array(
        zarr.storage.MemoryStore(), shape=(2,), chunks=(2,), dtype=dtype, fill_value=0
    )
    array[:] = np.array(values, dtype)
    back = array[:]
    signs = [bool(np.signbit(part)) for part in (back[0].real, back[0].imag)]
    return array.nchunks_initialized, signs


print("zarr", zarr.__version__)
for dtype in ("float16", "float32", "float64"):
    found = stored(dtype, [-0.0, -0.0])
    print(dtype, found)
    assert found == (1, [True, False]), "changed"
for dtype in ("complex64", "complex128"):
    zeros = stored(dtype, [complex(-0.0, -0.0)] * 2)
    beside_one = stored(dtype, [complex(-0.0, -0.0), 1])
    print(dtype, zeros, "beside a one:", beside_one)
    assert zeros == (0, [False, False]), "changed"
    assert beside_one == (1, [True, True]), "changed"
PYTHON
